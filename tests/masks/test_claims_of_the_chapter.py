"""What chapter 4 says of its experiments, with other starts, other texts and the controls that should fail."""

import re
from functools import cache

import nbformat
import numpy as np
import pytest

from attnlib import masks
from attnlib.softmax import softmax
from tools.recorded import cheating


LEAST = 1 - (37**2 + 8) / 45**2  # the mean squared loss of the probabilities themselves


@cache
def experiment(**how):
    return cheating.experiment(**how)


@cache
def recorded():
    with np.load(cheating.TARGET) as file:
        return file["shares"], file["losses"]  # spread, start, layer(, question, place)


def test_every_layer_without_a_mask_cheats_and_every_one_with_a_mask_is_honest():
    cheated, honest = recorded()[0][0].swapaxes(0, 1)
    assert cheated.shape == (10, 4, 8)
    whole, masked, written, own = cheated.swapaxes(0, 1)
    assert np.all(np.abs(whole.mean(axis=-1) - 0.895) < 0.01), "copying beats the 82% of a reader of the past"
    assert np.all(whole[:, :7] > 0.99) and np.all(whole[:, 7] < 0.2), "the last place has nothing on its right"
    assert np.all(np.abs(written.mean(axis=-1) - 0.05) < 0.015), "half of guessing"
    assert np.all(written[:, :7] < 1 / 9), "worse than guessing at every place but the last"
    assert np.all((1 / 9 < written[:, 7]) & (written[:, 7] < 0.17)), "where it is a little better"
    assert np.all(own[:, 0] == 1), "at place 0 there is only the own word"
    assert np.all((0.7 < own.mean(axis=-1)) & (own.mean(axis=-1) < 0.865)), "it copies the newest word"
    assert honest[:, 3].max() < 0.05, "an honest layer does not"
    assert np.all(np.abs(honest[:, 2].mean(axis=-1) - 0.823) < 0.005)
    less = recorded()[1][0]
    assert np.all(less[:, 0] < 0.13), "far below the 0.32 that the past allows"
    assert np.all(np.abs(less[:, 1] - LEAST) < 0.005), "which an honest layer reaches"
    assert np.array_equal(masked, written) and np.array_equal(honest[:, 1], honest[:, 2]), "two names for one test"


def test_the_least_loss_of_a_reader_of_the_past():
    chances = np.full(9, 0.2 / 9)
    chances[0] += 0.8
    assert np.allclose(chances[:2], [37 / 45, 1 / 45])
    mean = sum(chance * np.sum((chances - word) ** 2) for chance, word in zip(chances, np.eye(9), strict=True))
    assert np.isclose(mean, LEAST) and np.isclose(mean, 0.32)
    for seed in range(8):  # any other output costs more
        other = chances + 0.05 * np.random.default_rng(seed).standard_normal(9)
        assert sum(chance * np.sum((other - word) ** 2) for chance, word in zip(chances, np.eye(9), strict=True)) > mean


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100, 116, 2))
def test_other_lessons_teach_the_same(seed):
    (cheated, honest), _ = cheating.shares(experiment(seed=seed), 0, 0.05)
    assert abs(cheated[0].mean() - 0.895) < 0.01 and 0.03 < cheated[2].mean() < 0.08 and cheated[3, 0] > 0.5
    assert abs(honest[2].mean() - 0.823) < 0.015


def test_a_word_follows_itself_once_in_45_times():
    drawn = experiment()["sentences"](20_000, seed=5)
    assert abs(np.mean(drawn[:, 1:] == drawn[:, :-1]) - 1 / 45) < 0.002


def test_what_is_recorded_is_what_the_page_shows():
    """The table below the cell shows start 0; that the cell still computes this table is tested with the notebook."""
    cell = next(cell for cell in nbformat.read(cheating.CHAPTERS / "04_masks.ipynb", as_version=4).cells if cell.id == "cheat-run")
    rows = cell.outputs[0].data["text/plain"].splitlines()[-3:]
    copies, honest = recorded()[0][0][0].mean(axis=-1)  # layer, question
    losses = recorded()[1][0][0]
    for row, loss, right in zip(rows, losses[[0, 1, 0]], (copies[0], honest[1], copies[2]), strict=True):
        assert re.search(rf" {loss:.2f} .* {right:.0%} ", row), row
    assert rows[2].split()[-1] == f"{copies[3]:.0%}", "names the newest word"


@pytest.mark.thorough
@pytest.mark.parametrize("start", cheating.STARTS)
def test_all_that_is_recorded(start):
    now, _ = cheating.shares(experiment(), start, cheating.SPREADS[0])
    assert np.allclose(now, recorded()[0][0][start], atol=0.02)


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
    """Added: all gradients of the matrices. Written over the scores: those of the values alone. Both as in JAX."""
    from attnlib.attention import attention_backward

    rng = np.random.default_rng(seed)
    words, projections = rng.standard_normal((5, 3)), rng.standard_normal((3, 3, 4))
    query, key, value = (words @ matrix for matrix in projections)
    weights, d_out = softmax(query @ key.T), rng.standard_normal((5, 4))
    weights[0], d_out[0] = np.nan, 0
    with np.errstate(invalid="ignore"):
        added = attention_backward(d_out, query, key, value, weights)
        assert all(np.isnan(words.T @ into).all() for into in added)
        d_weights = d_out @ value.T
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
        d_scores[0] = 0  # a score that np.where replaced
        written = d_scores @ key / 2, d_scores.T @ query / 2, weights.T @ d_out
    assert [np.isnan(words.T @ into).sum() for into in written] == [0, 0, 12]
    assert np.isnan(written[2] @ projections[2].T).all(), "and so everything below"


@pytest.mark.parametrize("seed", range(10))
def test_the_test_for_leaks_fails_where_it_should(seed):
    causal = masks.causal_mask(8, 8)
    late = lambda s: softmax(s) * causal
    text = np.random.default_rng(seed).standard_normal((8, 6))
    other = text.copy()
    other[5:] = np.random.default_rng(seed + 100).standard_normal((3, 6))

    def moves(way):
        return np.abs(way(text @ text.T) @ text - way(other @ other.T) @ other)[:5].max()

    assert moves(softmax) > 0.05 and moves(late) > 0.01
    assert moves(lambda s: late(s) / late(s).sum(axis=-1, keepdims=True)) < 1e-12
    assert moves(lambda s: softmax(np.where(causal, s, -np.inf))) < 1e-12
    assert 1e-12 < moves(lambda s: softmax(np.where(causal, s, -10))) < 1e-3, "small, but far more than rounding"
    assert moves(lambda s: softmax(s + np.where(causal, 0, -1e4))) < 1e-12, "here this passes"


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

    assert np.allclose(divided(2), softmax(np.array([0.0, 1.0])), atol=1e-6)
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
def test_nan_or_infinity_in_a_padded_value_reaches_the_output_and_zeros_do_not(seed):
    scores, value = np.random.default_rng(seed).standard_normal((2, 5, 5))
    weights = softmax(np.where(np.arange(5) < 3, scores, -np.inf))
    assert not weights[:, 3:].any()
    for garbage in np.nan, np.inf:
        value[3:] = garbage
        with np.errstate(invalid="ignore"):
            assert np.isnan(weights @ value).all()
    value[3:] = 0
    assert np.isfinite(weights @ value).all()


@pytest.mark.parametrize("seed", range(8))
def test_a_leak_spreads_through_a_second_layer(seed):
    from attnlib.attention import attention

    right = masks.causal_mask(8, 8)
    wrong = right.copy()
    wrong[2, 5] = True
    start = np.random.default_rng(seed).standard_normal((8, 4))
    other = start.copy()
    other[5] = 1.0

    def moved(*layers):
        outs = []
        for x in (start, other):
            for mask in layers:
                x = x + attention(x, x, x, mask=mask)[0]
            outs.append(x)
        return set(np.flatnonzero(np.abs(outs[0] - outs[1]).max(axis=-1) > 1e-9).tolist())

    assert moved(right, right) == {5, 6, 7}
    assert moved(wrong) == {2, 5, 6, 7}
    assert moved(wrong, right) == {2, 3, 4, 5, 6, 7}


def test_ten_thousand_added_to_the_four_scores_of_the_question_is_exact():
    row = np.array([1, 2, 0.5, 3], "f")
    assert np.array_equal(softmax(row + np.float32(-1e4)), softmax(row))


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
