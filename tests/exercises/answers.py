"""A right answer to the exercise `softmax`, numbers that claim to be right, and what is said to a wrong answer and how it reads."""

import numpy as np

from attnexercises import grade
from attnexercises.reader import commands


def right(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class EqualToAll(np.ndarray):
    """Claims to be equal to whatever it is compared with."""

    def __eq__(self, other):
        return np.True_

    def __array_function__(self, *args):
        return True

    def __array_ufunc__(self, *args, **kwargs):
        return True


def first_line(answer, exercise="softmax"):
    result = grade(exercise, answer)
    assert result.status in ("wrong", "crashed"), result
    return result.lines[0]


def unreadable(lines):
    """Of the lines that a check prints, those that do not end like a sentence, and those beyond the twelve that a reader is to get."""
    return lines[commands.MOST_LINES :] + [line for line in lines if line.endswith(("?.", ": .", "..")) and not line.endswith("...")]
