"""The mistakes that come first, each written in another way than the exercise knows it."""

import math

import numpy as np

from . import wrong
from .parts import softmax

# --- prerequisites --------------------------------------------------------------------------------

wrong("delta_sum", "the sum of g", named=("only_g",))(1 + 10 + 100)
wrong("delta_sum", "row 0 of A with g", named=("row_0",))(int(np.dot([1, 2, 3], [1, 10, 100])))
wrong("delta_sum", "column 0 of A with g", named=("column_0",))(1 + 40 + 700)
wrong("vjp_cost", "a row of 300 for both", named=("row_not_changed",))(270_000)
wrong("variance_of_sum", "the variance of a product, halved", named=("halved",))(2.0)


@wrong("linear_backward", "columns overwritten, and rows added", named=("dx_last",))
def _(d_out, x, weight):
    d_x = np.zeros_like(x)
    for j in range(weight.shape[1]):
        d_x = d_out[:, j][:, None] * weight[:, j]
    return d_x, x.T @ d_out


@wrong("linear_backward", "the outer product of the first token", named=("dw_first_row",))
def _(d_out, x, weight):
    return np.einsum("ij,fj->if", d_out, weight), x[:1].T @ d_out[:1]


@wrong("used_twice", "A transposed on the path on which it is not", named=("a_turned",))
def _(d_out, x, a):
    return (d_out + d_out.T) @ x @ a.T


@wrong("used_twice", "A transposed on the second path alone", named=("a_exchanged",))
def _(d_out, x, a):
    left = np.dot(d_out, np.dot(x, a))
    right = np.dot(d_out.T, np.dot(x, a.T))
    return left + right


# --- softmax --------------------------------------------------------------------------------------


@wrong("softmax", "2**x", named=("base_2",))
def _(x):
    powers = 2.0 ** (x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@wrong("softmax", "divided by the sum of x", named=("over_scores",))
def _(x):
    e = np.exp(x - x.max(-1)[..., None])
    return e / np.sum(x, axis=-1)[..., None]


@wrong("softmax_backward", "the weight in front twice", named=("weight_squared",))
def _(d_weights, weights):
    inner = weights * d_weights
    inner = inner - weights * inner.sum(-1)[..., None]
    return weights * inner


@wrong("softmax_backward", "divided by the number of keys", named=("row_total",), says=r"too small by a factor of")
def _(d_weights, weights):
    g = weights * d_weights
    return (g - weights * g.sum(-1, keepdims=True)) / np.shape(weights)[-1]


def through(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return p * (d_weights - (p * d_weights).sum(-1, keepdims=True))


@wrong("temperature_gradient", "no power of T", named=("no_power",))
def _(d_weights, scores, temperature):
    return -np.vdot(through(d_weights, scores, temperature), scores)


@wrong("temperature_gradient", "one mean for all rows", named=("one_axis",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return -np.sum(p * (d_weights - np.sum(p * d_weights)) * scores) / temperature**2


@wrong("temperature_gradient", "p (1 - p), and no upstream", named=("no_upstream",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return -((p - p**2) * scores).sum() / temperature / temperature


# --- attention ------------------------------------------------------------------------------------

wrong("two_token_weight", "in percent", named=("percent",))(100 / (1 + math.exp(-(3**-0.5))))
wrong("two_token_weight", "times the root of 3", named=("times_root",))(0.8497)


@wrong("sdpa", "d + 1 under the root", named=("scale_one_more",))
def _(query, key, value):
    d = query.shape[-1] + 1
    return softmax(np.einsum("...qd,...kd->...qk", query, key) * d**-0.5) @ value


@wrong("sdpa", "d - 1 under the root, as for a variance", named=("scale_one_less",))
def _(query, key, value):
    d = query.shape[-1]
    return softmax(query @ np.swapaxes(key, -1, -2) / math.sqrt(d - 1 if d > 1 else 1)) @ value


@wrong("distance_attention", "the root of the longer vectors", named=("root_d_plus",))
def _(query, key, value):
    q = np.c_[query, np.ones(len(query))]
    k = np.c_[key, -0.5 * (key * key).sum(1)]
    return softmax(q @ k.T / math.sqrt(q.shape[1])) @ value


# --- gradients ------------------------------------------------------------------------------------


def sdpa_gradients(d_out, query, key, value, root=None, d_scores_of=None):
    c = 1 / math.sqrt(root or query.shape[-1])
    p = softmax(c * query @ key.mT)
    dp = d_out @ value.mT
    ds = d_scores_of(p, dp) if d_scores_of else p * (dp - (p * dp).sum(-1, keepdims=True))
    return c * ds @ key, c * ds.mT @ query, p.mT @ d_out


@wrong("sdpa_backward", "the width of the values under the root", named=("scale_dv",))
def _(d_out, query, key, value):
    return sdpa_gradients(d_out, query, key, value, root=value.shape[-1])


@wrong("sdpa_backward", "the Jacobian without its diagonal", named=("no_diagonal",))
def _(d_out, query, key, value):
    return sdpa_gradients(d_out, query, key, value, None, lambda p, dp: -np.einsum("...i,...j,...j->...i", p, p, dp))


@wrong("sdpa_backward", "D taken off twice", named=("mean_twice",))
def _(d_out, query, key, value):
    def d_scores(p, dp):
        delta = np.einsum("...k,...k->...", p, dp)[..., None]
        dp = dp - delta
        return p * (dp - delta)

    return sdpa_gradients(d_out, query, key, value, None, d_scores)


@wrong("additive_backward", "the mean over all pairs for w", named=("dw_mean",))
def _(d_out, query, key, value, w):
    t = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    p = softmax(np.einsum("...f,f->...", t, w))
    dp = d_out @ value.mT
    ds = (p * (dp - (p * dp).sum(-1, keepdims=True)))[..., None]
    back = ds * w * (1 - t * t)
    return back.sum(-2), back.sum(-3), p.mT @ d_out, (ds * t).reshape(-1, len(w)).mean(0)


# --- masks ----------------------------------------------------------------------------------------


@wrong("masked_softmax", "shares of the visible keys, whatever the scores", named=("uniform",))
def _(scores, keep):
    seen = keep.sum(-1)[..., None]
    return np.divide(keep, seen, out=np.zeros(keep.shape), where=seen > 0)


@wrong("masked_softmax", "only empty rows are treated", named=("not_masked",))
def _(scores, keep):
    p = softmax(scores)
    p[~keep.any(-1)] = 0
    return p


# --- several heads --------------------------------------------------------------------------------


def split(y, heads):
    return np.stack(np.split(y, heads, axis=-1), axis=1)


@wrong("mha", "the mean of the values for every query", named=("uniform",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    v = split(x @ value_weight, heads)
    o = np.broadcast_to(v.mean(2, keepdims=True), v.shape)
    return np.concatenate(list(np.moveaxis(o, 1, 0)), axis=-1) @ out_weight


@wrong("mha", "one softmax for a whole head", named=("softmax_all",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    s = q @ k.mT / math.sqrt(q.shape[-1])
    e = np.exp(s - s.max((2, 3), keepdims=True))
    o = e / e.sum((2, 3), keepdims=True) @ v
    return np.concatenate(list(np.moveaxis(o, 1, 0)), axis=-1) @ out_weight


@wrong("gqa", "one mean of the values for every query", named=("uniform",))
def _(query, key, value):
    v = np.repeat(value, query.shape[1] // value.shape[1], axis=1)
    return np.broadcast_to(v.mean(2, keepdims=True), (*query.shape[:3], v.shape[-1])).copy()


# --- Flash attention ------------------------------------------------------------------------------

wrong("one_tile", "the output before the tile", named=("old_output",))(20.0)


@wrong("online_softmax", "the range stops before the last block", named=("range_short",))
def _(x, block):
    m, s, at = -np.inf, 0.0, 0
    while at + block < len(x) or at == 0:
        part = x[at : at + block]
        new = max(m, part.max())
        if new > -np.inf:
            s = s * np.exp(m - new) + np.exp(part - new).sum()
            m = new
        at += block
    return m, s


@wrong("flash_traffic", "queries in whole tiles", named=("full_tiles",))
def _(n, d, capacity):
    tile = (capacity - 2 * d) // (2 * d + 3)
    moved, at = 0, 0
    while at < n:
        moved += tile * d + 2 * n * d
        at += tile
    return moved + n * d + n


@wrong("flash_backward", "columns counted from the tile", named=("column_offset",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c = query.shape[1] ** -0.5
    dq, dk, dv = np.zeros_like(query), np.zeros_like(key), np.zeros_like(value)
    delta = (d_out * out).sum(1)
    for a in range(0, len(query), block_q):
        for b in range(0, len(key), block_k):
            i, j = slice(a, a + block_q), slice(b, b + block_k)
            p = np.exp(c * query[i] @ key[j].T - logsumexp[i][:, None])
            if causal:
                place = np.arange(len(query))[i] + len(key) - len(query)
                p[np.arange(p.shape[1]) > place[:, None]] = 0
            dv[j] += p.T @ d_out[i]
            ds = c * p * (d_out[i] @ value[j].T - delta[i][:, None])
            dq[i] += ds @ key[j]
            dk[j] += ds.T @ query[i]
    return dq, dk, dv
