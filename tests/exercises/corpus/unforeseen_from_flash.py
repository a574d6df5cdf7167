"""A third corpus, written before its author had read the messages: chapters flash to training, and the puzzles."""

import math

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad

# --- flash ----------------------------------------------------------------------------------------


@wrong("online_softmax", "the old sum is scaled by the block's maximum, not the new one", named=("sum_local",))
def _(x, block):
    m, s = -np.inf, 0.0
    for part in np.split(x, range(block, len(x), block)):
        top = part.max()
        if max(m, top) == -np.inf:
            continue
        if m > -np.inf:
            s *= math.exp(m - top) if top > m else 1.0
        s += np.exp(part - top).sum()
        m = max(m, top)
    return m, s


@wrong("online_softmax", "the block's exponentials are averaged", named=("mean",))
def _(x, block):
    m, s = -np.inf, 0.0
    for a in range(0, len(x), block):
        part = x[a : a + block]
        new = np.maximum(m, np.max(part))
        if np.isneginf(new):
            continue
        s = s * np.exp(m - new) + np.mean(np.exp(part - new))
        m = new
    return m, s


def tiled(query, key, value, block, causal, aligned=True, rescaled=True):
    """The book's loop in other words, with one mistake if an argument is False."""
    n, k = len(query), len(key)
    a, m, s = np.zeros((n, value.shape[1]), query.dtype), np.full(n, -np.inf, query.dtype), np.zeros(n, query.dtype)
    for start in range(0, k, block):
        keys, values = key[start : start + block], value[start : start + block]
        x = query @ keys.T / query.shape[1] ** 0.5
        if causal:
            x = np.where(start + np.arange(len(keys)) <= np.arange(n)[:, None] + aligned * (k - n), x, -np.inf)
        new = np.maximum(m, x.max(1))
        safe = np.where(np.isneginf(new), 0, new)
        e = np.exp(x - safe[:, None])
        f = np.exp(m - safe)
        s, a, m = s * f + e.sum(1), (a * f[:, None] if rescaled else a) + e @ values, new
    s = np.where(s > 0, s, 1)
    return a / s[:, None], m + np.log(s)


wrong("flash_forward", "the rescaling of the outputs is forgotten", named=("o_no_rescale",))(
    lambda query, key, value, block, causal: tiled(query, key, value, block, causal, rescaled=False))
wrong("flash_forward", "queries are aligned with the first keys", named=("no_offset",))(
    lambda query, key, value, block, causal: tiled(query, key, value, block, causal, aligned=False))


@wrong("flash_traffic", "a pass that is not full is left out", named=("drop_tail",))
def _(n, d, capacity):
    rows = (capacity - 2 * d) // (2 * d + 3)
    return n * d + (n // rows) * 2 * n * d + n * d + n


# --- recompute ------------------------------------------------------------------------------------


def tiles(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, scale=None, row=None, late=0):
    c = query.shape[1] ** -0.5
    d = (d_out * out).sum(1) if row is None else row
    dq, dk, dv = (np.zeros(a.shape) for a in (query, key, value))
    for a in range(0, len(query), block_q):
        for b in range(0, len(key), block_k):
            i, j = np.s_[a : a + block_q], np.s_[b : b + block_k]
            p = np.exp(c * query[i] @ key[j].T - logsumexp[i, None])
            if causal:
                rows, columns = np.arange(len(query))[i], np.arange(len(key))[j]
                p = p * (columns <= rows[:, None] + len(key) - len(query) + late)
            dv[j] += p.T @ d_out[i]
            ds = p * (d_out[i] @ value[j].T - d[i, None])
            ds = ds * (c if scale is None else scale)
            dq[i] += ds @ key[j]
            dk[j] += ds.T @ query[i]
    return dq, dk, dv


@wrong("flash_backward", "the row mean is the mean of the products", named=("D_mean",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    row = np.mean(d_out * out, axis=1)
    return tiles(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, row=row)


@wrong("flash_backward", "no scale on the way back", named=("no_scale",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return tiles(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, scale=1.0)


@wrong("flash_backward", "the mask hides the query's own key", named=("strict",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return tiles(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, late=-1)


@wrong("merge_partials", "the outputs are averaged with equal shares", named=("average",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    return (out_a + out_b) / 2, np.logaddexp(logsumexp_a, logsumexp_b)


@wrong("merge_partials", "the shares are exchanged", named=("swapped",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    lse = np.logaddexp(logsumexp_a, logsumexp_b)
    safe = np.where(np.isneginf(lse), 0, lse)
    return np.exp(logsumexp_b - safe)[:, None] * out_a + np.exp(logsumexp_a - safe)[:, None] * out_b, lse


@wrong("merge_partials", "the logsumexps are averaged", named=("lse_averaged",), says="")
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    lse = np.logaddexp(logsumexp_a, logsumexp_b)
    safe = np.where(np.isneginf(lse), 0, lse)
    out = np.exp(logsumexp_a - safe)[:, None] * out_a + np.exp(logsumexp_b - safe)[:, None] * out_b
    return out, (logsumexp_a + logsumexp_b) / 2


@wrong("backward_with_logsumexp", "the sign of the new term", named=("sign",))
def _(d_out, d_logsumexp, query, key, value):
    c = query.shape[1] ** -0.5
    p = softmax(c * np.einsum("id,jd->ij", query, key))
    ds = softmax_grad(np.einsum("iv,jv->ij", d_out, value), p) - p * d_logsumexp[:, None]
    return c * ds @ key, c * ds.T @ query, p.T @ d_out


@wrong("backward_with_logsumexp", "the new term without the weights", named=("unweighted",))
def _(d_out, d_logsumexp, query, key, value):
    c = query.shape[1] ** -0.5
    p = softmax(c * np.einsum("id,jd->ij", query, key))
    ds = softmax_grad(np.einsum("iv,jv->ij", d_out, value), p) + d_logsumexp[:, None]
    return c * ds @ key, c * ds.T @ query, p.T @ d_out


# --- sharing --------------------------------------------------------------------------------------


@wrong("ring_traffic", "a full round in the forward", named=("move_too_many",))
def _(n, d, v, workers):
    return workers * n * (d + v), 2 * (workers - 1) * n * (d + v)


@wrong("striped_pairs", "the keys go round the other way", named=("direction",))
def _(n, workers):
    m = n // workers
    out = np.zeros((workers, workers), dtype=int)
    for w in range(workers):
        for t in range(workers):
            out[w, t] = m * (m + 1) // 2 if (w + t) % workers <= w else m * (m - 1) // 2
    return out


# --- positions ------------------------------------------------------------------------------------


def turned(x, pos, base=10000.0, sign=1.0, shift=0):
    out = np.empty(np.shape(x))
    d = x.shape[-1]
    for i in range(d // 2):
        a = np.asarray(pos) * base ** (-2 * (i + shift) / d)
        c, s = np.cos(a), sign * np.sin(a)
        out[..., 2 * i] = c * x[..., 2 * i] - s * x[..., 2 * i + 1]
        out[..., 2 * i + 1] = s * x[..., 2 * i] + c * x[..., 2 * i + 1]
    return out


wrong("rope", "loops, pairs counted from one", named=("pairs_from_1",))(lambda x, pos: turned(x, pos, shift=1))


@wrong("rope", "the pair is the feature and the one half further on", named=("half",))
def _(x, pos):
    h = x.shape[-1] // 2
    a = np.outer(pos, 10000.0 ** (-np.arange(h) / h))
    return np.concatenate([x[..., :h] * np.cos(a) - x[..., h:] * np.sin(a), x[..., :h] * np.sin(a) + x[..., h:] * np.cos(a)], axis=-1)


@wrong("rope", "the angle counts every feature", named=("i_over_d",))
def _(x, pos):
    d = x.shape[-1]
    out = np.empty(x.shape)
    for i in range(0, d, 2):
        a = pos / 10000 ** (i / 2 / d)
        out[..., i], out[..., i + 1] = x[..., i] * np.cos(a) - x[..., i + 1] * np.sin(a), x[..., i] * np.sin(a) + x[..., i + 1] * np.cos(a)
    return out


wrong("rope_scores", "keys at the place of the queries' sign", named=("opposite",))(lambda q, k, pos_q, pos_k: turned(q, pos_q) @ turned(k, pos_k, sign=-1.0).T)
wrong("rope_scores", "positions from the first key on", named=("both_from_0",))(lambda q, k, pos_q, pos_k: turned(q, pos_q - pos_q[0]) @ turned(k, pos_k - pos_k[0]).T)
wrong("rope_backward", "by another base", named=("i_over_d",))(lambda d_out, pos: turned(d_out, -pos, base=100.0))


@wrong("alibi", "heads counted from zero", named=("h_from_0",))
def _(h, n):
    out = np.full((h, n, n), -np.inf)
    for head in range(h):
        for i in range(n):
            for j in range(i + 1):
                out[head, i, j] = -(2 ** (-8 * head / h)) * (i - j)
    return out


@wrong("alibi", "a reward for distance", named=("plus",))
def _(h, n):
    i, j = np.indices((n, n))
    m = np.array([2 ** (-8 * head / h) for head in range(1, h + 1)])
    return np.where(j > i, -np.inf, m[:, None, None] * (i - j))


@wrong("sinusoidal", "the number of the column in the exponent", named=("own_speed",))
def _(n, m):
    out = np.empty((n, m))
    for p in range(n):
        for c in range(m):
            a = p / 10000 ** (c / m)
            out[p, c] = math.cos(a) if c % 2 else math.sin(a)
    return out


@wrong("sinusoidal", "positions from one on", named=("pos_from_1",))
def _(n, m):
    out = np.empty((n, m))
    for p in range(n):
        for c in range(m):
            a = (p + 1) / 10000 ** (c // 2 * 2 / m)
            out[p, c] = math.cos(a) if c % 2 else math.sin(a)
    return out


# --- decoding and serving -------------------------------------------------------------------------


@wrong("kv_cache", "a window of one more", named=("window_plus",))
def _(x, query_weight, key_weight, value_weight, window):
    q, k, v = x @ query_weight, x @ key_weight, x @ value_weight
    out = []
    for t in range(len(x)):
        a = max(0, t - window)
        out.append(softmax(k[a : t + 1] @ q[t] / math.sqrt(q.shape[1])) @ v[a : t + 1])
    return np.array(out)


@wrong("kv_cache", "scaled by the number of kept keys", named=("scale_k",))
def _(x, query_weight, key_weight, value_weight, window):
    ks, vs, out = np.zeros((0, key_weight.shape[1])), np.zeros((0, value_weight.shape[1])), []
    for token in x:
        ks = np.vstack([ks, token @ key_weight])[-window:]
        vs = np.vstack([vs, token @ value_weight])[-window:]
        out.append(softmax(ks @ (token @ query_weight) / math.sqrt(len(ks))) @ vs)
    return np.array(out)


@wrong("paged_lookup", "the block is taken for the page", named=("no_table",))
def _(pages, table, positions):
    size = pages.shape[1]
    return np.array([pages[p // size % len(pages), p % size] for p in positions])


@wrong("paged_lookup", "row and block are exchanged")
def _(pages, table, positions):
    size = pages.shape[1]
    return np.array([pages[table[p % size % len(table)], p // size % size] for p in positions])


@wrong("paged_lookup", "pages laid in order of the table, but read from the first row on", named=("sorted_positions",))
def _(pages, table, positions):
    return pages[table].reshape(-1, pages.shape[-1])[np.sort(positions)]


@wrong("linear_step", "the token does not see itself", named=("past_only",))
def _(state, total, query, key, value):
    o = np.einsum("d,dv->v", query, state) / np.where(query @ total == 0, 1, query @ total)
    return state + key[:, None] * value, total + key, o


@wrong("linear_step", "the output is not divided", named=("no_division",))
def _(state, total, query, key, value):
    s, t = state + key[:, None] * value[None], total + key
    return s, t, np.dot(query, s)


@wrong("linear_step", "divided by the sum of the total alone", named=("plain_sum",))
def _(state, total, query, key, value):
    s, t = state + np.einsum("d,v->dv", key, value), total + key
    return s, t, query @ s / t.sum()


@wrong("linear_step", "the total gathers the query", named=("query_counted",))
def _(state, total, query, key, value):
    s, t = state + np.einsum("d,v->dv", key, value), np.add(total, query)
    return s, t, query @ s / (query @ t)


# --- training and puzzles -------------------------------------------------------------------------


@wrong("cross_entropy_backward", "averaged over all positions", named=("all_positions",))
def _(weights, targets, keep):
    d = np.array(weights, dtype=float)
    for b, i in np.ndindex(targets.shape):
        d[b, i, targets[b, i]] -= 1
        d[b, i] *= keep[b, i]
    return d / targets.size


@wrong("cross_entropy_backward", "averaged in each text", named=("each_text",))
def _(weights, targets, keep):
    d = weights.copy()
    for b, i in np.ndindex(targets.shape):
        d[b, i, targets[b, i]] -= 1
        d[b, i] *= keep[b, i] / max(1, keep[b].sum())
    return d


@wrong("adam_direction", "epsilon is added before the root is taken", named=("epsilon_inside",))
def _(gradients, beta1, beta2, epsilon):
    m, v = 0, 0
    for g in gradients:
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    t = len(gradients)
    return m / (1 - beta1**t) / np.sqrt(v / (1 - beta2**t) + epsilon)


@wrong("adam_direction", "one step too many in the corrections", named=("late",))
def _(gradients, beta1, beta2, epsilon):
    m, v = 0, 0
    for t, g in enumerate(gradients, 2):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + epsilon)


@wrong("adam_direction", "the square of the mean in the place of the mean of squares", named=("squared_mean",))
def _(gradients, beta1, beta2, epsilon):
    m = 0
    for g in gradients:
        m = beta1 * m + (1 - beta1) * g
    m = m / (1 - beta1 ** len(gradients))
    return m / (np.sqrt(m**2) + epsilon)


@wrong("soft_maximum_slopes", "the slope of the temperature lacks the mean score", named=("outer_only",))
def _(x, temperature):
    z = x / temperature
    top = z.max(-1, keepdims=True)
    lse = top[..., 0] + np.log(np.exp(z - top).sum(-1))
    return np.exp(z - lse[..., None]), lse


@wrong("soft_maximum_slopes", "weights of the scores without temperature")
def _(x, temperature):
    p = softmax(x)
    z = (x - x.max(-1, keepdims=True)) / temperature
    return p, np.log(np.exp(z).sum(-1)) - np.einsum("...k,...k->...", p, z)


@wrong("softcap_backward", "the slope is one over cosh", named=("no_power",))
def _(d_out, scores, cap):
    u = scores / cap
    slope = 1 / np.cosh(u)
    return d_out * slope, np.sum(d_out * (np.tanh(u) - u * slope))


@wrong("softcap_backward", "the cap in front alone", named=("outer_only",))
def _(d_out, scores, cap):
    u = scores / cap
    return d_out / np.cosh(u) ** 2, np.vdot(d_out, np.tanh(u))


@wrong("rms_backward", "the rms is taken for a constant", named=("constant",))
def _(d_out, query, gain):
    r = np.sqrt(np.einsum("...d,...d->...", query, query) / query.shape[-1])[..., None]
    return d_out * gain / r, np.sum((d_out * query / r).reshape(-1, len(gain)), 0)


@wrong("rms_backward", "the gain is left out on the way back", named=("no_gain",))
def _(d_out, query, gain):
    r = np.sqrt(np.einsum("...d,...d->...", query, query) / query.shape[-1])[..., None]
    u = query / r
    return (d_out - u * np.mean(d_out * u, -1, keepdims=True)) / r, np.sum((d_out * u).reshape(-1, len(gain)), 0)


@wrong("rms_backward", "the sum in the place of the mean", named=("sum",))
def _(d_out, query, gain):
    r = np.sqrt(np.mean(np.square(query), -1))[..., None]
    u = query / r
    g = d_out * gain
    return (g - u * np.einsum("...d,...d->...", g, u)[..., None]) / r, np.sum((d_out * u).reshape(-1, len(gain)), 0)
