"""Exercises on query heads that share keys and values: the attention, and the gradient of a shared head."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.multihead.heads import one_head

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


def _groups(heads, kv_heads, size=1.0, b=3, q=8, k=5, d=7, v=4):
    def make(rng):
        query = size * rng.standard_normal((b, heads, q, d))
        return query, rng.standard_normal((b, kv_heads, k, d)), rng.standard_normal((b, kv_heads, k, v))

    return make


_GQA_MISTAKES = (
    Mistake("tile", "np.arange(h) // (h // kv_heads) -> np.arange(h) % kv_heads",
        "You dealt the key heads out in turn. Neighbours share, so the first query heads all use key head 0.", 2, sets="share"),
    Mistake("v_tile", "value[:, used] -> value[:, np.arange(h) % kv_heads]",
        "The value heads were dealt out in turn, but the key heads were not. Both have to follow the same rule.", 2, sets="share"),
    Mistake("first_kv", "np.arange(h) // (h // kv_heads) -> np.zeros(h, dtype=int)",
        "All your query heads use key head 0. Each group of query heads has a key head of its own.", 1, sets="share"),
    Mistake("mean_kv", "key[:, used], value[:, used] -> key.mean(axis=1, keepdims=True), value.mean(axis=1, keepdims=True)",
        "The key heads were averaged into one. Each group of query heads has its own.", 1, sets="share"),
    Mistake("joint_softmax",
        ("exponentials = -> scores = scores.reshape(len(key), kv_heads, -1, *scores.shape[2:])\nexponentials =",
         "axis=-1 -> axis=(2, 4)", "weights @ -> weights.reshape(*query.shape[:3], -1) @"),
        "The softmax ran over all query heads of a group at once. They share keys, but each row is normalised on its own.", 3,
        sets="axis"),
    Mistake("softmax_queries", "axis=-1 -> axis=-2",
        "The softmax runs over the queries; each row, along the keys, has to sum to 1.", 3, sets="axis"),
    Mistake("no_scale", "/ np.sqrt(query.shape[-1]) ->",
        "The scores are not scaled: divide them by the root of d.", 3, sets="scale"),
    Mistake("no_max", "scores - scores.max(axis=-1, keepdims=True) -> scores",
        "Large exponents overflow: the softmax has to measure each row against its maximum.", 3, shows="lost"),
    Mistake("out_averaged", "return weights @ value -> out = (weights @ value).reshape(len(key), kv_heads, -1, len(query[0, 0]), value.shape[-1])\nreturn np.repeat(out.mean(axis=2), h // kv_heads, axis=1)",
        "The outputs of a group were averaged. Every query head keeps an output of its own.", 3),
    Mistake("clipped", "np.arange(h) // (h // kv_heads) -> np.minimum(np.arange(h), kv_heads - 1)",
        "Query head i uses key head i, and the rest use the last one. The key heads are shared evenly among neighbours.", 2, sets="share"),
    Mistake("scale_share", "np.sqrt(query.shape[-1]) -> np.sqrt(query.shape[-1] * (h // kv_heads))",
        "The size of the group went into the scale. A score is a sum over the d features of one head.", 3, sets="scale"),
    Mistake("uniform", "weights = exponentials / exponentials.sum(axis=-1, keepdims=True) -> weights = 0 * scores + 1 / scores.shape[-1]",
        "Every key gets the same weight. The scores have to decide how much each of them counts.", 3),
    Mistake("k_tile", "key[:, used] -> key[:, np.arange(h) % kv_heads]",
        "The values are shared as they should be, but the keys are dealt out in turn. Both have to follow the same rule.", 2,
        sets="share"),
    Mistake("out_in_turn",
        ("return -> out =",
         "@ value -> @ value\nreturn out.reshape(len(out), kv_heads, -1, *out.shape[2:]).swapaxes(1, 2).reshape(out.shape)"),
        "The outputs are in another order of heads than the queries. Unfold group and member in the order in which they were "
        "folded.", 2),
    Mistake("last_kv", "np.arange(h) // (h // kv_heads) -> np.full(h, kv_heads - 1)",
        "All your query heads use the last key head. Each group of query heads has a key head of its own.", 1, sets="share"),
    Mistake("sum_kv", "key[:, used], value[:, used] -> key.sum(axis=1, keepdims=True), value.sum(axis=1, keepdims=True)",
        "The key heads were added into one. Each group of query heads has its own.", 1, sets="share"),
    Mistake("reversed", "used = -> used = kv_heads - 1 -",
        "The key heads are used in the opposite order. The first group of query heads uses key head 0.", 2, sets="share"),
    Mistake("softmax_heads", "axis=-1 -> axis=1",
        "The softmax runs over the heads. Each row, along the keys, has to sum to 1.", 3, sets="axis"),
    Mistake("scale_times", "/ np.sqrt(query.shape[-1]) -> * np.sqrt(query.shape[-1])",
        "The scores were multiplied by the root of d. Divide by it.", 3, sets="scale"),
    Mistake("scale_v", "np.sqrt(query.shape[-1]) -> np.sqrt(value.shape[-1])",
        "You scaled by the width of the values. A score is a sum over the d features of query and key.", 3, sets="scale"),
    Mistake("scale_d", "np.sqrt(query.shape[-1]) -> query.shape[-1]",
        "The scores were divided by d, not by its root.", 3, sets="scale"),
    Mistake("scale_k", "np.sqrt(query.shape[-1]) -> np.sqrt(key.shape[-2])",
        "The scores were divided by the root of the number of keys. Divide them by the root of d.", 3, sets="scale"),
    Mistake("max_global", "scores.max(axis=-1, keepdims=True) -> scores.max()",
        "Several rows share one maximum, so a row that lies far below it underflows to 0. Each row needs its own maximum.", 3,
        shows="lost"),
)

_GQA = Exercise(
    title="Heads that share keys and values", level="medium", minutes=10, blanks=3, oracle=_gqa_oracle, solution=gqa,
    probes=(
        Probe("6 query heads, 2 key heads", _groups(6, 2)),
        Probe("4 query heads, 2 key heads", _groups(4, 2, q=4, k=3, d=5, v=2), why="groups as large as their number"),
        Probe("every head its own", _groups(3, 3), why="this is plain multi-head attention"),
        Probe("one key head for all", _groups(3, 1), why="multi-query attention"),
        Probe("large scores", _groups(6, 2, size=1000.0), "edge"),
        Probe("one query, one key, one feature", _groups(4, 2, b=1, q=1, k=1, d=3, v=1), "edge", "axes of size 1 stay"),
    ),
    mistakes=_GQA_MISTAKES,
    hints=(
        "How many query heads share one key head? The answer is one size divided by another.",
        "With 6 query heads and 2 key heads, the key heads in use are 0, 0, 0, 1, 1, 1. `np.repeat` along the axis of the heads "
        "does this, or an array of these numbers as an index.",
        "Give key and value as many heads as the query has. The rest is attention as usual.",
    ),
    why="Indexing with an array copies each key head as often as it is used, and so does `np.repeat`. The library folds the group "
    "into the rows of the query instead, and copies nothing.",
    insight="With one more line than plain attention, the stored keys and values shrink by the size of a group.",
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


def _per_head(heads, kv_heads, b=3, n=3, d=5):
    def make(rng):
        return rng.standard_normal((b, heads, n, d)), kv_heads

    return make


_GQA_BACKWARD_MISTAKES = (
    Mistake("no_sum", "d_repeated.reshape(b, kv_heads, h // kv_heads, n, d).sum(axis=2) -> d_repeated * 1.0",
        "A key head is shared, so the gradients of its query heads have to be added. Yours still has h heads.", 1),
    Mistake("mean", ".sum( -> .mean(",
        "You averaged over the group. The gradients of copies add up.", 1, shows="factor", sets="sum"),
    Mistake("root", ".sum(axis=2) -> .sum(axis=2) / np.sqrt(h // kv_heads)",
        "You divided by the root of the number of copies. The gradients of copies add up, without any factor.", 1, shows="factor"),
    Mistake("first", ".sum(axis=2) -> [:, :, 0]",
        "Only the first query head of each group is left: add up all of them.", 1, sets="sum"),
    Mistake("last", ".sum(axis=2) -> [:, :, -1]",
        "Only the last query head of each group is left: add up all of them.", 1, sets="sum"),
    Mistake("tile_order", "(b, kv_heads, h // kv_heads, n, d) -> (b, h // kv_heads, kv_heads, n, d).swapaxes(1, 2)",
        "Your groups are those of key heads dealt out in turn. Query heads that share a key head are neighbours.", 2),
    Mistake("first_heads", "d_repeated.reshape(b, kv_heads, h // kv_heads, n, d).sum(axis=2) -> d_repeated[:, :kv_heads] * 1.0",
        "You took the first few query heads as they are. Add up the query heads that share a key head.", 1, sets="sum"),
    Mistake("all_heads",
        "d_repeated.reshape(b, kv_heads, h // kv_heads, n, d).sum(axis=2) -> np.repeat(d_repeated.sum(axis=1, keepdims=True), "
        "kv_heads, axis=1)",
        "All query heads were added up. Only those that share a key head belong together.", 2, sets="sum"),
    Mistake("largest", ".sum(axis=2) -> .max(axis=2)",
        "You kept the largest number of each group. The gradients of copies add up.", 1, sets="sum"),
    Mistake("one_short", ".sum( -> [:, :, :-1].sum(",
        "One query head of each group is left out of the sum. The last index of a slice is excluded.", 2, sets="sum"),
    Mistake("product", ".sum( -> .prod(",
        "The query heads of a group were multiplied. The gradients of copies add up.", 1, sets="sum"),
)

_GQA_BACKWARD = Exercise(
    title="The gradient of a shared head", level="easy", minutes=10, oracle=_gqa_backward_oracle, solution=gqa_backward,
    probes=(
        Probe("6 query heads, 2 key heads", _per_head(6, 2, b=5)),
        Probe("4 query heads, 2 key heads", _per_head(4, 2, b=3, n=4, d=7), why="groups as large as their number"),
        Probe("one key head for all", _per_head(3, 1, b=2, n=5, d=4), why="multi-query attention"),
        Probe("one token, one feature", _per_head(6, 2, n=1, d=1), "edge", "axes of size 1 stay"),
    ),
    mistakes=_GQA_BACKWARD_MISTAKES,
    hints=(
        "Forward, one key head was copied several times. What is used several times receives the sum of the gradients.",
        "Cut the axis of the heads into two, one for the groups and one for the members of a group. Members are neighbours, so "
        "which of the two comes first?",
        "Reshape to (b, kv_heads, h / kv_heads, n, d) and sum over the third axis.",
    ),
    why="The copies of a key head are next to each other, so the axis that counts copies comes after the axis that counts key "
    "heads. Its sum is the gradient of what was copied.",
    insight="What is copied forward is summed backward. A bias, and a weight that a whole batch shares, follow the same rule.",
)  # fmt: skip
