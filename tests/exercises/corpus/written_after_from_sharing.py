"""A second corpus: wrong answers that were written when the causes were finished, to exercises from chapter 8 on."""

import math

import numpy as np

from . import wrong
from .parts import softmax

# --- sharing --------------------------------------------------------------------------------------

wrong("ring_traffic", "counted for one worker in the forward alone")(
    lambda n, d, v, workers: ((workers - 1) * n * (d + v) // workers, 2 * (workers - 1) * n * (d + v))
)
wrong("ring_traffic", "all workers to all workers", named=("n_each",))(
    lambda n, d, v, workers: (workers * (workers - 1) * n * (d + v), 2 * workers * (workers - 1) * n * (d + v))
)
wrong("ring_traffic", "twice d", named=("as_wide",))(lambda n, d, v, workers: ((workers - 1) * n * 2 * d, 2 * (workers - 1) * n * 2 * d))


@wrong("striped_pairs", "the diagonal is left out where the own keys are met", named=("strict",))
def _(n, workers):
    s = n // workers
    w, t = np.indices((workers, workers))
    return np.where((w - t) % workers < w, s * (s + 1) // 2, s * (s - 1) // 2)


@wrong("striped_pairs", "workers counted from one")
def _(n, workers):
    s = n // workers
    w, t = np.indices((workers, workers)) + 1
    return np.where((w - t) % workers <= w, s * (s + 1) // 2, s * (s - 1) // 2)


# --- positions ------------------------------------------------------------------------------------


@wrong("sinusoidal", "1000 for 10000", named=("base_1000",))
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] / 1000 ** (2 * (c // 2) / m)
    return np.where(c % 2, np.cos(a), np.sin(a))


@wrong("sinusoidal", "degrees", named=("degrees",))
def _(n, m):
    c = np.arange(m)
    a = np.deg2rad(np.arange(n)[:, None] / 10000 ** (2 * (c // 2) / m))
    return np.where(c % 2, np.cos(a), np.sin(a))


@wrong("sinusoidal", "a minus in the cosine columns", named=("cosine_minus",))
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] / 10000 ** (2 * (c // 2) / m)
    return np.where(c % 2, -np.cos(a), np.sin(a))


@wrong("sinusoidal", "scaled by the root of m")
def _(n, m):
    c = np.arange(m)
    a = np.arange(n)[:, None] / 10000 ** (2 * (c // 2) / m)
    return np.where(c % 2, np.cos(a), np.sin(a)) * math.sqrt(m)


def turned(x, pos, base=10000.0, sign=1.0, power=1.0):
    d = x.shape[-1]
    a = pos[:, None] / base ** (power * np.arange(0, d, 2) / d)
    z = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(sign * 1j * a)
    out = np.empty(x.shape)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


wrong("rope", "base 1000", named=("base_1000",))(lambda x, pos: turned(x, pos, base=1000.0))
wrong("rope", "turned twice", named=("turned_twice",))(lambda x, pos: turned(turned(x, pos), pos))
wrong("rope", "exponents twice as large", named=("exponent_twice",))(lambda x, pos: turned(x, pos, power=2.0))
wrong("rope", "only the first pair turns", named=("first_pair",))(lambda x, pos: np.concatenate([turned(x, pos)[..., :2], x[..., 2:]], axis=-1))
wrong("rope", "the last position for all", named=("last_pos",))(lambda x, pos: turned(x, np.full(len(pos), pos[-1])))
wrong("rope", "rounded angles")(lambda x, pos: turned(x, pos).round(3))
wrong("rope_scores", "the scaled difference of positions", named=("twice",))(lambda q, k, pos_q, pos_k: turned(q, 2 * pos_q) @ turned(k, 2 * pos_k).T)
wrong("rope_scores", "keys turned by the queries' first position", named=("keys_at_one",))(
    lambda q, k, pos_q, pos_k: turned(q, pos_q) @ turned(k, np.full(len(pos_k), pos_q[0])).T
)
wrong("rope_backward", "half the turn back", named=("half_angle",))(lambda d_out, pos: turned(d_out, pos / 2, sign=-1.0))
wrong("rope_backward", "turned back, base 1000", named=("base_1000",))(lambda d_out, pos: turned(d_out, pos, base=1000.0, sign=-1.0))


@wrong("alibi", "slopes of base e", named=("base_e",))
def _(h, n):
    m = np.exp(-8 * np.arange(1, h + 1) / h)
    r = np.arange(n)[:, None] - np.arange(n)
    return np.where(r >= 0, -m[:, None, None] * r, -np.inf)


@wrong("alibi", "the same slope for all heads, that of the first", named=("one_slope",))
def _(h, n):
    r = np.arange(n)[:, None] - np.arange(n)
    return np.repeat(np.where(r >= 0, -(2.0 ** (-8 / h)) * r, -np.inf)[None], h, axis=0)


@wrong("alibi", "the root of the distance", named=("root_distance",))
def _(h, n):
    m = 2.0 ** (-8 * np.arange(1, h + 1) / h)
    r = np.arange(n)[:, None] - np.arange(n)
    return np.where(r >= 0, -m[:, None, None] * np.sqrt(np.maximum(r, 0)), -np.inf)


# --- decoding and serving -------------------------------------------------------------------------


@wrong("kv_cache", "the cache is emptied when it is full", named=("cleared",))
def _(x, query_weight, key_weight, value_weight, window):
    ks, vs, out = [], [], []
    for t in x:
        if len(ks) == window:
            ks, vs = [], []
        ks.append(t @ key_weight)
        vs.append(t @ value_weight)
        out.append(softmax(np.array(ks) @ (t @ query_weight) / math.sqrt(key_weight.shape[1])) @ np.array(vs))
    return np.array(out)


@wrong("kv_cache", "keys are stored, values are those of the last tokens in reverse", named=("v_prepend",))
def _(x, query_weight, key_weight, value_weight, window):
    ks, vs, out = [], [], []
    for t in x:
        ks, vs = [*ks, t @ key_weight][-window:], [*vs, t @ value_weight][-window:]
        out.append(softmax(np.array(ks) @ (t @ query_weight) / math.sqrt(key_weight.shape[1])) @ np.array(vs[::-1]))
    return np.array(out)


@wrong("kv_cache", "the key asks", named=("key_asks",))
def _(x, query_weight, key_weight, value_weight, window):
    ks, vs, out = [], [], []
    for t in x:
        ks, vs = [*ks, t @ key_weight][-window:], [*vs, t @ value_weight][-window:]
        out.append(softmax(np.array(ks) @ ks[-1] / math.sqrt(key_weight.shape[1])) @ np.array(vs))
    return np.array(out)


wrong("paged_lookup", "the table is not used", named=("no_table",))(lambda pages, table, positions: pages.reshape(-1, pages.shape[2])[positions])
wrong("paged_lookup", "the slot counted from the end", named=("from_the_end",))(
    lambda pages, table, positions: pages[table[positions // pages.shape[1]], -1 - positions % pages.shape[1]]
)
wrong("linear_step", "the value is divided by the number of features")(
    lambda state, total, query, key, value: (
        state + np.outer(key, value) / len(key), total + key, query @ (state + np.outer(key, value) / len(key)) / (query @ (total + key))
    )
)
wrong("linear_step", "the output is divided by the sum of the query")(
    lambda state, total, query, key, value: (
        state + np.outer(key, value), total + key, query @ (state + np.outer(key, value)) / query.sum()
    )
)

# --- training -------------------------------------------------------------------------------------


@wrong("cross_entropy_backward", "smoothed targets", named=("smoothed",))
def _(weights, targets, keep):
    right = 0.9 * np.eye(weights.shape[-1])[targets] + 0.1 / weights.shape[-1]
    return (weights - right) * keep[..., None] / keep.sum()


@wrong("cross_entropy_backward", "each row less its mean", named=("times_weights",))
def _(weights, targets, keep):
    d = (weights - np.eye(weights.shape[-1])[targets]) * keep[..., None] / keep.sum()
    return d * weights


@wrong("adam_direction", "absolute values for the squares", named=("absolute",))
def _(gradients, beta1, beta2, epsilon):
    m, s = 0.0, 0.0
    for g in gradients:
        m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * abs(g)
    t = len(gradients)
    return m / (1 - beta1**t) / (np.sqrt(s / (1 - beta2**t)) + epsilon)


@wrong("adam_direction", "the gradients in the opposite order", named=("backwards",))
def _(gradients, beta1, beta2, epsilon):
    m, s = 0.0, 0.0
    for g in gradients[::-1]:
        m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g * g
    t = len(gradients)
    return m / (1 - beta1**t) / (np.sqrt(s / (1 - beta2**t)) + epsilon)


# --- puzzles --------------------------------------------------------------------------------------


@wrong("soft_maximum_slopes", "the temperature multiplies inside", named=("multiplied",))
def _(x, temperature):
    z = (x - x.max(-1, keepdims=True)) * temperature
    lse = np.log(np.exp(z).sum(-1))
    p = np.exp(z - lse[..., None])
    return p, lse - (p * z).sum(-1)


@wrong("soft_maximum_slopes", "the entropy without its weights")
def _(x, temperature):
    p = softmax(x / temperature)
    return p, -np.log(p).sum(-1)


@wrong("softcap_backward", "tanh in the place of its slope", named=("scores_tanh",))
def _(d_out, scores, cap):
    t = np.tanh(scores / cap)
    return d_out * t, (d_out * (t - scores / cap * (1 - t**2))).sum()


@wrong("softcap_backward", "the cap multiplies inside")
def _(d_out, scores, cap):
    t = np.tanh(scores * cap)
    return d_out * (1 - t**2), (d_out * (t - scores * cap * (1 - t**2))).sum()


@wrong("rms_backward", "the mean is taken off first, as in a layer norm", named=("layer_norm",))
def _(d_out, query, gain):
    c = query - query.mean(-1, keepdims=True)
    r = np.sqrt((c**2).mean(-1, keepdims=True))
    y, g = c / r, d_out * gain
    return (g - y * (g * y).mean(-1, keepdims=True)) / r, (d_out * y).reshape(-1, len(gain)).sum(0)


@wrong("rms_backward", "d_gain is a mean over the queries", named=("gain_mean",))
def _(d_out, query, gain):
    r = np.sqrt((query**2).mean(-1, keepdims=True))
    y, g = query / r, d_out * gain
    return (g - y * (g * y).mean(-1, keepdims=True)) / r, (d_out * y).reshape(-1, len(gain)).mean(0)
