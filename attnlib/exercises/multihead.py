"""Exercises of the chapter on several heads: forward, backward, shared heads, two counts, a bug to spot."""

import math

import numpy as np

from attnlib.exercises._model import Exercise, Mistake, Probe, value_exercise


def _softmax(scores, axis=-1, shift=True):
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True) if shift else scores)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def _one_head(query, key, value):
    """Attention of one head, as nested lists, with `math`: out and weights."""
    root, out, weights = math.sqrt(query.shape[-1]), [], []
    for asked in query.tolist():
        scores = [math.fsum(a * b for a, b in zip(asked, k, strict=True)) / root for k in key.tolist()]
        powers = [math.exp(score - max(scores)) for score in scores]
        row = [power / math.fsum(powers) for power in powers]
        weights.append(row)
        out.append([math.fsum(p * x for p, x in zip(row, column, strict=True)) for column in value.T.tolist()])
    return np.array(out), np.array(weights)


# mha


def _columns(weight, head, heads):
    """The block of columns that belongs to one head."""
    width = weight.shape[1] // heads
    return weight[:, head * width : (head + 1) * width]


def _mha_oracle(x, query_weight, key_weight, value_weight, out_weight, heads):
    out = np.zeros((*x.shape[:-1], out_weight.shape[1]))
    for b in range(len(x)):
        for head in range(heads):
            inputs = (x[b] @ _columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
            out[b] += _one_head(*inputs)[0] @ _columns(out_weight.T, head, heads).T
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


def _split(y, heads):
    return y.reshape(*y.shape[:2], heads, -1).swapaxes(1, 2)


def _merge(y):
    return y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)


def _mha_family(bugs):
    def split(y, heads):
        b, n, width = y.shape
        if "split_no_transpose" in bugs:
            return y.reshape(b, heads, n, width // heads)
        if "split_interleaved" in bugs:
            return y.reshape(b, n, width // heads, heads).transpose(0, 3, 1, 2)
        return _split(y, heads)

    def merge(y):
        b, heads, n, v = y.shape
        if "heads_mean" in bugs:  # as wide as before, so that the output projection fits
            return np.tile(y.mean(axis=1), heads)
        return y.reshape(b, n, heads * v) if "merge_no_transpose" in bugs else _merge(y)

    def variant(x, query_weight, key_weight, value_weight, out_weight, heads):
        matrices = (query_weight, key_weight, value_weight, out_weight)
        if "W_T" in bugs:
            matrices = tuple(weight.T for weight in matrices)
        wq, wk, wv, wo = matrices
        heads = 1 if "one_head" in bugs else heads
        query, key, value = split(x @ wq, heads), split(x @ wk, heads), split(x @ wv, heads)
        d = x.shape[-1] if "scale_model" in bugs else 1 if "no_scale" in bugs else query.shape[-1]
        axis = 1 if "softmax_heads" in bugs else -1
        weights = _softmax(query @ key.mT / math.sqrt(d), axis, shift="no_max" not in bugs)
        merged = merge(weights @ value)
        return merged if "no_Wo" in bugs else merged @ wo

    return variant


def _layer(b, n, m, heads, d, v=None, large=False, upstream=False):
    v = d if v is None else v

    def make(rng):
        x = rng.standard_normal((b, n, m))
        shapes = ((m, heads * d), (m, heads * d), (m, heads * v), (heads * v, m))
        weights = [rng.standard_normal(shape) / math.sqrt(m) for shape in shapes]
        if large:
            # The first feature of every second token is 0, of the others 1, and adds 1200 to the scores between
            # those: some rows are far above others, and have some keys far below others.
            x[..., 0] = np.arange(n) % 2
            for weight, number in zip(weights, (40.0, 60.0), strict=False):
                weight[:, ::d] = 0.0
                weight[0, ::d] = number
        d_out = (rng.standard_normal((b, n, m)),) if upstream else ()
        return *d_out, x, *weights, heads

    return make


def _by_slices(x, query_weight, key_weight, value_weight, out_weight, heads):
    outputs = []
    for head in range(heads):
        query, key, value = (x @ _columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
        outputs.append(_softmax(query @ key.mT / math.sqrt(query.shape[-1])) @ value)
    return np.concatenate(outputs, axis=-1) @ out_weight


def _by_einsum(x, query_weight, key_weight, value_weight, out_weight, heads):
    m = x.shape[-1]
    query, key, value = (
        np.einsum("bnm,mhd->bhnd", x, weight.reshape(m, heads, -1))
        for weight in (query_weight, key_weight, value_weight)
    )
    weights = _softmax(np.einsum("bhqd,bhkd->bhqk", query, key) / query.shape[-1] ** 0.5)
    back = out_weight.reshape(heads, -1, out_weight.shape[-1])
    return np.einsum("bhqk,bhkv,hvm->bqm", weights, value, back)


_MHA = Exercise(
    "mha",
    title="All heads at once",
    chapter="multihead",
    level="medium",
    minutes=20,
    oracle=_mha_oracle,
    solution=mha,
    family=_mha_family,
    probes=(
        Probe("all sizes differ", _layer(b=2, n=5, m=14, heads=3, d=4, v=2)),
        Probe("m = h·d", _layer(b=2, n=5, m=12, heads=3, d=4), "equal", "all weights are square here"),
        Probe("n = d = v", _layer(b=2, n=4, m=8, heads=2, d=4), "equal", "a wrong split has the right shape here"),
        Probe("one head", _layer(b=2, n=5, m=6, heads=1, d=6), "equal", "mistakes in splitting do not show here"),
        Probe("heads of one feature", _layer(b=2, n=3, m=4, heads=4, d=1), "equal", "as many heads as features"),
        Probe("large scores", _layer(b=2, n=5, m=12, heads=3, d=4, large=True), "edge"),
    ),
    mistakes=(
        Mistake(
            "split_no_transpose", "x.reshape(b, h, n, d)",
            "Reshaped straight to (b, h, n, d), the sequence is cut into pieces: split the features, then exchange two axes.",
            2,
        ),
        Mistake(
            "split_interleaved", "x.reshape(b, n, d, h)",
            "Each of your heads takes every h-th feature; a head owns a block of neighbours, so in the reshape h goes before d.",
            2,
        ),
        Mistake(
            "merge_no_transpose", "o.reshape(b, n, h·v) from (b, h, n, v)",
            "Merged without exchanging the axes back: heads and positions are mixed up in the last step before the out weight.",
            3,
        ),
        Mistake(
            "heads_mean", "heads averaged, not side by side",
            "The heads were averaged; put them side by side, so that the out weight can mix them.", 3,
        ),
        Mistake(
            "scale_model", "divide by sqrt(m)",
            "You scaled by the width of a token; the dot product of one head has d terms, fewer than that.", 1,
        ),
        Mistake("no_scale", "softmax(Q K^T)", "The scores are not scaled: divide them by the root of d in each head.", 1),
        Mistake("no_Wo", "no out_weight", "The heads stand side by side as they should; the out weight is missing.", 3),
        Mistake(
            "W_T", "x @ W.T for all four",
            "All weights are used transposed, as PyTorch stores them; here a projection is x times weight.", 1,
        ),
        Mistake(
            "one_head", "h ignored", "That is one single head of full width: the features were not split.", 2
        ),
        Mistake(
            "softmax_heads", "softmax over the heads",
            "The softmax runs over the heads; every head needs its own, along the keys, the last axis.", 1,
        ),
        Mistake(
            "no_max", "exp without the maximum",
            "Right on ordinary scores, NaN on large ones: the softmax has to measure each row against its maximum.", 1,
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
    accepts={"slices of each head": _by_slices, "einsum": _by_einsum},
)


# mha_backward


def mha_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, _ = x.shape

    def split(y):
        return y.reshape(b, n, heads, y.shape[-1] // heads).transpose(0, 2, 1, 3)

    def merge(y):
        return y.transpose(0, 2, 1, 3).reshape(b, n, heads * y.shape[-1])

    query, key, value = split(x @ query_weight), split(x @ key_weight), split(x @ value_weight)
    scale = 1 / np.sqrt(query.shape[-1])
    scores = scale * (query @ key.mT)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    merged = merge(weights @ value)
    # forward: out = merged @ out_weight
    d_out_weight = (merged.mT @ d_out).sum(axis=0)
    # forward: merged = merge(weights @ value)
    d_attended = split(d_out @ out_weight.T)
    d_value = merge(weights.mT @ d_attended)
    d_weights = d_attended @ value.mT
    # forward: weights = softmax(scores)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    # forward: scores = scale * (query @ key.mT)
    d_query, d_key = merge(scale * (d_scores @ key)), merge(scale * (d_scores.mT @ query))
    # forward: query, key, value = x @ weight, split
    d_query_weight, d_key_weight, d_value_weight = ((x.mT @ d).sum(axis=0) for d in (d_query, d_key, d_value))
    d_x = d_query @ query_weight.T + d_key @ key_weight.T + d_value @ value_weight.T
    return d_x, d_query_weight, d_key_weight, d_value_weight, d_out_weight


def _mha_backward_oracle(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    """Head by head and batch element by batch element, with the whole Jacobian of each softmax row."""
    weights = (query_weight, key_weight, value_weight, out_weight)
    d_x, d_weights = np.zeros(x.shape), [np.zeros(weight.shape) for weight in weights]
    for b in range(len(x)):
        for head in range(heads):
            wq, wk, wv = (_columns(weight, head, heads) for weight in weights[:3])
            rows = slice(head * wv.shape[1], (head + 1) * wv.shape[1])
            query, key, value = x[b] @ wq, x[b] @ wk, x[b] @ wv
            out, p = _one_head(query, key, value)
            d_head = d_out[b] @ out_weight[rows].T
            ds = np.array([g @ value.T @ (np.diag(row) - np.outer(row, row)) for g, row in zip(d_head, p, strict=True)])
            ds /= math.sqrt(query.shape[1])
            d_weights[3][rows] += out.T @ d_out[b]
            for place, (weight, d_y) in enumerate(((wq, ds @ key), (wk, ds.T @ query), (wv, p.T @ d_head))):
                _columns(d_weights[place], head, heads)[...] += x[b].T @ d_y
                d_x[b] += d_y @ weight.T
    return d_x, *d_weights


def _mha_backward_family(bugs):
    def weight_gradient(x, d_y):
        each = x.mT @ d_y  # one for each batch element
        if "dW_T" in bugs:
            each = each.mT
        if "dW_keep_batch" in bugs:
            return each
        if "dW_mean" in bugs:
            return each.mean(axis=0)
        return each[-1] if "dW_last" in bugs else each.sum(axis=0)

    def split_gradient(y, heads):
        b, n, width = y.shape
        return y.reshape(b, heads, n, width // heads) if "split_no_transpose" in bugs else _split(y, heads)

    def merge_gradient(y):
        b, heads, n, v = y.shape
        return y.reshape(b, n, heads * v) if "merge_no_transpose" in bugs else _merge(y)

    def variant(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
        matrices = (query_weight, key_weight, value_weight)
        query, key, value = (_split(x @ weight, heads) for weight in matrices)
        scale = 1 / math.sqrt(query.shape[-1])
        weights = _softmax(scale * (query @ key.mT), shift="no_max" not in bugs)
        merged = _merge(weights @ value)
        d_out_weight = weight_gradient(x if "dWo_uses_x" in bugs else merged, d_out)
        d_attended = split_gradient(d_out @ (out_weight if "no_WoT" in bugs else out_weight.T), heads)
        d_weights = d_attended @ value.mT
        row_mean = 0.0 if "ds_no_rowsum" in bugs else (weights * d_weights).sum(axis=-1, keepdims=True)
        d_scores = (1.0 if "no_scale" in bugs else scale) * weights * (d_weights - row_mean)
        gradients = (d_scores @ key, d_scores.mT @ query, weights.mT @ d_attended)
        gradients = [merge_gradient(gradient) for gradient in gradients]
        parts = [d_y @ weight.T for d_y, weight in zip(gradients, matrices, strict=True)]
        d_x = parts[0] if "dx_q_only" in bugs else parts[2] if "dx_overwritten" in bugs else sum(parts)
        if "swap" in bugs:
            gradients[:2] = gradients[1::-1]
        return d_x, *(weight_gradient(x, d_y) for d_y in gradients), d_out_weight

    return variant


def _flattened_rows(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    """One row for each position of each batch element, and a loop over the heads."""
    flat, d_flat = x.reshape(-1, x.shape[-1]), d_out.reshape(-1, d_out.shape[-1])
    inputs, outputs, merged = [], [], []
    for head in range(heads):
        query, key, value = (x @ _columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
        weights = _softmax(query @ key.mT / math.sqrt(query.shape[-1]))
        merged.append(weights @ value)
        d_attended = d_out @ _columns(out_weight.T, head, heads)
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


_MHA_BACKWARD = Exercise(
    "mha_backward",
    title="The backward pass of all heads",
    chapter="multihead",
    level="hard",
    minutes=30,
    oracle=_mha_backward_oracle,
    solution=mha_backward,
    family=_mha_backward_family,
    probes=(
        Probe("all sizes differ", _layer(b=2, n=5, m=14, heads=3, d=4, v=2, upstream=True)),
        Probe("m = h·d", _layer(b=2, n=5, m=12, heads=3, d=4, upstream=True), "equal", "all weights are square here"),
        Probe("n = d = v", _layer(b=3, n=4, m=8, heads=2, d=4, upstream=True), "equal", "another batch and square heads"),
        Probe("large scores", _layer(b=2, n=5, m=12, heads=3, d=4, large=True, upstream=True), "edge"),
    ),
    mistakes=(
        Mistake(
            "dW_keep_batch", "dW without summing over b",
            "Your weight gradients have the batch axis: a weight is shared by all batch elements, so their shares add up.", 1,
        ),
        Mistake(
            "dW_mean", "mean over the batch",
            "The weight gradients are b times too small: those of a shared weight add up; averaging belongs into the loss.", 1,
        ),
        Mistake(
            "dW_last", "only the last batch element",
            "The weight gradients hold the share of the last batch element only: add up all of them.", 1,
        ),
        Mistake(
            "dW_T", "dy^T x", "Your weight gradients are transposed: a gradient has the shape of its weight.", 1
        ),
        Mistake(
            "dx_q_only", "d_x from the queries only",
            "x feeds queries, keys and values, so d_x has three parts; yours is the part of the queries.", 3,
        ),
        Mistake(
            "dx_overwritten", "d_x from the values only",
            "d_x holds the part of the values only: the three parts were assigned one over another; add them.", 3,
        ),
        Mistake(
            "no_WoT", "d_out @ out_weight",
            "On its way back, the gradient has to meet the out weight transposed.", 2,
        ),
        Mistake(
            "dWo_uses_x", "x^T d_out",
            "d_out_weight pairs d_out with the wrong input: what enters the out weight is the merged heads, not x.", 2,
        ),
        Mistake(
            "split_no_transpose", "d_merged.reshape(b, h, n, v)",
            "The gradient of the merged heads was split by a reshape alone; it needs the same two steps as the forward.", 2,
        ),
        Mistake(
            "merge_no_transpose", "d_query.reshape(b, n, h·d)",
            "d_out_weight is right, what lies behind it is not: the heads' gradients were merged by a reshape alone.", 3,
        ),
        Mistake(
            "ds_no_rowsum", "dS = P dP",
            "d_value_weight is right, but the scores' gradient misses the weighted mean of each row.", 2,
        ),
        Mistake(
            "no_scale", "scale missing in d_query and d_key",
            "The gradients of query and key are sqrt(d) times too large: the scale multiplies gradients as well.", 2,
        ),
        Mistake("swap", "dW^K returned as dW^Q", "All are right, but the query and key weight have each other's gradient."),
        Mistake(
            "no_max", "softmax without the maximum",
            "Right on ordinary scores, NaN on large ones: the softmax has to measure each row against its maximum.",
        ),
    ),
    hints=(
        "Each weight is used at every position of every batch element. Its gradient is the input, transposed, times the "
        "gradient of the result, summed over the batch; its shape is that of the weight.",
        "Backwards: through the out weight, then `split` (it undoes `merge`), then each head on its own, as in chapter 3: "
        "dV, dP, dS with its row mean, dQ and dK with the scale.",
        "Then `merge` the gradients of query, key and value. Each gives the gradient of its weight, and each gives a part "
        "of d_x: that gradient times its weight transposed. The three parts add up.",
    ),
    why="Split and merge only move numbers, so each is the backward of the other. Everything between them is the backward "
    "of one head, with two leading axes; everything around them is the backward of a linear layer.",
    insight="Nothing new was needed: a linear layer's backward four times, attention's once, and a sum where x was used.",
    accepts={"loop over heads, flattened rows": _flattened_rows},
    outputs=("d_x", "d_query_weight", "d_key_weight", "d_value_weight", "d_out_weight"),
    atol=1e-10,  # with large scores, right ways to sum differ by about 1e-11
)


# gqa


def _gqa_oracle(query, key, value):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    share = query.shape[1] // key.shape[1]
    for b in range(len(query)):
        for head in range(query.shape[1]):
            out[b, head] = _one_head(query[b, head], key[b, head // share], value[b, head // share])[0]
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
        if "mean_kv" in bugs:
            array = array.mean(axis=1, keepdims=True)
        share = heads // array.shape[1]
        return np.tile(array, (1, share, 1, 1)) if tiled else np.repeat(array, share, axis=1)

    def softmax(scores, kv_heads):
        shift = "no_max" not in bugs
        if "joint_softmax" not in bugs:
            return _softmax(scores, shift=shift)
        b, heads, q, k = scores.shape
        grouped = scores.reshape(b, kv_heads, heads // kv_heads, q, k)
        return _softmax(grouped, axis=(2, 4), shift=shift).reshape(scores.shape)

    def variant(query, key, value):
        heads, kv_heads = query.shape[1], key.shape[1]
        keys = spread(key, heads, tiled="tile" in bugs)
        values = spread(value, heads, tiled="tile" in bugs or "v_tile" in bugs)
        scale = 1.0 if "no_scale" in bugs else 1 / math.sqrt(query.shape[-1])
        return softmax(scale * (query @ keys.mT), kv_heads) @ values

    return variant


def _groups(heads, kv_heads, size=1.0, b=3, q=3, k=5, d=7, v=4):
    def make(rng):
        query = size * rng.standard_normal((b, heads, q, d))
        return query, rng.standard_normal((b, kv_heads, k, d)), rng.standard_normal((b, kv_heads, k, v))

    return make


def _gqa_by_reshape(query, key, value):
    b, heads, q, d = query.shape
    grouped = query.reshape(b, key.shape[1], -1, q, d)  # (b, kv_heads, share, q, d)
    weights = _softmax(grouped @ key[:, :, None].mT / math.sqrt(d))
    return (weights @ value[:, :, None]).reshape(b, heads, q, -1)


def _gqa_by_repeat(query, key, value):
    key, value = (np.repeat(array, query.shape[1] // array.shape[1], axis=1) for array in (key, value))
    return _softmax(query @ key.mT / math.sqrt(query.shape[-1])) @ value


def _gqa_by_loop(query, key, value):
    share, heads = query.shape[1] // key.shape[1], []
    for head in range(query.shape[1]):
        scores = query[:, head] @ key[:, head // share].mT / math.sqrt(query.shape[-1])
        heads.append(_softmax(scores) @ value[:, head // share])
    return np.stack(heads, axis=1)


_GQA = Exercise(
    "gqa",
    title="Heads that share keys and values",
    chapter="multihead",
    level="medium",
    minutes=10,
    oracle=_gqa_oracle,
    solution=gqa,
    family=_gqa_family,
    probes=(
        Probe("6 query heads, 2 key heads", _groups(6, 2)),
        Probe("4 query heads, 2 key heads", _groups(4, 2, q=4, k=3, d=5, v=2), why="groups as large as their number"),
        Probe("every head its own", _groups(3, 3), why="this is plain multi-head attention"),
        Probe("one key head for all", _groups(3, 1), why="multi-query attention"),
        Probe("large scores", _groups(6, 2, size=1000.0), "edge"),
    ),
    mistakes=(
        Mistake(
            "tile", "np.tile: head i uses key head i % G",
            "Neighbours share: the first query heads all use key head 0. You dealt the key heads out in turn.", 2,
        ),
        Mistake(
            "v_tile", "key repeated, value tiled",
            "The keys are shared rightly, the values are not: both have to follow the same rule.", 2,
        ),
        Mistake(
            "first_kv", "only key head 0",
            "All your query heads use key head 0; each group of query heads has a key head of its own.", 1,
        ),
        Mistake(
            "mean_kv", "key heads averaged",
            "The key heads were averaged into one; each group of query heads has its own.", 1,
        ),
        Mistake(
            "joint_softmax", "softmax over all heads of a group",
            "The softmax ran over all query heads of a group at once; they share keys, but each row sums to 1 on its own.", 3,
        ),
        Mistake("no_scale", "softmax(Q K^T) V", "The scores are not scaled: divide them by the root of d.", 3),
        Mistake(
            "no_max", "exp without the maximum",
            "Right on ordinary scores, NaN on large ones: the softmax has to measure each row against its maximum.", 3,
        ),
    ),
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
        "a group axis that broadcasts": _gqa_by_reshape, "loop over heads": _gqa_by_loop, "repeat": _gqa_by_repeat,
    },
)


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
    ),
    mistakes=(
        Mistake(
            "no_sum", "one gradient per query head",
            "A key head is shared, so the gradients of its query heads have to be added; yours still has h heads.", 1,
        ),
        Mistake(
            "mean", "mean over the group",
            "You averaged over the group, so it is as many times too small as query heads share; gradients of a copy add up.", 1,
        ),
        Mistake(
            "last", "only the last head of the group",
            "Only the last query head of each group is left: add up all of them.", 1,
        ),
        Mistake(
            "tile_order", "reshape(b, g, G, ...) then sum",
            "Wrong groups: you added every second, third, ... head, as if key heads were dealt out in turn; heads that share are neighbours.",
            2,
        ),
    ),
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
    },
)


# mha_parameters: m = 768, h = 12, d = v = 64, with biases


def _mha_parameters():
    m, heads, d = 768, 12, 64
    weights = 3 * m * (heads * d) + (heads * d) * m
    biases = 3 * heads * d + m
    return weights + biases


def _parameters_by_counting():
    per_head = 3 * sum(1 for _ in range(64) for _ in range(768 + 1))  # 64 columns, each with its bias
    out = sum(1 for _ in range(768) for _ in range(12 * 64 + 1))
    return 12 * per_head + out


_PARAMETERS = value_exercise(
    "mha_parameters",
    title="Count the parameters",
    chapter="multihead",
    level="easy",
    minutes=5,
    answer=_mha_parameters,
    oracle=_parameters_by_counting,
    wrong={
        Mistake(
            "no_bias", "4 m²", "Those are the weights; each of the four projections has a bias too, one number per column.", 2
        ): lambda: 4 * 768**2,
        Mistake(
            "no_Wo", "3 (m² + m)",
            "Queries, keys and values are counted; the out projection, back to tokens, is missing.", 1,
        ): lambda: 3 * (768**2 + 768),
        Mistake(
            "full_heads", "h times 4 (m² + m)",
            "You gave every head matrices of full width; a head owns only 64 of the 768 columns.", 1,
        ): lambda: 12 * 4 * (768**2 + 768),
        Mistake(
            "full_qkv", "3 h m² and one out",
            "You gave every head three matrices of full width; a head owns only 64 of the 768 columns.", 1,
        ): lambda: 12 * 3 * (768**2 + 768) + 768**2 + 768,
        Mistake(
            "one_head", "4 (m d + d)", "That is one head of 64 features; there are 12.", 1
        ): lambda: 4 * (768 * 64 + 64),
        Mistake(
            "small_bias", "biases of length d",
            "The weights are right, but a bias has one number per column, for all heads together.", 2,
        ): lambda: 4 * 768**2 + 3 * 64 + 768,
        Mistake(
            "no_out_bias", "3 biases", "Close: the out projection has a bias too, as long as a token.", 2
        ): lambda: 4 * 768**2 + 3 * 768,
    },
    hints=(
        "Four matrices. Three lead from a token of 768 numbers to 12 heads of 64 features each; the fourth leads back.",
        "A bias has as many numbers as its matrix has columns.",
        "All four matrices are square here: 4 times (768 times 768, plus 768).",
    ),
    why="The heads cut up the same matrix, they do not multiply it: 12 times 64 columns make 768. How many heads there "
    "are makes no difference to the count.",
    insight="Any number of heads that divides m gives the same count: heads are a way to use parameters, not to add some.",
)


# score_mebibytes: 32 query heads, 8 key heads, 2048 tokens, float16


def _score_mebibytes():
    heads, n, bytes_each = 32, 2048, 2
    return heads * n * n * bytes_each / 2**20


def _mebibytes_by_adding():
    """Head by head, from the size of an array that is never filled."""
    one_head = np.broadcast_to(np.float16(0), (2048, 2048))
    return sum(one_head.size * one_head.itemsize for _ in range(32)) / 1024 / 1024


_SCORE_MEBIBYTES = value_exercise(
    "score_mebibytes",
    title="The memory of the scores",
    chapter="multihead",
    level="easy",
    minutes=5,
    answer=_score_mebibytes,
    oracle=_mebibytes_by_adding,
    rtol=1e-3,
    wrong={
        Mistake(
            "kv_heads", "8 heads",
            "You counted one score matrix per key head; heads that share keys still have scores of their own.", 1,
        ): lambda: 64.0,
        Mistake("one_head", "1 head", "That is one head; every query head has a score matrix of its own.", 1): lambda: 8.0,
        Mistake(
            "float32", "4 bytes", "You took 4 bytes for each number; float16 has half of that.", 2
        ): lambda: 512.0,
        Mistake("no_bytes", "1 byte", "You counted numbers; each of them takes two bytes in float16.", 2): lambda: 128.0,
        Mistake("megabytes", "MB", "That is in units of a million bytes; a MiB is 1024 times 1024 bytes.", 3): (
            lambda: 32 * 2048**2 * 2 / 1e6
        ),
        Mistake("bytes", "bytes", "That is the number of bytes; divide by 1024 twice to get MiB.", 3): (
            lambda: float(32 * 2048**2 * 2)
        ),
    },
    hints=(
        "One score for each query head and each pair of a query and a key.",
        "A float16 number takes 2 bytes.",
        "32 times 2048 times 2048 times 2 bytes; then divide by 1024 twice.",
    ),
    why="Each query head compares every token with every token, whoever owns the keys. Sharing keys makes the keys smaller, "
    "not the scores.",
    insight="One layer, one text, a quarter of a GiB: the scores are what chapter 6 gets rid of.",
)


# spot_multihead: the reader sees what `suspect` makes of four tokens when the weights do nothing

suspect = _mha_family(frozenset({"merge_no_transpose"}))


def _spot_multihead():
    # Attention is even and the other weights do nothing: each row should be the mean of all tokens.
    # Instead the first rows hold head 0 alone, the last rows head 1: heads and positions changed places.
    return "merge"


def _name_of_the_bug():
    """Find out by running: undo each suspicion by hand and see which makes the rows equal."""
    x, one, zero = np.random.default_rng(0).standard_normal((1, 4, 4)), np.eye(4), np.zeros((4, 4))
    out = suspect(x, zero, zero, one, one, 2)
    repaired = out.reshape(1, 2, 4, 2).transpose(0, 2, 1, 3).reshape(1, 4, 4)
    return "merge" if np.allclose(repaired, x.mean(axis=1, keepdims=True)) else "something else"


_SPOT = value_exercise(
    "spot_multihead",
    title="Spot the bug",
    chapter="multihead",
    level="medium",
    minutes=5,
    answer=_spot_multihead,
    oracle=_name_of_the_bug,
    wrong={
        Mistake(
            "split_no_transpose", "x.reshape(b, h, n, d)",
            "A wrong split would average other numbers. Here each number is the right mean of a feature; its place is wrong.",
            2,
        ): lambda: "split",
        Mistake(
            "split_interleaved", "x.reshape(b, n, d, h)",
            "Then features would change places within a row, and all rows would still be equal.", 2,
        ): lambda: "interleaved",
        Mistake(
            "heads_mean", "heads averaged",
            "Then all rows would be equal, and each number a mean over two features; compare the numbers.", 2,
        ): lambda: "mean",
        Mistake(
            "no_Wo", "no out_weight",
            "The out weight is the identity here: leaving it out would change nothing.", 1,
        ): lambda: "no out weight",
    },
    hints=(
        "What should the four rows be? The queries are zero, so every head spreads its attention evenly.",
        "Each number in the output is the mean of one feature. Which features belong to head 0, and in which rows do "
        "they appear?",
        "The first rows hold head 0 only. So the axis of the heads was read as if it belonged to the positions: at which "
        "step do heads become features again?",
    ),
    why="Even attention makes all rows equal, so unequal rows cannot come from inside a head. The numbers of head 0 fill the "
    "first rows: the array (b, h, n, v) was flattened without exchanging h and n.",
    insight="Weights that do nothing make a test that a person can read: identity, zero, one hot.",
)

EXERCISES = (_MHA, _SPOT, _MHA_BACKWARD, _PARAMETERS, _SCORE_MEBIBYTES, _GQA, _GQA_BACKWARD)
