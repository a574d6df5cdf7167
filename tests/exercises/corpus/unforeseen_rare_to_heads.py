"""The third corpus, rarer mistakes: chapters prerequisites to multihead."""

import math

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad
from .unforeseen_to_heads import additive_parts, heads_backward, heads_of, sdpa_parts

# --- prerequisites and softmax --------------------------------------------------------------------


@wrong("linear_backward", "the weights' gradient is shared by the outputs")
def _(d_out, x, weight):
    return np.einsum("rc,ic->ri", d_out, weight), np.einsum("ri,rc->ic", x, d_out) / d_out.shape[1]


@wrong("used_twice", "the two uses are subtracted", named=("subtracted",))
def _(d_out, x, a):
    return np.einsum("ij,jk,lk->il", d_out, x, a) - np.einsum("ji,jk,kl->il", d_out, x, a)


@wrong("used_twice", "the two uses are averaged", named=("mean",))
def _(d_out, x, a):
    both = np.stack([np.einsum("ij,jk,lk->il", d_out, x, a), np.einsum("ji,jk,kl->il", d_out, x, a)])
    return both.mean(axis=0)


@wrong("softmax", "one is added to the denominator", named=("one_more",))
def _(x):
    e = np.exp(x - x.max(axis=-1)[..., None])
    return e / (1 + e.sum(axis=-1)[..., None])


@wrong("softmax_backward", "the weights are squared in the mean", named=("weights_squared",))
def _(d_weights, weights):
    dot = np.einsum("...k,...k,...k->...", d_weights, weights, weights)
    return weights * (d_weights - dot[..., None])


@wrong("softmax_backward", "the mean runs over the rows of a batch")
def _(d_weights, weights):
    return weights * (d_weights - np.einsum("...k,...k->...", d_weights, weights)[..., None].mean(axis=-2, keepdims=True)) if weights.ndim > 1 else weights * d_weights


@wrong("score_table_step", "the largest follower is taken for the right one")
def _(scores, now, following, rate):
    g = np.zeros(scores.shape)
    for a, b in zip(now, following):
        g[a] += softmax(scores[a])
        g[a, np.argmax(scores[a])] -= 1
    return scores - rate * g / len(now)


@wrong("score_table_step", "each row is divided by how often it was seen", named=("each_letter",))
def _(scores, now, following, rate):
    g = np.zeros(scores.shape)
    for a, b in zip(now, following):
        p = softmax(scores[a])
        p[b] -= 1
        g[a] += p / np.sum(now == a)
    return scores - rate * g


@wrong("temperature_gradient", "the slope runs through scores that are divided already", named=("scaled_twice",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return -np.vdot(softmax_grad(d_weights, p), scores / temperature) / temperature**2


@wrong("temperature_gradient", "the mean over the rows", named=("mean_of_rows",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return -(softmax_grad(d_weights, p) * scores).sum(-1).mean() / temperature**2


# --- attention and its gradients ------------------------------------------------------------------


@wrong("sdpa", "the features of the values in the scale", named=("scale_v",))
def _(query, key, value):
    return softmax(np.einsum("...id,...jd->...ij", query, key) / value.shape[-1] ** 0.5) @ value


@wrong("sdpa", "the queries are compared with themselves")
def _(query, key, value):
    s = np.einsum("...id,...jd->...ij", key, key) / key.shape[-1] ** 0.5
    p = softmax(s)
    return p[..., : query.shape[-2], :] @ value if p.shape[-2] >= query.shape[-2] else softmax(query @ key.mT) @ value


@wrong("sdpa", "a fourth root", named=("fourth_root",))
def _(query, key, value):
    scale = query.shape[-1] ** -0.25
    return softmax(scale * np.einsum("...id,...jd->...ij", query, key)) @ value


@wrong("distance_attention", "scaled by the root of d as well", named=("root_d",))
def _(query, key, value):
    s = -((query[:, None] - key) ** 2).sum(-1) / 2 / math.sqrt(query.shape[1])
    return softmax(s) @ value


@wrong("distance_attention", "the mean of the squares", named=("mean_square",))
def _(query, key, value):
    s = query @ key.T - np.mean(key * key, axis=1) / 2
    return softmax(s) @ value


@wrong("sdpa_backward", "the row mean runs over the queries", named=("D_axis",))
def _(d_out, query, key, value):
    c, p = sdpa_parts(query, key)
    dp = np.einsum("...iv,...jv->...ij", d_out, value)
    ds = p * (dp - np.einsum("...ij,...ij->...j", p, dp)[..., None, :])
    return c * ds @ key, c * np.swapaxes(ds, -1, -2) @ query, np.swapaxes(p, -1, -2) @ d_out


@wrong("sdpa_backward", "the row mean without the weights", named=("mean_plain",))
def _(d_out, query, key, value):
    c, p = sdpa_parts(query, key)
    dp = np.einsum("...iv,...jv->...ij", d_out, value)
    ds = p * (dp - dp.mean(-1)[..., None])
    return c * ds @ key, c * np.swapaxes(ds, -1, -2) @ query, np.swapaxes(p, -1, -2) @ d_out


@wrong("additive_backward", "d_key with a minus, as for a difference", named=("key_sign",))
def _(d_out, query, key, value, w):
    t, p, ds, dv = additive_parts(d_out, query, key, value, w)
    d = ds[..., None] * w * (1 - t**2)
    return d.sum(-2), -d.sum(-3), dv, (ds[..., None] * t).reshape(-1, len(w)).sum(0)


@wrong("additive_backward", "the slope of the tanh with a plus", named=("tanh_plus",))
def _(d_out, query, key, value, w):
    t, p, ds, dv = additive_parts(d_out, query, key, value, w)
    d = ds[..., None] * w * (1 + t * t)
    return d.sum(-2), d.sum(-3), dv, (ds[..., None] * t).reshape(-1, len(w)).sum(0)


@wrong("additive_backward", "d_w gets the slope of the tanh as well", named=("dw_sloped",))
def _(d_out, query, key, value, w):
    t, p, ds, dv = additive_parts(d_out, query, key, value, w)
    d = ds[..., None] * w * (1 - t * t)
    return d.sum(-2), d.sum(-3), dv, (ds[..., None] * t * (1 - t * t)).reshape(-1, len(w)).sum(0)


# --- masks and heads ------------------------------------------------------------------------------


@wrong("causal_mask", "the last key is hidden from all", named=("last_key",))
def _(q, k):
    out = np.tri(q, k, k - q, dtype=bool)
    out[:, -1] = False
    return out


@wrong("causal_mask", "the offset is counted twice", named=("twice",))
def _(q, k):
    return np.arange(k)[None] <= np.arange(q)[:, None] + 2 * (k - q)


@wrong("masked_softmax", "the maximum of hidden scores is in the shift", named=("after_renorm",))
def _(scores, keep):
    e = np.exp(scores - scores.max(-1, keepdims=True)) * keep
    t = e.sum(-1, keepdims=True)
    return np.divide(e, t, out=np.zeros_like(e), where=t > 0)


@wrong("masked_softmax", "the sum runs over the queries")
def _(scores, keep):
    e = np.exp(np.where(keep, scores, -np.inf) - np.where(keep, scores, -1e30).max(-1, keepdims=True))
    t = e.sum(axis=-2, keepdims=True)
    return np.where(t > 0, e / np.where(t > 0, t, 1), 0)


@wrong("paper_mask", "a third of the window to each side")
def _(i, j, window, has_global):
    return (np.abs(i - j) <= window // 3) | has_global[i] | has_global[j]


@wrong("paper_mask", "the window reaches one too far", named=("one_more",))
def _(i, j, window, has_global):
    return (np.abs(i - j) <= window // 2 + 1) | has_global[i] | has_global[j]


@wrong("paper_mask", "near and global together", named=("and",))
def _(i, j, window, has_global):
    return (np.abs(i - j) <= window // 2) & (has_global[i] | has_global[j])


@wrong("padded_causal_attention", "a token does not see itself", named=("strict",))
def _(query, key, value, real):
    out = np.zeros((*query.shape[:2], value.shape[-1]))
    for b in range(len(query)):
        for i in range(query.shape[1]):
            seen = np.flatnonzero(real[b, :i])
            if len(seen):
                out[b, i] = softmax(key[b, seen] @ query[b, i] / key.shape[-1] ** 0.5) @ value[b, seen]
    return out


@wrong("distance_bias_backward", "the row mean is added", named=("plus",))
def _(d_out, value, weights):
    dp = np.einsum("...iv,...jv->...ij", d_out, value)
    ds = weights * (dp + np.einsum("...ij,...ij->...i", dp, weights)[..., None])
    i, j = np.indices(ds.shape[-2:])
    return np.array([ds[..., i - j == r].sum() for r in range(len(i))])


@wrong("distance_bias_backward", "the rows below only, from distance one on", named=("from_one",))
def _(d_out, value, weights):
    ds = softmax_grad(np.einsum("...iv,...jv->...ij", d_out, value), weights)
    i, j = np.indices(ds.shape[-2:])
    return np.array([ds[..., i - j == r + 1].sum() for r in range(len(i))])


@wrong("mha", "scaled by the number of heads", named=("scale_heads",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (heads_of(x, w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(heads))
    return np.concatenate([p[:, h] @ v[:, h] for h in range(heads)], axis=-1) @ out_weight


@wrong("mha", "softmax over the heads", named=("softmax_heads",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (heads_of(x, w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]), axis=1)
    return np.concatenate([p[:, h] @ v[:, h] for h in range(heads)], axis=-1) @ out_weight


@wrong("mha_backward", "no scale for the keys", named=("no_scale_dk",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    o, dq, dk, dv = heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads)
    dk = dk * math.sqrt(query_weight.shape[1] // heads)
    w = [np.einsum("bni,bnj->ij", x, d) for d in (dq, dk, dv)]
    dx = dq @ query_weight.T + dk @ key_weight.T + dv @ value_weight.T
    return dx, *w, np.einsum("bni,bnj->ij", o, d_out)


@wrong("mha_backward", "keys' weights on the way to x are those of the queries", named=("dx_query_weight",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    o, dq, dk, dv = heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads)
    w = [np.einsum("bni,bnj->ij", x, d) for d in (dq, dk, dv)]
    dx = dq @ query_weight.T + dk @ query_weight.T + dv @ value_weight.T
    return dx, *w, np.einsum("bni,bnj->ij", o, d_out)


@wrong("gqa", "scaled by the number of keys", named=("scale_k",))
def _(query, key, value):
    g = query.shape[1] // key.shape[1]
    k, v = (np.repeat(a, g, axis=1) for a in (key, value))
    return softmax(np.einsum("bhid,bhjd->bhij", query, k) / math.sqrt(k.shape[2])) @ v


@wrong("gqa_backward", "one head of the group is left out", named=("one_short",))
def _(d_repeated, kv_heads):
    g = d_repeated.shape[1] // kv_heads
    return np.stack([d_repeated[:, i * g : i * g + max(1, g - 1)].sum(1) for i in range(kv_heads)], axis=1)
