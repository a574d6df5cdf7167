"""attnexercises.engine.relations: how is a wrong answer described that nobody foresaw, or that is wrong twice?"""

import re

import numpy as np
import pytest
from answers import first_line, right

from attnexercises import grade
from attnexercises.engine import description
from attnexercises.engine.registry import find
from attnexercises.engine.compared import Compared

RELATIONS = {
    "twice": (lambda x: 2 * right(x), "every number is 2 times the right one"),
    "half": (lambda x: right(x) / 2, "every number is 2 times too small"),
    "minus": (lambda x: -right(x), "exactly minus the right answer"),
    "by a size": (lambda x: right(x) / x.shape[-1], "too small by a factor of the number of columns of x, here 5"),
    "by a root": (
        lambda x: right(x) / np.sqrt(x.shape[-1]),
        "too small by a factor of the square root of the number of columns of x, here 2.24",
    ),
    "offset": (lambda x: right(x) + 0.25, "every number is off by the same amount, 0.25"),
    "first batch element": (
        lambda x: np.concatenate([right(x)[:1], right(x)[1:] * x[1:]]),
        r"only the first element \(along axis 0\) is right",
    ),
    "row factor": (lambda x: right(x) * x[..., :1], "right up to one factor for each row"),
    "column factor": (lambda x: right(x) * np.arange(1, x.shape[-1] + 1), "up to one factor for each column"),
    "row offset": (lambda x: right(x) + x[..., :1], "one constant added to each row"),
    "permuted": (lambda x: right(x)[..., ::-1], "the right numbers, in other places"),
    "row sums": (lambda x: right(x) ** 3, "not every row sums to 1: one sums to 0.184"),
    "negative": (lambda x: right(x) + (np.arange(x.shape[-1]) == 0) - (np.arange(x.shape[-1]) == 1), "negative"),
    "rounded": (lambda x: right(x).round(4), "rounded to 4 decimals"),
    "rounded to six": (lambda x: right(x).round(6), "rounded to 6 decimals"),
    "epsilon": (lambda x: right(x) + 1e-5 * right(x) ** 2, "right to about . digits only; rounded, or an epsilon or a small step in it?"),
    "nearly once": (lambda x: 1.001 * right(x), "every number is 1.001 times the right one"),
    "a little less": (lambda x: 0.9999 * right(x), "every number is 0.9999 times the right one"),
    "half only in ordinary cases": (
        lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True) / 2,
        "on ordinary inputs, every number is 2 times too small",
    ),
    "float32": (lambda x: right(x.astype(np.float32)), r"right to about 7 digits only; computed in float32\?"),
    "float32 inside": (
        lambda x: right(x.astype(np.float32)).astype(float),
        r"right to about 7 digits only; computed in float32\?",
    ),
    "float16": (lambda x: right(x.astype(np.float16)).astype(float), "right to about . digits only"),
    "something else": (lambda x: np.sin(right(x) * 3) * x, "numbers are wrong; the first, at|not every row sums to 1"),
}


@pytest.mark.parametrize("case", RELATIONS)
def test_an_unknown_wrong_answer_is_described(case):
    answer, sentence = RELATIONS[case]
    line = first_line(answer)
    assert re.search(sentence, line), line


@pytest.mark.parametrize("axis", [0, 1])
def test_zeros_are_not_called_right_up_to_a_factor(axis):
    want = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0], [2.0, 7.0, 1.0]])
    factors = np.expand_dims([0.0, 2.0, 3.0], axis)
    assert "factor" not in str(description.describe([Compared(factors * want, want)]))
    assert "up to one factor" in str(description.describe([Compared((factors + 2) * want, want)]))


def test_a_transposed_answer_is_described():
    def answer(a_t, b, c_t):
        return (c_t @ b.mT @ a_t).mT + 0.0 if a_t.shape == b.shape == c_t.shape else c_t @ b.mT @ a_t

    line = first_line(answer, "product_transpose")
    assert "swapped (transposed)" in line


def test_two_mistakes_at_once_are_both_named():
    def answer(x):  # over everything, and the logarithm of it
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return np.log(e / e.sum())

    result = grade("softmax", answer)
    assert result.mistakes == ("axis_all", "log")
    seen = "on ordinary inputs, not every row sums to 1: one sums to -21.4."
    assert result.lines[0].startswith(f"[!] softmax: {seen} two mistakes. (1) `sum()` ran without `axis`")


def test_an_overflow_does_not_hide_a_mistake_that_everybody_can_see():
    def answer(x):
        return np.log(np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True))

    assert grade("softmax", answer).mistakes == ("log",)


def test_a_rejection_says_where():
    result = grade("softmax", lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True))
    assert result.failed == ("large scores", "rows far apart", "one huge score", "first row far below")
    assert result.lines[1] == "    7 of 11 cases right; wrong: \"large scores\", \"rows far apart\" and 2 more."
    assert result.lines[2] == '    For help: hint("softmax", 2)'


def test_nan_in_place_of_minus_infinity_is_counted():
    def answer(*arguments):
        out, logsumexp = find("flash_forward").solution(*arguments)
        return out, np.where(np.isneginf(logsumexp), np.nan, logsumexp)

    assert "logsumexp: NaN in 2 of 5 numbers where -inf is right" in first_line(answer, "flash_forward")


def test_a_factor_is_named_by_the_size_that_it_is():
    def answer(d_out, query, *others):
        root = np.sqrt(query.shape[1])
        return tuple(gradient * root for gradient in find("flash_backward").solution(d_out, query, *others))

    assert "too large by a factor of the square root of the number of columns of query" in first_line(answer, "flash_backward")


def test_a_relation_that_holds_in_some_cases_says_where():
    line = first_line(lambda x: right(x) * (2 if x.ndim == 3 else 3))
    assert line.startswith('[!] softmax: on the case "all sizes differ", every number is 2 times the right one.')
    line = first_line(lambda x: right(x) * (2 if x.ndim == 3 else 1))
    assert line.startswith("[!] softmax: where it is wrong, every number is 2 times the right one.")


def test_one_number_is_not_called_a_multiple_of_another():
    line = first_line(lambda *arguments: find("temperature_gradient").solution(*arguments) + 1, "temperature_gradient")
    assert "times the right one" not in line


def test_after_right_values_no_case_is_counted_as_wrong():
    def answer(x):
        x -= x.max(axis=-1, keepdims=True)
        return right(x)

    lines = grade("softmax", answer).lines
    assert lines[0].startswith("[!] softmax: the values are right. ") and not any("cases right" in line for line in lines)


def test_a_coincidence_of_two_wrong_numbers_is_no_diagnosis():
    taken_once = 300 * 700 * (64 + 2 * 96)  # q k d + 2 q k v, the same number as 4 q k d
    assert "d for both products, or you counted" in first_line(taken_once, "attention_flops")


@pytest.mark.parametrize("answer", [lambda x: x, lambda x: x - x.max(axis=-1, keepdims=True)])
def test_scores_that_are_returned_are_no_logarithm_of_exponentials(answer):
    """Two mistakes that undo each other are not what somebody did who did nothing."""
    result = grade("softmax", answer)
    assert result.mistakes == () and "two mistakes" not in result.lines[0]
