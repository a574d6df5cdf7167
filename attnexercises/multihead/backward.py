"""The exercise on the backward pass of all heads."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.multihead import accepts, backward_mistakes
from attnexercises.multihead.heads import columns, layer, merge_heads, one_head, split_heads
from attnexercises.softmax.stable import plain_softmax


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
            wq, wk, wv = (columns(weight, head, heads) for weight in weights[:3])
            rows = slice(head * wv.shape[1], (head + 1) * wv.shape[1])
            query, key, value = x[b] @ wq, x[b] @ wk, x[b] @ wv
            out, p = one_head(query, key, value)
            d_head = d_out[b] @ out_weight[rows].T
            ds = np.array([g @ value.T @ (np.diag(row) - np.outer(row, row)) for g, row in zip(d_head, p, strict=True)])
            ds /= math.sqrt(query.shape[1])
            d_weights[3][rows] += out.T @ d_out[b]
            for place, (weight, d_y) in enumerate(((wq, ds @ key), (wk, ds.T @ query), (wv, p.T @ d_head))):
                columns(d_weights[place], head, heads)[...] += x[b].T @ d_y
                d_x[b] += d_y @ weight.T
    return d_x, *d_weights


def _mha_backward_family(bugs):
    def weight_gradient(x, d_y):
        each = x.mT @ d_y  # one for each batch element
        if "dW_T" in bugs:
            each = each.mT
        if "dW_keep_batch" in bugs:
            return each
        if "dW_mean" in bugs or "dW_mean_all" in bugs:
            return each.mean(axis=0) / (x.shape[1] if "dW_mean_all" in bugs else 1)
        return each[-1] if "dW_last" in bugs else each[0] if "dW_first" in bugs else each.sum(axis=0)

    def split_gradient(y, heads):
        b, n, width = y.shape
        return y.reshape(b, heads, n, width // heads) if "split_no_transpose" in bugs else split_heads(y, heads)

    def merge_gradient(y):
        b, heads, n, v = y.shape
        if "merge_interleaved" in bugs:
            return y.transpose(0, 2, 3, 1).reshape(b, n, heads * v)
        return y.reshape(b, n, heads * v) if "merge_no_transpose" in bugs else merge_heads(y)

    def through_softmax(weights, d_weights):
        if "ds_is_dp" in bugs:
            return d_weights
        if "sigmoid" in bugs:
            return weights * (1 - weights) * d_weights
        row_mean = (weights * d_weights).sum(axis=-2 if "mean_queries" in bugs else -1, keepdims=True)
        row_mean = d_weights.mean(axis=-1, keepdims=True) if "mean_plain" in bugs else row_mean
        row_mean = d_weights.sum(axis=-1, keepdims=True) if "sum_plain" in bugs else row_mean
        row_mean = 0.0 if "ds_no_rowsum" in bugs else -row_mean if "plus" in bugs else row_mean
        if "paren" in bugs:
            return weights * d_weights - row_mean
        return (-1 if "sign" in bugs else 1) * weights * (d_weights - row_mean)

    def softmax(scores):
        return plain_softmax(scores, 1 if "softmax_heads" in bugs else -1, shift="no_max" not in bugs)

    def scales(m, d):
        if "scale_model" in bugs:
            return [1 / math.sqrt(m)] * 2
        forward, back = 1 / math.sqrt(d), 1 / math.sqrt(d)
        if "no_scale" in bugs or "scale_twice" in bugs:
            back = 1.0 if "no_scale" in bugs else 1 / d
        return 1.0 if "scores_no_scale" in bugs else forward, back

    def variant(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
        matrices = (query_weight, key_weight, value_weight)
        query, key, value = (split_heads(x @ weight, heads) for weight in matrices)
        forward, back = scales(x.shape[-1], query.shape[-1])
        weights = softmax(forward * (query @ key.mT))
        merged = merge_heads(weights @ value)
        d_out_weight = weight_gradient(x if "dWo_uses_x" in bugs else merged, d_out)
        d_attended = split_gradient(d_out @ (out_weight if "no_WoT" in bugs else out_weight.T), heads)
        d_scores = back * through_softmax(weights, d_attended @ value.mT)
        d_value = (weights if "dv_no_T" in bugs else weights.mT) @ d_attended
        d_key = (d_scores if "dk_no_T" in bugs else d_scores.mT) @ query
        d_key = d_key / back if "no_scale_dk" in bugs else d_key
        gradients = (d_scores @ key, d_key, d_value)
        gradients = [merge_gradient(gradient) for gradient in gradients]
        parts = [d_y @ weight.T for d_y, weight in zip(gradients, matrices, strict=True)]
        kept = [part for name, part in zip("qkv", parts, strict=True) if f"dx_no_{name}" not in bugs]
        only = next((i for i, bug in enumerate(("dx_q_only", "dx_k_only", "dx_overwritten")) if bug in bugs), None)
        d_x = sum(kept, np.zeros(x.shape)) if only is None else parts[only]
        if "swap" in bugs:
            gradients[:2] = gradients[1::-1]
        return d_x, *(weight_gradient(x, d_y) for d_y in gradients), d_out_weight

    return variant


def _flattened_rows(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
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


_MHA_BACKWARD = Exercise(
    "mha_backward",
    title="The backward pass of all heads",
    chapter="multihead",
    level="hard",
    minutes=30,
    blanks=5,
    oracle=_mha_backward_oracle,
    solution=mha_backward,
    family=_mha_backward_family,
    probes=(
        Probe("all sizes differ", layer(b=2, n=5, m=19, heads=3, d=4, v=7, upstream=True)),
        Probe("m = h·d", layer(b=2, n=6, m=15, heads=3, d=5, upstream=True), "equal", "all weights are square here"),
        Probe("n = d = v", layer(b=3, n=4, m=8, heads=2, d=4, upstream=True), "equal", "another batch and square heads"),
        Probe("large scores", layer(b=2, n=5, m=12, heads=3, d=4, large=True, upstream=True), "edge"),
        Probe("one token", layer(b=1, n=1, m=5, heads=2, d=3, v=1, upstream=True), "edge", "axes of size 1 stay"),
        Probe("tokens of one feature", layer(b=2, n=3, m=1, heads=2, d=5, v=2, upstream=True), "edge", "weights of one row"),
    ),
    mistakes=backward_mistakes.MHA_BACKWARD,
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
    accepts={"loops": _flattened_rows, **accepts.MHA_BACKWARD},
    outputs=("d_x", "d_query_weight", "d_key_weight", "d_value_weight", "d_out_weight"),
    atol=1e-10,  # with large scores, right ways to sum differ by about 1e-11
)  # fmt: skip

EXERCISES = (_MHA_BACKWARD,)
