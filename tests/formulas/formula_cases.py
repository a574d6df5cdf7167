"""What the tests of the formulas share: sizes, inputs, the one comparison, and slopes that are measured."""

import numpy as np

from attnlib.gradients import numerical_gradient

# Every axis has its own size, so that a formula with two axes mixed up does not even run.
B, H, Q, K, D, V, M, N = 2, 6, 3, 5, 4, 7, 8, 9


def agree(formula, reference, rtol=1e-10, atol=1e-12):
    """What the formula gives is what the library, or a measured slope, gives."""
    np.testing.assert_allclose(formula, reference, rtol=rtol, atol=atol)


def agree_with_slope(formula, loss, x):
    """A derived gradient is the slope of `loss` at x, measured by finite differences."""
    agree(formula, numerical_gradient(loss, x, order=4), rtol=1e-7, atol=1e-8)


def softmax(scores):
    """Equation (1.1) as it stands, for scores that are not large."""
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def rowsum(array):
    return array.sum(axis=-1, keepdims=True)


def heads_of(rng):
    """Queries, keys, values and an upstream gradient of one head."""
    shapes = (Q, D), (K, D), (K, V), (Q, V)
    return [rng.normal(size=shape) for shape in shapes]


def over_all_pairs(left, right):
    """Each row of one list beside each row of the other: two independent random vectors, all cases alike."""
    return np.repeat(left, len(right), axis=0), np.tile(right, (len(left), *[1] * (right.ndim - 1)))


def signs(*shape):
    """All arrays of this shape that hold +1 and -1 alone."""
    size = int(np.prod(shape))
    bits = np.arange(2**size)[:, np.newaxis] >> np.arange(size) & 1
    return (2.0 * bits - 1).reshape(-1, *shape)
