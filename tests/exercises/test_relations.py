"""attnexercises.engine.relations: each claim is said where it holds, not where it does not, and with its range."""

import numpy as np
import pytest

from attnexercises.engine.claims import Size, number
from attnexercises.engine.compared import Compared, said, seen
from attnexercises.engine.relations import CLAIMS

WEIGHTS = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.25, 0.25, 0.5]])
GRADIENT = np.array([[1.0, -3.0, 2.0], [0.5, 0.25, -0.75], [4.0, -1.0, -3.0]])
SIZES = {Size("x", -1): 5}

HOLDS = {
    "minus": (-WEIGHTS, WEIGHTS, "exactly minus"),
    "factor": (WEIGHTS * 5**0.5, WEIGHTS, "the square root of the number of columns of x, here 2.24"),
    "offset": (WEIGHTS + 0.25, WEIGHTS, "off by the same amount, 0.25"),
    "transposed": (WEIGHTS.T, WEIGHTS, "swapped"),
    "one_element": (np.vstack([WEIGHTS[:1], WEIGHTS[1:] ** 2]), WEIGHTS, "only the first row"),
    "row_factor": (WEIGHTS * [[1], [2], [3]], WEIGHTS, "one factor for each row (the last axis); one of them is 2"),
    "column_factor": (WEIGHTS * [1, 2, 3], WEIGHTS, "one factor for each column"),
    "row_offset": (WEIGHTS + [[1], [2], [3]], WEIGHTS, "one constant added to each row"),
    "permuted": (WEIGHTS[::-1], WEIGHTS, "in other places"),
    "zero": (0 * WEIGHTS, WEIGHTS, "every number is 0"),
    "axis_0_sum": (WEIGHTS / WEIGHTS.sum(axis=0), WEIGHTS, "sum to 1 along axis 0"),
    "total_sum": (WEIGHTS / 3, WEIGHTS, "all numbers together sum to 1"),
    "largest_one": (WEIGHTS / WEIGHTS.max(axis=1, keepdims=True), WEIGHTS, "the largest number of each row is 1"),
    "rows_sum": (WEIGHTS**2, WEIGHTS, "not every row sums to 1: one sums to 0.38"),
    "negative_rows": (WEIGHTS + [1, -1, 0], WEIGHTS, "negative, for instance -0.8"),
    "rows_sum_to_zero": (GRADIENT + [0, 0, 1], GRADIENT, "one of yours sums to 1"),
    "complement": (WEIGHTS > 0.3, WEIGHTS <= 0.3, "every entry is the opposite"),
    "lost": (np.where(WEIGHTS > 0.4, np.nan, WEIGHTS), WEIGHTS, "NaN in 3 of 9 numbers"),
}


def test_every_claim_has_its_example():
    assert set(HOLDS) == set(CLAIMS)


@pytest.mark.parametrize("name", HOLDS)
def test_a_claim_is_said_where_it_holds(name):
    got, want, words = HOLDS[name]
    assert words in str(said(CLAIMS[name], [Compared(got, want, SIZES)]))


@pytest.mark.parametrize("name", HOLDS)
def test_a_claim_is_not_said_of_the_right_answer_or_of_another(name):
    got, want, _ = HOLDS[name]
    other = want + 1e-3 * np.arange(want.size).reshape(want.shape) ** 2 if want.dtype.kind == "f" else want
    for harmless in (want, other):
        claim = said(CLAIMS[name], [Compared(harmless, want, SIZES)])
        assert claim is None or (harmless is other and name in ("rows_sum", "rows_sum_to_zero")), claim


def test_two_numbers_have_a_factor_and_one_has_none():
    for right, words in (([0.0, 4.0, 0.0], None), ([0.0, 4.0, 5.0], "every number is 3 times the right one")):
        claim = said(CLAIMS["factor"], [Compared(3 * np.array(right), np.array(right), SIZES)])
        assert (claim and str(claim)) == words


RANGES = {
    "everywhere": ((2, 2), (False, False), "every number is 2 times the right one"),
    "where it is wrong": ((2, 1), (False, False), "where it is wrong, every number is 2 times the right one"),
    "on ordinary inputs": ((2, 3), (False, True), "on ordinary inputs, every number is 2 times the right one"),
    "on one case": ((2, 3), (False, False), 'on the case "first", every number is 2 times the right one'),
}


@pytest.mark.parametrize("where", RANGES)
def test_a_claim_names_the_range_in_which_it_holds(where):
    factors, edge, words = RANGES[where]
    cases = [
        Compared(factor * WEIGHTS, WEIGHTS, SIZES, label, factor == 1, is_edge)
        for factor, label, is_edge in zip(factors, ("first", "second"), edge, strict=True)
    ]
    assert str(said(CLAIMS["factor"], cases)) == words


def test_outputs_that_show_the_same_are_told_together():
    cases = {"d_x": [Compared(-WEIGHTS, WEIGHTS)], "d_y": [Compared(-GRADIENT, GRADIENT)], "d_z": [Compared(WEIGHTS, WEIGHTS, right=True)]}
    assert [*map(str, seen(["minus"], cases))] == ["d_x, d_y: exactly minus the right answer"]


@pytest.mark.parametrize("x, text", [(1.001, "1.001"), (0.99996, "0.99996"), (2.236, "2.24"), (3.0, "3"), (np.inf, "infinite")])
def test_a_number_has_the_digits_that_tell_it_from_one(x, text):
    assert number(x, told_from=1) == text


def test_two_different_numbers_never_look_the_same():
    got, want = 2.79362, 2.79307
    assert (number(got, told_from=want), number(want, told_from=got)) == ("2.794", "2.793")
    assert number(got, told_from=got) == "2.79"
