"""The exercise on additive attention, whose backward pass no box of the book holds: readers derive it."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.gradients import accepts, additive_mistakes


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


def _additive_family(bugs):
    def through_softmax(d_weights, weights):
        if "ds_is_dp" in bugs:
            return d_weights
        if "no_rowsum" in bugs:
            return weights * d_weights
        if "sigmoid" in bugs:
            return weights * (1 - weights) * d_weights
        if "swapped" in bugs:
            d_weights, weights = weights, d_weights
        product = weights * d_weights
        row_mean = product.sum(axis=-2 if "D_axis" in bugs else -1, keepdims="no_keepdims" not in bugs)
        if "D_plain" in bugs:
            row_mean = d_weights.sum(axis=-1, keepdims=True)
        elif "mean_plain" in bugs:
            row_mean = d_weights.mean(axis=-1, keepdims=True)
        elif "plus" in bugs:
            row_mean = -row_mean
        if "no_bracket" in bugs:
            return product - row_mean
        d_scores = d_weights - row_mean if "no_outer" in bugs else weights * (d_weights - row_mean)
        return -d_scores if "sign" in bugs else d_scores

    def slope(total, match):
        if "tanh_twice" in bugs:
            return 1 - np.tanh(match) ** 2
        if "tanh_plus" in bugs:
            return 1 + match**2
        if "tanh_itself" in bugs:
            return match
        if "tanh_root" in bugs:
            return 1 / np.cosh(total)
        if "no_tanh" in bugs:
            return 1.0
        if "tanh_plain" in bugs:
            return 1 - match
        if "tanh_sigmoid" in bugs:
            return match * (1 - match)
        return 1 - (total if "tanh_unbent" in bugs else match) ** 2

    def variant(d_out, query, key, value, w):
        total = query[..., :, np.newaxis, :] + key[..., np.newaxis, :, :]
        match, scale = np.tanh(total), math.sqrt(w.shape[0])
        scores = (total if "forward_unbent" in bugs else match) @ w / (scale if "forward_scaled" in bugs else 1)
        if "no_upstream" in bugs:
            d_out = np.ones_like(d_out)
        axis = -2 if "forward_axis_q" in bugs else -1
        weights = np.exp(scores) if "no_max" in bugs else np.exp(scores - scores.max(axis=axis, keepdims=True))
        weights = weights / weights.sum(axis=axis, keepdims=True)
        d_value = (weights if "dv_no_T" in bugs else weights.mT) @ d_out
        d_scores = through_softmax(d_out @ value.mT, weights) / (scale if "scaled" in bugs else 1)
        per_pair = (weights if "dw_weights" in bugs else d_scores)[..., np.newaxis]
        d_w = per_pair * (total if "dw_unbent" in bugs else 1 - match**2 if "dw_slope" in bugs else match)
        d_w = d_w.sum(axis=(-3, -2) if "dw_batch" in bugs else tuple(range(d_w.ndim - 1)))
        d_match = d_scores[..., np.newaxis] * (1 if "no_w" in bugs else w)
        d_sum = d_match * slope(total, match)
        d_query, d_key = d_sum.sum(axis=-2), d_sum.sum(axis=-3)
        if "mean" in bugs:
            d_query, d_key = d_sum.mean(axis=-2), d_sum.mean(axis=-3)
        if "as_product" in bugs:
            d_query = (d_sum * key[..., np.newaxis, :, :]).sum(axis=-2)
            d_key = (d_sum * query[..., :, np.newaxis, :]).sum(axis=-3)
        if "key_sign" in bugs:
            d_key = -d_key
        if "dot_product" in bugs:
            d_query, d_key = d_scores @ key, d_scores.mT @ query
        if "swap" in bugs:
            d_query, d_key = d_key, d_query
        return d_query, d_key, d_value, d_w

    return variant


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


def _with_a_column(d_out, query, key, value, w):
    """w as a column, the row mean from the output, the slope of tanh from its other form."""
    total = query[..., :, None, :] + key[..., None, :, :]
    scores = (np.tanh(total) @ w[:, None])[..., 0]
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    row_mean = np.sum(d_out * (weights @ value), axis=-1, keepdims=True)
    d_scores = (weights * (d_out @ value.mT - row_mean))[..., None]
    d_sum = d_scores * w / np.cosh(total) ** 2
    d_w = (d_scores * np.tanh(total)).reshape(-1, len(w)).sum(axis=0)
    return np.einsum("...qkd->...qd", d_sum), np.einsum("...qkd->...kd", d_sum), weights.mT @ d_out, d_w


_ADDITIVE = Exercise(
    "additive_backward",
    title="The backward pass of another score",
    chapter="gradients",
    level="hard",
    minutes=25,
    blanks=6,
    oracle=_additive_oracle,
    solution=additive_backward,
    family=_additive_family,
    probes=(
        Probe("all sizes differ", _random_inputs(2, q=3, k=5, d=7, v=4)),
        Probe(
            "no batch, q = k = d = v", _random_inputs(q=4, k=4, d=4, v=4), "equal",
            "a formula that mixes up axes runs here, and can be named",
        ),
        Probe("no batch", _random_inputs(q=3, k=5, d=7, v=2), why="no leading axis at all"),
        Probe(
            "two leading axes", _random_inputs(2, 3, q=4, k=2, d=6, v=5), why="batch and head, more queries than keys",
        ),
        Probe("large scores", _large_scores, "edge"),
        Probe(
            "three leading axes, one of size 1", _random_inputs(2, 1, 3, q=1, k=4, d=5, v=2), "edge",
            "every axis stays, whatever its size, and any number of them may stand in front",
        ),
        Probe("one key, one feature", _random_inputs(q=3, k=1, d=2, v=1), "edge", "its weight is 1: no gradient but the value's"),
    ),
    mistakes=additive_mistakes.ADDITIVE_BACKWARD,
    hints=(
        "Values, weights and softmax do not know where the scores came from, so these steps stay. Then go back through "
        "scores = match @ w: it has two factors.",
        "The gradient of match has its four axes (..., q, k, d): the gradient of each score times w. Then comes the "
        "tanh, and after it a plain sum of query and key.",
        "With t = tanh(z) the slope is 1 - t squared. Through a sum a gradient passes unchanged; what was spread over "
        "an axis is summed over it: query over the keys, key over the queries, w over everything but d.",
    ),
    why="Up to the gradient of the scores nothing changes. Behind it each line undoes one forward line: a product with "
    "w, a tanh, a sum. What the forward pass spread over an axis, the backward pass sums over it.",
    insight="Only the last step knows how the scores were made. So a new score needs a new last step and nothing else.",
    accepts={"w as a column, row mean from the output": _with_a_column, **accepts.ADDITIVE_BACKWARD},
    outputs=("d_query", "d_key", "d_value", "d_w"),
)  # fmt: skip

EXERCISES = (_ADDITIVE,)
