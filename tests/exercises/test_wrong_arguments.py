"""attnexercises: who mixes up what to hand over is told which argument it is, and nothing is counted or forgotten."""

import re

import numpy as np
import pytest
from answers import right as softmax

from attnexercises import check, hint, load, my_library, progress, reset, save, solution, use
from attnexercises.reader import record

NAME = '`id` is the name of an exercise in quotes, such as "softmax"; this is '
CHAPTER = "`chapter` is a topic word in quotes, such as 'softmax'; this is "
SWAPPED = '`id` and `answer` are in each other\'s place: {}("softmax", ...), the name in quotes first.'

CALLS = {
    "check, swapped": (lambda: check(softmax, "softmax"), SWAPPED.format("check")),
    "check, a value, swapped": (lambda: check(1051.0, "softmax"), SWAPPED.format("check")),
    "check, no answer": (lambda: check("softmax"), '`answer` is missing: check("softmax", softmax), with your own softmax.'),
    "check, no id": (lambda: check(softmax), "`check` takes two arguments: the exercise's `id` in quotes, then your `answer`."),
    "check, two functions": (lambda: check(softmax, softmax), NAME + "a function."),
    "check, an array": (lambda: check(np.ones(3), 1), NAME + "an array."),
    "use, swapped": (lambda: use(softmax, "softmax"), SWAPPED.format("use")),
    "use, no answer": (lambda: use("softmax"), '`answer` is missing: use("softmax", softmax), with your own softmax.'),
    "hint, a number": (lambda: hint(3), NAME + "the number 3."),
    "hint, the function": (lambda: hint(softmax), NAME + "a function."),
    "solution, a list": (lambda: solution(["softmax"]), NAME + "a list."),
    "progress, a number": (lambda: progress(1), CHAPTER + "the number 1."),
    "progress, the function": (lambda: progress(softmax), CHAPTER + "a function."),
    "my_library, a number": (lambda: my_library(1), CHAPTER + "the number 1."),
    "reset, a number": (lambda: reset(5), NAME + "the number 5."),
    "reset, True": (lambda: reset(True), NAME + "True."),
    "save, the function": (lambda: save(softmax), NAME + "a function."),
    "load, the function": (lambda: load(softmax), NAME + "a function."),
}


@pytest.mark.parametrize("case", CALLS)
def test_the_argument_is_named(case):
    call, sentence = CALLS[case]
    record.store({"softmax": record.blank() | {"tries": 2}})
    with pytest.raises(ValueError, match="^" + re.escape(sentence) + "$"):
        call()
    assert record.load() == {"softmax": record.blank() | {"tries": 2}}
