"""Wrong answers to `padded_causal_attention`, as readers may write them."""

import numpy as np

from . import wrong


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def masked_softmax(scores, keep):
    """A right one, with zeros for empty rows."""
    visible = np.where(keep, scores, -np.inf)
    top = visible.max(axis=-1, keepdims=True)
    e = np.exp(visible - np.where(np.isneginf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def scaled(query, key):
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])


@wrong("padded_causal_attention", "masked_fill with -1e9, twice", named=("empty_even", "minus_1e9"))
def masked_fill_twice(query, key, value, real):
    n = query.shape[1]
    scores = scaled(query, key)
    scores = np.where(np.tri(n) == 1, scores, -1e9)
    scores = np.where(real[:, None, :], scores, -1e9)
    return softmax(scores) @ value


@wrong("padded_causal_attention", "-1e9 added by each of the two masks", named=("minus_1e9",))
def two_additive_masks(query, key, value, real):
    n = query.shape[1]
    bias = np.triu(np.full((n, n), -1e9), 1) + np.where(real, 0, -1e9)[:, None]
    return softmax(scaled(query, key) + bias) @ value


@wrong("padded_causal_attention", "the most negative float where a key is hidden", named=("empty_even", "minus_1e9"))
def most_negative(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None]
    return softmax(np.where(keep, scaled(query, key), np.finfo(float).min)) @ value


@wrong("padded_causal_attention", "both masks after the softmax", named=("after_no_renorm",))
def masks_after_the_softmax(query, key, value, real):
    weights = softmax(scaled(query, key))
    weights = np.tril(weights) * real[:, np.newaxis, :]
    return weights @ value


@wrong("padded_causal_attention", "both masks after the softmax, divided again", named=("after_renorm",))
def masks_after_and_renormalised(query, key, value, real):
    weights = np.tril(softmax(scaled(query, key))) * real[:, np.newaxis, :]
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), 0) @ value


@wrong("padded_causal_attention", "the causal mask before, padding after the softmax", named=("mask_v",))
def padding_after_the_softmax(query, key, value, real):
    n = query.shape[1]
    weights = softmax(np.where(np.tri(n, dtype=bool), scaled(query, key), -np.inf))
    return weights * real[:, None, :] @ value


@wrong("padded_causal_attention", "padding before, the causal mask after the softmax", named=("causal_after",))
def causal_after_the_softmax(query, key, value, real):
    weights = np.nan_to_num(softmax(np.where(real[:, None, :], scaled(query, key), -np.inf)))
    return np.tril(weights) @ value


@wrong("padded_causal_attention", "scores times the mask", named=("times_zero",))
def scores_times_the_mask(query, key, value, real):
    keep = np.tri(query.shape[1]) * real[:, None, :]
    return softmax(scaled(query, key) * keep) @ value


@wrong("padded_causal_attention", "keys of padding set to zero", named=("keys_zero",))
def keys_of_padding_zero(query, key, value, real):
    key = key * real[:, :, None]
    return masked_softmax(scaled(query, key), np.tri(query.shape[1], dtype=bool)) @ value


@wrong("padded_causal_attention", "keys and values of padding set to zero", named=("mask_v", "keys_zero"))
def keys_and_values_of_padding_zero(query, key, value, real):
    key, value = key * real[..., None], value * real[..., None]
    n = query.shape[1]
    scores = np.where(np.arange(n) <= np.arange(n)[:, None], scaled(query, key), -np.inf)
    return softmax(scores) @ value


@wrong("padded_causal_attention", "values of padding set to zero", named=("mask_v",))
def values_of_padding_zero(query, key, value, real):
    n = query.shape[1]
    scores = scaled(query, key) + np.triu(np.full((n, n), -np.inf), 1)
    return np.einsum("bqk,bk,bkv->bqv", softmax(scores), real.astype(float), value)


@wrong("padded_causal_attention", "padding on the axis of the queries", named=("query_axis",))
def padding_on_the_queries(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[..., None]
    return masked_softmax(scaled(query, key), keep) @ value


@wrong("padded_causal_attention", "padding on the axis of the queries, NaN there", named=("query_axis", "nan_rows"))
def padding_on_the_queries_nan(query, key, value, real):
    scores = scaled(query, key)
    scores[~real] = -np.inf
    scores[:, ~np.tri(query.shape[1], dtype=bool)] = -np.inf
    return softmax(scores) @ value


@wrong("padded_causal_attention", "padding hidden on both axes", named=("both_axes",))
def outer_product_of_real(query, key, value, real):
    keep = real[:, :, None] & real[:, None, :]
    keep &= np.tri(query.shape[1], dtype=bool)
    return masked_softmax(scaled(query, key), keep) @ value


@wrong("padded_causal_attention", "outputs of padded queries set to zero", named=("both_axes",))
def outputs_of_padding_zero(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None, :]
    out = masked_softmax(scaled(query, key), keep) @ value
    out[~real] = 0.0
    return out


@wrong("padded_causal_attention", "the mask has no axis for the queries", named=("no_query_axis",))
def without_an_axis_between(query, key, value, real):
    n = query.shape[1]
    return masked_softmax(scaled(query, key), np.tril(np.ones((n, n), dtype=bool)) & real) @ value


@wrong("padded_causal_attention", "an axis for heads that is not there", says=r"\(3, 3, 5, 2\); \(3, 5, 2\)")
def axis_for_heads(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None, None, :]
    return masked_softmax(scaled(query, key), keep) @ value


@wrong("padded_causal_attention", "the masks are added", named=("or",))
def masks_added(query, key, value, real):
    keep = np.tri(query.shape[1]) + real[:, None, :]
    return masked_softmax(scaled(query, key), keep > 0) @ value


@wrong("padded_causal_attention", "np.logical_or of what is hidden, then used as keep", named=("inverted", "triu", "or"))
def hidden_used_as_keep(query, key, value, real):
    hidden = np.triu(np.ones((query.shape[1],) * 2, dtype=bool), 1) | ~real[:, None, :]
    return masked_softmax(scaled(query, key), hidden) @ value


@wrong("padded_causal_attention", "key_padding_mask of PyTorch: True is padding", named=("inverted",))
def key_padding_mask(query, key, value, real):
    hidden = np.triu(np.ones((query.shape[1],) * 2, dtype=bool), 1) | real[:, None, :]
    return masked_softmax(scaled(query, key), ~hidden) @ value


@wrong("padded_causal_attention", "lengths, as if padding stood on the right", named=("as_if_right",))
def by_lengths(query, key, value, real):
    n = query.shape[1]
    lengths = real.sum(axis=1)
    keep = np.tri(n, dtype=bool) & (np.arange(n) < lengths[:, None])[:, None, :]
    return masked_softmax(scaled(query, key), keep) @ value


@wrong("padded_causal_attention", "positions counted among the real tokens")
def positions_among_real(query, key, value, real):
    place = np.cumsum(real, axis=1)
    keep = (place[:, None, :] < place[:, :, None]) & real[:, None, :]
    return masked_softmax(scaled(query, key), keep) @ value


@wrong(
    "padded_causal_attention", "one sentence after the other, the shortened ones in a list",
    says=r"unequal length",
)
def shortened_sentences(query, key, value, real):
    out = []
    for q, k, v, r in zip(query, key, value, real):
        q, k, v = q[r], k[r], v[r]
        s = q @ k.T / np.sqrt(q.shape[1])
        s[np.triu_indices(len(s), 1)] = -np.inf
        out.append(softmax(s) @ v)
    return out


@wrong("padded_causal_attention", "one sentence after the other, padded queries stay zero", named=("both_axes",))
def real_tokens_put_back(query, key, value, real):
    out = np.zeros(query.shape[:2] + value.shape[2:])
    for b in range(len(query)):
        r = real[b]
        if not r.any():
            continue
        s = query[b, r] @ key[b, r].T / np.sqrt(query.shape[-1])
        s[np.triu_indices(len(s), 1)] = -np.inf
        out[b, r] = softmax(s) @ value[b, r]
    return out


@wrong("padded_causal_attention", "the mask of the first sentence for all", named=("first_sentence",))
def first_sentences_mask(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[0]
    return masked_softmax(scaled(query, key), keep) @ value


@wrong(
    "padded_causal_attention", "out is overwritten in the loop: the last sentence for all",
    says=r"only the last batch element",
)
def overwritten_in_the_loop(query, key, value, real):
    n = query.shape[1]
    for b in range(len(query)):
        keep = np.tri(n, dtype=bool) & real[b]
        out = masked_softmax(scaled(query[b], key[b]), keep) @ value[b]
    return np.stack([out] * len(query))


@wrong("padded_causal_attention", "empty rows get the mean of all values", named=("empty_even", "minus_1e9"))
def empty_rows_get_the_mean(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None, :]
    weights = softmax(np.where(keep, scaled(query, key), -np.inf))
    weights[np.isnan(weights)] = 1 / query.shape[1]
    return weights @ value


@wrong("padded_causal_attention", "empty rows look at themselves", named=("looks_at_itself",))
def empty_rows_look_at_themselves(query, key, value, real):
    n = query.shape[1]
    keep = np.tri(n, dtype=bool) & (real[:, None, :] | np.eye(n, dtype=bool))
    return masked_softmax(scaled(query, key), keep) @ value


@wrong("padded_causal_attention", "empty rows return their own value")
def empty_rows_return_their_value(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None, :]
    out = masked_softmax(scaled(query, key), keep) @ value
    return np.where(keep.any(axis=-1, keepdims=True), out, value)


@wrong("padded_causal_attention", "additive -inf, no care for empty rows", named=("nan_rows",))
def additive_infinity(query, key, value, real):
    n = query.shape[1]
    mask = np.triu(np.full((n, n), -np.inf), 1) + np.where(real, 0.0, -np.inf)[:, None, :]
    return softmax(scaled(query, key) + mask) @ value


@wrong("padded_causal_attention", "no scale", named=("no_scale",))
def no_scale(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool)[None] & real[:, None, :]
    return masked_softmax(np.einsum("bqd,bkd->bqk", query, key), keep) @ value


@wrong("padded_causal_attention", "no scale and no care for empty rows", named=("no_scale", "nan_rows"))
def no_scale_nan(query, key, value, real):
    scores = query @ key.mT
    scores = np.where(np.tri(query.shape[1], dtype=bool) & real[:, None, :], scores, -np.inf)
    return softmax(scores) @ value


@wrong("padded_causal_attention", "scale by the width of the values", named=("scale_v",))
def scaled_by_v(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None, :]
    return masked_softmax(query @ key.mT / np.sqrt(value.shape[-1]), keep) @ value


@wrong("padded_causal_attention", "scale by d, integer division of d", named=("scale_d",))
def scaled_by_d(query, key, value, real):
    b, n, d = query.shape
    keep = np.tri(n, dtype=bool) & real[:, None, :]
    return masked_softmax(query @ key.mT * (1 / d), keep) @ value


@wrong("padded_causal_attention", "scale times the root", named=("scale_times",))
def scale_multiplied(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None, :]
    return masked_softmax(query @ key.mT * query.shape[-1] ** 0.5, keep) @ value


@wrong("padded_causal_attention", "the softmax along the queries", named=("softmax_queries",))
def along_the_queries(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None, :]
    scores = np.where(keep, scaled(query, key), -np.inf)
    return np.nan_to_num(softmax(scores, axis=1)) @ value


@wrong("padded_causal_attention", "returns the weights", says=r"\(3, 5, 5\); \(3, 5, 2\)")
def the_weights(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None, :]
    return masked_softmax(scaled(query, key), keep)


@wrong("padded_causal_attention", "strictly before", named=("strict",))
def strictly_before(query, key, value, real):
    n, out = query.shape[1], np.zeros(value.shape)
    for b in range(len(query)):
        for i in range(n):
            seen = [j for j in range(i) if real[b, j]]
            if seen:
                out[b, i] = softmax(key[b, seen] @ query[b, i] / np.sqrt(query.shape[-1])) @ value[b, seen]
    return out


@wrong("padded_causal_attention", "the triangle of np.triu", named=("triu",))
def upper_triangle(query, key, value, real):
    n = query.shape[1]
    keep = np.triu(np.ones((n, n))).astype(bool) * real[:, None, :]
    return masked_softmax(scaled(query, key), keep) @ value


@wrong("padded_causal_attention", "no causal mask", named=("only_pad",))
def padding_alone(query, key, value, real):
    return masked_softmax(scaled(query, key), np.broadcast_to(real[:, None, :], (len(real),) + (real.shape[1],) * 2)) @ value


@wrong("padded_causal_attention", "no causal mask, NaN in an empty sentence", named=("only_pad", "nan_rows"))
def padding_alone_careless(query, key, value, real):
    scores = scaled(query, key)
    scores.swapaxes(1, 2)[~real] = -np.inf
    return softmax(scores) @ value


@wrong("padded_causal_attention", "only the causal mask", named=("only_causal",))
def causal_alone(query, key, value, real):
    n = query.shape[1]
    return softmax(np.where(np.tri(n, dtype=bool), scaled(query, key), -np.inf)) @ value


@wrong("padded_causal_attention", "first real key ends the row: a loop with break")
def loop_with_break(query, key, value, real):
    out = np.zeros(value.shape)
    for b, i in np.ndindex(query.shape[:2]):
        seen = []
        for j in range(i + 1):
            if not real[b, j]:
                break
            seen.append(j)
        if seen:
            out[b, i] = softmax(key[b, seen] @ query[b, i] / query.shape[-1] ** 0.5) @ value[b, seen]
    return out
