"""Rotary embeddings one pair at a time, as complex numbers."""

import math

import numpy as np

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, H, N, D = 2, 3, 5, 8


def rotary_by_complex_numbers(x, positions, base=10000.0):
    *rows, d = x.shape
    positions = np.broadcast_to(positions, rows)
    out = np.empty(x.shape)
    for row in np.ndindex(*rows):
        for i in range(d // 2):
            hand = complex(x[row][2 * i], x[row][2 * i + 1])
            hand *= complex(math.cos(a := positions[row] * base ** (-2 * i / d)), math.sin(a))
            out[row][2 * i], out[row][2 * i + 1] = hand.real, hand.imag
    return out
