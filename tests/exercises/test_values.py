"""attnexercises.engine: answers that are a number, a shape or a word."""

import re

import numpy as np
import pytest
from answers import first_line

from attnexercises import TODO, Mistake, grade, value_exercise


def word_exercise():
    return value_exercise(
        "word", title="A word", chapter="softmax", level="easy", minutes=1, answer=lambda: "b", oracle=lambda: "b",
        mistakes=[Mistake("a", lambda: "a", "a is the other one.", 1)], hints=("", "", ""), why="", insight="Yes.",
    )  # fmt: skip


@pytest.mark.parametrize("answer", ["b", " B ", lambda: "b"])
def test_a_word_is_right_in_any_case(answer):
    assert grade(word_exercise(), answer).status == "passed"


def test_a_wrong_word_is_told():
    assert grade(word_exercise(), "a").lines[0] == "[!] word: a is the other one."
    assert grade(word_exercise(), "c").lines[0] == "[!] word: 'c' is not one of the words a, b."
    assert grade(word_exercise(), 3).lines[0] == "[!] word: a word is expected, not a number."
    assert grade(word_exercise(), ["b"]).status == "wrong"


@pytest.mark.parametrize("answer", [(2, 3, 4), [2, 3, 4], np.array([2, 3, 4])])
def test_a_shape_may_be_written_in_any_way(answer):
    assert grade("matrix_shapes", answer).status == "passed"


VALUES = {
    "a shape too short": ("matrix_shapes", (2, 3), "your tuple has 2 numbers; 3 are expected"),
    "a wrong number": ("matrix_shapes", (2, 3, 9), "number 3 of 3 is wrong"),
    "a list for a number": ("vjp_cost", [1, 2], "one number is expected, not 2"),
    "a number in a list": ("vjp_cost", [320_000], "a bare number is expected, not a list, a tuple or an array"),
    "a number and a comma": ("vjp_cost", (320_000,), "a bare number is expected, not a list, a tuple or an array"),
    "below a negative number": ("score_gradient", -9, "too small: the right number lies above it"),
    "above a negative number": ("score_gradient", -1.1, "too large: the right number lies below it"),
    "a negative number": ("vjp_cost", -5, "too small: the right number lies above it"),
    "minus": ("vjp_cost", -320_000, "the sign is wrong"),
    "a tenth": ("delta_sum", 105.1, "your number is 10 times too small"),
    "a word": ("vjp_cost", "many", "a number is expected, not a word"),
    "True": ("vjp_cost", True, "numbers are expected"),
    "rounded": ("variance_of_sum", 260, "rounded to 2 digits; give it in full"),
    "one digit is too few to be seen as rounded": ("two_token_weight", 0.6, "your number is too small"),
    "a number": ("vjp_cost", 640_200, "your number is too large.$"),
    "ten times": ("delta_sum", 10510, "your number is 10 times the right one"),
    "NaN": ("delta_sum", float("nan"), "NaN"),
    "ragged": ("matrix_shapes", ((1, 2), 3), "rows of unequal length"),
    "a function that stops": ("vjp_cost", lambda: 1 / 0, "your value stops with ZeroDivisionError"),
    "an object": ("vjp_cost", object(), "your value is an object, not numbers"),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_wrong_value_gets_a_sentence(case):
    id, answer, sentence = VALUES[case]
    line = first_line(answer, id)
    assert re.search(sentence, line), line


@pytest.mark.parametrize("answer", [TODO, (TODO, 2), [2, ...], None, lambda: TODO])
def test_a_blank_value_is_unattempted(answer):
    assert grade("matrix_shapes", answer).status == "unattempted"
