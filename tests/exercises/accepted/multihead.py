"""Other right ways to do the exercises on several heads."""

import math

import numpy as np

from attnexercises.multihead.heads import columns
from attnexercises.softmax.stable import plain_softmax


def split_heads(y, heads):
    """(b, n, h·d) to (b, h, n, d)."""
    return y.reshape(*y.shape[:2], heads, -1).swapaxes(1, 2)


def merge_heads(y):
    """(b, h, n, d) to (b, n, h·d)."""
    return y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)

# --- previous_token_head, first_of_its_kind_head --------------------------------------------------


def previous_in_loops(letters, places):
    query_weight = [[0.0] * places for _ in range(letters + places)]
    key_weight = [[0.0] * places for _ in range(letters + places)]
    for place in range(places):
        key_weight[letters + place][place] = 10 * math.sqrt(places)
        if place > 0:
            query_weight[letters + place][place - 1] = 10.0
    return query_weight, key_weight


def previous_by_where(letters, places):
    row, column = np.indices((letters + places, places))
    return np.where(row - letters == column + 1, 100 * np.sqrt(places), 0), np.where(row - letters == column, 1, 0)


def previous_by_distance(letters, places):
    """-(j - (i - 1))^2 / 2 without the term of the query alone: two features are enough for any number of places."""
    place, nothing = np.arange(places), np.zeros((letters, 2))
    ask = 12 * np.stack([place - 1.0, np.ones(places)], axis=1)
    return np.vstack([nothing, ask]), np.vstack([nothing, np.stack([place, -(place**2) / 2], axis=1)])


def first_in_loops(letters, places):
    query_weight, key_weight = np.zeros((2, letters + places, letters + 1))
    for letter in range(letters):
        query_weight[letter, letter] = 40.0 * places
        query_weight[letter, letters] = 20.0
        key_weight[letter, letter] = 1.0
    for place in range(places):
        key_weight[letters + place, letters] = -place
    return query_weight, key_weight


def first_by_where(letters, places):
    row, column = np.indices((letters + places, letters + 1))
    asks = np.where(column == letters, 20.0, np.where(row == column, 40.0 * places, 0))
    has = np.where(row < letters, row == column, np.where(column == letters, letters - row, 0))
    return np.where(row < letters, asks, 0), has.astype(float)


def first_with_huge_numbers(letters, places):
    query_weight, key_weight = np.zeros((2, letters + places, letters + 1))
    query_weight[:letters] = 1e6 * places * np.eye(letters, letters + 1)
    query_weight[:letters, -1] = 1e5
    key_weight[:letters] = np.eye(letters, letters + 1)
    key_weight[letters:, -1] = -np.arange(places)
    return query_weight, key_weight


def one_from_places(letters, places):
    """Every token has exactly one place, too; and the letters may stand in any order."""
    query_weight, key_weight = np.zeros((2, letters + places, letters + 1))
    query_weight[letters:, 0], key_weight[letters:, 0] = 8.0, -5.0 * np.arange(places)
    query_weight[:letters, 1:] = 80.0 * places * np.eye(letters)[::-1]
    key_weight[:letters, 1:] = np.eye(letters)[::-1]
    return query_weight, key_weight


# --- mha ------------------------------------------------------------------------------------------


def mha_by_slices(x, query_weight, key_weight, value_weight, out_weight, heads):
    outputs = []
    for head in range(heads):
        query, key, value = (x @ columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
        outputs.append(plain_softmax(query @ key.mT / math.sqrt(query.shape[-1])) @ value)
    return np.concatenate(outputs, axis=-1) @ out_weight


def mha_by_einsum(x, query_weight, key_weight, value_weight, out_weight, heads):
    m = x.shape[-1]
    query, key, value = (
        np.einsum("bnm,mhd->bhnd", x, weight.reshape(m, heads, -1))
        for weight in (query_weight, key_weight, value_weight)
    )
    weights = plain_softmax(np.einsum("bhqd,bhkd->bhqk", query, key) / query.shape[-1] ** 0.5)
    back = out_weight.reshape(heads, -1, out_weight.shape[-1])
    return np.einsum("bhqk,bhkv,hvm->bqm", weights, value, back)


def mha_in_loops(x, query_weight, key_weight, value_weight, out_weight, heads):
    out = np.zeros((*x.shape[:2], out_weight.shape[1]))
    for b, head in np.ndindex(len(x), heads):
        query, key, value = (x[b] @ columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
        back = columns(out_weight.T, head, heads).T
        for i, asked in enumerate(query):
            weights = plain_softmax(np.array([asked @ found for found in key]) / math.sqrt(len(asked)))
            out[b, i] += sum(weight * row for weight, row in zip(weights, value)) @ back
    return out


def mha_by_tensordot(x, query_weight, key_weight, value_weight, out_weight, heads):
    query, key, value = (
        np.tensordot(x, weight.reshape(len(weight), heads, -1), axes=([2], [0])).swapaxes(1, 2)
        for weight in (query_weight, key_weight, value_weight)
    )  # each (b, heads, n, d)
    attended = plain_softmax(query @ key.mT / np.sqrt(query.shape[3])) @ value
    return np.tensordot(attended, out_weight.reshape(heads, -1, out_weight.shape[1]), axes=([1, 3], [0, 1]))


# --- mha_backward ---------------------------------------------------------------------------------


def mha_backward_with_flattened_rows(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    """One row for each position of each batch element, and a loop over the heads."""
    flat, d_flat = x.reshape(-1, x.shape[-1]), d_out.reshape(-1, d_out.shape[-1])
    inputs, outputs, merged = [], [], []
    for head in range(heads):
        query, key, value = (x @ columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
        weights = plain_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
        merged.append(weights @ value)
        d_attended = d_out @ columns(out_weight.T, head, heads)
        # the mean of d_weights in each row, from the output of the head
        row_mean = (d_attended * merged[-1]).sum(axis=-1, keepdims=True)
        d_scores = weights * (d_attended @ value.mT - row_mean) / math.sqrt(query.shape[-1])
        inputs.append((d_scores @ key, d_scores.mT @ query, weights.mT @ d_attended))
    for part in zip(*inputs, strict=True):
        outputs.append(np.concatenate(part, axis=-1))
    weights = (query_weight, key_weight, value_weight)
    d_x = sum(d_y @ weight.T for d_y, weight in zip(outputs, weights, strict=True))
    d_weights = [flat.T @ d_y.reshape(len(flat), -1) for d_y in outputs]
    return d_x, *d_weights, np.concatenate(merged, axis=-1).reshape(len(flat), -1).T @ d_flat


def mha_backward_by_einsum(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    wq, wk, wv = (w.reshape(len(w), heads, -1) for w in (query_weight, key_weight, value_weight))
    wo = out_weight.reshape(heads, -1, out_weight.shape[1])
    query, key, value = (np.einsum("bnm,mhd->bhnd", x, w) for w in (wq, wk, wv))
    c = query.shape[-1] ** -0.5
    weights = plain_softmax(c * np.einsum("bhqd,bhkd->bhqk", query, key))
    d_attended = np.einsum("bqm,hvm->bhqv", d_out, wo)
    d_weights = np.einsum("bhqv,bhkv->bhqk", d_attended, value)
    d_scores = c * weights * (d_weights - np.einsum("bhqk,bhqk->bhq", weights, d_weights)[..., None])
    d_query, d_key = np.einsum("bhqk,bhkd->bhqd", d_scores, key), np.einsum("bhqk,bhqd->bhkd", d_scores, query)
    parts = d_query, d_key, np.einsum("bhqk,bhqv->bhkv", weights, d_attended)
    d_x = sum(np.einsum("bhnd,mhd->bnm", d, w) for d, w in zip(parts, (wq, wk, wv)))
    shared = (np.einsum("bnm,bhnd->mhd", x, d).reshape(len(query_weight), -1) for d in parts)
    d_out_weight = np.einsum("bhqk,bhkv,bqm->hvm", weights, value, d_out).reshape(out_weight.shape)
    return d_x, *shared, d_out_weight


def mha_backward_by_tensordot(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    matrices = (query_weight, key_weight, value_weight)
    query, key, value = (split_heads(np.tensordot(x, weight, axes=1), heads) for weight in matrices)
    c = query.shape[-1] ** -0.5
    weights = plain_softmax(c * query @ key.mT)
    d_attended = split_heads(np.tensordot(d_out, out_weight, axes=([2], [1])), heads)
    d_weights = d_attended @ value.mT
    d_scores = c * weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    parts = [merge_heads(d) for d in (d_scores @ key, d_scores.mT @ query, weights.mT @ d_attended)]
    d_x = sum(np.tensordot(d, weight, axes=([2], [1])) for d, weight in zip(parts, matrices))
    merged = merge_heads(weights @ value)
    shared = (np.tensordot(x, d, axes=([0, 1], [0, 1])) for d in parts)
    return d_x, *shared, np.tensordot(merged, d_out, axes=([0, 1], [0, 1]))


def mha_backward_by_where(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    """The entries of each row's Jacobian: p (1 - p) on the diagonal, - p p' beside it."""
    matrices = (query_weight, key_weight, value_weight)
    query, key, value = (split_heads(x @ weight, heads) for weight in matrices)
    c = 1 / math.sqrt(query.shape[-1])
    weights = plain_softmax(c * query @ key.mT)
    here, there = weights[..., :, None], weights[..., None, :]
    jacobian = np.where(np.eye(weights.shape[-1], dtype=bool), here * (1 - there), -here * there)
    d_attended = split_heads(d_out @ out_weight.T, heads)
    d_scores = c * (jacobian @ (d_attended @ value.mT)[..., None])[..., 0]
    parts = [merge_heads(d) for d in (d_scores @ key, d_scores.mT @ query, weights.mT @ d_attended)]
    flat = x.reshape(-1, x.shape[-1])
    shared = [flat.T @ d.reshape(len(flat), -1) for d in parts]
    d_out_weight = merge_heads(weights @ value).reshape(len(flat), -1).T @ d_out.reshape(len(flat), -1)
    return sum(d @ weight.T for d, weight in zip(parts, matrices)), *shared, d_out_weight


# --- gqa, gqa_backward ----------------------------------------------------------------------------


def gqa_by_reshape(query, key, value):
    b, heads, q, d = query.shape
    grouped = query.reshape(b, key.shape[1], -1, q, d)  # (b, kv_heads, share, q, d)
    weights = plain_softmax(grouped @ key[:, :, None].mT / math.sqrt(d))
    return (weights @ value[:, :, None]).reshape(b, heads, q, -1)


def gqa_by_repeat(query, key, value):
    key, value = (np.repeat(array, query.shape[1] // array.shape[1], axis=1) for array in (key, value))
    return plain_softmax(query @ key.mT / math.sqrt(query.shape[-1])) @ value


def gqa_by_loop(query, key, value):
    share, heads = query.shape[1] // key.shape[1], []
    for head in range(query.shape[1]):
        scores = query[:, head] @ key[:, head // share].mT / math.sqrt(query.shape[-1])
        heads.append(plain_softmax(scores) @ value[:, head // share])
    return np.stack(heads, axis=1)


def gqa_by_einsum(query, key, value):
    b, heads, q, d = query.shape
    grouped = query.reshape(b, key.shape[1], -1, q, d)
    weights = plain_softmax(np.einsum("bgsqd,bgkd->bgsqk", grouped, key) / math.sqrt(d))
    return np.einsum("bgsqk,bgkv->bgsqv", weights, value).reshape(b, heads, q, -1)


def gqa_by_tensordot(query, key, value):
    out = np.zeros((*query.shape[:3], value.shape[3]))
    share = query.shape[1] // key.shape[1]
    for b, head in np.ndindex(query.shape[:2]):
        scores = np.tensordot(query[b, head], key[b, head // share], axes=([1], [1]))
        weights = plain_softmax(scores / math.sqrt(query.shape[3]))
        out[b, head] = np.tensordot(weights, value[b, head // share], axes=1)
    return out


def gqa_by_where(query, key, value):
    """All query heads with all key heads; those of other groups are left out at the end."""
    share = query.shape[1] // key.shape[1]
    weights = plain_softmax(query[:, :, None] @ key[:, None].mT / math.sqrt(query.shape[-1]))
    own = np.arange(query.shape[1])[:, None] // share == np.arange(key.shape[1])
    return np.where(own[..., None, None], weights @ value[:, None], 0).sum(axis=2)


def groups_in_loops(d_repeated, kv_heads):
    d_shared = np.zeros((len(d_repeated), kv_heads, *d_repeated.shape[2:]))
    share = d_repeated.shape[1] // kv_heads
    for b, head in np.ndindex(d_repeated.shape[:2]):
        d_shared[b, head // share] += d_repeated[b, head]
    return d_shared


def groups_by_tensordot(d_repeated, kv_heads):
    member = np.repeat(np.eye(kv_heads), d_repeated.shape[1] // kv_heads, axis=0)
    return np.moveaxis(np.tensordot(d_repeated, member, axes=([1], [0])), -1, 1)


def groups_by_where(d_repeated, kv_heads):
    group = np.repeat(np.arange(kv_heads), d_repeated.shape[1] // kv_heads)[:, None, None]
    return np.stack([np.where(group == g, d_repeated, 0).sum(axis=1) for g in range(kv_heads)], axis=1)


ACCEPTED = {
    "previous_token_head": {
        "the shift in the keys": lambda letters, places: (
            np.vstack([np.ones((letters, places)), 99 * np.sqrt(places) * np.eye(places)]),
            np.vstack([np.zeros((letters, places)), np.eye(places, k=1)]),
        ),
        "in a circle, in float32": lambda letters, places: (
            np.vstack([np.zeros((letters, places)), 40 * np.sqrt(places) * np.roll(np.eye(places), -1, axis=1)]).astype(np.float32),
            np.vstack([np.ones((letters, places)), np.eye(places)]).astype(np.float32),
        ),
        "loops": previous_in_loops, "where": previous_by_where, "by distance, with two features": previous_by_distance,
    },
    "first_of_its_kind_head": {
        "loops": first_in_loops, "where": first_by_where, "with huge numbers": first_with_huge_numbers,
        "the 1 from the places": one_from_places,
    },
    "mha": {
        "slices of each head": mha_by_slices, "einsum": mha_by_einsum, "loops": mha_in_loops,
        "tensordot": mha_by_tensordot,
    },
    "mha_backward": {
        "loops": mha_backward_with_flattened_rows, "einsum": mha_backward_by_einsum,
        "tensordot": mha_backward_by_tensordot, "where": mha_backward_by_where,
    },
    "gqa": {
        "a group axis that broadcasts": gqa_by_reshape, "loops": gqa_by_loop, "repeat": gqa_by_repeat,
        "einsum": gqa_by_einsum, "tensordot": gqa_by_tensordot, "where": gqa_by_where,
    },
    "gqa_backward": {
        "loop over groups": lambda d_repeated, kv_heads: np.stack(
            [group.sum(axis=1) for group in np.split(d_repeated, kv_heads, axis=1)], axis=1
        ),
        "einsum": lambda d_repeated, kv_heads: np.einsum(
            "bgsnd->bgnd",
            d_repeated.reshape(len(d_repeated), kv_heads, -1, *d_repeated.shape[2:]),
        ),
        "loops": groups_in_loops, "tensordot": groups_by_tensordot, "where": groups_by_where,
    },
}  # fmt: skip
