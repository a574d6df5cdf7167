"""Steps on a row relative to its maximum, which stay finite where a row holds only ``-inf``, or nothing at all."""

import numpy as np


def finite(maximum):
    # A row of nothing but -inf has no finite maximum; -inf - (-inf) would be NaN.
    return np.where(np.isneginf(maximum), maximum.dtype.type(0), maximum)


def finite_maximum(x, axis):
    return finite(x.max(axis=axis, keepdims=True, initial=-np.inf))


def shift(x, maximum):
    # inf - inf is NaN, and that NaN is the answer. So is the -inf of two scores that
    # are further apart than the dtype can say.
    return x - maximum


def no_zero(total):
    return np.where(total == 0, total.dtype.type(1), total)

