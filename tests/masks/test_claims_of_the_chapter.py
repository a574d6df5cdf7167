"""What chapter 4 says of its experiments, with other starts, other texts and the controls that should fail."""

from functools import cache

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
@pytest.mark.parametrize("start", range(8))
def test_a_third_of_the_sentences_teach_the_same(start):
    (cheated, honest), _ = cheating.shares(experiment(lessons=100), start, 0.05)
    assert np.all(cheated[0, :7] > 0.99) and cheated[2].mean() < 0.07 and honest[2].mean() > 0.8


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100, 116, 2))
def test_other_lessons_teach_the_same(seed):
    (cheated, honest), _ = cheating.shares(experiment(seed=seed), 0, 0.05)
    assert abs(cheated[0].mean() - 0.895) < 0.01 and 0.03 < cheated[2].mean() < 0.08 and cheated[3, 0] > 0.5
    assert abs(honest[2].mean() - 0.823) < 0.015


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(8))
def test_four_times_as_many_steps_bring_the_copier_to_guessing(start):
    names = experiment()
    matrices, losses, _ = names["train"](False, start=start, steps=2000)
    written = names["by_place"](matrices)[2].mean()
    assert 0.07 < written < 0.14 and losses[-1] < 0.13


def test_a_word_follows_itself_once_in_45_times():
    drawn = experiment()["sentences"](20_000, seed=5)
    assert abs(np.mean(drawn[:, 1:] == drawn[:, :-1]) - 1 / 45) < 0.002


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(8))
def test_in_sentences_of_16_words_the_gap_is_smaller(start):
    (cheated, honest), _ = cheating.shares(experiment(places=16), start, 0.05)
    assert 0.35 < cheated[2].mean() < 0.45 and honest[2].mean() > 0.8


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(8))
def test_with_a_quarter_of_the_learning_rate_copying_has_hardly_begun(start):
    """Then the layer with the mask is ahead, in both shares and loss: no sign of a leak yet."""
    (cheated, honest), losses = cheating.shares(experiment(), start, 0.05, rate=0.5)
    assert cheated[0].mean() < 0.35 < 0.7 < honest[2].mean() and losses[0] > 0.8 > 0.55 > losses[1]


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(8))
def test_targets_that_are_not_shifted_pass_a_right_mask(start):
    names = cheating.experiment()  # anew, because a name is changed
    names["target"] = names["x"][..., :9]  # the words themselves
    matrices, losses, weights = names["train"](True, start=start)
    _, _, written, own = names["by_place"](matrices)
    assert losses[-1] < 0.01 and written.mean() < 0.04 and own.mean() > 0.99
    assert not weights[np.triu_indices(8, k=1)].any(), "the mask itself is right"


def test_what_is_recorded_is_what_the_cell_computes():
    now, losses = cheating.shares(experiment(), 8, cheating.SPREADS[0])
    assert np.allclose(now, recorded()[0][0][8], atol=0.01) and np.allclose(losses, recorded()[1][0][8], atol=0.01)


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
def test_left_padding_needs_numbers_that_begin_at_the_first_real_token(seed):
    from attnlib.attention import attention

    rng = np.random.default_rng(seed)
    words, of_place, projections = rng.standard_normal((3, 4)), rng.standard_normal((5, 4)), rng.standard_normal((3, 4, 4))
    real = np.array([False, False, True, True, True])

    def outputs(tokens, numbers, real):
        query, key, value = ((tokens + of_place[numbers]) @ matrix for matrix in projections)
        return attention(query, key, value, mask=np.tri(len(real), dtype=bool) & real)[0][real]

    alone = outputs(words, np.arange(3), np.ones(3, bool))
    padded = np.concatenate([np.zeros((2, 4)), words])
    assert np.allclose(outputs(padded, np.maximum(np.cumsum(real) - 1, 0), real), alone)
    assert np.abs(outputs(padded, np.arange(5), real) - alone).max() > 0.1, "numbers of columns"


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


@pytest.mark.parametrize("seed", range(8))
def test_finite_garbage_in_the_padding_is_harmless_and_infinity_is_not(seed):
    from attnlib.attention import attention, attention_backward

    rng = np.random.default_rng(seed)
    query, key, value, d_out = rng.standard_normal((4, 5, 3))
    real = np.arange(5) < 3

    def outputs(garbage):
        keys, values = (np.where(real[:, np.newaxis], x, garbage) for x in (key, value))
        with np.errstate(invalid="ignore"):
            out, weights = attention(query, keys, values, mask=real)
            return out, attention_backward(d_out, query, keys, values, weights)[0]

    for ours, other in zip(outputs(0), outputs(1e10), strict=True):
        assert np.allclose(ours, other, rtol=1e-9)
    assert np.isnan(outputs(np.inf)[0]).all()


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
def test_minus_ten_hides_only_beside_larger_scores(seed):
    """With all scores lowered by 12, which changes no softmax, the same fill hides next to nothing."""
    rng = np.random.default_rng(seed)
    text, causal = rng.standard_normal((8, 6)), masks.causal_mask(8, 8)
    other = np.concatenate([text[:5], rng.standard_normal((3, 6))])

    def moves(lower):
        outs = [softmax(np.where(causal, x @ x.mT - lower, -10)) @ x for x in (text, other)]
        return np.abs(outs[0] - outs[1])[:5].max()

    assert moves(0) < 0.01 < 0.1 < moves(12)


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
def test_a_nan_in_a_padded_value_reaches_the_output_and_zeros_do_not(seed):
    scores, value = np.random.default_rng(seed).standard_normal((2, 5, 5))
    weights = softmax(np.where(np.arange(5) < 3, scores, -np.inf))
    assert not weights[:, 3:].any()
    value[3:] = np.nan
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


def test_the_lowest_number_of_float16_overflows_beside_a_score_of_minus_16():
    scores = np.array([-15.9, -16, -20, 3], "e")
    with np.errstate(over="ignore"):
        assert np.array_equal(np.isinf(scores + np.finfo("e").min), [False, True, True, False])


def test_what_comes_through_three_windows_comes_from_half_the_reach():
    share = np.array([1.0])
    for _ in range(3):
        share = np.convolve(share, np.full(4, 1 / 4))
    assert len(share) == 10 and share[2:8].sum() > 0.85 and share[9] < 0.02 and share.argmax() in (4, 5)


def test_the_mean_weight_of_the_first_key_is_no_preference():
    mean = lambda n: np.mean(1 / np.arange(1, n + 1))
    assert round(mean(8), 2) == 0.34 and round(mean(4096), 3) == 0.002


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
