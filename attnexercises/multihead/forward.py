"""The exercise on the forward pass of all heads, and a wrong one for `multihead_spot`."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.multihead import accepts, forward_mistakes
from attnexercises.multihead.heads import columns, layer, merge_heads, one_head, split_heads
from attnexercises.softmax.stable import plain_softmax


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
    mistakes=forward_mistakes.MHA,
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
