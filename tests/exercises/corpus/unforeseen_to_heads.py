"""A third corpus, written before its author had read the messages: chapters prerequisites to multihead."""

import math

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad

# --- prerequisites --------------------------------------------------------------------------------

wrong("product_transpose", "the middle one is not transposed")(lambda a_t, b, c_t: np.einsum("...ij,...jk,...kl->...il", c_t, b, a_t) if b.shape[-1] == b.shape[-2] else 0 * (c_t @ b.mT @ a_t))
wrong("product_transpose", "only the two factors in front are exchanged")(lambda a_t, b, c_t: (b @ c_t.mT).mT @ a_t.mT if a_t.shape[-1] == a_t.shape[-2] else b @ a_t)


@wrong("linear_backward", "loops, where the slope of x meets the weights by the wrong index")
def _(d_out, x, weight):
    d_x, d_w = np.zeros(x.shape), np.zeros(weight.shape)
    for r in range(len(x)):
        for c in range(weight.shape[1]):
            d_x[r] += d_out[r, c] * weight[:, c]
            d_w[:, c] += d_out[r, c] * d_x[r]
    return d_x, d_w


@wrong("linear_backward", "the gradient of the weights is averaged over the rows", named=("dw_mean",))
def _(d_out, x, weight):
    return np.einsum("rc,ic->ri", d_out, weight), np.einsum("ri,rc->ic", x, d_out) / x.shape[0]


@wrong("used_twice", "the second use has the matrix transposed too", named=("a_turned",))
def _(d_out, x, a):
    left = np.einsum("ij,jk,lk->il", d_out, x, a)
    right = np.einsum("ji,jk,lk->il", d_out, x, a)
    return left + right


@wrong("used_twice", "only where the array stands on the right", named=("second_only",))
def _(d_out, x, a):
    return np.einsum("ji,jk,kl->il", d_out, x, a)


# --- softmax --------------------------------------------------------------------------------------


@wrong("softmax", "loops over the rows, and divides by the largest exponential", named=("no_division",))
def _(x):
    flat = np.reshape(x, (-1, np.shape(x)[-1]))
    out = np.empty(flat.shape)
    for r, row in enumerate(flat):
        e = np.exp(row - row.max())
        out[r] = e / e.max()
    return out.reshape(np.shape(x))


@wrong("softmax", "one sum for each batch", named=("sum_of_rows",))
def _(x):
    e = np.exp(x - np.amax(x, -1, keepdims=True))
    return e / e.sum(axis=tuple(range(max(0, e.ndim - 2), e.ndim)), keepdims=True)


@wrong("softmax_backward", "the upstream is multiplied by the row's sum of weights times it", named=("no_bracket",))
def _(d_weights, weights):
    dot = np.einsum("...j,...j->...", d_weights, weights)[..., None]
    return weights * d_weights - dot


@wrong("softmax_backward", "the diagonal alone", named=("sigmoid",))
def _(d_weights, weights):
    return d_weights * weights * (1 - weights)


@wrong("softmax_backward", "the mean of the row by NumPy's mean", named=("mean",))
def _(d_weights, weights):
    return np.multiply(weights, d_weights - np.mean(d_weights * weights, -1, keepdims=True))


@wrong("score_table_step", "a loop that takes the step pair by pair, with the scores just changed", named=("one_by_one",))
def _(scores, now, following, rate):
    s = scores.astype(float)
    for a, b in zip(now, following):
        g = softmax(s[a])
        g[b] -= 1
        s[a] = s[a] - rate * g / len(now)
    return s


@wrong("score_table_step", "divides by the number of words, not of pairs", named=("letters",))
def _(scores, now, following, rate):
    out = scores.astype(float)
    p = softmax(scores)
    for a, b in zip(now, following):
        slope = p[a].copy()
        slope[b] -= 1
        out[a] -= rate * slope / len(scores)
    return out


@wrong("score_table_step", "now and following are exchanged", named=("swapped",))
def _(scores, now, following, rate):
    g = np.zeros(scores.shape)
    p = softmax(scores)
    for a, b in zip(following, now):
        g[a] += p[a]
        g[a, b] -= 1
    return scores - rate * g / len(now)


@wrong("temperature_gradient", "the slope of 1/T without its square", named=("no_square",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return float(-np.sum(softmax_grad(d_weights, p) * scores) / temperature)


@wrong("temperature_gradient", "the sign is lost", named=("sign",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    ds = p * d_weights - p * np.einsum("...k,...k->...", p, d_weights)[..., None]
    return np.vdot(ds, scores) / temperature**2


@wrong("temperature_gradient", "the weights are taken at temperature 1", named=("at_one",))
def _(d_weights, scores, temperature):
    p = softmax(scores)
    return -np.vdot(softmax_grad(d_weights, p), scores) / temperature**2


# --- attention ------------------------------------------------------------------------------------


@wrong("sdpa", "einsum, scaled by the number of keys", named=("scale_nk",))
def _(query, key, value):
    s = np.einsum("...id,...jd->...ij", query, key) / math.sqrt(key.shape[-2])
    return np.einsum("...ij,...jv->...iv", softmax(s), value)


@wrong("sdpa", "softmax over the queries", named=("axis_q",))
def _(query, key, value):
    s = np.einsum("...id,...jd->...ij", query, key) / math.sqrt(key.shape[-1])
    e = np.exp(s - s.max(-2, keepdims=True))
    return np.einsum("...ij,...jv->...iv", e / e.sum(-2, keepdims=True), value)


@wrong("sdpa", "multiplies by the square root", named=("scale_times",))
def _(query, key, value):
    s = query @ np.swapaxes(key, -1, -2) * math.sqrt(query.shape[-1])
    return softmax(s) @ value


@wrong("sdpa", "scales after the softmax", named=("scale_after",))
def _(query, key, value):
    return softmax(query @ np.swapaxes(key, -1, -2)) / math.sqrt(query.shape[-1]) @ value


@wrong("distance_attention", "squares without the half", named=("whole_square",))
def _(query, key, value):
    out = np.zeros((len(query), value.shape[1]))
    for i, q in enumerate(query):
        s = np.array([q @ k - k @ k for k in key])
        out[i] = softmax(s) @ value
    return out


@wrong("distance_attention", "the distance and not its square", named=("half_distance",))
def _(query, key, value):
    d = np.linalg.norm(query[:, None] - key[None], axis=-1)
    return softmax(-d / 2) @ value


@wrong("distance_attention", "the far keys are preferred", named=("far",))
def _(query, key, value):
    d2 = ((query[:, None] - key[None]) ** 2).sum(-1)
    return softmax(d2 / 2) @ value


# --- gradients ------------------------------------------------------------------------------------


def sdpa_parts(query, key):
    c = query.shape[-1] ** -0.5
    return c, softmax(c * np.einsum("...id,...jd->...ij", query, key))


@wrong("sdpa_backward", "the key's gradient lacks the scale", named=("no_scale_dk",))
def _(d_out, query, key, value):
    c, p = sdpa_parts(query, key)
    ds = softmax_grad(np.einsum("...iv,...jv->...ij", d_out, value), p)
    return c * ds @ key, np.einsum("...ij,...id->...jd", ds, query), np.einsum("...ij,...iv->...jv", p, d_out)


@wrong("sdpa_backward", "the softmax is differentiated by its diagonal", named=("sigmoid",))
def _(d_out, query, key, value):
    c, p = sdpa_parts(query, key)
    ds = p * (1 - p) * np.einsum("...iv,...jv->...ij", d_out, value)
    return c * ds @ key, c * np.swapaxes(ds, -1, -2) @ query, np.swapaxes(p, -1, -2) @ d_out


@wrong("sdpa_backward", "d_value from the slope of the scores", named=("dv_from_scores",))
def _(d_out, query, key, value):
    c, p = sdpa_parts(query, key)
    ds = softmax_grad(np.einsum("...iv,...jv->...ij", d_out, value), p)
    return c * ds @ key, c * np.swapaxes(ds, -1, -2) @ query, np.swapaxes(ds, -1, -2) @ d_out


def additive_parts(d_out, query, key, value, w):
    t = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    p = softmax(np.einsum("...ijd,d->...ij", t, w))
    return t, p, softmax_grad(np.einsum("...iv,...jv->...ij", d_out, value), p), np.einsum("...ij,...iv->...jv", p, d_out)


@wrong("additive_backward", "the slope of tanh is forgotten", named=("no_tanh",))
def _(d_out, query, key, value, w):
    t, p, ds, dv = additive_parts(d_out, query, key, value, w)
    d = ds[..., None] * w
    return d.sum(-2), d.sum(-3), dv, (ds[..., None] * t).reshape(-1, len(w)).sum(0)


@wrong("additive_backward", "the slope of tanh is 1 - tanh", named=("tanh_plain",))
def _(d_out, query, key, value, w):
    t, p, ds, dv = additive_parts(d_out, query, key, value, w)
    d = np.einsum("...ij,d,...ijd->...ijd", ds, w, 1 - t)
    return d.sum(-2), d.sum(-3), dv, (ds[..., None] * t).reshape(-1, len(w)).sum(0)


@wrong("additive_backward", "w gets the weights in the place of their slopes", named=("dw_weights",))
def _(d_out, query, key, value, w):
    t, p, ds, dv = additive_parts(d_out, query, key, value, w)
    d = np.einsum("...ij,d,...ijd->...ijd", ds, w, 1 - t**2)
    return d.sum(-2), d.sum(-3), dv, (p[..., None] * t).reshape(-1, len(w)).sum(0)


# --- masks ----------------------------------------------------------------------------------------


@wrong("causal_mask", "loops, the query does not see itself", named=("strict",))
def _(q, k):
    out = np.zeros((q, k), dtype=bool)
    for row in range(q):
        for column in range(k):
            out[row, column] = column < row + k - q
    return out


@wrong("causal_mask", "the offset has the other sign", named=("wrong_way",))
def _(q, k):
    out = np.zeros((q, k), dtype=bool)
    for row in range(q):
        out[row, : max(0, row + q - k + 1)] = True
    return out


@wrong("causal_mask", "one token of the future is visible", named=("one_ahead",))
def _(q, k):
    return np.tri(q, k, k - q + 1).astype(bool)


@wrong("masked_softmax", "weights are set to zero after the softmax", named=("after_no_renorm",))
def _(scores, keep):
    return softmax(scores) * keep


@wrong("masked_softmax", "the mask is turned round", named=("inverted",))
def _(scores, keep):
    s = np.where(keep, -np.inf, scores)
    m = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isinf(m), 0, m))
    t = e.sum(-1, keepdims=True)
    return e / np.where(t == 0, 1, t)


@wrong("paper_mask", "the window reaches to both sides in full", named=("whole_window",))
def _(i, j, window, has_global):
    return np.logical_or(abs(j - i) <= window, np.logical_or(has_global[i], has_global[j]))


@wrong("paper_mask", "the edge of the window is left out", named=("strict",))
def _(i, j, window, has_global):
    half = window // 2
    return ((j > i - half) & (j < i + half)) | has_global[i] | has_global[j]


@wrong("paper_mask", "the window looks back only", named=("causal",))
def _(i, j, window, has_global):
    return ((i - j >= 0) & (i - j <= window // 2)) | has_global[i] | has_global[j]


@wrong("paper_mask", "a global token has to stand at both ends", named=("global_pairs",))
def _(i, j, window, has_global):
    return (np.abs(i - j) <= window // 2) | (has_global[i] & has_global[j])


@wrong("padded_causal_attention", "padded keys get the score 0", named=("keys_zero",))
def _(query, key, value, real):
    n = key.shape[1]
    s = np.einsum("bid,bjd->bij", query, key) / math.sqrt(key.shape[-1])
    s = np.where(real[:, None, :], s, 0)
    s = np.where(np.arange(n) <= np.arange(n)[:, None], s, -np.inf)
    return softmax(s) @ value


@wrong("padded_causal_attention", "scaled by d", named=("scale_d",))
def _(query, key, value, real):
    out = np.zeros((*query.shape[:2], value.shape[-1]))
    for b in range(len(query)):
        for i in range(query.shape[1]):
            seen = np.flatnonzero(real[b, : i + 1])
            if len(seen):
                out[b, i] = softmax(key[b, seen] @ query[b, i] / key.shape[-1]) @ value[b, seen]
    return out


@wrong("distance_bias_backward", "the distance runs the other way", named=("future",))
def _(d_out, value, weights):
    ds = softmax_grad(np.einsum("...iv,...jv->...ij", d_out, value), weights)
    n = ds.shape[-1]
    return np.array([np.trace(ds, offset=r, axis1=-2, axis2=-1).sum() for r in range(n)])


@wrong("distance_bias_backward", "loops, and the mean of each diagonal", named=("mean",))
def _(d_out, value, weights):
    ds = softmax_grad(d_out @ np.swapaxes(value, -1, -2), weights)
    n = ds.shape[-1]
    return np.array([np.trace(ds, -r, -2, -1).sum() / (n - r) for r in range(n)])


# --- multihead ------------------------------------------------------------------------------------


def heads_of(x, w, heads):
    y = x @ w
    return np.stack(np.split(y, heads, axis=-1), axis=1)


@wrong("mha", "scaled by the width of all heads", named=("scale_all_heads",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (heads_of(x, w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(query_weight.shape[1]))
    return np.concatenate(list(np.moveaxis(p @ v, 1, 0)), axis=-1) @ out_weight


@wrong("mha", "the heads are added, not put side by side", named=("first_rows",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    out = 0
    v_width = value_weight.shape[1] // heads
    q, k, v = (heads_of(x, w, heads) for w in (query_weight, key_weight, value_weight))
    for h in range(heads):
        o = softmax(q[:, h] @ np.swapaxes(k[:, h], -1, -2) / math.sqrt(q.shape[-1])) @ v[:, h]
        out = out + o @ out_weight[:v_width]
    return out


@wrong("mha", "every head reads the values of the first", named=("first_values",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (heads_of(x, w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]))
    return np.concatenate([p[:, h] @ v[:, 0] for h in range(heads)], axis=-1) @ out_weight


@wrong("mha", "keys are projected by the weights of the queries")
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (heads_of(x, w, heads) for w in (query_weight, query_weight, value_weight))
    p = softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]))
    return np.concatenate(list(np.moveaxis(p @ v, 1, 0)), axis=-1) @ out_weight


@wrong("gqa", "value heads shared in turn, key heads in groups", named=("v_tile",))
def _(query, key, value):
    g = query.shape[1] // key.shape[1]
    k, v = np.repeat(key, g, axis=1), np.concatenate([value] * g, axis=1)
    return softmax(query @ np.swapaxes(k, -1, -2) / math.sqrt(query.shape[-1])) @ v


@wrong("gqa", "without a scale, in loops", named=("no_scale",))
def _(query, key, value):
    g = query.shape[1] // key.shape[1]
    out = [softmax(query[:, h] @ np.swapaxes(key[:, h // g], -1, -2)) @ value[:, h // g] for h in range(query.shape[1])]
    return np.stack(out, axis=1)


@wrong("gqa_backward", "the largest of a group", named=("largest",))
def _(d_repeated, kv_heads):
    parts = np.split(d_repeated, kv_heads, axis=1)
    return np.stack([part.max(axis=1) for part in parts], axis=1)


def heads_backward(d_out, x, wq, wk, wv, wo, heads, scale=None, back=softmax_grad):
    b, n, _ = x.shape
    q, k, v = (heads_of(x, w, heads) for w in (wq, wk, wv))
    c = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    p = softmax(c * q @ np.swapaxes(k, -1, -2))

    def joined(y):
        return np.concatenate([y[:, h] for h in range(heads)], axis=-1)

    do = np.stack(np.split(d_out @ wo.T, heads, axis=-1), axis=1)
    ds = back(do @ np.swapaxes(v, -1, -2), p)
    dq, dk, dv = joined(c * ds @ k), joined(c * np.swapaxes(ds, -1, -2) @ q), joined(np.swapaxes(p, -1, -2) @ do)
    return joined(p @ v), dq, dk, dv


@wrong("mha_backward", "the values give nothing to x", named=("dx_no_v",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    o, dq, dk, dv = heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads)
    w = [np.einsum("bni,bnj->ij", x, d) for d in (dq, dk, dv)]
    return dq @ query_weight.T + dk @ key_weight.T, *w, np.einsum("bni,bnj->ij", o, d_out)


@wrong("mha_backward", "weights averaged over the batch")
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    o, dq, dk, dv = heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads)
    w = [np.einsum("bni,bnj->ij", x, d) / len(x) for d in (dq, dk, dv)]
    dx = dq @ query_weight.T + dk @ key_weight.T + dv @ value_weight.T
    return dx, *w, np.einsum("bni,bnj->ij", o, d_out)
