"""The third corpus, rarer mistakes: chapters flash to training, and the puzzles."""

import math

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad
from .unforeseen_from_flash import tiles, turned

# --- flash to sharing -----------------------------------------------------------------------------


@wrong("online_softmax", "the factor has the square of the exponential", named=("factor_squared",))
def _(x, block):
    m, s = -np.inf, 0.0
    for a in range(0, len(x), block):
        part = x[a : a + block]
        new = max(m, part.max())
        if new > -np.inf:
            s = s * np.exp(2 * (m - new)) + np.exp(part - new).sum()
            m = new
    return m, s


@wrong("flash_traffic", "the stores of the logsumexps are forgotten", named=("no_logsumexp",))
def _(n, d, capacity):
    rows = (capacity - 2 * d) // (2 * d + 3)
    return n * d + math.ceil(n / rows) * 2 * n * d + n * d


@wrong("flash_traffic", "only the keys pass in each pass", named=("keys_only",))
def _(n, d, capacity):
    rows = (capacity - 2 * d) // (2 * d + 3)
    return n * d + math.ceil(n / rows) * n * d + n * d + n


@wrong("flash_traffic", "room for three rows of the stream")
def _(n, d, capacity):
    rows = (capacity - 3 * d) // (2 * d + 3)
    return n * d + math.ceil(n / rows) * 2 * n * d + n * d + n


@wrong("flash_backward", "the scores in the second pass are not scaled", named=("score_scale",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c = query.shape[1] ** -0.5
    p = np.exp(np.minimum(query @ key.T - logsumexp[:, None], 30))
    if causal:
        p = p * np.tri(len(query), len(key), len(key) - len(query))
    dq, dk, dv = (np.zeros(a.shape) for a in (query, key, value))
    for a in range(0, len(query), block_q):
        i = np.s_[a : a + block_q]
        ds = p[i] * (d_out[i] @ value.T - (d_out[i] * out[i]).sum(1)[:, None])
        dq[i] += c * ds @ key
        dk += c * ds.T @ query[i]
        dv += p[i].T @ d_out[i]
    return dq, dk, dv


@wrong("flash_backward", "the row mean has the other sign", named=("D_plus",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    row = -np.einsum("iv,iv->i", d_out, out)
    return tiles(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, row=row)


@wrong("merge_partials", "the smaller of the two logsumexps stands in front", named=("lse_smaller",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    top = np.maximum(logsumexp_a, logsumexp_b)
    safe = np.where(np.isneginf(top), 0, top)
    a, b = np.exp(logsumexp_a - safe), np.exp(logsumexp_b - safe)
    s = np.where(a + b > 0, a + b, 1)
    low = np.minimum(logsumexp_a, logsumexp_b)
    return (a / s)[:, None] * out_a + (b / s)[:, None] * out_b, low + np.log(s)


@wrong("backward_with_logsumexp", "the slope of the logsumexp is doubled", named=("doubled",))
def _(d_out, d_logsumexp, query, key, value):
    c = query.shape[1] ** -0.5
    p = softmax(c * np.einsum("id,jd->ij", query, key))
    ds = softmax_grad(np.einsum("iv,jv->ij", d_out, value), p) + 2 * p * d_logsumexp[:, None]
    return c * ds @ key, c * ds.T @ query, p.T @ d_out


@wrong("backward_with_logsumexp", "the row term is a mean over the features", named=("mean_of_features",))
def _(d_out, d_logsumexp, query, key, value):
    c = query.shape[1] ** -0.5
    p = softmax(c * np.einsum("id,jd->ij", query, key))
    row = np.mean(d_out * (p @ value), axis=1) - d_logsumexp
    ds = p * (d_out @ value.T - row[:, None])
    return c * ds @ key, c * ds.T @ query, p.T @ d_out


@wrong("ring_traffic", "three times in the backward", named=("back_three",))
def _(n, d, v, workers):
    once = (workers - 1) * n * (d + v)
    return once, 3 * once


# --- positions ------------------------------------------------------------------------------------

wrong("rope", "the angle is negative in the exponent's place", named=("times",))(lambda x, pos: turned(x, pos, base=1 / 10000.0))
wrong("rope", "positions from one on", named=("pos_from_1",))(lambda x, pos: turned(x, pos + 1))
wrong("rope_scores", "only the queries are turned", named=("q_only",))(lambda q, k, pos_q, pos_k: turned(q, pos_q) @ k.T)
wrong("rope_scores", "scaled by the root of d", named=("scaled",))(lambda q, k, pos_q, pos_k: turned(q, pos_q) @ turned(k, pos_k).T / math.sqrt(q.shape[1]))


@wrong("rope_backward", "one of the two sines keeps its sign", named=("minus_twice",))
def _(d_out, pos):
    out = np.empty(d_out.shape)
    d = d_out.shape[-1]
    for i in range(0, d, 2):
        a = pos * 10000.0 ** (-i / d)
        out[..., i] = d_out[..., i] * np.cos(a) + d_out[..., i + 1] * np.sin(a)
        out[..., i + 1] = d_out[..., i + 1] * np.cos(a) + d_out[..., i] * np.sin(a)
    return out


@wrong("alibi", "base e in the place of two", named=("base_e",))
def _(h, n):
    i, j = np.indices((n, n))
    m = np.exp(-8 * np.arange(1, h + 1) / h)
    return np.where(j > i, -np.inf, m[:, None, None] * (j - i))


@wrong("alibi", "a distance counted from one", named=("from_one",))
def _(h, n):
    i, j = np.indices((n, n))
    m = 0.5 ** (8 * np.arange(1, h + 1) / h)
    return np.where(j > i, -np.inf, -m[:, None, None] * (i - j + 1))


@wrong("alibi", "four for eight", named=("exponent_4",))
def _(h, n):
    i, j = np.indices((n, n))
    m = 0.5 ** (4 * np.arange(1, h + 1) / h)
    return np.where(j > i, -np.inf, m[:, None, None] * (j - i))


@wrong("sinusoidal", "pairs are counted from one", named=("pairs_from_1",))
def _(n, m):
    out = np.empty((n, m))
    for c in range(m):
        a = np.arange(n) / 10000 ** (2 * (c // 2 + 1) / m)
        out[:, c] = np.cos(a) if c % 2 else np.sin(a)
    return out


@wrong("sinusoidal", "the exponent without its factor of two", named=("i_over_d",))
def _(n, m):
    out = np.empty((n, m))
    for c in range(m):
        a = np.arange(n) / 10000 ** ((c // 2) / m)
        out[:, c] = np.cos(a) if c % 2 else np.sin(a)
    return out


# --- decoding to puzzles --------------------------------------------------------------------------


@wrong("kv_cache", "the value of the last token is not kept")
def _(x, query_weight, key_weight, value_weight, window):
    q, k, v = x @ query_weight, x @ key_weight, x @ value_weight
    out = []
    for t in range(len(x)):
        a = max(0, t + 1 - window)
        p = softmax(k[a : t + 1] @ q[t] / math.sqrt(q.shape[1]))
        out.append(p[:-1] @ v[a:t] if t else p @ v[a : t + 1])
    return np.array(out)


@wrong("kv_cache", "keys from the query's matrix", named=("query_twice",))
def _(x, query_weight, key_weight, value_weight, window):
    q, v = x @ query_weight, x @ value_weight
    out = []
    for t in range(len(x)):
        a = max(0, t + 1 - window)
        out.append(softmax(q[a : t + 1] @ q[t] / math.sqrt(q.shape[1])) @ v[a : t + 1])
    return np.array(out)


@wrong("paged_lookup", "row counted from the other end of the page", named=("from_the_end",))
def _(pages, table, positions):
    size = pages.shape[1]
    return np.array([pages[table[p // size], size - 1 - p % size] for p in positions])


@wrong("paged_lookup", "places counted from one", named=("from_one",))
def _(pages, table, positions):
    size = pages.shape[1]
    return np.array([pages[table[(p - 1) // size], (p - 1) % size] for p in positions])


@wrong("linear_step", "the state is averaged with the new pair", named=("averaged",))
def _(state, total, query, key, value):
    s, t = (state + key[:, None] * value) / 2, (total + key) / 2
    return s, t, query @ s / (query @ t)


@wrong("linear_step", "the total takes no part in the new token's key", named=("own_weight_1",))
def _(state, total, query, key, value):
    s = state + key[:, None] * value
    return s, total + key, query @ s / (query @ total + 1)


@wrong("cross_entropy_backward", "the right token is added", named=("added",))
def _(weights, targets, keep):
    d = weights.copy()
    for b, i in np.ndindex(targets.shape):
        d[b, i, targets[b, i]] += 1
    return d * keep[..., None] / keep.sum()


@wrong("cross_entropy_backward", "the right logit alone has a slope", named=("only_target",))
def _(weights, targets, keep):
    d = np.zeros(weights.shape)
    for b, i in np.ndindex(targets.shape):
        t = targets[b, i]
        d[b, i, t] = (weights[b, i, t] - 1) * keep[b, i]
    return d / keep.sum()


@wrong("adam_direction", "the second mean by the first rate", named=("square_by_beta1",))
def _(gradients, beta1, beta2, epsilon):
    m, v = 0, 0
    for g in gradients:
        m, v = beta1 * m + (1 - beta1) * g, beta1 * v + (1 - beta1) * g * g
    t = len(gradients)
    return m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + epsilon)


@wrong("adam_direction", "epsilon is added twice", named=("epsilon_twice",))
def _(gradients, beta1, beta2, epsilon):
    m, v = 0, 0
    for g in gradients:
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    t = len(gradients)
    return m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + 2 * epsilon)


@wrong("soft_maximum_slopes", "the mean score is added", named=("path_added",))
def _(x, temperature):
    z = (x - x.max(-1, keepdims=True)) / temperature
    lse = np.log(np.exp(z).sum(-1))
    p = np.exp(z - lse[..., None])
    return p, lse + (p * z).sum(-1)


@wrong("softcap_backward", "the second part of the cap's slope is added", named=("sign",))
def _(d_out, scores, cap):
    u = scores / cap
    slope = np.cosh(u) ** -2
    return d_out * slope, np.vdot(d_out, np.tanh(u) + u * slope)


@wrong("softcap_backward", "the mean over the scores", named=("cap_mean",))
def _(d_out, scores, cap):
    u = scores / cap
    slope = np.cosh(u) ** -2
    return d_out * slope, np.mean(d_out * (np.tanh(u) - u * slope))


@wrong("rms_backward", "the gain comes in with its row mean only", named=("no_own_gain",))
def _(d_out, query, gain):
    r = np.sqrt(np.mean(np.square(query), -1))[..., None]
    u = query / r
    g = d_out * gain
    return (d_out - u * np.mean(g * u, -1, keepdims=True)) / r, np.sum((d_out * u).reshape(-1, len(gain)), 0)


@wrong("rms_backward", "the gain's slope sees the queries as they are", named=("gain_unscaled",))
def _(d_out, query, gain):
    r = np.sqrt(np.mean(np.square(query), -1))[..., None]
    u = query / r
    g = d_out * gain
    return (g - u * np.mean(g * u, -1, keepdims=True)) / r, np.sum((d_out * query).reshape(-1, len(gain)), 0)
