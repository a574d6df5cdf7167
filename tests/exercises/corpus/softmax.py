"""Wrong answers to `softmax`."""

import math

import numpy as np

from . import wrong


@wrong("softmax", "a loop that shifts by the smallest score", named=("shift_min",), says="overflow|NaN")
def _(x):
    out = []
    for row in x.reshape(-1, x.shape[-1]):
        e = [math.exp(v - min(row)) if v - min(row) < 700 else math.inf for v in row]
        out.append([v / sum(e) for v in e])
    return np.array(out).reshape(x.shape)


wrong("softmax", "divides by one more than the sum", says="sum to 1")(
    lambda x: np.exp(x - x.max(-1, keepdims=True)) / (1 + np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))
)
