"""What the exercises on rotary positions share: pairs of features that turn, in loops, and every way to turn them wrongly."""

import math

import numpy as np


def turned_in_loops(x, pos, direction=1):
    """Each pair as one complex number."""
    d, out = x.shape[-1], np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        for i in range(d // 2):
            angle = direction * float(pos[place[-1]]) / 10000 ** (2 * i / d)
            hand = complex(x[place][2 * i], x[place][2 * i + 1]) * complex(math.cos(angle), math.sin(angle))
            out[place][2 * i], out[place][2 * i + 1] = hand.real, hand.imag
    return out


def speeds(d, bugs=frozenset()):
    """Radians from one position to the next, for each pair."""
    exponents = np.arange(0, d, 2) / d
    if "i_over_d" in bugs:
        exponents = exponents / 2
    if "one_speed" in bugs:
        exponents = np.zeros(d // 2)
    if "to_the_end" in bugs:
        exponents = np.arange(d // 2) / max(d // 2 - 1, 1)
    return 10000.0 ** (exponents if "times" in bugs else -exponents)


def places(x, pos, bugs):
    """The position of each row, with an axis for the pairs."""
    if "pos_axis" in bugs:
        return np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1))
    if "pos_restart" in bugs:
        pos = np.arange(len(pos))
    if "whole" in bugs:
        pos = pos.astype(int)
    return (pos + ("pos_from_1" in bugs))[:, np.newaxis]


def turned(x, pos, bugs=frozenset(), direction=1):
    """The pairs of `x` turned by their angles, with the mistakes in `bugs`."""
    half = x.shape[-1] // 2
    angles = places(x, pos, bugs) * speeds(x.shape[-1], bugs)
    cos, sin = np.cos(angles), direction * np.sin(angles)
    if "inverse" in bugs:
        sin = -sin
    if "swap" in bugs:
        cos, sin = sin, cos
    first, second = (x[..., :half], x[..., half:]) if "half" in bugs else (x[..., 0::2], x[..., 1::2])
    one = first * cos - second * sin
    if "no_minus" in bugs:
        one = first * cos + second * sin
    two = (one if "overwritten" in bugs else first) * sin + second * cos
    if "minus_twice" in bugs:
        two = second * cos - first * sin
    if "own_only" in bugs:
        one, two = first * cos, second * cos
    if "derivative" in bugs:
        one, two = first * sin + second * cos, second * sin - first * cos
    if "added" in bugs:
        one, two = first + cos, second + sin
    if "half" in bugs or "half_out" in bugs:
        return np.concatenate([one, two], axis=-1)
    return np.stack([one, two], axis=-1).reshape(x.shape)
