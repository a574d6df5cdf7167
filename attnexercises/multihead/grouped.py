"""Exercises on query heads that share keys and values: the attention, and the gradient of a shared head."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.multihead import accepts, grouped_mistakes
from attnexercises.multihead.heads import one_head
from attnexercises.softmax.stable import plain_softmax

# gqa


def _gqa_oracle(query, key, value):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    share = query.shape[1] // key.shape[1]
    for b in range(len(query)):
        for head in range(query.shape[1]):
            out[b, head] = one_head(query[b, head], key[b, head // share], value[b, head // share])[0]
    return out


def gqa(query, key, value):
    h, kv_heads = query.shape[1], key.shape[1]
    used = np.arange(h) // (h // kv_heads)  # by query head: the key head it uses
    key, value = key[:, used], value[:, used]
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ value


def _gqa_family(bugs):
    def spread(array, heads, tiled):
        if "first_kv" in bugs:
            array = array[:, :1]
        if "mean_kv" in bugs or "sum_kv" in bugs:
            array = (np.mean if "mean_kv" in bugs else np.sum)(array, axis=1, keepdims=True)
        array = array[:, -1:] if "last_kv" in bugs else array[:, ::-1] if "reversed" in bugs else array
        share = heads // array.shape[1]
        return np.tile(array, (1, share, 1, 1)) if tiled else np.repeat(array, share, axis=1)

    def softmax(scores, kv_heads):
        shift = "no_max" not in bugs
        if "joint_softmax" not in bugs:
            if "max_global" in bugs:
                exponentials = np.exp(scores - scores.max())
                return exponentials / exponentials.sum(axis=-1, keepdims=True)
            return plain_softmax(scores, 1 if "softmax_heads" in bugs else -2 if "softmax_queries" in bugs else -1, shift)
        b, heads, q, k = scores.shape
        grouped = scores.reshape(b, kv_heads, heads // kv_heads, q, k)
        return plain_softmax(grouped, axis=(2, 4), shift=shift).reshape(scores.shape)

    def variant(query, key, value):
        heads, kv_heads = query.shape[1], key.shape[1]
        keys = spread(key, heads, tiled="tile" in bugs or "k_tile" in bugs)
        values = spread(value, heads, tiled="tile" in bugs or "v_tile" in bugs)
        scale = 1.0 if "no_scale" in bugs else 1 / math.sqrt(query.shape[-1])
        if "scale_d" in bugs or "scale_k" in bugs:
            scale = 1 / query.shape[-1] if "scale_d" in bugs else 1 / math.sqrt(key.shape[-2])
        out = softmax(scale * (query @ keys.mT), kv_heads) @ values
        if "out_in_turn" in bugs:
            grouped = out.reshape(len(out), kv_heads, heads // kv_heads, *out.shape[2:])
            return grouped.swapaxes(1, 2).reshape(out.shape)
        return out

    return variant


def _groups(heads, kv_heads, size=1.0, b=3, q=8, k=5, d=7, v=4):
    def make(rng):
        query = size * rng.standard_normal((b, heads, q, d))
        return query, rng.standard_normal((b, kv_heads, k, d)), rng.standard_normal((b, kv_heads, k, v))

    return make


def _gqa_by_reshape(query, key, value):
    b, heads, q, d = query.shape
    grouped = query.reshape(b, key.shape[1], -1, q, d)  # (b, kv_heads, share, q, d)
    weights = plain_softmax(grouped @ key[:, :, None].mT / math.sqrt(d))
    return (weights @ value[:, :, None]).reshape(b, heads, q, -1)


def _gqa_by_repeat(query, key, value):
    key, value = (np.repeat(array, query.shape[1] // array.shape[1], axis=1) for array in (key, value))
    return plain_softmax(query @ key.mT / math.sqrt(query.shape[-1])) @ value


def _gqa_by_loop(query, key, value):
    share, heads = query.shape[1] // key.shape[1], []
    for head in range(query.shape[1]):
        scores = query[:, head] @ key[:, head // share].mT / math.sqrt(query.shape[-1])
        heads.append(plain_softmax(scores) @ value[:, head // share])
    return np.stack(heads, axis=1)


_GQA = Exercise(
    "gqa",
    title="Heads that share keys and values",
    chapter="multihead",
    level="medium",
    minutes=10,
    blanks=3,
    oracle=_gqa_oracle,
    solution=gqa,
    family=_gqa_family,
    probes=(
        Probe("6 query heads, 2 key heads", _groups(6, 2)),
        Probe("4 query heads, 2 key heads", _groups(4, 2, q=4, k=3, d=5, v=2), why="groups as large as their number"),
        Probe("every head its own", _groups(3, 3), why="this is plain multi-head attention"),
        Probe("one key head for all", _groups(3, 1), why="multi-query attention"),
        Probe("large scores", _groups(6, 2, size=1000.0), "edge"),
        Probe("one query, one key, one feature", _groups(4, 2, b=1, q=1, k=1, d=3, v=1), "edge", "axes of size 1 stay"),
    ),
    mistakes=grouped_mistakes.GQA,
    hints=(
        "How many query heads share one key head? That is one size divided by another.",
        "With 6 query heads and 2 key heads, the key heads in use are 0, 0, 0, 1, 1, 1. `np.repeat` along the axis of the "
        "heads does this, or an array of these numbers as an index.",
        "Bring key and value to as many heads as the query has; what follows is attention as always.",
    ),
    why="Indexing with an array copies each key head as often as it is used, and so does `np.repeat`. The library folds the "
    "group into the rows of the query instead, and copies nothing.",
    insight="One line more than plain attention, and the keys and values to be stored shrink by the size of a group.",
    accepts={
        "a group axis that broadcasts": _gqa_by_reshape, "loops": _gqa_by_loop, "repeat": _gqa_by_repeat,
        **accepts.GQA,
    },
)  # fmt: skip


# gqa_backward


def _gqa_backward_oracle(d_repeated, kv_heads):
    out = np.zeros((len(d_repeated), kv_heads, *d_repeated.shape[2:]))
    share = d_repeated.shape[1] // kv_heads
    for b in range(len(d_repeated)):
        for head in range(d_repeated.shape[1]):
            out[b, head // share] += d_repeated[b, head]
    return out


def gqa_backward(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, h // kv_heads, n, d).sum(axis=2)


def _gqa_backward_family(bugs):
    def variant(d_repeated, kv_heads):
        b, h, n, d = d_repeated.shape
        if "no_sum" in bugs:
            return d_repeated * 1.0
        if "tile_order" in bugs:
            groups = d_repeated.reshape(b, h // kv_heads, kv_heads, n, d).swapaxes(1, 2)
        else:
            groups = d_repeated.reshape(b, kv_heads, h // kv_heads, n, d)
        if "mean" in bugs:
            return groups.mean(axis=2)
        if "first" in bugs:
            return groups[:, :, 0]
        if "first_heads" in bugs:
            return d_repeated[:, :kv_heads] * 1.0
        if "all_heads" in bugs:
            return np.repeat(d_repeated.sum(axis=1, keepdims=True), kv_heads, axis=1)
        if "one_short" in bugs:
            return groups[:, :, :-1].sum(axis=2)
        if "product" in bugs:
            return groups.prod(axis=2)
        return groups[:, :, -1] if "last" in bugs else groups.sum(axis=2)

    return variant


def _per_head(heads, kv_heads, b=3, n=3, d=5):
    def make(rng):
        return rng.standard_normal((b, heads, n, d)), kv_heads

    return make


_GQA_BACKWARD = Exercise(
    "gqa_backward",
    title="The gradient of a shared head",
    chapter="multihead",
    level="easy",
    minutes=10,
    oracle=_gqa_backward_oracle,
    solution=gqa_backward,
    family=_gqa_backward_family,
    probes=(
        Probe("6 query heads, 2 key heads", _per_head(6, 2)),
        Probe("4 query heads, 2 key heads", _per_head(4, 2, n=2, d=7), why="groups as large as their number"),
        Probe("one key head for all", _per_head(3, 1, b=1, n=5, d=4), why="multi-query attention"),
        Probe("one token, one feature", _per_head(6, 2, n=1, d=1), "edge", "axes of size 1 stay"),
    ),
    mistakes=grouped_mistakes.GQA_BACKWARD,
    hints=(
        "Forward, one key head was copied several times. What is used several times receives the sum of the gradients.",
        "Give the head axis two: one for the groups and one for the members of a group. Members are neighbours, so "
        "which of the two comes first?",
        "Reshape to (b, kv_heads, h / kv_heads, n, d) and sum over the third axis.",
    ),
    why="The copies of a key head are next to each other, so the axis that counts copies comes after the axis "
    "that counts key heads. Its sum is the gradient of what was copied.",
    insight="Broadcast forward, sum backward: the same rule as for a bias, or for a weight that a whole batch shares.",
    accepts={
        "loop over groups": lambda d_repeated, kv_heads: np.stack(
            [group.sum(axis=1) for group in np.split(d_repeated, kv_heads, axis=1)], axis=1
        ),
        "einsum": lambda d_repeated, kv_heads: np.einsum(
            "bgsnd->bgnd",
            d_repeated.reshape(len(d_repeated), kv_heads, -1, *d_repeated.shape[2:]),
        ),
        **accepts.GQA_BACKWARD,
    },
)  # fmt: skip

EXERCISES = (_GQA, _GQA_BACKWARD)
