"""attnexercises.engine: whatever an answer returns or raises, is it told in one plain sentence?"""

import re
import signal
import sys
from fractions import Fraction

import numpy as np
import pytest
from answers import first_line, right

from attnexercises import grade
from attnexercises.engine.registry import find

# --- what it returns ------------------------------------------------------------------------------


async def a_coroutine(x):
    return x


NONSENSE = {
    "a word": (lambda x: "done", "returns a str, not numbers"),
    "None": (lambda x: print(), "returns None: did you forget `return`?"),
    "a generator": (lambda x: (v for v in x), "returns a generator, not numbers"),
    "a coroutine": (a_coroutine, "returns a coroutine, not numbers"),
    "a dict": (lambda x: {"a": 1}, "returns a dict, not numbers"),
    "a set": (lambda x: {1, 2}, "returns a set, not numbers"),
    "a function": (lambda x: np.exp, "returns a ufunc, not numbers"),
    "a ragged list": (lambda x: [[1.0], [2.0, 3.0]], "returns rows of unequal length"),
    "objects": (lambda x: right(x).astype(object), "returns an array of Python objects, not of floats"),
    "a fraction": (lambda x: Fraction(1, 2), r"the shape is \(\); \(2, 3, 5\) is expected"),
    "a list with a word": (lambda x: [Fraction(1, 2), "half"], "returns a list, not numbers"),
    "a mask": (lambda x: np.ma.array(right(x), mask=x > 0.5), r"a masked array: \d+ of its 30 numbers are hidden"),
    "complex": (lambda x: right(x) + 0j, "returns complex numbers"),
    "a tuple of one": (lambda x: (right(x),), "returns a tuple of one; is there a comma too many"),
    "two outputs": (lambda x: (right(x), x), "returns 2 things, but one is expected: weights"),
    "booleans": (lambda x: right(x) > 0.5, "numbers are expected"),
    "another shape": (lambda x: right(x)[..., 0], r"the shape is \(2, 3\); \(2, 3, 5\) is expected"),
    "an axis too many": (lambda x: right(x)[None], "an axis of size 1 is too many"),
    "a number": (lambda x: 0.5, r"the shape is \(\); \(2, 3, 5\) is expected"),
    "NaN": (lambda x: x * np.nan, "NaN in 30 of 30 numbers"),
    "nothing": (lambda x: x[:0], r"the shape is \(0, 3, 5\)"),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_gets_a_sentence(case):
    answer, sentence = NONSENSE[case]
    result = grade("softmax", answer)
    assert result.status in ("wrong", "crashed")
    assert re.search(sentence, result.lines[0]), result.lines[0]
    assert all(len(line) < 400 for line in result.lines)


def test_several_outputs_have_names():
    exercise = "online_softmax"
    assert "returns one array of shape (8,), but 2 things are expected: maximum, total" in first_line(
        lambda x, block: x, exercise
    )
    assert "returns one list, but 2 things" in first_line(lambda x, block: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], exercise)
    assert "returns 1 thing, but 2 things" in first_line(lambda x, block: (1.0,), exercise)
    assert "returns 3 things, but 2 things are expected" in first_line(lambda x, block: (1.0, 2.0, 3.0), exercise)
    swapped = first_line(lambda x, block: find(exercise).solution(x, block)[::-1], exercise)
    assert swapped.endswith("what you return as maximum is the right total: is the order of the outputs right?")


def test_the_outputs_that_are_right_are_named():
    def total_doubled(x, block):
        maximum, total = find("online_softmax").solution(x, block)
        return maximum, 2 * total

    result = grade("online_softmax", total_doubled)
    assert result.lines[0] == "[!] online_softmax: total: every number is 2 times the right one."
    assert result.lines[1].startswith("    maximum right; total wrong. 1 of 12 cases right; wrong: \"random")


# --- what it raises -------------------------------------------------------------------------------


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


def raise_unprintable(x):
    raise Unprintable


def recursive(x):
    return recursive(x)


RAISING = {
    "an exception": (lambda x: x.nothing, "stops with AttributeError: .*no attribute 'nothing'"),
    "an unknown name": (lambda x: nq, "stops with NameError: name 'nq' is not defined"),  # noqa: F821
    "sys.exit": (lambda x: sys.exit(3), "ends Python itself"),
    "exit()": (lambda x: exit(), "ends Python itself"),
    "recursion": (recursive, "calls itself without end"),
    "an unprintable one": (raise_unprintable, "stops with Unprintable"),
    "an assertion": (lambda x: (_ for _ in ()).throw(AssertionError("no")), "stops with AssertionError: no"),
    "GeneratorExit": (lambda x: (_ for _ in ()).throw(GeneratorExit()), "stops with GeneratorExit"),
    "too much memory": (lambda x: np.zeros((10**9, 10**9)), "asks for more memory than there is"),
}


@pytest.mark.parametrize("case", RAISING)
def test_an_exception_gets_a_sentence_with_the_case_and_the_shapes(case):
    answer, sentence = RAISING[case]
    line = first_line(answer)
    assert re.search(sentence, line), line
    assert line.endswith('(case "all sizes differ": x (2, 3, 5)).')


def test_the_shorthand_of_numpy_is_left_out_of_its_errors():
    assert "core dimension 0 (size 2 is different from 5) (case" in first_line(lambda x: x @ np.ones((2, 2)))
    assert "enough dimensions (has 0, requires 1) (case" in first_line(lambda x: x @ np.float64(2))


def test_ctrl_c_gets_through():
    def interrupted(x):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        grade("softmax", interrupted)
