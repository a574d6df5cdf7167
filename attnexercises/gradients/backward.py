"""The exercise on the backward pass of attention, and a wrong one for `gradients_spot`."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.gradients import accepts, backward_mistakes
from attnexercises.softmax.stable import plain_softmax


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


def _backward_family(bugs):
    def factors(d):
        # in front of d_query and of d_key
        scale = 1 / (d if "scale_d" in bugs else math.sqrt(d))
        if "no_scale" in bugs:
            return 1.0, 1.0
        if "scale_twice" in bugs:
            return scale**2, scale**2
        for_key = 1.0 if "no_scale_dk" in bugs else scale**2 if "scale_twice_dk" in bugs else scale
        return (1.0 if "no_scale_dq" in bugs else scale), for_key

    def through_softmax(d_weights, weights):
        if "ds_is_dp" in bugs:
            return d_weights
        if "ds_no_rowsum" in bugs:
            return weights * d_weights
        if "sigmoid" in bugs:
            return weights * (1 - weights) * d_weights
        if "D_plain" in bugs:
            return weights * (d_weights - d_weights.sum(axis=-1, keepdims=True))
        if "mean_plain" in bugs:
            return weights * (d_weights - d_weights.mean(axis=-1, keepdims=True))
        if "swapped" in bugs:
            d_weights, weights = weights, d_weights
        product = weights * d_weights
        total = product.sum(axis=-1, keepdims=True)
        if "plus" in bugs:
            return weights * (d_weights + total)
        if "sign" in bugs:
            return weights * (total - d_weights)
        if "no_bracket" in bugs:
            return product - total
        if "product_reused" in bugs:
            return weights * (product - total)
        if "ce_shortcut" in bugs:
            return weights - d_weights
        if "log_softmax" in bugs:
            return d_weights - weights * d_weights.sum(axis=-1, keepdims=True)
        if "D_all" in bugs:
            return weights * (d_weights - product.sum())
        if "mean_product" in bugs:
            return weights * (d_weights - (weights * d_weights).mean(axis=-1, keepdims=True))
        axis, keep = (-2 if "D_axis" in bugs else -1), "no_keepdims" not in bugs
        outer = 1.0 if "no_outer" in bugs else weights
        return outer * (d_weights - (weights * d_weights).sum(axis=axis, keepdims=keep))

    def variant(d_out, query, key, value):
        for_query, for_key = factors(query.shape[-1])
        scores = query @ key.mT / (1.0 if "forward_unscaled" in bugs else math.sqrt(query.shape[-1]))
        if "scale_d" in bugs:
            scores = scores / math.sqrt(query.shape[-1])
        if "causal" in bugs:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        if "no_upstream" in bugs:
            d_out = np.ones_like(d_out)
        axis = -2 if "forward_axis_q" in bugs else -1
        weights = np.exp(scores) if "no_max" in bugs else np.exp(scores - scores.max(axis=axis, keepdims=True))
        weights = weights / weights.sum(axis=axis, keepdims=True)
        d_scores = through_softmax(d_out @ value.mT, weights)
        for_value = d_scores if "dv_from_scores" in bugs else weights
        d_value = (for_value if "dv_no_T" in bugs else for_value.mT) @ d_out
        if "own_arrays" in bugs:
            query, key = key, query
        d_query = for_query * (d_scores @ key)
        d_key = for_key * ((d_scores if "dk_no_T" in bugs else d_scores.mT) @ query)
        if "last_query" in bugs:
            d_key = for_key * d_scores[..., -1:, :].mT @ query[..., -1:, :]
            d_value = weights[..., -1:, :].mT @ d_out[..., -1:, :]
        gradients = (d_key, d_query, d_value) if "swap" in bugs else (d_query, d_key, d_value)
        if "batch_sum" in bugs:
            gradients = tuple(gradient.sum(axis=tuple(range(gradient.ndim - 2))) for gradient in gradients)
        return gradients

    return variant


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


def _through_jacobian(d_out, query, key, value):
    weights = plain_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    jacobian = weights[..., :, None] * (np.eye(weights.shape[-1]) - weights[..., None, :])
    d_scores = np.einsum("...qj,...qjk->...qk", d_weights, jacobian) / math.sqrt(query.shape[-1])
    d_query = np.einsum("...qk,...kd->...qd", d_scores, key)
    d_key = np.einsum("...qk,...qd->...kd", d_scores, query)
    return d_query, d_key, np.einsum("...qk,...qv->...kv", weights, d_out)


def _mean_from_the_output(d_out, query, key, value):
    weights = plain_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
    row_mean = (d_out * (weights @ value)).sum(axis=-1, keepdims=True)
    d_scores = weights * (d_out @ value.mT - row_mean) / math.sqrt(query.shape[-1])
    return d_scores @ key, d_scores.mT @ query, weights.mT @ d_out


def _query_of_zeros(rng):
    d_out, query, key, value = random_inputs(q=3, k=5, d=6, v=2)(rng)
    query[1], key[2] = 0.0, 0.0
    return d_out, query, key, value


_BACKWARD = Exercise(
    "sdpa_backward",
    title="The backward pass of attention",
    chapter="gradients",
    level="hard",
    minutes=25,
    blanks=5,
    oracle=backward_oracle,
    solution=sdpa_backward,
    family=_backward_family,
    probes=(
        Probe("all sizes differ", random_inputs(2, q=3, k=5, d=7, v=4)),
        Probe(
            "q = k", random_inputs(2, q=4, k=4, d=7, v=3), "equal", "gradients in the wrong place have the right shape here",
        ),
        Probe("no batch, q = k = d = v", random_inputs(q=4, k=4, d=4, v=4), "equal"),
        Probe("no batch", random_inputs(q=3, k=5, d=7, v=2), why="no leading axis at all"),
        Probe("two leading axes", random_inputs(2, 3, q=4, k=2, d=6, v=5), why="batch and head, more queries than keys"),
        Probe("large scores", _large_scores, "edge"),
        Probe(
            "three leading axes, one of size 1", random_inputs(2, 1, 3, q=1, k=4, d=5, v=2), "edge",
            "every axis stays, whatever its size, and any number of them may stand in front",
        ),
        Probe("one key, one feature", random_inputs(q=3, k=1, d=2, v=1), "edge", "its weight is 1: no gradient but the value's"),
        Probe("a query of zeros", _query_of_zeros, "edge", "scores of 0 hide nothing, and a key collects from all queries"),
    ),
    mistakes=backward_mistakes.SDPA_BACKWARD,
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
    "sends it through its Jacobian. The softmax is written out here; the one from the first cell does as well.",
    insight="Four products and a weighted mean per row. The forward pass has two products: backward costs about "
    "twice as much.",
    accepts={
        "the whole Jacobian": _through_jacobian, "row mean from the output": _mean_from_the_output,
        **accepts.SDPA_BACKWARD,
    },
    outputs=("d_query", "d_key", "d_value"),
    atol=1e-10,  # with scores near 1000, sums that should be 0 are 1e-12
)  # fmt: skip


# spot_gradient: the chapter shows the errors of `suspect` on several inputs

suspect = _backward_family(frozenset({"scale_twice"}))

EXERCISES = (_BACKWARD,)
