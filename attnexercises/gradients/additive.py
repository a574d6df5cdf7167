"""The exercise on additive attention, whose backward pass no box of the book holds: readers derive it."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def additive_backward(d_out, query, key, value, w):
    match = np.tanh(query[..., :, np.newaxis, :] + key[..., np.newaxis, :, :])
    scores = match @ w
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    # forward: out = weights @ value
    d_value = weights.mT @ d_out
    d_weights = d_out @ value.mT
    # forward: weights = softmax(scores)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    # forward: scores = match @ w
    d_scores = d_scores[..., np.newaxis]
    d_w = (d_scores * match).sum(axis=tuple(range(match.ndim - 1)))
    d_match = d_scores * w
    # forward: match = tanh(query + key), each query with each key
    d_sum = d_match * (1 - match**2)
    d_query = d_sum.sum(axis=-2)
    d_key = d_sum.sum(axis=-3)
    return d_query, d_key, d_value, d_w


def _additive_oracle(d_out, query, key, value, w):
    """One number after the other, with the whole Jacobian of each softmax."""
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    d_w, keys = np.zeros(w.shape), range(key.shape[-2])
    for *lead, i in np.ndindex(query.shape[:-1]):
        lead = tuple(lead)
        sums = [[float(a + b) for a, b in zip(query[lead][i], key[lead][j], strict=True)] for j in keys]
        scores = [math.fsum(float(c) * math.tanh(s) for c, s in zip(w, row, strict=True)) for row in sums]
        powers = [math.exp(score - max(scores)) for score in scores]
        p = [power / math.fsum(powers) for power in powers]
        dp = [math.fsum(float(g * x) for g, x in zip(d_out[lead][i], value[lead][j], strict=True)) for j in keys]
        for j in keys:
            d_value[(*lead, j)] += p[j] * d_out[lead][i]
            ds = math.fsum(dp[n] * p[n] * ((n == j) - p[j]) for n in keys)
            for feature, total in enumerate(sums[j]):
                d_w[feature] += ds * math.tanh(total)
                slope = ds * float(w[feature]) / math.cosh(total) ** 2
                d_query[(*lead, i, feature)] += slope
                d_key[(*lead, j, feature)] += slope
    return d_query, d_key, d_value, d_w


def _random_inputs(*lead, q, k, d, v):
    def make(rng):
        sizes = ((*lead, q, v), (*lead, q, d), (*lead, k, d), (*lead, k, v), (d,))
        return tuple(rng.standard_normal(size) for size in sizes)

    return make


def _large_scores(rng):
    # Every tanh is 1 or -1 and every score 2800 or -2800. In the first row all are -2800: its maximum is its own.
    # In the second the largest is neither the first nor among the last two.
    d_out, query, key, value, w = _random_inputs(q=2, k=4, d=7, v=2)(rng)
    key -= 30.0
    key[1] += 60.0
    query[0] -= 90.0
    return d_out, query, key, value, np.full(w.shape, 400.0)


# Several mistakes take this sum where its tanh belongs.
_SUM = "(query[..., :, None, :] + key[..., None, :, :])"

_ADDITIVE = Exercise(
    title="The backward pass of another score", level="hard", minutes=25, blanks=6, oracle=_additive_oracle, solution=additive_backward,
    probes=(
        Probe("all sizes differ", _random_inputs(2, q=3, k=5, d=7, v=4)),
        Probe("no batch, q = k = d = v", _random_inputs(q=4, k=4, d=4, v=4), "equal", "a formula that mixes up axes runs here, and can be named"),
        Probe("no batch", _random_inputs(q=3, k=5, d=7, v=2), why="no leading axis at all"),
        Probe("two leading axes", _random_inputs(2, 3, q=4, k=2, d=6, v=5), why="batch and head, more queries than keys"),
        Probe("large scores", _large_scores, "edge"),
        Probe("three leading axes, one of size 1", _random_inputs(2, 1, 3, q=1, k=4, d=5, v=2), "edge",
            "every axis stays, whatever its size, and any number of them may stand in front"),
        Probe("one key, one feature", _random_inputs(q=3, k=1, d=2, v=1), "edge", "its weight is 1: no gradient but the value's"),
    ),
    mistakes=(
        Mistake("no_rowsum", "d_weights - (weights * d_weights).sum(axis=-1, keepdims=True) -> d_weights",
            "Between weights and scores the row's weighted mean has to be subtracted from d_weights.", 1, sets="softmax"),
        Mistake("ds_is_dp", "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> d_weights",
            "The gradient of the weights went on as that of the scores; the softmax between them is missing.", 1, sets="softmax"),
        Mistake("sigmoid", "d_weights - (weights * d_weights).sum(axis=-1, keepdims=True) -> (1 - weights) * d_weights",
            "Between weights and scores you used the sigmoid rule; a score moves the other weights of its row too.", 1, sets="softmax"),
        Mistake("forward_scaled", "scores = match @ w -> scores = match @ w / np.sqrt(len(w))",
            "In the forward pass you divided the scores by sqrt(d); these scores have no such scale."),
        Mistake("scaled", "d_scores[..., np.newaxis] -> d_scores[..., np.newaxis] / np.sqrt(len(w))",
            "The gradient of the scores was divided by sqrt(d); these scores have no such scale.", 2, shows="factor"),
        Mistake("dot_product", ("d_sum.sum(axis=-2) -> d_scores[..., 0] @ key", "d_sum.sum(axis=-3) -> d_scores[..., 0].mT @ query"),
            "d_query and d_key were made as for a dot product: here query and key are added.", 2, sets="tanh"),
        Mistake("no_w", "d_scores * w -> d_scores", "On the way to query and key each feature of the gradient still needs its factor in w.", 2),
        Mistake("no_tanh", "d_match * (1 - match**2) -> d_match",
            "On the way to query and key the gradient passed the tanh as if it were not there.", 2, sets="tanh"),
        Mistake("tanh_plain", "1 - match**2 -> 1 - match",
            "You took 1 - t for the slope of t = tanh(z); differentiate it again: at z = 0 both give 1, elsewhere not.", 3, sets="tanh"),
        Mistake("tanh_sigmoid", "1 - match**2 -> match * (1 - match)",
            "t (1 - t) is the slope of a logistic sigmoid. The slope of tanh is different: at 0 it is 1.", 3, sets="tanh"),
        Mistake("tanh_unbent", f"match**2 -> {_SUM} ** 2",
            "The slope of t = tanh(z) was written with z in place of t; but the slope of tanh is never negative.", 3, sets="tanh"),
        Mistake("mean", "d_sum.sum -> d_sum.mean",
            "You averaged over keys and over queries. A vector that is used in several scores gets the sum of their gradients.", 3),
        Mistake("swap", "return d_query, d_key -> return d_key, d_query",
            "d_query and d_key are swapped: a query collects over the keys, a key over the queries.", 3),
        Mistake("log_softmax", "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> d_weights - weights * d_weights.sum(axis=-1, keepdims=True)",
            "This step is the gradient of log-softmax. The forward pass uses the weights themselves.", 2),
        Mistake("arctan", "1 - match**2 -> 1 / (1 + match**2)",
            "You took 1 / (1 + ...), as for an arctangent. The slope of tanh is one minus its square.", 3, sets="tanh"),
        Mistake("tanh_outside", "scores = match @ w -> scores = np.tanh((query[..., :, np.newaxis, :] + key[..., np.newaxis, :, :]) @ w)",
            "In your forward pass the tanh comes after the product with w. It belongs before it, around the sum of query and key.", 1, sets="forward"),
        Mistake("logistic_slope",
            "1 - match**2 -> np.exp(query[..., :, np.newaxis, :] + key[..., np.newaxis, :, :]) / (1 + np.exp(query[..., :, np.newaxis, :] + key[..., np.newaxis, :, :])) ** 2",
            "You used the slope of the logistic function. The slope of tanh is one minus its square.", 2, sets="tanh"),
        Mistake("arctan_of_sum", "1 - match**2 -> 1 / (1 + (query[..., :, np.newaxis, :] + key[..., np.newaxis, :, :]) ** 2)",
            "You used the slope of the arctangent. The slope of tanh is one minus its square.", 2, sets="tanh"),
        Mistake("overwritten", ("d_sum.sum(axis=-2) -> d_sum[..., -1, :]", "d_sum.sum(axis=-3) -> d_sum[..., -1, :, :]"),
            "Only the last pair of each query and of each key is left. Each of them takes part in many pairs, so add their gradients.", 3, sets="tanh"),
        Mistake("dot_product_scaled",
            ("d_sum.sum(axis=-2) -> d_scores[..., 0] @ key / np.sqrt(key.shape[-1])",
             "d_sum.sum(axis=-3) -> d_scores[..., 0].mT @ query / np.sqrt(key.shape[-1])"),
            "d_query and d_key were made as for scaled dot products. Here query and key are added, and a tanh follows.", 1, sets="tanh"),
        Mistake("dw_sloped", "(d_scores * match) -> (d_scores * match * (1 - match**2))",
            "Your d_w contains the slope of the tanh. w stands outside the tanh, so its gradient has no such factor.", 2),
        Mistake("difference", "query[..., :, np.newaxis, :] + key -> query[..., :, np.newaxis, :] - key",
            "You subtracted the key from the query. In additive attention they are added.", 1, sets="forward"),
        Mistake("dw_last", "(d_scores * match).sum(axis=tuple(range(match.ndim - 1))) -> (d_scores * match).sum(axis=(-3, -2)).reshape(-1, len(w))[-1]",
            "d_w holds the last batch element only. All batch elements share w, so their gradients are added.", 1),
        Mistake("dw_mean", "d_scores * match).sum(axis=tuple(range(match.ndim - 1))) -> d_scores * match).mean(axis=tuple(range(match.ndim - 1)))",
            "d_w is a mean over all pairs. Every pair uses the same w, so their gradients are added.", 1),
        Mistake("dw_weights", "(d_scores * -> (weights[..., np.newaxis] *", "d_w: w receives the gradients of the scores, not the weights.", 1),
        Mistake("dw_unbent", f"match) -> {_SUM})", "d_w: in the forward pass w multiplies the tanh, not the sum inside it.", 1),
        Mistake("dw_batch", "axis=tuple(range(match.ndim - 1)) -> axis=(-3, -2)",
            "d_w keeps the leading axes: one w serves the whole batch, so its gradient sums over that, too.", 3),
        Mistake("dv_no_T", "weights.mT -> weights",
            "The weights must be transposed for d_value: a value collects from all queries that looked at it.", 1),
        Mistake("no_max", "scores - scores.max(axis=-1, keepdims=True) -> scores",
            "Large exponents overflow: the softmax has to measure each row against its maximum.", shows="lost"),
        Mistake("plus", "d_weights - (weights -> d_weights + (weights",
            "Between weights and scores the row's weighted mean was added; it has to be subtracted.", 1, sets="softmax"),
        Mistake("sign", "weights * (d_weights -> -weights * (d_weights",
            "Between weights and scores the difference has the wrong sign: the weighted mean is subtracted from d_weights.", 1, sets="softmax"),
        Mistake("no_bracket",
            "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> weights * d_weights - (weights * d_weights).sum(axis=-1, "
            "keepdims=True)",
            "The weighted mean was subtracted after the product; the weights have to multiply the whole difference.", 1, sets="softmax"),
        Mistake("no_outer", "weights * (d_weights -> (d_weights",
            "Between weights and scores the weight in front of the difference is missing.", 1, sets="softmax"),
        Mistake("D_plain", "(weights * d_weights).sum -> d_weights.sum",
            "The plain sum of d_weights was subtracted from each row; the sum has to be weighted by the weights.", 1, sets="softmax"),
        Mistake("mean_plain", "(weights * d_weights).sum -> d_weights.mean",
            "The plain mean of d_weights was subtracted from each row; the mean has to be weighted by the weights.", 1, sets="softmax"),
        Mistake("D_axis", "d_weights).sum(axis=-1 -> d_weights).sum(axis=-2",
            "The weighted mean was taken over the queries; each row needs its own, over its keys: the last axis.", 1, sets="softmax"),
        Mistake("no_keepdims", "d_weights).sum(axis=-1, keepdims=True) -> d_weights).sum(axis=-1)",
            "The row means lost their axis and met the columns. Keep that axis.", 1, sets="softmax"),
        Mistake("swapped", "weights * (d_weights - -> d_weights * (weights -",
            "Weights and d_weights are swapped: d_weights belongs in the difference, and the weights multiply it.", 1, sets="softmax"),
        Mistake("tanh_twice", "match**2 -> np.tanh(match) ** 2",
            "The tanh was applied once more in its slope: t is tanh(z) already.", 3, sets="tanh"),
        Mistake("tanh_plus", "1 - match**2 -> 1 + match**2",
            "The slope of t = tanh(z) has a sign in the middle, and here it is the wrong one: the slope falls as z moves away from 0.", 3,
            sets="tanh"),
        Mistake("tanh_itself", "1 - match**2 -> match", "The tanh itself was taken for its slope.", 3, sets="tanh"),
        Mistake("tanh_root", f"1 - match**2 -> 1 / np.cosh{_SUM}",
            "The slope of tanh is one over the square of cosh(z), or written with t; here the square is missing.", 3, sets="tanh"),
        Mistake("as_product",
            ("d_sum.sum(axis=-2) -> (d_sum * key[..., np.newaxis, :, :]).sum(axis=-2)",
             "d_sum.sum(axis=-3) -> (d_sum * query[..., :, np.newaxis, :]).sum(axis=-3)"),
            "Inside the tanh, query and key were treated as factors. They are added there, and a sum passes its gradient on unchanged.", 2),
        Mistake("key_sign", "d_key = d_sum -> d_key = -d_sum",
            "d_key has a minus in front, as if the key were subtracted; query and key are added.", 2),
        Mistake("dw_slope", "match) -> (1 - match**2))", "The slope of tanh went into d_w; w multiplies the tanh itself, behind it.", 1),
        Mistake("forward_unbent", f"scores = match @ w -> scores = {_SUM} @ w", "The scores of the forward pass were formed without the tanh."),
        Mistake("forward_axis_q", ("scores.max(axis=-1 -> scores.max(axis=-2", "exponentials.sum(axis=-1 -> exponentials.sum(axis=-2"),
            "The softmax of the forward pass ran over the queries; each query has to spread its weights over the keys."),
        Mistake("no_upstream", "match = np -> d_out = np.ones_like(d_out)\nmatch = np",
            "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it."),
    ),
    hints=(
        "Values, weights and softmax do not know where the scores came from, so these steps stay. Then go back through scores = match @ w: it has "
        "two factors.",
        "The gradient of match has its four axes (..., q, k, d): the gradient of each score times w. Then comes the tanh, and after it a plain sum "
        "of query and key.",
        "With t = tanh(z) the slope is 1 - t squared. Through a sum a gradient passes unchanged; what was spread over an axis is summed over it: "
        "query over the keys, key over the queries, w over everything but d.",
    ),
    why="Up to the gradient of the scores nothing changes. Behind it each line undoes one forward line: a product with w, a tanh, a sum. What the "
    "forward pass spread over an axis, the backward pass sums over it.",
    insight="Only the last step knows how the scores were made. So a new score needs a new last step and nothing else.",
    outputs=("d_query", "d_key", "d_value", "d_w"),
)  # fmt: skip
