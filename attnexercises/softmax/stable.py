"""The softmax that other exercises compare with, and that other right ways in the tests use."""

import numpy as np


def plain_softmax(scores, axis=-1):
    """Softmax along `axis`."""
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
