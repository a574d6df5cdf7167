"""Inputs that expose a wrong function: what passes does expose it, what does not pass does not."""

import itertools

import numpy as np
import pytest
from answers import first_line

from attnexercises import grade
from attnexercises.engine.registry import registry
from attnexercises.puzzles import suspects
from attnexercises.puzzles.exposed import SCORES, VALUES
from attnlib.attention import attention
from attnlib.masks import causal_mask
from attnlib.softmax import softmax

INPUTS = [id for id in registry() if id.startswith("expose_")]
every_input = pytest.mark.parametrize("id", INPUTS)


def test_there_are_five():
    assert len(INPUTS) == 5


@pytest.mark.parametrize(
    "x", [[0, 2000], [0.0, 1420.0], [1e4, 0, 0], (-5000, 0, 0), np.array([3.0, -3000.0]), [10**400 // 10**390, 0]]
)
def test_a_number_far_above_the_mean_exposes_the_shift(x):
    with np.errstate(all="ignore"):
        wrong = suspects.mean_shift_softmax(np.array(x, dtype=float))
    assert not np.allclose(wrong, softmax(np.array(x, dtype=float)))
    assert grade("expose_shift", x).status == "passed"


@pytest.mark.parametrize("x, mistake", [([0, 1400], "close"), ([0, 700], "close"), ([-3000, -3000.5], "close"), ([5e5] * 8, "alike")])
def test_a_small_distance_does_not(x, mistake):
    x = np.array(x, dtype=float)
    np.testing.assert_allclose(suspects.mean_shift_softmax(x), softmax(x), rtol=1e-12)
    result = grade("expose_shift", x)
    assert result.mistakes == (mistake,)
    assert f"both give the same on your input. The largest number lies {x.max() - x.mean():.4g} above the mean." in result.lines[0]


@pytest.mark.parametrize(
    "scores, mask, verdict",
    [
        ([-30, 0], [True, False], "passed"),
        ([-11, -11.5, 3], [1, 1, 0], "passed"),
        ([-10.0, -20], [True, False], "little"),  # exactly half
        ([-9, -12], [True, False], "little"),
        ([0, 50], [True, False], "raised"),
        ([0, 0], [False, False], "nothing_visible"),
        ([0, 0], [True, True], "nothing_hidden"),
    ],
)
def test_a_finite_fill_is_exposed_by_scores_below_it(scores, mask, verdict):
    result = grade("expose_fill", (scores, mask))
    assert (result.mistakes or (result.status,)) == (verdict,)
    hidden = suspects.filled_softmax(np.array(scores, dtype=float), np.array(mask, dtype=bool))[~np.array(mask, dtype=bool)].sum()
    assert (verdict == "passed") == (0.5 < hidden and any(mask))


def test_every_pair_of_sizes_is_judged_as_the_library_says():
    for q, k in itertools.product(range(1, 9), repeat=2):
        exposed = q < k and not np.array_equal(suspects.corner_mask(q, k), causal_mask(q, k, offset=k - q))
        result = grade("expose_causal", (q, k))
        assert (result.status == "passed") == exposed
        assert exposed or result.mistakes == ("square" if q == k else "more_queries",)


def test_every_pair_of_heads_is_judged_as_repeat_says():
    for heads, groups in itertools.product(range(1, 17), repeat=2):
        fits = heads % groups == 0
        exposed = fits and not np.array_equal(suspects.tiled_heads(heads, groups), np.repeat(np.arange(groups), heads // groups))
        result = grade("expose_groups", [heads, groups])
        assert (result.status == "passed") == exposed
        assert exposed or result.mistakes == ("uneven" if not fits else "one" if groups == 1 else "all",)


def test_every_mask_is_judged_as_attention_says():
    count = 0
    for mask in itertools.product((True, False), repeat=6):
        blocks = [any(mask[i : i + 2]) for i in (0, 2, 4)]
        right = attention(np.ones((1, 1)), SCORES[:, np.newaxis], VALUES[:, np.newaxis], mask=np.array([mask]), scale=1.0)[0].item()
        exposed = not np.isclose(suspects.hasty_attention(SCORES, np.array(mask), VALUES), right)
        assert exposed == (False in blocks and True in blocks[blocks.index(False) :])
        result = grade("expose_skip", mask)
        assert (result.status == "passed") == exposed
        assert exposed or result.mistakes == ("none_hidden" if all(blocks) else "at_end",)
        assert exposed or f"both give {right:.4f} on your input." in result.lines[0]
        count += exposed
    assert count == 24


@every_input
@pytest.mark.parametrize(
    "answer", [7, "word", [], [1], ["1", "2"], [1j, 2], [None, 1], [[1, 2], [3, 4]], {1: 2}, object(), np.zeros((2, 2)), [float("nan")] * 2, [1.5, 2]]
)
def test_an_input_that_is_not_valid_is_told_so_and_why(id, answer):
    result = grade(id, answer)
    if result.status == "passed":  # two numbers are an input for one of them
        pytest.fail(f"{answer!r} passed")
    said = result.lines[0].partition(": ")[2]
    same = id == "expose_shift" and isinstance(answer, list) and answer == [1.5, 2]
    assert said.startswith("both give the same" if same else "your input is not valid: "), said
    assert "expected" in said or "finite" in said or same


def test_a_list_or_an_array_is_the_same_input():
    assert grade("expose_causal", np.array([1, 4])).status == "passed"
    assert grade("expose_skip", np.array([1, 1, 0, 0, 1, 1])).status == "passed"
    assert grade("expose_fill", [np.array([-30.0, 0.0]), np.array([True, False])]).status == "passed"


def test_a_true_that_is_no_true_is_told():
    assert "six times True or False are expected" in first_line([2, 1, 0, 0, 1, 1], "expose_skip")
