"""A right answer to the exercise `softmax`, numbers that claim to be right, and what is said to a wrong answer."""

import numpy as np

from attnexercises import grade


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
