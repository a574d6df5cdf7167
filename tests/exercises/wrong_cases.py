"""What files of wrong answers share: how an answer gets into their list, and what must become of it."""

import numpy as np

from attnexercises import grade


def name(parameter):
    """What a case is called: the exercise and the function."""
    return getattr(parameter, "__name__", parameter)


def adds_to(answers):
    """Return a decorator that puts a function into a list of answers that must not pass exercise `id`."""

    def wrong(id):
        def add(function):
            answers.append((id, function))
            return function

        return add

    return wrong


def does_not_pass(id, answer):
    result = grade(id, answer)
    assert result.status in ("wrong", "crashed"), result.lines


def softmax_or_zero(scores):
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)
