"""Plausible wrong answers that no exercise knows in advance, kept as data: what is said to readers is tried on them.

One file for each topic (two or more where one would be long); every file adds its answers with `wrong`:

    @wrong("softmax", "shifts by the smallest, not the largest", named=("shift_min",), says=r"overflow")
    def _(x): ...

    wrong("softmax", "returns the exponents", says=r"rows do not sum to 1")(lambda x: x - x.max(-1, keepdims=True))

`named` holds the ids of the mistakes that are a true name for the answer; `says` is a regular expression that fits a
message which is true of the answer and tells where the slip is. Both may be empty. `rule` is for an answer with right
values: the stated rule that it breaks. Answers come as people write them, so these files are not a model of style.

`python -m tests.exercises.corpus` prints the counts, `python -m tests.exercises.corpus softmax` also the messages.
"""

import copy
import importlib
import pkgutil
import re
import sys
from dataclasses import dataclass
from functools import cache

from attnexercises import grade
from attnexercises.engine.registry import find

ACCEPTED, WRONGLY, RIGHTLY, DESCRIBED = VERDICTS = ("accepted", "named wrongly", "named rightly", "described")

_added, _right = [], []


@dataclass(frozen=True, eq=False)
class Answer:
    """A wrong answer to the exercise `id`, in words (`what`) and as a reader would write it (`given`)."""

    id: str
    what: str
    _given: object
    named: tuple
    says: str
    rule: str
    file: str

    @property
    def given(self):
        """New each time: an object may keep something between calls, and no test may meet what another has left there."""
        return copy.deepcopy(self._given)

    @property
    def topic(self):
        return find(self.id).chapter


def wrong(id, what, named=(), says="", rule=""):
    """Add a wrong answer to exercise `id`: a function below this line, or whatever is handed to the result."""

    file = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]

    def add(given):
        _added.append(Answer(id, what, given, tuple(named), says, rule, file))
        return given

    return add


def right(id, what):
    """Add a right answer to exercise `id`, in a style that no other answer has."""

    def add(given):
        _right.append((id, what, given))
        return given

    return add


def right_answers():
    """Return every right answer of every file: its exercise, its style in words, and the answer."""
    answers()
    return tuple(_right)


@cache
def answers():
    """Return every wrong answer of every file, in the order of the files."""
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        if module != "__main__":
            importlib.import_module(f"{__name__}.{module}")
    return tuple(_added)


def verdict(answer, result):
    """What became of an answer: one of `VERDICTS`."""
    if result.status not in ("wrong", "crashed"):
        return ACCEPTED  # "unattempted" is as bad: nobody is told that it is wrong
    if result.mistakes:
        return RIGHTLY if set(result.mistakes) <= set(answer.named) else WRONGLY
    either = {mistake.id for mistake in find(answer.id).mistakes if mistake.say[1:] in result.lines[0]}
    if either:  # "either ... or": one of the two has to be true
        return RIGHTLY if either & set(answer.named) else WRONGLY
    return RIGHTLY if answer.says and re.search(answer.says, result.lines[0]) else DESCRIBED


def judged(chosen=lambda answer: True):
    """Return (answer, result, verdict) for every answer for which `chosen` is true; each is graded once."""
    return tuple((answer, *_judged(answer)) for answer in answers() if chosen(answer))


@cache
def _judged(answer):
    result = grade(answer.id, answer.given)
    return result, verdict(answer, result)
