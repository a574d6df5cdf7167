"""Wrong answers to `gqa` and `gqa_backward`, as readers may write them."""

import numpy as np

from . import wrong


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attend(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


def repeated(array, query):
    return np.repeat(array, query.shape[1] // array.shape[1], axis=1)


@wrong("gqa", "torch's repeat, which tiles", named=("tile",))
def repeat_that_tiles(query, key, value):
    groups = query.shape[1] // key.shape[1]
    return attend(query, np.concatenate([key] * groups, axis=1), np.concatenate([value] * groups, axis=1))


@wrong("gqa", "head i uses key head i modulo their number", named=("tile",))
def modulo(query, key, value):
    heads = [attend(query[:, i], key[:, i % key.shape[1]], value[:, i % key.shape[1]]) for i in range(query.shape[1])]
    return np.stack(heads, axis=1)


@wrong("gqa", "a group axis in front of the key heads", named=("tile",))
def group_axis_in_front(query, key, value):
    b, h, q, d = query.shape
    grouped = query.reshape(b, h // key.shape[1], key.shape[1], q, d)
    return attend(grouped, key[:, None], value[:, None]).reshape(b, h, q, -1)


@wrong("gqa", "the right groups, their outputs in another order", named=("out_in_turn",))
def outputs_in_another_order(query, key, value):
    b, h, q, d = query.shape
    grouped = query.reshape(b, key.shape[1], -1, q, d)
    out = attend(grouped, key[:, :, None], value[:, :, None])
    return out.swapaxes(1, 2).reshape(b, h, q, -1)


@wrong("gqa", "keys tiled, values repeated", named=("k_tile",))
def keys_tiled(query, key, value):
    share = query.shape[1] // key.shape[1]
    return attend(query, np.tile(key, (1, share, 1, 1)), repeated(value, query))


@wrong("gqa", "keys repeated, values tiled", named=("v_tile",))
def values_tiled(query, key, value):
    share = query.shape[1] // key.shape[1]
    return attend(query, key.repeat(share, axis=1), np.hstack([value] * share))


@wrong(
    "gqa", "head i uses key head i // number of key heads",
    says=r"index 2 is out of bounds for axis 1 with size 2",
)
def divided_by_the_number(query, key, value):
    used = np.arange(query.shape[1]) // key.shape[1]
    return attend(query, key[:, used], value[:, used])


@wrong("gqa", "head i uses key head min(i, last)", named=("clipped",))
def the_last_for_the_rest(query, key, value):
    used = np.minimum(np.arange(query.shape[1]), key.shape[1] - 1)
    return attend(query, key[:, used], value[:, used])


@wrong("gqa", "the key heads in the opposite order", named=("reversed",))
def opposite_order(query, key, value):
    return attend(query, repeated(key[:, ::-1], query), repeated(value[:, ::-1], query))


@wrong("gqa", "key head 0 for all", named=("first_kv",))
def first_for_all(query, key, value):
    return attend(query, key[:, [0]], value[:, [0]])


@wrong("gqa", "the last key head for all", named=("last_kv",))
def last_for_all(query, key, value):
    return attend(query, key[:, -1:], value[:, -1:])


@wrong("gqa", "key heads averaged", named=("mean_kv",))
def averaged(query, key, value):
    return np.einsum("bhqk,bkv->bhqv", softmax(np.einsum("bhqd,bkd->bhqk", query, key.mean(1)) / query.shape[-1] ** 0.5), value.mean(1))


@wrong("gqa", "key heads added", named=("sum_kv",))
def added(query, key, value):
    return attend(query, key.sum(axis=1, keepdims=True), value.sum(axis=1, keepdims=True))


@wrong(
    "gqa", "the query heads of a group averaged: as many outputs as key heads",
    says=r"\(3, 2, 3, 4\); \(3, 6, 3, 4\)",
)
def query_heads_averaged(query, key, value):
    b, h, q, d = query.shape
    grouped = query.reshape(b, key.shape[1], -1, q, d).mean(axis=2)
    return attend(grouped, key, value)


@wrong("gqa", "one query head of each group", says=r"\(3, 2, 3, 4\); \(3, 6, 3, 4\)")
def one_of_each_group(query, key, value):
    return attend(query[:, :: query.shape[1] // key.shape[1]], key, value)


@wrong("gqa", "repeated along the keys, which are then seen several times", says=r"\(3,2,7,15\)")
def repeated_along_keys(query, key, value):
    share = query.shape[1] // key.shape[1]
    return attend(query, np.repeat(key, share, axis=2), np.repeat(value, share, axis=2))


@wrong("gqa", "np.repeat without its axis")
def repeat_without_axis(query, key, value):
    share = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, share), np.repeat(value, share)
    return attend(query, key.reshape(*query.shape[:2], -1, query.shape[-1]), value.reshape(*query.shape[:2], -1, query.shape[-1]))


@wrong("gqa", "plain broadcasting", says=r"\(3,6,3,7\).*\(3,2,7,5\)")
def plain_broadcasting(query, key, value):
    return attend(query, key, value)


@wrong("gqa", "reshaped: the group folded into the queries, and not unfolded", says=r"\(3, 2, 9, 4\); \(3, 6, 3, 4\)")
def folded_and_not_unfolded(query, key, value):
    b, h, q, d = query.shape
    return attend(query.reshape(b, key.shape[1], -1, d), key, value)


@wrong("gqa", "folded into the queries, unfolded in the wrong order", says=r"right numbers, in other places")
def unfolded_wrongly(query, key, value):
    b, h, q, d = query.shape
    g = h // key.shape[1]
    folded = query.reshape(b, key.shape[1], g, q, d).swapaxes(2, 3).reshape(b, key.shape[1], q * g, d)
    return attend(folded, key, value).reshape(b, h, q, -1)


@wrong("gqa", "one softmax for the heads of a group", named=("joint_softmax",))
def softmax_of_a_group(query, key, value):
    b, h, q, d = query.shape
    share = h // key.shape[1]
    s = (query @ repeated(key, query).mT / np.sqrt(d)).reshape(b, -1, share, q, key.shape[2])
    e = np.exp(s - s.max(axis=(2, 4), keepdims=True))
    p = (e / e.sum(axis=(2, 4), keepdims=True)).reshape(b, h, q, -1)
    return p @ repeated(value, query)


@wrong("gqa", "no scale", named=("no_scale",))
def no_scale(query, key, value):
    return softmax(query @ repeated(key, query).transpose(0, 1, 3, 2)) @ repeated(value, query)


@wrong("gqa", "divided by d", named=("scale_d",))
def divided_by_d(query, key, value):
    return softmax(query @ repeated(key, query).mT / query.shape[-1]) @ repeated(value, query)


@wrong("gqa", "the root of the share as well", named=("scale_share",))
def root_of_d_and_share(query, key, value):
    d = query.shape[-1] * (query.shape[1] // key.shape[1])
    return softmax(query @ repeated(key, query).mT / np.sqrt(d)) @ repeated(value, query)


@wrong(
    "gqa", "divided by the share: the heads of a group are averaged in",
    says=r"times too small|by a factor",
)
def divided_by_the_share(query, key, value):
    return attend(query, repeated(key, query), repeated(value, query)) / (query.shape[1] // key.shape[1])


@wrong("gqa", "the root of the number of keys", named=("scale_k",))
def root_of_keys(query, key, value):
    return softmax(query @ repeated(key, query).mT / np.sqrt(key.shape[-2])) @ repeated(value, query)


@wrong("gqa", "softmax over the queries", named=("softmax_queries",))
def softmax_over_queries(query, key, value):
    return softmax(query @ repeated(key, query).mT / query.shape[-1] ** 0.5, axis=2) @ repeated(value, query)


@wrong("gqa", "softmax over the heads", named=("softmax_heads",))
def softmax_over_heads(query, key, value):
    return softmax(query @ repeated(key, query).mT / query.shape[-1] ** 0.5, axis=1) @ repeated(value, query)


@wrong("gqa", "no maximum", named=("no_max",))
def no_maximum(query, key, value):
    e = np.exp(query @ repeated(key, query).mT / query.shape[-1] ** 0.5)
    return e / e.sum(axis=-1, keepdims=True) @ repeated(value, query)


@wrong("gqa", "one maximum for everything", named=("max_global",))
def one_maximum(query, key, value):
    s = query @ repeated(key, query).mT / query.shape[-1] ** 0.5
    e = np.exp(s - s.max())
    return e / e.sum(axis=-1, keepdims=True) @ repeated(value, query)


@wrong("gqa", "the outputs of a group are overwritten", named=())
def overwritten_in_a_group(query, key, value):
    b, h, q, d = query.shape
    out = np.zeros((b, h, q, value.shape[-1]))
    for head in range(h):
        g = head // (h // key.shape[1])
        out[:, g] = attend(query[:, head], key[:, g], value[:, g])
    return out


@wrong("gqa", "the heads merged at the end", says=r"\(3, 3, 24\)")
def merged_at_the_end(query, key, value):
    out = attend(query, repeated(key, query), repeated(value, query))
    return out.swapaxes(1, 2).reshape(len(out), query.shape[2], -1)


@wrong("gqa", "heads and positions exchanged at the end", says=r"\(3, 3, 6, 4\)")
def exchanged_at_the_end(query, key, value):
    return attend(query, repeated(key, query), repeated(value, query)).swapaxes(1, 2)


@wrong("gqa", "the weights", says=r"\(3, 6, 3, 5\)")
def the_weights(query, key, value):
    return softmax(query @ repeated(key, query).mT / np.sqrt(query.shape[-1]))


# --- gqa_backward ---------------------------------------------------------------------------------


@wrong("gqa_backward", "undoes a tile", named=("tile_order",))
def undoes_a_tile(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return np.einsum("bgknd->bknd", d_repeated.reshape(b, -1, kv_heads, n, d))


@wrong("gqa_backward", "every kv_heads-th head", named=("tile_order",))
def every_second_head(d_repeated, kv_heads):
    return np.stack([d_repeated[:, g::kv_heads].sum(axis=1) for g in range(kv_heads)], axis=1)


@wrong("gqa_backward", "as many per group as there are groups", says=r"\(3, 3, 3, 5\); \(3, 2, 3, 5\)")
def groups_and_members_swapped(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, h // kv_heads, kv_heads, n, d).sum(axis=2)


@wrong("gqa_backward", "the mean of each group", named=("mean",))
def mean_of_each_group(d_repeated, kv_heads):
    return np.stack([part.mean(1) for part in np.array_split(d_repeated, kv_heads, axis=1)], 1)


@wrong("gqa_backward", "the sum divided by the number of heads", says=r"number of heads of d_repeated")
def divided_by_heads(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, -1, n, d).sum(axis=2) / h


@wrong("gqa_backward", "the sum divided by the number of key heads", says=r"too small")
def divided_by_kv_heads(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, -1, n, d).sum(axis=2) / kv_heads


@wrong("gqa_backward", "assigned in a loop over the heads", named=("last",))
def assigned_in_a_loop(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    out = np.zeros((b, kv_heads, n, d))
    for head in range(h):
        out[:, head // (h // kv_heads)] = d_repeated[:, head]
    return out


@wrong("gqa_backward", "out[:, index] += adds repeated places once", named=("last",))
def fancy_plus(d_repeated, kv_heads):
    h = d_repeated.shape[1]
    out = np.zeros_like(d_repeated[:, :kv_heads])
    out[:, np.arange(h) // (h // kv_heads)] += d_repeated
    return out


@wrong("gqa_backward", "the first of each group", named=("first",))
def first_of_each(d_repeated, kv_heads):
    return d_repeated[:, :: d_repeated.shape[1] // kv_heads]


@wrong("gqa_backward", "the first heads of all", named=("first_heads",))
def first_heads(d_repeated, kv_heads):
    return d_repeated[:, :kv_heads]


@wrong("gqa_backward", "nothing is added", named=("no_sum",))
def nothing_added(d_repeated, kv_heads):
    return d_repeated.copy()


@wrong("gqa_backward", "every head gets its group's sum", says=r"\(3, 6, 3, 5\); \(3, 2, 3, 5\)")
def sums_for_every_head(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    sums = d_repeated.reshape(b, kv_heads, -1, n, d).sum(axis=2)
    return np.repeat(sums, h // kv_heads, axis=1)


@wrong("gqa_backward", "all heads added", says=r"\(3, 3, 5\); \(3, 2, 3, 5\)")
def all_heads_added(d_repeated, kv_heads):
    return d_repeated.sum(axis=1)


@wrong("gqa_backward", "all heads added, and repeated", named=("all_heads",))
def all_heads_added_and_repeated(d_repeated, kv_heads):
    return np.repeat(d_repeated.sum(axis=1, keepdims=True), kv_heads, axis=1)


@wrong("gqa_backward", "the batch is added as well", says=r"\(2, 3, 5\); \(3, 2, 3, 5\)")
def batch_added(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, -1, n, d).sum(axis=(0, 2))


@wrong("gqa_backward", "keepdims", says=r"axis of size 1 is too many")
def with_keepdims(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, -1, n, d).sum(axis=2, keepdims=True)


@wrong("gqa_backward", "the tokens are added in place of the heads", says=r"shape")
def tokens_added(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, -1, n, d).sum(axis=3)


@wrong("gqa_backward", "groups that begin one head late", named=())
def one_head_late(d_repeated, kv_heads):
    share = d_repeated.shape[1] // kv_heads
    return np.stack([d_repeated[:, g * share + 1 : (g + 1) * share + 1].sum(axis=1) for g in range(kv_heads)], axis=1)


@wrong("gqa_backward", "groups that end one head early", named=("one_short",))
def one_head_early(d_repeated, kv_heads):
    share = d_repeated.shape[1] // kv_heads
    return np.stack([d_repeated[:, g * share : (g + 1) * share - 1].sum(axis=1) for g in range(kv_heads)], axis=1)


@wrong("gqa_backward", "the share is kv_heads", says=r"\(3, 3, 3, 5\); \(3, 2, 3, 5\)")
def share_is_kv_heads(d_repeated, kv_heads):
    return np.add.reduceat(d_repeated, np.arange(0, d_repeated.shape[1], kv_heads), axis=1)


@wrong("gqa_backward", "heads on the last axis", says=r"\(3, 3, 5, 2\)")
def heads_last(d_repeated, kv_heads):
    parts = np.split(d_repeated, kv_heads, axis=1)
    return np.stack([part.sum(axis=1) for part in parts], axis=-1)


@wrong("gqa_backward", "groups first, then the batch", says=r"\(2, 3, 3, 5\)")
def groups_first(d_repeated, kv_heads):
    return np.array([part.sum(axis=1) for part in np.split(d_repeated, kv_heads, axis=1)])


@wrong("gqa_backward", "the members multiplied", named=("product",))
def multiplied(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, -1, n, d).prod(axis=2)


@wrong("gqa_backward", "the largest of each group", named=("largest",))
def largest_of_each(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, -1, n, d).max(axis=2)


@wrong("gqa_backward", "the group order of a tile, averaged", named=("mean", "tile_order"))
def tile_order_averaged(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, -1, kv_heads, n, d).mean(axis=1)
