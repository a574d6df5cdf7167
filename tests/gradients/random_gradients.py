"""Losses of many kinds with gradients by hand: easy ones, saturated ones, and ones that rounding almost hides."""

import numpy as np

from attnlib.attention import attention, attention_backward
from attnlib.softmax import softmax, softmax_backward


def random_case(rng, dtype=np.float64):
    """A loss that computes in `dtype`, a point, and the right gradient there, in float64."""
    kind = KINDS[rng.integers(len(KINDS))]
    return kind(rng, dtype)


def rounded(dtype, *arrays):
    return [array.astype(dtype) for array in arrays]


def of_softmax(rng, dtype=np.float64):
    d_out, x = rng.normal(size=(2, 5)), rng.normal(size=(2, 5)) * 10 ** rng.uniform(-1, 1.5) + rng.normal() * 100
    d_out, x = rounded(dtype, d_out, x)
    exact_d_out, exact_x = rounded(np.float64, d_out, x)
    return (lambda x: (d_out * softmax(x)).sum()), x, softmax_backward(exact_d_out, softmax(exact_x))


def of_attention(rng, dtype=np.float64):
    size = rng.choice([0.3, 1.0, 3.0, 6.0])
    inputs = [size * rng.normal(size=(3, 4)), size * rng.normal(size=(5, 4)), rng.normal(size=(5, 2))]
    *inputs, d_out = rounded(dtype, *inputs, rng.normal(size=(3, 2)))
    *exact, exact_d_out = rounded(np.float64, *inputs, d_out)
    gradients = attention_backward(exact_d_out, *exact, attention(*exact)[1])
    which = rng.integers(3)

    def loss(x):
        return (d_out * attention(*inputs[:which], x, *inputs[which + 1 :])[0]).sum()

    return loss, inputs[which], gradients[which]


def of_squares(rng, dtype=np.float64):
    offset, x = rng.normal() * 10 ** rng.uniform(0, 9), rng.normal(size=3).astype(dtype)
    return (lambda x: offset + (x**2).sum()), x, 2 * x.astype(float)


def of_powers(rng, dtype=np.float64):
    degree, x = rng.integers(1, 8), rng.normal(size=4) * 10 ** rng.uniform(-3, 3)
    degree, x = int(degree), x.astype(dtype)
    return (lambda x: (x**degree).sum()), x, degree * x.astype(float) ** (degree - 1)


def of_waves(rng, dtype=np.float64):
    speed, x = 10 ** rng.uniform(-2, 2), rng.normal(size=4) * 10 ** rng.uniform(-1, 2)
    speed, x, weights = float(dtype(speed)), *rounded(dtype, x, rng.normal(size=4))
    return (lambda x: weights @ np.sin(speed * x)), x, weights * speed * np.cos(speed * x.astype(float))


def of_a_logarithm(rng, dtype=np.float64):
    x = (10 ** rng.uniform(-0.7, 3, size=4)).astype(dtype)
    return (lambda x: np.log(x).sum()), x, 1 / x.astype(float)


def of_one_number(rng, dtype=np.float64):
    offset, x = 10 ** rng.uniform(0, LARGEST), dtype(rng.normal())
    return (lambda x: (x + offset) - offset + np.exp(x)), np.array(x), np.array(1 + np.exp(float(x)))


def of_a_product(rng, dtype=np.float64):
    left, x = rng.normal(size=(6, 3)) * 10 ** rng.uniform(-3, 2), rng.normal(size=(3, 2))
    left, x = rounded(dtype, left, x)
    exact = left.astype(float)
    decay = np.exp(-2 * abs(exact @ x))
    return (lambda x: np.tanh(left @ x).sum()), x, exact.T @ (4 * decay / (1 + decay) ** 2)


LARGEST = 8  # powers of ten
KINDS = [of_softmax, of_attention, of_squares, of_powers, of_waves, of_a_logarithm, of_one_number, of_a_product]
