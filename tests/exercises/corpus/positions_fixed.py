"""Wrong answers to `sinusoidal` and `alibi`, whose tables depend on sizes alone, as readers may write them."""

import numpy as np

from . import wrong


@wrong("sinusoidal", "sines and cosines side by side", named=("concat",))
def side_by_side(n, m):
    angles = np.outer(np.arange(n), 10000 ** (-np.arange(0, m, 2) / m))
    return np.hstack([np.sin(angles), np.cos(angles[:, : m // 2])])


@wrong("sinusoidal", "the cosine first", named=("swap",))
def cosine_first(n, m):
    return np.array([[(np.cos, np.sin)[c % 2](p / 10000 ** (2 * (c // 2) / m)) for c in range(m)] for p in range(n)])


@wrong("sinusoidal", "the exponent without its 2", named=("i_over_d",))
def without_two(n, m):
    pos, i = np.arange(n)[:, None], np.arange(m) // 2
    return np.where(np.arange(m) % 2, np.cos(pos / 10000 ** (i / m)), np.sin(pos / 10000 ** (i / m)))


@wrong("sinusoidal", "the column in place of the pair", named=("col_freq",))
def column_as_pair(n, m):
    angles = np.arange(n)[:, None] / np.power(10000, 2 * np.arange(m) / m)
    angles[:, 0::2], angles[:, 1::2] = np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])
    return angles


@wrong("sinusoidal", "an exponent for each column", named=("own_speed",))
def exponent_of_each_column(n, m):
    angles = np.arange(n)[:, np.newaxis] / 10000 ** (np.arange(m) / m)
    return np.where(np.arange(m) % 2, np.cos(angles), np.sin(angles))


@wrong("sinusoidal", "the power multiplied", named=("times",))
def power_multiplied(n, m):
    out = np.zeros((n, m))
    for p, c in np.ndindex(n, m):
        out[p, c] = (np.cos if c % 2 else np.sin)(p * 10000 ** (2 * (c // 2) / m))
    return out


@wrong("sinusoidal", "counted from 1", named=("pos_from_1",))
def from_one(n, m):
    angles = np.arange(1, n + 1)[:, None] * 10000 ** (-(np.arange(m) // 2 * 2) / m)
    return np.where(np.arange(m) % 2 == 0, np.sin(angles), np.cos(angles))


@wrong("sinusoidal", "one speed for all pairs", named=("one_speed",))
def one_speed(n, m):
    pos = np.arange(n)[:, None] * np.ones(m)
    return np.where(np.arange(m) % 2 == 0, np.sin(pos), np.cos(pos))


@wrong("sinusoidal", "sines in every column", named=("sines_alone",))
def sines(n, m):
    return np.sin(np.arange(n)[:, None] / 10000 ** (np.arange(m) // 2 * 2 / m))


@wrong("sinusoidal", "the usual listing, which no odd width survives", says=r"stops with ValueError")
def usual_listing(n, m):
    out, speeds = np.zeros((n, m)), np.exp(np.arange(0, m, 2) * -(np.log(10000.0) / m))
    out[:, 0::2] = np.sin(np.arange(n)[:, None] * speeds)
    out[:, 1::2] = np.cos(np.arange(n)[:, None] * speeds)
    return out


@wrong("sinusoidal", "an odd width as the even one below it", named=("odd_short", "even_width"), says="5, 6")
def even_below(n, m):
    angles = np.arange(n)[:, None] / 10000 ** (2 * np.arange(m // 2) / m)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, m // 2 * 2)


@wrong("sinusoidal", "an odd width cut from the next even one", named=("even_above",))
def next_even(n, m):
    width = m + m % 2
    angles = np.arange(n)[:, None] / 10000 ** (2 * (np.arange(width) // 2) / width)
    return np.where(np.arange(width) % 2 == 0, np.sin(angles), np.cos(angles))[:, :m]


@wrong("sinusoidal", "a base of 1000", named=("base_1000",), says=r"right|wrong|differ")
def base_1000(n, m):
    angles = np.arange(n)[:, None] / 1000 ** (np.arange(m) // 2 * 2 / m)
    return np.where(np.arange(m) % 2 == 0, np.sin(angles), np.cos(angles))


# --- alibi ----------------------------------------------------------------------------------------


def parts(h, n):
    slopes = 2.0 ** (-8 / h * np.arange(1, h + 1))
    return slopes.reshape(h, 1, 1), np.arange(n)[:, None] - np.arange(n)


def hide(bias):
    return bias + np.triu(np.full(bias.shape[-2:], -np.inf), 1)


@wrong("alibi", "far keys are rewarded", named=("plus",))
def rewarded(h, n):
    slopes, distance = parts(h, n)
    return hide(slopes * distance)


@wrong("alibi", "the price in place of the bias, and an infinite one for the future", named=("prices",))
def prices(h, n):
    slopes, distance = parts(h, n)
    return np.where(distance < 0, np.inf, slopes * distance)


@wrong("alibi", "heads from 0", named=("h_from_0",))
def heads_from_0(h, n):
    slopes = np.array([2 ** (-8 * i / h) for i in range(h)])
    return hide(-slopes[:, None, None] * parts(h, n)[1])


@wrong("alibi", "the gentlest head first", named=("reverse",))
def gentlest_first(h, n):
    slopes, distance = parts(h, n)
    return hide(-slopes[::-1] * distance)


@wrong("alibi", "no mask", named=("no_mask",))
def no_mask(h, n):
    slopes, distance = parts(h, n)
    return -(slopes * distance)


@wrong("alibi", "the absolute distance", named=("symmetric",))
def absolute(h, n):
    slopes, distance = parts(h, n)
    return -slopes * abs(distance)


@wrong("alibi", "one half, one quarter, and so on, for any number of heads", named=("no_8",))
def halves(h, n):
    return hide(-(0.5 ** np.arange(1, h + 1))[:, None, None] * parts(h, n)[1])


@wrong("alibi", "the future as 0", named=("zero_hidden",))
def future_as_zero(h, n):
    slopes, distance = parts(h, n)
    return np.tril(-slopes * distance)


@wrong("alibi", "a large number for the future", named=("finite",))
def large_number(h, n):
    slopes, distance = parts(h, n)
    return np.where(distance < 0, -1e9, -slopes * distance)


@wrong("alibi", "the smallest number for the future", named=("finite",), says="infinite|inf")
def smallest_number(h, n):
    slopes, distance = parts(h, n)
    return np.where(distance < 0, np.finfo(float).min, -slopes * distance)


@wrong("alibi", "key minus query, and the past hidden", named=("future",))
def past_hidden(h, n):
    slopes, distance = parts(h, n)
    return np.where(distance <= 0, slopes * distance, -np.inf)


@wrong("alibi", "the token itself hidden", named=("mask_self",))
def itself_hidden(h, n):
    slopes, distance = parts(h, n)
    return np.where(distance > 0, -slopes * distance, -np.inf)


@wrong("alibi", "the key's place alone, as some implementations have it", named=("to_start",))
def place_alone(h, n):
    return hide(parts(h, n)[0] * np.arange(n) * np.ones((n, 1)))


@wrong("alibi", "one axis too few", says=r"shape")
def first_head_alone(h, n):
    slopes, distance = parts(h, n)
    return hide(-slopes[0] * distance)
