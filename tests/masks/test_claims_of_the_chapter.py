"""What chapter 4 says of its experiments, with other starts, other texts and the controls that should fail."""

from functools import cache

import numpy as np
import pytest

from attnlib import masks
from attnlib.softmax import softmax
from tools.recorded import cheating


@cache
def experiment(words=5):
    return cheating.experiment(words)


@cache
def recorded():
    with np.load(cheating.TARGET) as file:
        return file["shares"]  # spread, start, layer, question, place


def test_every_layer_without_a_mask_cheats_and_every_one_with_a_mask_is_honest():
    cheated, honest = recorded()[0].swapaxes(0, 1)
    assert cheated.shape == (10, 4, 6)
    whole, written = cheated[:, 0], cheated[:, 1]
    assert np.all(whole.mean(axis=-1) > 0.93), "copying beats the 84% of a reader of the past"
    assert np.all(whole[:, :5] > 0.99) and np.all(whole[:, 5] < 0.7), "the last place has nothing on its right"
    assert np.all(np.abs(written.mean(axis=-1) - 0.265) < 0.02)
    assert np.all(written[:, :4] < 0.2), "worse than guessing at the first four places"
    assert np.all(honest[:, 1] > 0.81) and np.all(honest[:, 1] < 0.86)
    assert np.array_equal(honest[:, 0], honest[:, 1]), "the future makes no difference to an honest layer"


def test_without_the_future_a_copier_copies_itself_or_an_older_word():
    own, looked_at = recorded()[0][:, 0, 2], recorded()[0][:, 0, 3]
    assert np.all(own[:, 0] == 1), "at place 0 there is only the own word"
    assert np.all(looked_at.mean(axis=-1) > 0.9)


def test_a_start_six_times_as_large_mostly_does_not_learn_to_copy():
    whole = recorded()[1][:, 0, 0].mean(axis=-1)
    assert np.sum(whole < 0.9) == 7


@pytest.mark.thorough
def test_in_a_longer_circle_the_last_place_of_a_copier_is_hardly_better_than_guessing():
    names = experiment(words=7)
    written = [names["by_place"](names["train"](False, start=start)[0], False)[1] for start in range(8)]
    assert np.max(written, axis=0)[5] < 1 / 7 + 0.1, "with five words it is 66%"
    assert np.max(written, axis=0)[4] < 1 / 7, "and nothing jumps at place 4"


@pytest.mark.parametrize("start", [0, 8])
def test_what_is_recorded_is_what_the_cells_compute(start):
    now = np.array(cheating.shares(experiment(), start, cheating.SPREADS[0]))
    assert np.allclose(now, recorded()[0][start], atol=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("start", cheating.STARTS)
@pytest.mark.parametrize("at", [0, 1])
def test_all_that_is_recorded(start, at):
    now = np.array(cheating.shares(experiment(), start, cheating.SPREADS[at]))
    assert np.allclose(now, recorded()[at][start], atol=0.02)


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
