"""Softmax for the families and the other right ways: a plain one, and one that knows hidden scores."""

import numpy as np


def plain_softmax(scores, axis=-1, shift=True):
    """Softmax along `axis`; without the maximum if `shift` is false."""
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True) if shift else scores)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def careful_softmax(scores, bugs=frozenset()):
    """Softmax with care for rows of -inf, and the mistakes that concern the maximum and that care."""
    largest = scores.max(axis=None if "max_global" in bugs else -1, keepdims=True)
    if "no_max" in bugs:
        largest = np.zeros(())
    if "nan_rows" not in bugs:
        largest = np.where(np.isneginf(largest), 0, largest)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / (total if "nan_rows" in bugs else np.where(total == 0, 1, total))
