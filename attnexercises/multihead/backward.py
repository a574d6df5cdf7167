"""The exercise on the backward pass of all heads."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.multihead.heads import columns, layer, one_head


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


_MISTAKES = (
    Mistake("dW_keep_batch", ".sum(axis=0) ->",
        "Your weight gradients still have the batch axis. All batch elements share a weight, so their gradients add up.", 1,
        sets="batch"),
    Mistake("dW_mean", ".sum(axis=0) -> .mean(axis=0)",
        "The weight gradients are means over the batch. The gradients of a shared weight add up; an average belongs in the loss.",
        1, shows="factor", sets="batch"),
    Mistake("dW_last", ".sum(axis=0) -> [-1]",
        "The weight gradients hold the part of the last batch element only; add up the parts of all of them.", 1, sets="batch"),
    Mistake("dW_T", ("@ d_out) -> @ d_out).mT", "@ d) -> @ d).mT"),
        "The weight gradients are transposed. A gradient has the shape of its weight.", 1),
    Mistake("dx_q_only", "+ d_key @ key_weight.T + d_value @ value_weight.T ->",
        "x feeds queries, keys and values, so d_x has three parts. Yours is only the part of the queries.", 3, sets="dx q"),
    Mistake("dx_overwritten", "d_query @ query_weight.T + d_key @ key_weight.T + ->",
        "d_x holds the part of the values only. x feeds queries and keys as well: add the three parts.", 3, sets="dx v"),
    Mistake("dx_last_head",
        "d_x = d_query @ query_weight.T + d_key @ key_weight.T + d_value @ value_weight.T -> parts = (d_query, query_weight), (d_key, key_weight), (d_value, value_weight)\nd_x = sum(d[..., -(d.shape[-1] // heads) :] @ w[:, -(d.shape[-1] // heads) :].T for d, w in parts)",
        "Only the last head is left in d_x. Every head reads x, so their parts have to be added.", 3, sets="dx"),
    Mistake("dx_query_weight", "d_key @ key_weight.T -> d_key @ query_weight.T",
        "On the way from d_key to x you used the query weight. Each gradient goes back through its own weight.", 3, sets="dx k"),
    Mistake("row_mean_everything", "(weights * d_weights).sum(axis=-1, keepdims=True) -> (weights * d_weights).sum()",
        "One sum over everything was subtracted from all rows. Each query has a mean of its own, over its keys.", 2, sets="mean"),
    Mistake("dx_no_q", "d_query @ query_weight.T -> 0",
        "d_x misses the part that came through the queries: x feeds queries, keys and values.", 3, sets="q"),
    Mistake("dx_no_k", "d_key @ key_weight.T -> 0",
        "d_x misses the part that came through the keys: x feeds queries, keys and values.", 3, sets="k"),
    Mistake("dx_no_v", "d_value @ value_weight.T -> 0",
        "d_x misses the part that came through the values: x feeds queries, keys and values.", 3, sets="v"),
    Mistake("no_WoT", "out_weight.T -> out_weight", "On the way back, the gradient is multiplied by the transposed out weight.", 2),
    Mistake("dWo_uses_x", "merged.mT -> x.mT",
        "d_out_weight multiplies d_out by x, but the input of the out weight is the merged heads.", 2),
    Mistake("split_no_transpose", "split(d_out @ out_weight.T) -> (d_out @ out_weight.T).reshape(b, heads, n, -1)",
        "The gradient of the merged heads was split by a reshape alone. It needs the same two steps as the forward pass.", 2),
    Mistake("merge_no_transpose",
        ("y.transpose(0, 2, 1, 3) -> y", "= merge(weights @ value) -> = (weights @ value).transpose(0, 2, 1, 3).reshape(b, n, -1)"),
        "The heads' gradients were merged by a reshape alone. Before it, the axes have to be exchanged back.", 3),
    Mistake("ds_no_rowsum", "(d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> d_weights",
        "The gradient of the scores lacks the weighted mean of each row.", 2, sets="mean"),
    Mistake("mean_plain", "(weights * d_weights).sum( -> d_weights.mean(",
        "The plain mean of dP was subtracted from each row. It has to be the mean weighted by the weights.", 2, sets="mean"),
    Mistake("no_scale", "merge(scale * -> merge(",
        "The gradients of query and key lack the scale, which multiplies gradients as well.", 2, shows="factor", sets="back"),
    Mistake("swap", "return d_x, d_query_weight, d_key_weight -> return d_x, d_key_weight, d_query_weight",
        "The gradients of the query weight and the key weight are exchanged."),
    Mistake("no_max", "scores - scores.max(axis=-1, keepdims=True) -> scores",
        "Large exponents overflow: the softmax has to measure each row against its maximum.", shows="lost"),
    Mistake("sigmoid", "(d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> (1 - weights) * d_weights",
        "For the softmax you used the sigmoid rule: a score also moves the other weights of its row.", 2, sets="mean"),
    Mistake("sign", "d_scores = weights -> d_scores = -weights",
        "The gradient of the scores has the wrong sign. The row's mean is subtracted from d_weights, not the other way round.", 2,
        shows="minus", sets="minus"),
    Mistake("plus", "(d_weights - -> (d_weights +",
        "The row's mean was added to d_weights. It has to be subtracted.", 2, sets="mean"),
    Mistake("paren",
        "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> weights * d_weights - (weights * "
        "d_weights).sum(axis=-1, keepdims=True)",
        "The row's mean was subtracted after the weights were applied. It has to be subtracted from d_weights.", 2,
        sets="mean minus"),
    Mistake("ds_is_dp", "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> d_weights",
        "The gradient of the weights was used as the gradient of the scores. The softmax between them is missing.", 2, sets="mean"),
    Mistake("sum_plain", "(weights * d_weights).sum( -> d_weights.sum(",
        "The plain sum was subtracted from each row of d_weights. It has to be the mean, weighted by the weights.", 2, sets="mean"),
    Mistake("mean_queries", "d_weights).sum(axis=-1 -> d_weights).sum(axis=-2",
        "The weighted mean of d_weights was taken along the queries. A softmax connects the keys of one query.", 2, sets="mean"),
    Mistake("scale_twice", "merge(scale * -> merge(scale**2 *",
        "On the way back the scale was applied twice. The gradients of query and key need it once each.", 2, shows="factor",
        sets="back"),
    Mistake("no_scale_dk", "scale * (d_scores.mT -> (d_scores.mT",
        "On the way back the gradient of the keys lacks the scale. Query and key both need it.", 2, sets="back"),
    Mistake("scores_no_scale", "scores = scale * -> scores =",
        "The scores are not scaled when the weights are computed. Both passes need the scale.", 2, sets="forth"),
    Mistake("scale_times", "1 / np.sqrt(query.shape[-1]) -> np.sqrt(query.shape[-1])",
        "Your scale is the root of d. The scores are divided by it, and so are their gradients.", 1, sets="forth back"),
    Mistake("scale_d", "1 / np.sqrt(query.shape[-1]) -> 1 / query.shape[-1]",
        "Your scale is 1 over d. The scores are divided by the root of d.", 1, sets="forth back"),
    Mistake("scale_model", "query.shape -> x.shape",
        "You scaled by the width of a token; the dot product of one head has d terms.", 2, sets="back forth"),
    Mistake("dk_no_T", "d_scores.mT -> d_scores",
        "For the keys the gradient of the scores has to be transposed, because its columns belong to the keys.", 2),
    Mistake("dv_no_T", "weights.mT -> weights",
        "For the values the weights have to be transposed: a value collects from all queries that look at it.", 2),
    Mistake("merge_interleaved",
        ("y.transpose(0, 2, 1, 3) -> y.transpose(0, 2, 3, 1)",
         "= merge(weights @ value) -> = (weights @ value).transpose(0, 2, 1, 3).reshape(b, n, -1)"),
        "The heads' gradients were merged with the heads last. The features of one head have to stay neighbours.", 3, sets="merge"),
    Mistake("row_mean_all", "(weights * d_weights).sum(axis=-1, keepdims=True) -> (weights * d_weights).sum(axis=(-2, -1), keepdims=True)",
        "One mean was subtracted from all queries of a head. Each query has a mean of its own, over its keys.", 2, sets="mean"),
    Mistake("residual", "return d_x, -> return d_x + d_out,",
        "You added d_out to d_x, as behind a residual connection. There is none in this layer.", 3),
    Mistake("scale_share", "query.shape -> x[..., :: heads].shape",
        "You scaled by the root of m / h. The width d of a head is that of its queries, and need not be m / h.", 2, sets="back forth"),
    Mistake("own_arrays", ("d_scores @ key) -> d_scores @ query)", "d_scores.mT @ query -> d_scores.mT @ key"),
        "The gradients of query and key use each other's array: a query receives from the keys, a key from the queries.", 2),
    Mistake("weight_squared", "d_scores = weights * -> d_scores = weights**2 *",
        "The weights multiply the gradient of the scores twice. Once is enough.", 2),
    Mistake("dW_mean_all", ".sum(axis=0) -> .mean(axis=0) / n",
        "You averaged over batch and positions. Every use of a shared weight adds to its gradient.", 1, shows="factor",
        sets="batch"),
    Mistake("dW_first", ".sum(axis=0) -> [0]",
        "The weight gradients hold the part of the first batch element only; add up the parts of all of them.", 1, sets="batch"),
    Mistake("dx_k_only", "d_query @ query_weight.T + d_key @ key_weight.T + d_value @ value_weight.T -> d_key @ key_weight.T",
        "x feeds queries, keys and values, so d_x has three parts. Yours is only the part of the keys.", 3, sets="dx k"),
    Mistake("softmax_heads",
        "axis=-1, keepdims=True)) weights = exponentials / exponentials.sum(axis=-1 -> axis=1, keepdims=True)) weights = "
        "exponentials / exponentials.sum(axis=1",
        "The softmax runs over the heads; every head needs its own, along the keys.", 2),
)

_MHA_BACKWARD = Exercise(
    title="The backward pass of all heads",
    level="hard",
    minutes=30,
    blanks=5,
    oracle=_mha_backward_oracle,
    solution=mha_backward,
    probes=(
        Probe("all sizes differ", layer(b=2, n=5, m=19, heads=3, d=4, v=7, upstream=True)),
        Probe("m = h·d", layer(b=2, n=6, m=15, heads=3, d=5, upstream=True), "equal", "all weights are square here"),
        Probe("n = d = v", layer(b=3, n=4, m=8, heads=2, d=4, upstream=True), "equal", "another batch and square heads"),
        Probe("large scores", layer(b=2, n=5, m=12, heads=3, d=4, large=True, upstream=True), "edge"),
        Probe("one token", layer(b=1, n=1, m=5, heads=2, d=3, v=1, upstream=True), "edge", "axes of size 1 stay"),
        Probe("tokens of one feature", layer(b=2, n=3, m=1, heads=2, d=5, v=2, upstream=True), "edge", "weights of one row"),
    ),
    mistakes=_MISTAKES,
    hints=(
        "Each weight is used at every position of every batch element. Its gradient is the input, transposed, times the "
        "gradient of the result, summed over the batch; its shape is that of the weight.",
        "Go back through the out weight first. Then `split`, which undoes `merge`. Then treat each head on its own, as in "
        "chapter 3: dV, dP, dS with its row mean, and dQ and dK with the scale.",
        "Then `merge` the gradients of query, key and value. Each of them gives the gradient of its weight. Each "
        "also gives a part of d_x, which is that gradient times the transposed weight. The three parts add up.",
    ),
    why="Split and merge only move numbers, so each is the backward of the other. Everything between them is the backward "
    "of one head, with two leading axes; everything around them is the backward of a linear layer.",
    insight="Nothing new was needed: the backward of a linear layer four times, that of attention once, and a sum "
    "over the uses of x.",
    outputs=("d_x", "d_query_weight", "d_key_weight", "d_value_weight", "d_out_weight"),
    atol=1e-10,  # with large scores, right ways to sum differ by about 1e-11
)  # fmt: skip
