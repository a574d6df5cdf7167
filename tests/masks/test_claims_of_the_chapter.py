"""What chapter 4 says of its experiments, with other starts, other texts and the controls that should fail."""

import re
from collections import defaultdict
from functools import cache

import nbformat
import numpy as np
import pytest

from attnlib import masks
from attnlib.softmax import softmax, softmax_backward
from tools.recorded import cheating


LEAST = 1 - (37**2 + 8) / 45**2  # the mean squared loss of the probabilities themselves


@cache
def experiment(**how):
    return cheating.experiment(**how)


@cache
def recorded():
    with np.load(cheating.TARGET) as file:
        return dict(file)


def cell(id):
    return cheating.cells()[id]


def output(id):
    cells = nbformat.read(cheating.CHAPTERS / "04_masks.ipynb", as_version=4).cells
    return next(cell for cell in cells if cell.id == id).outputs[-1].data["text/plain"]


def test_layers_without_a_mask_use_the_future_and_those_with_a_mask_do_not():
    leaky, honest = recorded()["shares"].swapaxes(0, 1)
    assert leaky.shape == (10, 2, 8)
    whole, written = leaky.swapaxes(0, 1)
    assert np.all(np.abs(whole.mean(axis=-1) - 0.89) < 0.01)
    assert np.all(whole[:, :7] > 0.995), "100% at seven places"
    assert np.all((whole[:, 7] > 0.115) & (whole[:, 7] < 0.165)), "12% to 16% at the last"
    assert np.all(np.abs(written.mean(axis=-1) - 0.05) < 0.015)
    assert np.all(written[:, :7] < 1 / 9), "below guessing at the seven places"
    assert np.array_equal(honest[:, 0], honest[:, 1]), "the same in both tests"
    assert np.all(np.abs(honest.mean(axis=(1, 2)) - 0.823) < 0.005)


def test_no_reader_of_the_past_reaches_the_training_loss_of_the_layers_without_a_mask():
    names, losses = experiment(), recorded()["losses"]
    least = names["least_loss"](names["lessons"])
    assert f"{least:.2f}" == "0.18" and np.all(losses[:, 0] < least) and np.all(losses[:, 1] > least)
    assert {f"{loss:.2f}" for loss in losses[:, 0]} == {"0.12"}
    assert names["least_loss"](names["lessons"][:10]) < 0.12, "ten sentences can be remembered"


def test_without_a_mask_each_query_looks_at_the_next_key_and_the_last_has_none():
    whole, written = recorded()["maps"].swapaxes(0, 1)  # start, query, key
    assert np.allclose(whole.sum(axis=-1), 1) and np.allclose(written.sum(axis=-1), 1)
    assert np.all(np.diagonal(whole, 1, axis1=1, axis2=2) > 0.9), "more than 0.9, on average, in each start"
    assert np.all(whole[:, 7] < 0.2), "the row of query 7 is pale throughout"
    assert not np.triu(written, k=1).any(), "no next key yet"
    for start in range(2):  # query 7 has the same keys in both
        assert np.allclose(written[start, 7], whole[start, 7])


def test_while_a_sentence_is_written_the_layer_names_words_that_it_has_read():
    own, read = recorded()["copied"].T
    assert np.all(read == 1) and np.all(own > 0.7), "mostly the word that it has just read"
    names = experiment()
    again = np.mean([np.diff(names["sentences"](4000, seed=seed)) == 0 for seed in range(8)])
    assert abs(again - 1 / 45) < 0.001, "a word follows itself once in 45 times"


@pytest.mark.parametrize("start", range(2))
def test_the_map_of_the_page_is_that_of_its_first_start(start):
    names = experiment()
    inputs = names["train"](False, start=start, steps=20)[0]
    whole, written = names["mean_weights"](inputs)
    query, key, _ = (names["tokens"](names["fresh"][:, :-1]) @ matrix for matrix in inputs)
    scores = query @ key.mT / np.sqrt(8)
    assert np.allclose(whole, softmax(scores).mean(axis=0))
    for i in range(8):
        assert np.allclose(written[i, : i + 1], softmax(scores[:, i, : i + 1]).mean(axis=0)), "only the keys 0 to i"


def test_from_small_entries_the_layer_without_a_mask_copies_and_from_larger_ones_half_of_the_starts_lean_on_the_language():
    """Random words are the control: from the past alone, nobody beats guessing there. From larger entries it comes out the other way."""
    small, larger = recorded()["no_mask"].mean(axis=-1).swapaxes(0, 1)  # start, words, question
    assert len(small) == len(larger) == 10
    assert np.all(np.abs(small[:, :, 0] - 0.89) < 0.01), "as often right in words without a rule"
    assert np.all(np.abs(small[:, 1, 1] - 1 / 9) < 0.01), "copying is as good as guessing"
    copies = larger[:, 1, 0] > 0.5
    assert copies.sum() == 5 and np.all(np.abs(larger[copies][:, :, 0] - 0.89) < 0.015) and np.all(larger[copies, 0, 1] < 0.14)
    others = larger[~copies]
    assert np.all(others[:, 0, 0] < 0.84) and np.all(others[:, 1, 0] < 0.27) and np.all(others[:, 0, 1] > 0.38)
    assert np.array_equal(small[:, 0], recorded()["shares"][:, 0].mean(axis=-1))
    words = experiment(follow=0)["fresh"]
    follows = np.histogram2d(words[:, :-1].ravel(), words[:, 1:].ravel(), bins=9)[0] / words[:, 1:].size
    assert np.allclose(follows, 1 / 81, atol=0.005), "each word is equally likely to follow"


@pytest.mark.parametrize("seed", range(8))
def test_the_least_loss_is_that_of_a_table_of_beginnings(seed):
    """Counted in another way; any other answers to the same beginnings cost more."""
    names = experiment()
    words, rng = names["sentences"](20, seed=seed), np.random.default_rng(seed)
    after = defaultdict(list)
    for sentence in words:
        for i in range(8):
            after[tuple(sentence[: i + 1])].append(np.eye(9)[sentence[i + 1]])

    def loss(answer):
        return sum(np.sum((np.array(targets) - answer(targets)) ** 2) for targets in after.values()) / (20 * 8)

    assert np.isclose(names["least_loss"](words), loss(lambda targets: np.mean(targets, axis=0)))
    assert loss(lambda targets: np.mean(targets, axis=0) + 0.05 * rng.standard_normal(9)) > names["least_loss"](words)


def test_the_least_loss_of_a_reader_of_the_past():
    chances = np.full(9, 0.2 / 9)
    chances[0] += 0.8
    assert np.allclose(chances[:2], [37 / 45, 1 / 45])
    mean = sum(chance * np.sum((chances - word) ** 2) for chance, word in zip(chances, np.eye(9), strict=True))
    assert np.isclose(mean, LEAST) and np.isclose(mean, 0.32)
    for seed in range(8):  # any other output costs more
        other = chances + 0.05 * np.random.default_rng(seed).standard_normal(9)
        assert sum(chance * np.sum((other - word) ** 2) for chance, word in zip(chances, np.eye(9), strict=True)) > mean


def test_what_is_recorded_is_what_the_page_shows():
    """The table below the cell shows start 0; that the cell still computes this table is tested with the notebook."""
    shares = recorded()["shares"][0].mean(axis=-1).ravel()  # layer, question
    for row, right in zip(output("cheat-run").splitlines()[-4:], shares, strict=True):
        assert re.search(rf" {right:.0%}$", row.rstrip()), row


@pytest.mark.thorough
@pytest.mark.parametrize("start", cheating.STARTS)
def test_all_that_is_recorded(start):
    now, losses = cheating.shares(experiment(), start)
    kept = {name: values[start] for name, values in recorded().items() if values.ndim}
    assert np.allclose(now, kept["shares"], atol=0.02) and np.allclose(losses, kept["losses"], atol=1e-3)
    maps, copied = cheating.copies(experiment(), start)
    assert np.allclose(maps, kept["maps"], atol=0.02) and np.allclose(copied, kept["copied"], atol=0.02)
    assert np.allclose(cheating.no_mask(experiment(), start), kept["no_mask"], atol=0.02)


def test_the_suspect_shows_its_fill_in_one_row_only():
    from attnexercises.masks import suspect

    scores = np.random.default_rng(7).integers(-4, 5, size=(5, 5)) / 2
    scores[2] = -9, -8.5, -8, -7, -9.5
    weights, keep = suspect(scores, masks.causal_mask(5, 5)), masks.causal_mask(5, 5)
    assert np.allclose(weights.sum(axis=-1), 1) and weights[2, 3] == weights[2, 4] > 0.055
    assert np.all(weights[[0, 1, 3]][~keep[[0, 1, 3]]] < 0.005), "0.00 in the figure"


@pytest.mark.parametrize("seed", range(8))
def test_a_second_chunk_needs_the_offset_and_a_first_one_does_not(seed):
    from attnlib.attention import attention

    query, key, value = np.random.default_rng(seed).standard_normal((3, 6, 4))
    whole, _ = attention(query, key, value, causal=True)

    def off(start, offset):
        k = start + 3
        out, _ = attention(query[start : start + 3], key[:k], value[:k], mask=masks.causal_mask(3, k, offset=offset))
        return np.abs(out - whole[start : start + 3]).max(axis=-1)

    assert np.all(off(0, 0) < 1e-12), "the first chunk is a square"
    assert np.all(off(3, 6 - 3) < 1e-12) and np.all(off(3, 0) > 1e-3), "all three are wrong"


@pytest.mark.parametrize("seed", range(8))
def test_of_two_added_masks_the_keys_that_are_hidden_once_win(seed):
    row = np.random.default_rng(seed).standard_normal(4).astype("f")
    weights = softmax(row + np.float32(-1e9) * np.array([1, 2, 1, 1], "f"))
    assert weights[1] == 0 and np.allclose(np.delete(weights, 1), 1 / 3)


@pytest.mark.parametrize("seed", range(8))
def test_what_one_empty_row_makes_nan_depends_on_how_it_is_hidden(seed):
    """Computed here from the Jacobian of each row, and as in JAX: what `np.where` replaced gets no gradient."""
    rng = np.random.default_rng(seed)
    words, projections = rng.standard_normal((5, 3)), rng.standard_normal((3, 3, 4))
    query, key, value = (words @ matrix for matrix in projections)
    weights, d_out = softmax(query @ key.T), rng.standard_normal((5, 4))
    weights[0], d_out[0] = np.nan, 0

    def lost(written, cleaned):
        d_weights = d_out @ value.T
        used = np.nan_to_num(weights) if cleaned else weights
        with np.errstate(invalid="ignore"):
            d_scores = np.stack([(np.diag(row) - np.outer(row, row)) @ d for row, d in zip(weights, d_weights, strict=True)])
            if written:
                d_scores[0] = 0
            into = d_scores @ key / 2, d_scores.T @ query / 2, used.T @ d_out
        return [int(np.isnan(words.T @ d).sum()) for d in into]

    found = {(written, cleaned): lost(written, cleaned) for written in (False, True) for cleaned in (False, True)}
    assert found == {
        (False, False): [12, 12, 12], (True, False): [0, 0, 12],
        (False, True): [12, 12, 0], (True, True): [0, 0, 0],
    }  # fmt: skip
    shown = [[int(number) for number in row.split()[-3:]] for row in output("empty-gradients-figure").splitlines()[-5:]]
    assert shown == [*(found[how] for how in ((False, False), (True, False), (False, True), (True, True))), [0, 0, 0]]


def past_moves(layer, d, seed):
    """The page's own test, on other texts."""
    names = {"np": np}
    source = cell("leak-run")
    assert source.count("default_rng(2)") == 1
    exec(source.replace("default_rng(2)", f"default_rng({seed})"), names)
    return names["past_moves"](layer, d)


@pytest.mark.parametrize("seed", range(10))
def test_the_test_for_leaks_fails_where_it_should(seed):
    causal, c = masks.causal_mask(8, 8), 1 / np.sqrt(6)
    late = lambda s: softmax(s) * causal

    def moves(way):
        return past_moves(lambda x: way(c * x @ x.mT) @ x, 6, seed)

    assert moves(softmax).min() > 0.1 and moves(late).min() > 0.1, "the control and zeros after the softmax"
    assert moves(lambda s: late(s) / late(s).sum(axis=-1, keepdims=True)).max() < 1e-14
    assert moves(lambda s: softmax(np.where(causal, s, -np.inf))).max() < 1e-14
    fill = moves(lambda s: softmax(np.where(causal, s, -10)))
    assert 1e-6 < fill.min() and fill.max() < 1e-3, "small, but far more than rounding"
    assert moves(lambda s: softmax(s + np.where(causal, 0, -1e4))).max() < 1e-14, "here this passes"


@pytest.mark.parametrize("seed", range(10))
def test_with_long_vectors_and_no_scale_the_test_for_leaks_is_blind(seed):
    def moves(c):
        return past_moves(lambda x: softmax(c * x @ x.mT) @ x, 128, seed)

    assert moves(1 / np.sqrt(128)).min() > 1e-4, "the control is found with the scale of a model"
    assert moves(1).max() < 1e-14, "and missed without it"
    x = np.random.default_rng(seed).standard_normal((8, 8, 128))
    own = np.diagonal(x @ x.mT, axis1=-2, axis2=-1)
    assert np.all(softmax(x @ x.mT).max(axis=-1) > 1 - 1e-12), "the whole weight"
    assert abs(own.mean() - 128) < 15 and np.array_equal((x @ x.mT).max(axis=-1), own), "its score with itself"


def test_a_wrong_cell_shows_only_if_the_cut_runs_between_its_query_and_its_key():
    wrong = masks.causal_mask(8, 8)
    wrong[2, 5] = True
    text, other = np.random.default_rng(0).standard_normal((2, 8, 6))

    def moves(cut):
        outs = [softmax(np.where(wrong, x @ x.T, -np.inf)) @ x for x in (text, np.concatenate([text[:cut], other[cut:]]))]
        return np.abs(outs[0] - outs[1])[:cut].max() > 1e-9

    assert [cut for cut in range(1, 8) if moves(cut)] == [3, 4, 5]


@pytest.mark.parametrize("seed", range(8))
def test_dividing_by_the_sum_does_not_survive_a_large_hidden_score(seed):
    causal = masks.causal_mask(8, 8)
    scores = np.random.default_rng(seed).standard_normal((8, 8))
    right = softmax(np.where(causal, scores, -np.inf))
    scores[0, 7] = 800
    late = softmax(scores) * causal
    with np.errstate(invalid="ignore"):
        divided = late / late.sum(axis=-1, keepdims=True)
    assert np.isnan(divided[0]).all() and np.allclose(divided[1:], right[1:])
    assert np.array_equal(softmax(np.where(causal, scores, -np.inf)), right)


def test_dividing_by_the_sum_is_silently_wrong_before_it_is_nan():
    def divided(hidden):
        kept = softmax(np.array([0, 1, hidden], dtype=np.float32))[:2]
        with np.errstate(invalid="ignore"):
            return kept / kept.sum()

    right = softmax(np.array([0.0, 1.0]))
    assert np.allclose(divided(2), right, atol=1e-6) and np.allclose(divided(80), right, atol=1e-6)
    assert 1e-3 < np.abs(divided(100) - right).max() < 1e-2 and divided(100).all(), "a few digits survive, no weight is 0"
    assert np.array_equal(divided(104), [0, 1]) and np.isnan(divided(110)).all()


def test_dropout_moves_the_past_unless_both_runs_draw_the_same():
    causal = masks.causal_mask(8, 8)

    def moves(seed, same):
        text, other = np.random.default_rng(seed).standard_normal((2, 8, 6))
        other[:5] = text[:5]
        rng = np.random.default_rng(100 + seed)
        outs = []
        for x in (text, other):
            keep = (np.random.default_rng(7) if same else rng).random((8, 8)) > 0.1
            outs.append(softmax(np.where(causal, x @ x.T, -np.inf)) * keep / 0.9 @ x)
        return np.abs(outs[0] - outs[1])[:5].max()

    assert sum(moves(seed, same=False) > 0.05 for seed in range(16)) > 8, "an alarm without a leak"
    assert all(moves(seed, same=True) < 1e-12 for seed in range(16))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("garbage", [np.nan, np.inf])
def test_nan_or_infinity_in_a_padded_value_reaches_the_output_and_zeros_do_not(seed, garbage):
    query, key, value = np.random.default_rng(seed).standard_normal((3, 5, 5))
    real = np.arange(5) < 3
    weights = softmax(np.where(real, query @ key.T, -np.inf))
    assert not weights[:, 3:].any()
    value[3:] = garbage
    with np.errstate(invalid="ignore"):
        assert np.isnan(weights @ value).all()
    value[3:] = 0
    assert np.isfinite(weights @ value).all()
    key[3:] = garbage  # in a padded key it does no harm, if −∞ is written over its score
    with np.errstate(invalid="ignore"):
        assert np.array_equal(softmax(np.where(real, query @ key.T, -np.inf)), weights)
        if np.isnan(garbage):
            assert np.isnan(softmax(query @ key.T + np.where(real, 0, -np.inf))).all(), "if it is added, NaN gets through"
        at_scores = np.where(real, softmax_backward(np.random.default_rng(seed).standard_normal((5, 5)), weights), 0)
        assert np.isnan(at_scores @ key).all(), "but the gradient of the queries has 0 times NaN"
        assert np.isfinite(at_scores.T @ query).all(), "that of the keys has not"


def test_cleaning_hides_a_nan_of_a_visible_score():
    scores = np.array([[0.0, np.nan, 1.0], [0.0, 1.0, 2.0]])
    with np.errstate(invalid="ignore"):
        weights = softmax(scores)
    assert np.isnan(weights[0]).all() and not np.nan_to_num(weights)[0].any()


def test_the_picture_at_the_top_shows_packed_texts_as_the_chapter_defines_them():
    drawn = (cheating.CHAPTERS / "pictures" / "masks.svg").read_text(encoding="utf-8").split("<g>")[1:]
    for group, name in zip(drawn, ("causal", "window", "padding", "packed"), strict=True):
        assert f">{name}</text>" in group
        filled = np.array(["fill-opacity" in rect for rect in re.findall("<rect[^>]*>", group)]).reshape(6, 6)
        i, j = np.arange(6)[:, np.newaxis], np.arange(6)
        rules = {"causal": j <= i, "window": (j <= i) & (i - j < 3), "padding": (j < 4) | (i < 0), "packed": (j <= i) & (i // 3 == j // 3)}
        assert np.array_equal(filled, rules[name]), name


@pytest.mark.parametrize("seed", range(8))
def test_a_leak_spreads_through_a_second_layer(seed):
    from attnlib.attention import attention

    right = masks.causal_mask(8, 8)
    wrong = right.copy()
    wrong[2, 5] = True
    start = np.random.default_rng(seed).standard_normal((8, 4))

    def moved(*layers, token=5):
        outs = []
        for x in (start, np.where(np.arange(8)[:, np.newaxis] == token, 1.0, start)):
            for mask in layers:
                x = x + attention(x, x, x, mask=mask)[0]
            outs.append(x)
        return set(np.flatnonzero(np.abs(outs[0] - outs[1]).max(axis=-1) > 1e-9).tolist())

    assert moved(right, right) == {5, 6, 7}
    assert moved(wrong) == {2, 5, 6, 7}
    assert moved(wrong, right) == {2, 3, 4, 5, 6, 7}, "of these, 2, 3 and 4 come before token 5"
    assert [token for token in range(3, 8) if 2 in moved(right, wrong, token=token)] == [3, 4, 5]


@pytest.mark.parametrize("hidden", range(16))
def test_ten_thousand_added_to_the_four_scores_of_the_question_is_exact(hidden):
    """It hides some of the four keys, and does nothing if it is added to all."""
    row, hide = np.array([1, 2, 0.5, 3], "f"), (hidden >> np.arange(4) & 1).astype(bool)
    weights = softmax(row + np.float32(-1e4) * hide)
    kept = row if hide.all() else np.where(hide, -np.inf, row)
    assert np.array_equal(weights, softmax(kept))
    assert np.exp(np.float32(-9990)) == 0


@pytest.mark.parametrize("seed", range(8))
def test_a_large_number_in_an_empty_row(seed):
    """In float64 an added number hides nothing, in float32 it makes the weights even: for any ordinary scores."""
    row = 3 * np.random.default_rng(seed).standard_normal(6)
    assert np.allclose(softmax(row - 1e9), softmax(row), atol=1e-6)
    assert np.allclose(softmax(row.astype("f") + np.float32(-1e9)), 1 / 6)
    assert np.allclose(softmax(row.astype("f") + np.float32(-1e4)), softmax(row), atol=3e-3)
    with np.errstate(over="ignore"):
        assert np.all(row.astype("e") + np.float16(-1e9) == -np.inf)
        assert np.all(row.astype("e") + 2 * np.finfo("e").min == -np.inf)


def bfloat16(x):
    bits = np.float32(x).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


def test_numbers_of_bfloat16():
    assert bfloat16(1 / 3) == np.float32(0.333984375)  # 2.67578125 / 8: eight significant bits
    assert bfloat16(-1e4 + 31) == bfloat16(-1e4) and bfloat16(9984 + 33) == 9984 + 64
    lowest = bfloat16(-3.3895314e38)
    assert np.isfinite(lowest) and lowest < -3.38e38
    with np.errstate(over="ignore"):
        assert bfloat16(lowest + lowest) == -np.inf
