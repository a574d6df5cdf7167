"""A fourth corpus, written from the statements alone, before anything was mended: chapter 4."""

import numpy as np

from . import wrong
from .parts import masked_softmax, softmax


# --- spot_mask -------------------------------------------------------------------------------------

wrong("spot_mask", "sees the flat row and thinks of zeros", named=("zero_fill",))("zero fill")
wrong("spot_mask", "thinks that a row is missing", named=("row_missing",))("row missing")

# --- allowed_pairs ---------------------------------------------------------------------------------

wrong("allowed_pairs", "counts without the padding: triangles of 5", named=("no_padding",))(30)
wrong("allowed_pairs", "counts full squares", named=("square",))(9 + 25)
wrong("allowed_pairs", "takes the padding on the right", named=("right_side",))(3 * 4 // 2 + 2 * 3 + 15)
wrong("allowed_pairs", "without the diagonal", named=("strict",))(3 + 10)

# --- causal_mask -----------------------------------------------------------------------------------


@wrong("causal_mask", "aligned at the first key", named=("top_left",))
def _(q, k):
    return np.tril(np.ones((q, k), bool))


@wrong("causal_mask", "True means hidden", named=("inverted",))
def _(q, k):
    return np.arange(k) > np.arange(k - q, k)[:, None]


@wrong("causal_mask", "never a row that sees nothing: the shift is at least zero", named=("never_left",))
def _(q, k):
    return np.tri(q, k, max(k - q, 0), dtype=bool)


@wrong("causal_mask", "integers instead of booleans")
def _(q, k):
    return np.tri(q, k, k - q)


# --- masked_softmax --------------------------------------------------------------------------------


@wrong("masked_softmax", "multiplies the scores by the mask", named=("times_zero",))
def _(scores, keep):
    w = softmax(scores * keep)
    return np.where(keep.any(-1, keepdims=True), w, 0)


@wrong("masked_softmax", "mask read the other way round", named=("inverted",))
def _(scores, keep):
    visible = np.where(keep, -np.inf, scores)
    top = visible.max(-1, keepdims=True)
    e = np.exp(visible - np.where(np.isfinite(top), top, 0))
    s = e.sum(-1, keepdims=True)
    return e / np.where(s > 0, s, 1)


@wrong("masked_softmax", "no shift, and nan_to_num for rows without a key")
def _(scores, keep):
    with np.errstate(all="ignore"):
        e = np.where(keep, np.exp(scores), 0.0)
        return np.nan_to_num(e / e.sum(-1, keepdims=True))


@wrong("masked_softmax", "scores changed in place", named=("inplace",))
def _(scores, keep):
    scores[~keep] = -np.inf
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(top > -np.inf, top, 0))
    s = e.sum(-1, keepdims=True)
    return e / np.where(s > 0, s, 1)


# --- padded_causal_attention -----------------------------------------------------------------------


@wrong("padded_causal_attention", "padding of the queries hidden, not that of the keys", named=("query_axis",))
def _(query, key, value, real):
    n = key.shape[1]
    keep = np.tri(n, dtype=bool) & real[:, :, None]
    s = query @ key.mT / np.sqrt(query.shape[-1])
    return masked_softmax(s, keep) @ value


@wrong("padded_causal_attention", "causal or real", named=("or",))
def _(query, key, value, real):
    n = key.shape[1]
    keep = np.tri(n, dtype=bool) | real[:, None, :]
    s = query @ key.mT / np.sqrt(query.shape[-1])
    return masked_softmax(s, keep) @ value


@wrong("padded_causal_attention", "the mask of the first sentence for all, again", named=("first_sentence",))
def _(query, key, value, real):
    n = key.shape[1]
    keep = np.tri(n, dtype=bool) & real[0]
    s = query @ key.mT / np.sqrt(query.shape[-1])
    return masked_softmax(s, np.broadcast_to(keep, s.shape)) @ value


@wrong("padded_causal_attention", "thinks that padding lies at the end: keys up to the number of real tokens", named=("as_if_right",))
def _(query, key, value, real):
    n = key.shape[1]
    length = real.sum(1)
    keep = np.tri(n, dtype=bool) & (np.arange(n) < length[:, None])[:, None, :]
    s = query @ key.mT / np.sqrt(query.shape[-1])
    return masked_softmax(s, keep) @ value


@wrong("padded_causal_attention", "a padding query sees itself", named=("looks_at_itself",))
def _(query, key, value, real):
    n = key.shape[1]
    keep = np.tri(n, dtype=bool) & (real[:, None, :] | np.eye(n, dtype=bool))
    s = query @ key.mT / np.sqrt(query.shape[-1])
    return masked_softmax(s, keep) @ value


@wrong("padded_causal_attention", "scale of v instead of d", named=("scale_v",))
def _(query, key, value, real):
    n = key.shape[1]
    keep = np.tri(n, dtype=bool) & real[:, None, :]
    s = query @ key.mT / np.sqrt(value.shape[-1])
    return masked_softmax(s, keep) @ value


# --- paper_mask ------------------------------------------------------------------------------------


@wrong("paper_mask", "the whole window on each side, again", named=("whole_window",))
def _(i, j, window, has_global):
    return (abs(i - j) <= window) | has_global[i] | has_global[j]


@wrong("paper_mask", "strictly less than half of the window", named=("strict",))
def _(i, j, window, has_global):
    return (abs(i - j) < window // 2) | has_global[i] | has_global[j]


@wrong("paper_mask", "only the keys are global", named=("global_is_seen",))
def _(i, j, window, has_global):
    return (abs(i - j) <= window // 2) | has_global[j]


@wrong("paper_mask", "global only among themselves", named=("global_pairs",))
def _(i, j, window, has_global):
    return (abs(i - j) <= window // 2) | (has_global[i] & has_global[j])


@wrong("paper_mask", "has_global read from its beginning instead of at the positions", named=("global_places",))
def _(i, j, window, has_global):
    near = abs(i - j) <= window / 2
    return near | has_global[: len(i), None] | has_global[: len(j)]


# --- distance_bias_backward ------------------------------------------------------------------------


@wrong("distance_bias_backward", "the mean of the softmax step lacks", named=("no_row_mean",))
def _(d_out, value, weights):
    ds = weights * (d_out @ value.mT)
    n = ds.shape[-1]
    ds = ds.reshape(-1, n, n).sum(0)
    return np.array([np.trace(ds, offset=-t) for t in range(n)])


@wrong("distance_bias_backward", "diagonals above the middle", named=("future",))
def _(d_out, value, weights):
    dp = d_out @ value.mT
    ds = weights * (dp - (weights * dp).sum(-1, keepdims=True))
    n = ds.shape[-1]
    ds = ds.reshape(-1, n, n).sum(0)
    return np.array([np.trace(ds, offset=t) for t in range(n)])


@wrong("distance_bias_backward", "mean along each diagonal", named=("mean",))
def _(d_out, value, weights):
    dp = d_out @ value.mT
    ds = weights * (dp - (weights * dp).sum(-1, keepdims=True))
    n = ds.shape[-1]
    ds = ds.reshape(-1, n, n).sum(0)
    return np.array([np.diagonal(ds, -t).mean() for t in range(n)])


@wrong("distance_bias_backward", "begins with the largest distance", named=("reversed",))
def _(d_out, value, weights):
    dp = d_out @ value.mT
    ds = weights * (dp - (weights * dp).sum(-1, keepdims=True))
    n = ds.shape[-1]
    ds = ds.reshape(-1, n, n).sum(0)
    return np.array([np.trace(ds, offset=-t) for t in range(n)])[::-1]


@wrong("distance_bias_backward", "sums the columns: a gradient for each key", named=("per_key",))
def _(d_out, value, weights):
    dp = d_out @ value.mT
    ds = weights * (dp - (weights * dp).sum(-1, keepdims=True))
    n = ds.shape[-1]
    return ds.reshape(-1, n).sum(0)


@wrong("distance_bias_backward", "mean over the batch", named=("mean_of_sequences",))
def _(d_out, value, weights):
    dp = d_out @ value.mT
    ds = weights * (dp - (weights * dp).sum(-1, keepdims=True))
    n = ds.shape[-1]
    ds = ds.reshape(-1, n, n).mean(0)
    return np.array([np.trace(ds, offset=-t) for t in range(n)])
