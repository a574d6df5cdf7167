"""A right answer to the exercise `softmax`, and what is said to a wrong one."""

import numpy as np

from attnlib.exercises import grade


def right(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def first_line(answer, exercise="softmax"):
    result = grade(exercise, answer)
    assert result.status in ("wrong", "crashed"), result
    return result.lines[0]
