"""A fourth corpus, written from the statements alone, before anything was mended: chapters 2 and 3."""

import numpy as np

from . import wrong
from .parts import softmax


# --- two_token_weight ------------------------------------------------------------------------------

wrong("two_token_weight", "one half: thinks both scores are equal", named=("half",))(0.5)

# --- attention_shape -------------------------------------------------------------------------------

wrong("attention_shape", "keys instead of queries", named=("keys",))((4, 200, 48))
wrong("attention_shape", "the weights' shape", named=("weights",))((4, 128, 200))
wrong("attention_shape", "without the batch", named=("no_batch",))((128, 48))
wrong("attention_shape", "width of the keys", named=("features_d",))((4, 128, 64))

# --- spot_attention --------------------------------------------------------------------------------

wrong("spot_attention", "thinks of a scale behind the softmax", named=("scale_after",))("scale after")
wrong("spot_attention", "takes the column sums for normal", named=("no_scale",))("no scale")

# --- sdpa ------------------------------------------------------------------------------------------


@wrong("sdpa", "divides by the root of the number of keys", named=("scale_nk",))
def _(query, key, value):
    return softmax(query @ key.mT / np.sqrt(key.shape[-2])) @ value


@wrong("sdpa", "divides by d", named=("scale_d",))
def _(query, key, value):
    return softmax(query @ key.mT / query.shape[-1]) @ value


@wrong("sdpa", "root of d by len(query): the batch or the queries", named=("scale_axis_0",))
def _(query, key, value):
    return softmax(query @ key.mT / np.sqrt(len(query))) @ value


@wrong("sdpa", "softmax twice", named=("softmax_twice",))
def _(query, key, value):
    return softmax(softmax(query @ key.mT / np.sqrt(query.shape[-1]))) @ value


@wrong("sdpa", "all batch elements see the keys of the first")
def _(query, key, value):
    first = key if key.ndim == 2 else key[(0,) * (key.ndim - 2)]
    return softmax(query @ first.T / np.sqrt(query.shape[-1])) @ value


@wrong("sdpa", "subtracts the mean of the scores, then the scale after", named=("scale_after",))
def _(query, key, value):
    return softmax(query @ key.mT) / np.sqrt(query.shape[-1]) @ value


@wrong("sdpa", "cosine instead of the dot product")
def _(query, key, value):
    q = query / np.linalg.norm(query, axis=-1, keepdims=True)
    k = key / np.linalg.norm(key, axis=-1, keepdims=True)
    return softmax(q @ k.mT / np.sqrt(query.shape[-1])) @ value


@wrong("sdpa", "multiplies by the root of d", named=("scale_times",))
def _(query, key, value):
    return softmax(query @ key.mT * query.shape[-1] ** 0.5) @ value


# --- distance_attention ----------------------------------------------------------------------------


@wrong("distance_attention", "key feature without the half", named=("whole_square",))
def _(query, key, value):
    a = np.ones((len(query), 1))
    b = -(key ** 2).sum(axis=1, keepdims=True)
    return softmax(np.hstack([query, a]) @ np.hstack([key, b]).T) @ value


@wrong("distance_attention", "the length instead of its square", named=("length",))
def _(query, key, value):
    a = np.ones((len(query), 1))
    b = -0.5 * np.linalg.norm(key, axis=1, keepdims=True)
    return softmax(np.hstack([query, a]) @ np.hstack([key, b]).T) @ value


@wrong("distance_attention", "the features multiply both squared lengths", named=("both_norms",))
def _(query, key, value):
    a = -0.5 * (query ** 2).sum(axis=1, keepdims=True)
    b = -0.5 * (key ** 2).sum(axis=1, keepdims=True)
    return softmax(np.hstack([query, a]) @ np.hstack([key, b]).T) @ value


@wrong("distance_attention", "divides by the root of d", named=("root_d",))
def _(query, key, value):
    s = query @ key.T - 0.5 * (key ** 2).sum(axis=1)
    return softmax(s / np.sqrt(query.shape[1])) @ value


@wrong("distance_attention", "distance without square", named=("half_distance",))
def _(query, key, value):
    dist = np.linalg.norm(query[:, None] - key[None], axis=-1)
    return softmax(-0.5 * dist) @ value


# --- score_gradient --------------------------------------------------------------------------------

wrong("score_gradient", "dP without the mean: weight times value times upstream", named=("no_rowsum",))(0.5 * 1 * 2)
wrong("score_gradient", "plain mean of the values", named=("mean_plain",))(2 * 0.5 * (1 - 13 / 3))
wrong("score_gradient", "wrong sign", named=("sign",))(2.5)
wrong("score_gradient", "leaves out the weight in front", named=("no_outer",))(2 * (1 - 3.5))
wrong("score_gradient", "the gradient of key 1", named=("key_1",))(2 * 0.25 * (4 - 3.5))
wrong("score_gradient", "p(1-p) as for one sigmoid", named=("sigmoid",))(2 * 1 * 0.5 * 0.5)

# --- sdpa_backward ---------------------------------------------------------------------------------


@wrong("sdpa_backward", "d_query lacks c", named=("no_scale_dq",))
def _(d_out, query, key, value):
    c = 1 / np.sqrt(query.shape[-1])
    p = softmax(c * query @ key.mT)
    dp = d_out @ value.mT
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    return ds @ key, c * ds.mT @ query, p.mT @ d_out


@wrong("sdpa_backward", "c twice in d_key", named=("scale_twice_dk",))
def _(d_out, query, key, value):
    c = 1 / np.sqrt(query.shape[-1])
    p = softmax(c * query @ key.mT)
    dp = d_out @ value.mT
    ds = c * p * (dp - (p * dp).sum(-1, keepdims=True))
    return ds @ key, c * ds.mT @ query, p.mT @ d_out


@wrong("sdpa_backward", "d_value from the gradient of the weights", named=("dv_from_scores",))
def _(d_out, query, key, value):
    c = 1 / np.sqrt(query.shape[-1])
    p = softmax(c * query @ key.mT)
    dp = d_out @ value.mT
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    return c * ds @ key, c * ds.mT @ query, ds.mT @ d_out


@wrong("sdpa_backward", "row mean of the output with the value's sum over a wrong axis", named=("mean_plain",))
def _(d_out, query, key, value):
    c = 1 / np.sqrt(query.shape[-1])
    p = softmax(c * query @ key.mT)
    dp = d_out @ value.mT
    ds = p * (dp - dp.mean(-1, keepdims=True))
    return c * ds @ key, c * ds.mT @ query, p.mT @ d_out


@wrong("sdpa_backward", "Jacobian p(1-p) only", named=("sigmoid",))
def _(d_out, query, key, value):
    c = 1 / np.sqrt(query.shape[-1])
    p = softmax(c * query @ key.mT)
    dp = d_out @ value.mT
    ds = p * (1 - p) * dp
    return c * ds @ key, c * ds.mT @ query, p.mT @ d_out


@wrong("sdpa_backward", "sums the gradients over the batch")
def _(d_out, query, key, value):
    c = 1 / np.sqrt(query.shape[-1])
    p = softmax(c * query @ key.mT)
    dp = d_out @ value.mT
    ds = c * p * (dp - (p * dp).sum(-1, keepdims=True))
    lead = tuple(range(query.ndim - 2))
    d_key = (ds.mT @ query)
    if lead:
        d_key = np.broadcast_to(d_key.sum(axis=lead), d_key.shape)
    return ds @ key, d_key, p.mT @ d_out


@wrong("sdpa_backward", "scores gradient used with query and key exchanged where sizes allow")
def _(d_out, query, key, value):
    c = 1 / np.sqrt(query.shape[-1])
    p = softmax(c * query @ key.mT)
    dp = d_out @ value.mT
    ds = c * p * (dp - (p * dp).sum(-1, keepdims=True))
    return ds @ key, ds.mT @ query, p.mT @ (d_out * c)


# --- spot_gradient ---------------------------------------------------------------------------------

wrong("spot_gradient", "takes the lacking mean", named=("ds_no_rowsum",))("no row mean")
wrong("spot_gradient", "blames the loop", named=("last_query",))("last query")

# --- additive_backward -----------------------------------------------------------------------------


@wrong("additive_backward", "slope of tanh: 1 - tanh", named=("tanh_plain",))
def _(d_out, query, key, value, w):
    match = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    p = softmax(match @ w)
    dv = p.mT @ d_out
    dp = d_out @ value.mT
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    d_w = (ds[..., None] * match).reshape(-1, len(w)).sum(0)
    d_sum = ds[..., None] * w * (1 - match)
    return d_sum.sum(-2), d_sum.sum(-3), dv, d_w


@wrong("additive_backward", "d_w is a mean over the pairs", named=("dw_mean",))
def _(d_out, query, key, value, w):
    match = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    p = softmax(match @ w)
    dp = d_out @ value.mT
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    d_w = (ds[..., None] * match).reshape(-1, len(w)).mean(0)
    d_sum = ds[..., None] * w * (1 - match**2)
    return d_sum.sum(-2), d_sum.sum(-3), p.mT @ d_out, d_w


@wrong("additive_backward", "d_query and d_key summed over each other's axes", named=("swap",))
def _(d_out, query, key, value, w):
    match = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    p = softmax(match @ w)
    dp = d_out @ value.mT
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    d_w = np.einsum("...qk,...qkd->...d", ds, match).reshape(-1, len(w)).sum(0)
    d_sum = ds[..., None] * w * (1 - match**2)
    return d_sum.sum(-3), d_sum.sum(-2), p.mT @ d_out, d_w


@wrong("additive_backward", "d_sum lacks w", named=("no_w",))
def _(d_out, query, key, value, w):
    match = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    p = softmax(match @ w)
    dp = d_out @ value.mT
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    d_w = np.einsum("...qk,...qkd->...d", ds, match).reshape(-1, len(w)).sum(0)
    d_sum = ds[..., None] * (1 - match**2)
    return d_sum.sum(-2), d_sum.sum(-3), p.mT @ d_out, d_w


@wrong("additive_backward", "scaled by root d as in dot products", named=("scaled",))
def _(d_out, query, key, value, w):
    match = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    p = softmax(match @ w)
    dp = d_out @ value.mT
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) / np.sqrt(len(w))
    d_w = np.einsum("...qk,...qkd->...d", ds, match).reshape(-1, len(w)).sum(0)
    d_sum = ds[..., None] * w * (1 - match**2)
    return d_sum.sum(-2), d_sum.sum(-3), p.mT @ d_out, d_w
