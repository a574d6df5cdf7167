"""A fourth corpus, written from the statements alone, before anything was mended: chapter 9."""

import numpy as np

from . import wrong
from .parts import rope


def turned(x, angles, sign=1):
    cos, sin = np.cos(angles), sign * np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    out = np.zeros(x.shape)
    out[..., 0::2], out[..., 1::2] = a * cos - b * sin, a * sin + b * cos
    return out


# --- rope ------------------------------------------------------------------------------------------


@wrong("rope", "turns backwards", named=("inverse",))
def _(x, pos):
    d = x.shape[-1]
    return turned(x, pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d), -1)


@wrong("rope", "exponent i/d for pair i", named=("i_over_d",))
def _(x, pos):
    d = x.shape[-1]
    return turned(x, pos[:, None] * 10000.0 ** (-np.arange(d // 2) / d))


@wrong("rope", "pairs are the two halves", named=("half",))
def _(x, pos):
    d = x.shape[-1]
    a = pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    x1, x2 = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([x1 * np.cos(a) - x2 * np.sin(a), x1 * np.sin(a) + x2 * np.cos(a)], -1)


@wrong("rope", "plus in the first line", named=("no_minus",))
def _(x, pos):
    d = x.shape[-1]
    a = pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    out = np.zeros(x.shape)
    out[..., 0::2] = x[..., 0::2] * np.cos(a) + x[..., 1::2] * np.sin(a)
    out[..., 1::2] = x[..., 0::2] * np.sin(a) + x[..., 1::2] * np.cos(a)
    return out


@wrong("rope", "angles in degrees", named=("degrees",))
def _(x, pos):
    d = x.shape[-1]
    return turned(x, np.deg2rad(pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)))


@wrong("rope", "concatenates the two features instead of interleaving", named=("half_out",))
def _(x, pos):
    d = x.shape[-1]
    a = pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    f, s = x[..., 0::2], x[..., 1::2]
    return np.concatenate([f * np.cos(a) - s * np.sin(a), f * np.sin(a) + s * np.cos(a)], -1)


@wrong("rope", "positions rounded down to integers", named=("whole",))
def _(x, pos):
    d = x.shape[-1]
    return turned(x, np.asarray(pos).astype(int)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d))


@wrong("rope", "all pairs turn by the position", named=("one_speed",))
def _(x, pos):
    return turned(x, np.asarray(pos)[:, None] * np.ones(x.shape[-1] // 2))


# --- rope_scores -----------------------------------------------------------------------------------


@wrong("rope_scores", "divides by the root of d", named=("scaled",))
def _(q, k, pos_q, pos_k):
    return rope(q, pos_q) @ rope(k, pos_k).T / np.sqrt(q.shape[-1])


@wrong("rope_scores", "queries at their row numbers", named=("both_from_0",))
def _(q, k, pos_q, pos_k):
    return rope(q, np.arange(len(q))) @ rope(k, np.arange(len(k))).T


@wrong("rope_scores", "keys only are turned", named=("k_only",))
def _(q, k, pos_q, pos_k):
    return q @ rope(k, pos_k).T


@wrong("rope_scores", "positions of the other side")
def _(q, k, pos_q, pos_k):
    n, m = len(q), len(k)
    return rope(q, np.resize(pos_k, n)) @ rope(k, np.resize(pos_q, m)).T


@wrong("rope_scores", "turns the scores instead of the vectors: cosine of the distance")
def _(q, k, pos_q, pos_k):
    return (q @ k.T) * np.cos(pos_q[:, None] - pos_k)


@wrong("rope_scores", "keys are turned back", named=("opposite",))
def _(q, k, pos_q, pos_k):
    return rope(q, pos_q) @ rope(k, -pos_k).T


# --- rope_backward ---------------------------------------------------------------------------------


@wrong("rope_backward", "turns forward again", named=("forward",))
def _(d_out, pos):
    return rope(d_out, pos)


@wrong("rope_backward", "derivative of cos and sin as if pos was asked", named=("derivative_forward",))
def _(d_out, pos):
    d = d_out.shape[-1]
    a = pos[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    out = np.zeros(d_out.shape)
    out[..., 0::2] = -d_out[..., 0::2] * np.sin(a) - d_out[..., 1::2] * np.cos(a)
    out[..., 1::2] = d_out[..., 0::2] * np.cos(a) - d_out[..., 1::2] * np.sin(a)
    return out


@wrong("rope_backward", "minus at the cosine of the second line")
def _(d_out, pos):
    d = d_out.shape[-1]
    a = pos[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    c, s = np.cos(a), np.sin(a)
    out = np.zeros(d_out.shape)
    out[..., 0::2] = c * d_out[..., 0::2] + s * d_out[..., 1::2]
    out[..., 1::2] = s * d_out[..., 0::2] - c * d_out[..., 1::2]
    return out


@wrong("rope_backward", "first uses the already turned second feature", named=("overwritten",))
def _(d_out, pos):
    d = d_out.shape[-1]
    a = pos[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    c, s = np.cos(a), np.sin(a)
    g = np.array(d_out, dtype=float)
    g[..., 0::2] = c * g[..., 0::2] + s * g[..., 1::2]
    g[..., 1::2] = c * g[..., 1::2] - s * g[..., 0::2]
    return g


# --- alibi -----------------------------------------------------------------------------------------


@wrong("alibi", "slopes begin at 1 (heads numbered from 0)", named=("h_from_0",))
def _(h, n):
    m = 2.0 ** (-8 * np.arange(h) / h)
    t = np.arange(n)
    dist = t[:, None] - t
    return np.where(dist >= 0, -m[:, None, None] * dist, -np.inf)


@wrong("alibi", "bias is positive", named=("plus",))
def _(h, n):
    m = 2.0 ** (-8 * np.arange(1, h + 1) / h)
    t = np.arange(n)
    dist = t[:, None] - t
    return np.where(dist >= 0, m[:, None, None] * dist, -np.inf)


@wrong("alibi", "later keys pay, too, and are not hidden", named=("symmetric",))
def _(h, n):
    m = 2.0 ** (-8 * np.arange(1, h + 1) / h)
    t = np.arange(n)
    return -m[:, None, None] * abs(t[:, None] - t)


@wrong("alibi", "hides the earlier keys", named=("future",))
def _(h, n):
    m = 2.0 ** (-8 * np.arange(1, h + 1) / h)
    t = np.arange(n)
    dist = t - t[:, None]
    return np.where(dist >= 0, -m[:, None, None] * dist, -np.inf)


@wrong("alibi", "distance minus one")
def _(h, n):
    m = 2.0 ** (-8 * np.arange(1, h + 1) / h)
    t = np.arange(n)
    dist = t[:, None] - t
    return np.where(dist >= 0, -m[:, None, None] * np.maximum(dist - 1, 0), -np.inf)


@wrong("alibi", "slopes of 8 heads whatever h", named=("no_8",))
def _(h, n):
    m = 2.0 ** -np.arange(1, h + 1)
    t = np.arange(n)
    dist = t[:, None] - t
    return np.where(dist >= 0, -m[:, None, None] * dist, -np.inf)


@wrong("alibi", "slopes in reversed order", named=("reverse",))
def _(h, n):
    m = 2.0 ** (-8 * np.arange(h, 0, -1) / h)
    t = np.arange(n)
    dist = t[:, None] - t
    return np.where(dist >= 0, -m[:, None, None] * dist, -np.inf)


# --- sinusoidal ------------------------------------------------------------------------------------


@wrong("sinusoidal", "sin and cos exchanged", named=("swap",))
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] / 10000.0 ** (2 * (c // 2) / m)
    return np.where(c % 2 == 0, np.cos(a), np.sin(a))


@wrong("sinusoidal", "exponent of the column", named=("own_speed",))
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] / 10000.0 ** (c / m)
    return np.where(c % 2 == 0, np.sin(a), np.cos(a))


@wrong("sinusoidal", "halves side by side", named=("concat",))
def _(n, m):
    c = np.arange(0, m, 2)
    a = np.arange(n)[:, None] / 10000.0 ** (c / m)
    return np.concatenate([np.sin(a), np.cos(a)], 1)[:, :m]


@wrong("sinusoidal", "positions from 1", named=("pos_from_1",))
def _(n, m):
    c = np.arange(m)
    a = np.arange(1, n + 1)[:, None] / 10000.0 ** (2 * (c // 2) / m)
    return np.where(c % 2 == 0, np.sin(a), np.cos(a))


@wrong("sinusoidal", "times instead of divided", named=("times",))
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] * 10000.0 ** (2 * (c // 2) / m)
    return np.where(c % 2 == 0, np.sin(a), np.cos(a))


@wrong("sinusoidal", "m rounded up to even in the exponent", named=("even_above",))
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] / 10000.0 ** (2 * (c // 2) / (m + m % 2))
    return np.where(c % 2 == 0, np.sin(a), np.cos(a))


@wrong("sinusoidal", "the last cosine is put in for odd m")
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] / 10000.0 ** (2 * (c // 2) / m)
    out = np.where(c % 2 == 0, np.sin(a), np.cos(a))
    if m % 2:
        out[:, -1] = np.cos(a[:, -1])
    return out


@wrong("sinusoidal", "base 1000", named=("base_1000",))
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] / 1000.0 ** (2 * (c // 2) / m)
    return np.where(c % 2 == 0, np.sin(a), np.cos(a))
