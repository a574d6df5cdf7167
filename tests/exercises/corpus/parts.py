"""What readers have at hand when they come to an exercise: the right softmax of the chapter."""

import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def softmax_grad(d, p):
    return p * (d - (d * p).sum(axis=-1, keepdims=True))
