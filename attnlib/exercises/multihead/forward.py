"""The exercise on the forward pass of all heads, and a wrong one for `multihead_spot`."""

import math

import numpy as np

from attnlib.exercises.multihead.heads import columns, layer, merge_heads, one_head, split_heads
from attnlib.exercises.engine.model import Exercise, Mistake, Probe
from attnlib.exercises.softmax.stable import plain_softmax
from attnlib.exercises.multihead import accepts


def _mha_oracle(x, query_weight, key_weight, value_weight, out_weight, heads):
    out = np.zeros((*x.shape[:-1], out_weight.shape[1]))
    for b in range(len(x)):
        for head in range(heads):
            inputs = (x[b] @ columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
            out[b] += one_head(*inputs)[0] @ columns(out_weight.T, head, heads).T
    return out


def mha(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, _ = x.shape

    def split(y):
        return y.reshape(b, n, heads, y.shape[-1] // heads).transpose(0, 2, 1, 3)

    query, key, value = split(x @ query_weight), split(x @ key_weight), split(x @ value_weight)
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    attended = weights @ value
    merged = attended.transpose(0, 2, 1, 3).reshape(b, n, len(out_weight))
    return merged @ out_weight


def _mha_family(bugs):
    def split(y, heads):
        b, n, width = y.shape
        if "split_no_transpose" in bugs:
            return y.reshape(b, heads, n, width // heads)
        if "split_interleaved" in bugs:
            return y.reshape(b, n, width // heads, heads).transpose(0, 3, 1, 2)
        return split_heads(y, heads)

    def merge(y):
        b, heads, n, v = y.shape
        if "heads_mean" in bugs:  # as wide as before, so that the output projection fits
            return np.tile(y.mean(axis=1), heads)
        if "heads_added" in bugs:
            return np.tile(y.sum(axis=1), heads)
        y = y[:, ::-1] if "heads_reversed" in bugs else y
        if "merge_interleaved" in bugs:
            return y.transpose(0, 2, 3, 1).reshape(b, n, v * heads)
        return y.reshape(b, n, heads * v) if "merge_no_transpose" in bugs else merge_heads(y)

    def variant(x, query_weight, key_weight, value_weight, out_weight, heads):
        b, n, _ = x.shape
        matrices = (query_weight, key_weight, value_weight, out_weight)
        if "W_T" in bugs:
            matrices = tuple(weight.T for weight in matrices)
        wq, wk, wv, wo = matrices
        heads = 1 if "one_head" in bugs else heads
        if "swap" in bugs:
            wq, wk = wk, wq
        if "across_batch" in bugs:
            x = x.reshape(1, -1, x.shape[-1])
        query, key, value = split(x @ wq, heads), split(x @ wk, heads), split(x @ wv, heads)
        d = x.shape[-1] if "scale_model" in bugs else 1 if "no_scale" in bugs else query.shape[-1]
        d = heads if "scale_heads" in bugs else value.shape[-1] if "scale_v" in bugs else d
        d = d * heads if "scale_all_heads" in bugs else d
        d = d * d if "scale_d" in bugs else d
        if "within_tokens" in bugs:
            query, key, value = (y.swapaxes(1, 2) for y in (query, key, value))
        scores = query @ key.mT / (1 if "scale_after" in bugs else math.sqrt(d))
        if "causal" in bugs:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        weights = softmax(scores) / (math.sqrt(d) if "scale_after" in bugs else 1)
        out = (weights.mT if "weights_T" in bugs else weights) @ value
        merged = merge(out.swapaxes(1, 2) if "within_tokens" in bugs else out)
        if "last_head" in bugs:
            merged[..., : -merged.shape[-1] // heads] = 0
        if "one_head_early" in bugs:
            merged[..., -(merged.shape[-1] // heads) :] = 0
        if "one_head_late" in bugs:
            merged[..., : merged.shape[-1] // heads] = 0
        return (merged if "no_Wo" in bugs else merged @ wo).reshape(b, n, -1)

    def softmax(scores):
        if "max_global" in bugs:
            exponentials = np.exp(scores - scores.max())
            return exponentials / exponentials.sum(axis=-1, keepdims=True)
        axis = 1 if "softmax_heads" in bugs else -2 if "softmax_queries" in bugs else -1
        return plain_softmax(scores, axis, shift="no_max" not in bugs)

    return variant


def _by_slices(x, query_weight, key_weight, value_weight, out_weight, heads):
    outputs = []
    for head in range(heads):
        query, key, value = (x @ columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
        outputs.append(plain_softmax(query @ key.mT / math.sqrt(query.shape[-1])) @ value)
    return np.concatenate(outputs, axis=-1) @ out_weight


def _by_einsum(x, query_weight, key_weight, value_weight, out_weight, heads):
    m = x.shape[-1]
    query, key, value = (
        np.einsum("bnm,mhd->bhnd", x, weight.reshape(m, heads, -1))
        for weight in (query_weight, key_weight, value_weight)
    )
    weights = plain_softmax(np.einsum("bhqd,bhkd->bhqk", query, key) / query.shape[-1] ** 0.5)
    back = out_weight.reshape(heads, -1, out_weight.shape[-1])
    return np.einsum("bhqk,bhkv,hvm->bqm", weights, value, back)


_MHA = Exercise(
    "mha",
    title="All heads at once",
    chapter="multihead",
    level="medium",
    minutes=20,
    blanks=6,
    oracle=_mha_oracle,
    solution=mha,
    family=_mha_family,
    probes=(
        Probe("all sizes differ", layer(b=2, n=5, m=19, heads=3, d=4, v=7)),
        Probe("m = h·d", layer(b=2, n=5, m=12, heads=3, d=4), "equal", "all weights are square here"),
        Probe("n = d = v", layer(b=2, n=4, m=8, heads=2, d=4), "equal", "a wrong split has the right shape here"),
        Probe("one head", layer(b=2, n=5, m=6, heads=1, d=6), "edge", "mistakes in splitting do not show here"),
        Probe("heads of one feature", layer(b=2, n=3, m=4, heads=4, d=1), "equal", "as many heads as features"),
        Probe("large scores", layer(b=2, n=5, m=12, heads=3, d=4, large=True), "edge"),
        Probe("one token", layer(b=1, n=1, m=5, heads=2, d=3, v=1), "edge", "axes of size 1 stay"),
        Probe("one output feature", layer(b=2, n=3, m=1, heads=2, d=5, v=2), "edge", "tokens of one feature"),
    ),
    mistakes=(
        Mistake(
            "split_no_transpose", "x.reshape(b, h, n, d)",
            "Reshaped straight to (b, h, n, d), the sequence is cut into pieces: split the features, then exchange "
            "two axes.", 2,
            sets="split",
        ),
        Mistake(
            "split_interleaved", "x.reshape(b, n, d, h)",
            "Each of your heads takes every h-th feature; a head owns a block of neighbours, so in the reshape h goes "
            "before d.", 2,
            sets="split",
        ),
        Mistake(
            "merge_no_transpose", "o.reshape(b, n, h·v) from (b, h, n, v)",
            "Merged without exchanging the axes back: heads and positions are mixed up in the last step before the "
            "out weight.", 3,
            sets="merge",
        ),
        Mistake(
            "merge_interleaved", "o.transpose(0, 2, 3, 1), then flattened",
            "Merged with the heads last: the features of one head have to stay neighbours, so h goes before v.", 3,
            sets="merge",
        ),
        Mistake(
            "heads_mean", "heads averaged, not side by side",
            "The heads were averaged; put them side by side, so that the out weight can mix them.", 3,
            sets="merge",
        ),
        Mistake(
            "scale_model", "divide by sqrt(m)",
            "You scaled by the width of a token; the dot product of one head has d terms, fewer than that.", 1,
            sets="scale",
        ),
        Mistake(
            "scale_all_heads", "divide by sqrt(h d)",
            "You scaled by the width of all heads together; the dot product of one head has d terms.", 1,
            sets="scale",
        ),
        Mistake(
            "no_scale", "softmax(Q K^T)",
            "The scores are not scaled: divide them by the root of d in each head.", 1,
            sets="scale",
        ),
        Mistake(
            "no_Wo", "no out_weight",
            "The out weight is missing: it has to mix the heads.", 3,
        ),
        Mistake(
            "W_T", "x @ W.T for all four",
            "All weights are used transposed, as PyTorch stores them; here a projection is x times weight.", 1,
        ),
        Mistake(
            "one_head", "h ignored",
            "The features were not split: there is one single head of full width.", 2,
            sets="heads",
        ),
        Mistake(
            "softmax_heads", "softmax over the heads",
            "The softmax runs over the heads; every head needs its own, along the keys, the last axis.", 1,
            sets="axis",
        ),
        Mistake(
            "softmax_queries", "softmax over the queries",
            "The softmax runs over the queries; each row, along the keys, has to sum to 1.", 1,
            sets="axis",
        ),
        Mistake(
            "no_max", "exp without the maximum",
            "Large exponents overflow: the softmax has to measure each row against its maximum.", 1,
            shows="lost",
        ),
        Mistake(
            "scale_heads", "divide by sqrt(h)",
            "You scaled by the root of the number of heads; what belongs there is the root of d, the width "
            "of one head.", 1,
            sets="scale",
        ),
        Mistake(
            "scale_v", "divide by sqrt(v)",
            "You scaled by the width of the values; a score is a dot product of d terms.", 1,
            sets="scale",
        ),
        Mistake(
            "scale_d", "divide by d",
            "In all, the scores were divided by d and not by its root: by d itself, or by the root twice.", 1,
            sets="scale",
        ),
        Mistake(
            "scale_after", "softmax(Q K^T) / sqrt(d)",
            "The weights were divided by the root of d; it is the scores, before the softmax, that have to be.", 1,
            sets="scale",
        ),
        Mistake(
            "max_global", "one maximum for the whole array",
            "One maximum serves several rows: one that lies far below it underflows to 0. Each row needs "
            "its own.", 1,
            shows="lost",
        ),
        Mistake(
            "weights_T", "P^T V",
            "The weights meet the values turned round: a row of weights belongs to a query.", 1,
        ),
        Mistake(
            "swap", "Q from W^K, K from W^Q",
            "Query and key changed places: the query weight makes the queries, whose index is that of a row.", 1,
        ),
        Mistake(
            "within_tokens", "no exchange of n and h at all",
            "In each token its heads look at one another; each head should look at all tokens: exchange the "
            "axes n and h.", 2,
        ),
        Mistake(
            "across_batch", "b and n flattened",
            "Tokens look at those of other batch elements as well: keep the axis of the batch.", 1,
        ),
        Mistake(
            "causal", "keys after the query hidden",
            "A causal mask is in it, and none is asked for: every token looks at all tokens.", 1,
        ),
        Mistake(
            "heads_added", "heads added, not side by side",
            "The heads were added; put them side by side, so that the out weight can mix them.", 3,
            sets="merge",
        ),
        Mistake(
            "heads_reversed", "the last head first",
            "The heads stand in the opposite order: the first head comes first, as its rows in the out weight do.", 3,
            sets="merge",
        ),
        Mistake(
            "last_head", "out = ..., in a loop over heads",
            "Only the last head is left: each head adds its part to the output.", 3,
            sets="merge",
        ),
        Mistake(
            "one_head_early", "range(h - 1)",
            "The last head is missing: a loop over the heads has to go through all of them.", 2,
            sets="merge heads",
        ),
        Mistake(
            "one_head_late", "range(1, h)",
            "The first head is missing: a loop over the heads starts with head 0.", 2,
            sets="merge heads",
        ),
    ),
    hints=(
        "Project first, with the whole weights. Once the arrays are (b, h, n, d), attention is the one of chapter 2: it "
        "works on the last two axes, whatever stands in front.",
        "To split, give the last axis two: (b, n, h, d). The heads are the first of the two, because a head owns "
        "neighbouring features. Then the axes of n and h change places.",
        "To merge, go the same way back: exchange the axes of h and n, then flatten the last two. The last step is "
        "a product with `out_weight`.",
    ),
    why="Split is a reshape and an exchange of two axes, merge the same two in reverse order. In between stand the "
    "three lines of attention, unchanged: head and batch are leading axes.",
    insight="The loop over heads is gone, and so is its cost: three large products in place of 3 h small ones.",
    accepts={"slices of each head": _by_slices, "einsum": _by_einsum, **accepts.MHA},
)  # fmt: skip


# spot_multihead: the reader sees what `suspect` makes of four tokens when the weights do nothing

suspect = _mha_family(frozenset({"merge_no_transpose"}))

EXERCISES = (_MHA,)
