"""The exercise on the backward pass of attention, and a wrong one for `spot`."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def sdpa_backward(d_out, query, key, value):
    scale = 1 / np.sqrt(query.shape[-1])
    scores = scale * (query @ key.mT)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    # forward: out = weights @ value
    d_value = weights.mT @ d_out
    d_weights = d_out @ value.mT
    # forward: weights = softmax(scores)
    row_mean = (weights * d_weights).sum(axis=-1, keepdims=True)
    d_scores = weights * (d_weights - row_mean)
    # forward: scores = scale * (query @ key.mT)
    d_query = scale * (d_scores @ key)
    d_key = scale * (d_scores.mT @ query)
    return d_query, d_key, d_value


def backward_oracle(d_out, query, key, value):
    """One number after the other, with the whole Jacobian of each softmax."""
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for *lead, i in np.ndindex(query.shape[:-1]):
        lead = tuple(lead)
        asked, given = query[lead][i].tolist(), d_out[lead][i].tolist()
        keys, values = key[lead].tolist(), value[lead].tolist()
        root = math.sqrt(len(asked))
        scores = [math.fsum(a * b for a, b in zip(asked, k, strict=True)) / root for k in keys]
        powers = [math.exp(score - max(scores)) for score in scores]
        p = [power / math.fsum(powers) for power in powers]
        dp = [math.fsum(g * x for g, x in zip(given, v, strict=True)) for v in values]
        for j in range(len(keys)):
            for feature, g in enumerate(given):
                d_value[(*lead, j, feature)] += p[j] * g
            ds = math.fsum(dp[n] * p[n] * ((n == j) - p[j]) for n in range(len(keys)))
            for feature in range(len(asked)):
                d_query[(*lead, i, feature)] += ds * keys[j][feature] / root
                d_key[(*lead, j, feature)] += ds * asked[feature] / root
    return d_query, d_key, d_value


def random_inputs(*lead, q, k, d, v):
    def make(rng):
        sizes = ((q, v), (q, d), (k, d), (k, v))
        return tuple(rng.standard_normal((*lead, *size)) for size in sizes)

    return make


def _large_scores(rng):
    # Scores near 2000, near -2000, and 1000 apart in a row: each row has to be shifted by its own maximum.
    d_out, query, key, value = random_inputs(2, q=3, k=5, d=7, v=2)(rng)
    query[..., :2] = [[6.0, 0.0], [-6.0, 0.0], [0.0, 3.0]]
    key[..., 0], key[..., 1] = 900.0, [0.0, 900.0, 0.0, 0.0, -900.0]
    return d_out, query, key, value


def _query_of_zeros(rng):
    d_out, query, key, value = random_inputs(q=3, k=5, d=6, v=2)(rng)
    query[1], key[2] = 0.0, 0.0
    return d_out, query, key, value


_BACKWARD = Exercise(
    title="The backward pass of attention",
    level="hard",
    minutes=25,
    blanks=5,
    oracle=backward_oracle,
    solution=sdpa_backward,
    probes=(
        Probe("all sizes differ", random_inputs(2, q=3, k=5, d=7, v=4)),
        Probe("q = k", random_inputs(2, q=4, k=4, d=7, v=3), "equal", "gradients in the wrong place have the right shape here"),
        Probe("no batch, q = k = d = v", random_inputs(q=4, k=4, d=4, v=4), "equal"),
        Probe("no batch", random_inputs(q=3, k=5, d=7, v=2), why="no leading axis at all"),
        Probe("two leading axes", random_inputs(2, 3, q=4, k=2, d=6, v=5), why="batch and head, more queries than keys"),
        Probe("large scores", _large_scores, "edge"),
        Probe("three leading axes, one of size 1", random_inputs(2, 1, 3, q=1, k=4, d=5, v=2), "edge",
            "every axis stays, whatever its size, and any number of them may stand in front"),
        Probe("one key, one feature", random_inputs(q=3, k=1, d=2, v=1), "edge", "its weight is 1: no gradient but the value's"),
        Probe("a query of zeros", _query_of_zeros, "edge", "scores of 0 hide nothing, and a key collects from all queries"),
    ),
    mistakes=(
        Mistake("ds_no_rowsum", "d_weights - row_mean -> d_weights",
            "dS lacks the row's weighted mean, which has to be subtracted from dP first.", 2, sets="softmax"),
        Mistake("ds_is_dp", "weights * (d_weights - row_mean) -> d_weights",
            "The gradient passed the softmax unchanged, as if weights were scores; its Jacobian has to be applied.", 2, sets="softmax"),
        Mistake("sigmoid", "d_weights - row_mean -> (1 - weights) * d_weights",
            "You used the sigmoid rule, the diagonal of the Jacobian: a score moves the other weights of its row too.", 2, sets="softmax"),
        Mistake("D_plain", "(weights * d_weights).sum -> d_weights.sum",
            "The plain sum of dP was subtracted from each row; the sum has to be weighted by the weights.", 2, sets="softmax"),
        Mistake("mean_plain", "(weights * d_weights).sum -> d_weights.mean",
            "The plain mean of dP was subtracted from each row; the mean has to be weighted by the weights.", 2, sets="softmax"),
        Mistake("no_outer", "weights * (d_weights -> (d_weights",
            "dS is how far dP lies from the row's mean, times the weight; that last factor is missing.", 2),
        Mistake("mean_product", "d_weights).sum -> d_weights).mean",
            "The products P dP were averaged along the row; the weights already do the averaging, so they are summed.", 2, sets="softmax"),
        Mistake("D_axis", "d_weights).sum(axis=-1 -> d_weights).sum(axis=-2",
            "The weighted mean was taken over the queries; each row needs its own, over its keys: the last axis.", 2, sets="softmax"),
        Mistake("no_keepdims", "d_weights).sum(axis=-1, keepdims=True) -> d_weights).sum(axis=-1)",
            "The row means lost their axis and met the columns: each row got the means of other rows. Keep that axis.", 2, sets="softmax"),
        Mistake("forward_unscaled", "scores = scale * (query -> scores = (query",
            "The weights are recomputed from scores without their scale: divide by the root of d before the softmax.", 1, sets="forward"),
        Mistake("no_scale", "scale * (d_scores -> (d_scores",
            "The scale is missing in front of d_query and d_key: it multiplies gradients as well.", 3, shows="factor", sets="scale"),
        Mistake("no_scale_dk", "d_key = scale * -> d_key =",
            "The scale stands in front of d_query, but not of d_key; it belongs to both.", 3, shows="factor", sets="scale"),
        Mistake("scale_twice", "scale * (d_scores -> scale**2 * (d_scores",
            "Was the scale applied once in dS and once more at the end? Once is enough.", 3, shows="factor", sets="scale"),
        Mistake("dv_no_T", "weights.mT -> weights",
            "The weights must be transposed for d_value: a value collects from all queries that looked at it.", 1),
        Mistake("dk_no_T", "d_scores.mT -> d_scores", "d_key needs dS transposed: its rows belong to keys, and keys are the columns of dS.", 3),
        Mistake("swap", "return d_query, d_key -> return d_key, d_query", "d_query and d_key are returned in each other's place."),
        Mistake("batch_sum",
            "return -> sums = (part.sum(axis=tuple(range(part.ndim - 2))) for part in (d_query, d_key, d_value))\nd_query, d_key, d_value = sums\n"
            "return",
            "You summed over the batch. Each batch element has its own query, key and value; only shared weights add up.", 1),
        Mistake("no_max", "scores - scores.max(axis=-1, keepdims=True) -> scores",
            "Large exponents overflow: the softmax has to measure each row against its maximum.", shows="lost"),
        Mistake("plus", "d_weights - row_mean -> d_weights + row_mean",
            "The row's weighted mean was added to dP; it has to be subtracted.", 2, sets="softmax"),
        Mistake("sign", "d_weights - row_mean -> row_mean - d_weights",
            "In dS the difference has the wrong sign: the weighted mean is subtracted from dP.", 2, sets="softmax"),
        Mistake("no_bracket", "weights * (d_weights - row_mean) -> weights * d_weights - row_mean",
            "The weighted mean was subtracted after the product; the weights have to multiply the whole difference.", 2, sets="softmax"),
        Mistake("product_reused", "(d_weights - row_mean) -> (weights * d_weights - row_mean)",
            "The product of P and dP belongs in the sum only. The difference uses dP by itself.", 2, sets="softmax"),
        Mistake("swapped", "weights * (d_weights - row_mean) -> d_weights * (weights - row_mean)",
            "In dS the weights and dP are swapped: dP belongs in the difference, and the weights multiply it.", 2, sets="softmax"),
        Mistake("log_softmax", "weights * (d_weights - row_mean) -> d_weights - weights * d_weights.sum(axis=-1, keepdims=True)",
            "This step is the gradient of log-softmax; the forward pass uses the weights themselves, not their logarithms.", 2, sets="softmax"),
        Mistake("D_all", "d_weights).sum(axis=-1, keepdims=True) -> d_weights).sum()",
            "One number was subtracted from all rows; each row needs a weighted mean of its own, over its keys.", 2, sets="softmax"),
        Mistake("no_scale_dq", "d_query = scale * -> d_query =",
            "The scale stands in front of d_query as well: both query and key are multiplied by it in the scores.", 3, sets="scale"),
        Mistake("scale_twice_dk", "d_key = scale -> d_key = scale**2",
            "The scale went into d_key twice. If you scaled the query first, the query already contains it.", 3, sets="scale"),
        Mistake("scale_times", "1 / np.sqrt(query.shape[-1]) -> np.sqrt(query.shape[-1])",
            "Your scale is the root of d. The scores are divided by it, and so are their gradients.", 1, sets="forward"),
        Mistake("scale_d", "np.sqrt(query.shape[-1]) -> query.shape[-1]",
            "d itself divides here, in both passes; the scores are divided by its root.", 1, sets="forward"),
        Mistake("scale_nk", "np.sqrt(query.shape[-1]) -> np.sqrt(key.shape[-2])",
            "You scaled by the root of the number of keys. A score is a sum over the d features of query and key.", 1, sets="forward"),
        Mistake("scale_dv", "np.sqrt(query.shape[-1]) -> np.sqrt(value.shape[-1])",
            "You scaled by the features of a value. A score is a sum over the d features of query and key.", 1, sets="forward"),
        Mistake("weight_squared", "weights * (d_weights -> weights**2 * (d_weights",
            "The weights multiply the difference twice in dS. Once is enough.", 2),
        Mistake("divided", "weights * (d_weights - row_mean) -> weights * d_weights / row_mean",
            "You divided by the row's mean. It has to be subtracted.", 2, sets="softmax"),
        Mistake("D_of_output", "(weights * d_weights).sum(axis=-1, keepdims=True) -> ((weights @ value) ** 2).sum(axis=-1, keepdims=True)",
            "The row's mean was taken from the square of the output. It is the product of the output and d_out, summed.", 2, sets="softmax"),
        Mistake("slope_again",
            ("row_mean = (weights -> again = np.exp(weights) / np.exp(weights).sum(axis=-1, keepdims=True)\nrow_mean = (again",
             "d_scores = weights -> d_scores = again"),
            "In the backward of the softmax you took the softmax of the weights. The weights are already its result.", 2, sets="softmax"),
        Mistake("largest", "(weights * d_weights).sum -> d_weights.max",
            "The largest entry of each row of dP was subtracted. Subtract the mean, weighted by the weights.", 2, sets="softmax"),
        Mistake("axis_1", "d_weights).sum(axis=-1 -> d_weights).sum(axis=min(1, d_weights.ndim - 1)",
            "The sum runs along axis 1, which are the keys only if there is no batch. The keys are always the last axis.", 2, sets="softmax"),
        Mistake("softmax_again", "d_value = -> weights = np.exp(weights) / np.exp(weights).sum(axis=-1, keepdims=True)\nd_value =",
            "The weights went through the softmax once more, as if they were scores.", 1),
        Mistake("scores_as_weights", "d_value = -> weights = scores\nd_value =",
            "You used the scores in the place of the weights. The backward pass needs the weights, behind the softmax.", 1),
        Mistake("no_diagonal", "weights * (d_weights - row_mean) -> -weights * row_mean",
            "In dS only the row's mean is left. The weight's own gradient, dP, has to be there as well.", 2, sets="softmax"),
        Mistake("mean_twice", "d_weights - row_mean -> d_weights - 2 * row_mean",
            "The row's mean was subtracted twice in dS. Once is enough.", 2, sets="softmax"),
        Mistake("own_arrays", ("d_scores @ key -> d_scores @ query", "d_scores.mT @ query -> d_scores.mT @ key"),
            "The two products use each other's array: a query receives from the keys, a key from the queries.", 3),
        Mistake("dv_from_scores", "d_query = -> d_value = d_scores.mT @ d_out\nd_query =",
            "d_value was formed with dS (or with weights that had been overwritten by it); the values were averaged by the weights.", 1),
        Mistake("no_upstream", "scale = -> d_out = np.ones_like(d_out)\nscale =",
            "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it.", 1),
        Mistake("last_query",
            ("weights.mT @ d_out -> weights[..., -1:, :].mT @ d_out[..., -1:, :]",
             "d_scores.mT @ query -> d_scores[..., -1:, :].mT @ query[..., -1:, :]"),
            "Only the last query counts in d_key and d_value. In a loop over queries, add the part of each query to the sum.", 3),
        Mistake("forward_axis_q", ("scores.max(axis=-1 -> scores.max(axis=-2", "exponentials.sum(axis=-1 -> exponentials.sum(axis=-2"),
            "The softmax of the forward pass ran over the queries; each query has to spread its weights over the keys.", 1),
        Mistake("causal", "exponentials = -> scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)\nexponentials =",
            "Each query sees only the keys up to its own position. No mask is asked for: every query sees every key.", 1),
        Mistake("ce_shortcut", "weights * (d_weights - row_mean) -> weights - d_weights",
            "Weights minus target is the gradient of softmax together with cross-entropy; dP is a gradient, not a target.", 2, sets="softmax"),
    ),
    hints=(
        "Go backwards through three lines: out is weights times value, weights is the softmax of scores, scores is "
        "scale "
        "times query times transposed key. Each gradient has the shape of its array, batch included.",
        "The softmax, row by row: dS is P times (dP minus a mean). The mean is that of dP along the keys, weighted "
        "by P, "
        "one number per query, kept as a column.",
        "dV is P transposed times dO, and dP is dO times V transposed. dQ is dS times K, dK is dS transposed times "
        "Q, and "
        "the scale multiplies both.",
    ),
    why="Each block undoes the forward line that it quotes: a product sends its gradient to both factors, the softmax "
    "sends it through its Jacobian. The softmax is written out here, but the one from the first cell works as well.",
    insight="Four products and a weighted mean per row. The forward pass has two products: backward costs about "
    "twice as much.",
    outputs=("d_query", "d_key", "d_value"),
    atol=1e-10,  # with scores near 1000, sums that should be 0 are 1e-12
)  # fmt: skip


# spot_gradient: the chapter shows the errors of `suspect` on several inputs

suspect = _BACKWARD.family(frozenset({"D_all"}))
