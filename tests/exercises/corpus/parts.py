"""What readers have at hand when they come to an exercise: the right answers to those before it."""

import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def softmax_grad(d, p):
    return p * (d - (d * p).sum(axis=-1, keepdims=True))


def masked_softmax(scores, keep):
    visible = np.where(keep, scores, -np.inf)
    top = visible.max(axis=-1, keepdims=True)
    e = np.exp(visible - np.where(top > -np.inf, top, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1)


def rope(x, pos):
    d = x.shape[-1]
    angles = np.asarray(pos)[:, np.newaxis] * 10000.0 ** (-np.arange(0, d, 2) / d)
    pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)
