"""attnexercises.engine: is whatever can be called called, and the rest told what is wanted?"""

import functools
import re

import numpy as np
import pytest
from answers import first_line, right

from attnexercises import grade


class Model:
    def forward(self, x):
        return right(x)

    def __call__(self, x):
        return right(x)


NOT_FUNCTIONS = {
    "the result": (right(np.ones((2, 3))), r"wants your function itself, .*; it got an array of shape \(2, 3\)"),
    "a word": ("softmax", "it got a str"),
    "a class": (Model, "a function is expected, not the class Model"),
    "no argument": (lambda: 1, r"does not take the arguments softmax\(x\)"),
    "two arguments": (lambda x, axis: x, r"does not take the arguments softmax\(x\)"),
    "keyword only": (lambda *, x: x, r"does not take the arguments softmax\(x\)"),
}


@pytest.mark.parametrize("case", NOT_FUNCTIONS)
def test_what_cannot_be_called_gets_a_sentence(case):
    answer, sentence = NOT_FUNCTIONS[case]
    assert re.search(sentence, first_line(answer))


def test_arguments_in_another_order_are_noticed():
    def answer(weights, d_weights):
        return weights * (d_weights - (d_weights * weights).sum(-1, keepdims=True))

    assert first_line(answer, "softmax_backward") == (
        "[!] softmax_backward: the arguments of your function are in another order; "
        "expected softmax_backward(d_weights, weights)."
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda scores: right(scores),
        lambda x, axis=-1: right(x),
        lambda *args: right(*args),
        lambda *args, **options: right(*args, **options),
        Model().forward,
        Model(),
        functools.partial(lambda axis, x: right(x), -1),
        right,
    ],
    ids=["another name", "a default", "*args", "**options", "a method", "a callable object", "a partial", "a function"],
)
def test_any_callable_with_the_right_values_passes(answer):
    assert grade("softmax", answer).status == "passed"


def test_a_compiled_function_is_judged_by_its_values():
    assert "largest" in first_line(np.exp) or "sum" in first_line(np.exp)
    assert first_line(len).startswith("[!] softmax: ")
    assert first_line(print).startswith("[!] softmax: your function returns None")
