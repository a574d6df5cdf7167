"""Losses of many kinds with gradients by hand: easy ones, saturated ones, and ones that rounding almost hides."""

import numpy as np

from attnlib.attention import attention, attention_backward
from attnlib.softmax import softmax, softmax_backward


def random_case(rng):
    """A loss, a point, and the right gradient there."""
    kind = KINDS[rng.integers(len(KINDS))]
    return kind(rng)


def of_softmax(rng):
    d_out, x = rng.normal(size=(2, 5)), rng.normal(size=(2, 5)) * 10 ** rng.uniform(-1, 1.5) + rng.normal() * 100
    return (lambda x: (d_out * softmax(x)).sum()), x, softmax_backward(d_out, softmax(x))


def of_attention(rng):
    size = rng.choice([0.3, 1.0, 3.0, 6.0])
    inputs = [size * rng.normal(size=(3, 4)), size * rng.normal(size=(5, 4)), rng.normal(size=(5, 2))]
    d_out = rng.normal(size=(3, 2))
    gradients = attention_backward(d_out, *inputs, attention(*inputs)[1])
    which = rng.integers(3)

    def loss(x):
        return (d_out * attention(*inputs[:which], x, *inputs[which + 1 :])[0]).sum()

    return loss, inputs[which], gradients[which]


def of_squares(rng):
    offset, x = rng.normal() * 10 ** rng.uniform(0, 9), rng.normal(size=3)
    return (lambda x: offset + (x**2).sum()), x, 2 * x


def of_powers(rng):
    degree, x = rng.integers(1, 8), rng.normal(size=4) * 10 ** rng.uniform(-3, 3)
    return (lambda x: (x**degree).sum()), x, degree * x ** (degree - 1)


def of_waves(rng):
    speed, x = 10 ** rng.uniform(-2, 2), rng.normal(size=4) * 10 ** rng.uniform(-1, 2)
    weights = rng.normal(size=4)
    return (lambda x: weights @ np.sin(speed * x)), x, weights * speed * np.cos(speed * x)


def of_a_logarithm(rng):
    x = 10 ** rng.uniform(-0.7, 3, size=4)
    return (lambda x: np.log(x).sum()), x, 1 / x


def of_one_number(rng):
    offset, x = 10 ** rng.uniform(0, LARGEST), rng.normal()
    return (lambda x: (x + offset) - offset + np.exp(x)), np.array(x), np.array(1 + np.exp(x))


def of_a_product(rng):
    left, x = rng.normal(size=(6, 3)) * 10 ** rng.uniform(-3, 2), rng.normal(size=(3, 2))
    decay = np.exp(-2 * abs(left @ x))
    return (lambda x: np.tanh(left @ x).sum()), x, left.T @ (4 * decay / (1 + decay) ** 2)


LARGEST = 8  # powers of ten
KINDS = [of_softmax, of_attention, of_squares, of_powers, of_waves, of_a_logarithm, of_one_number, of_a_product]
