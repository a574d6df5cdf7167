"""The exercise on a bias for each distance: its gradient stands in no box of the book, readers derive it."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.masks import accepts, distance_bias_mistakes


def distance_bias_backward(d_out, value, weights):
    # forward: out = weights @ value
    d_weights = d_out @ value.mT
    # forward: weights = softmax(scores)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    # forward: scores[q, k] = ... + bias[q - k], in every sequence
    n = value.shape[-2]
    return np.array([np.trace(d_scores, offset=-r, axis1=-2, axis2=-1).sum() for r in range(n)])


def _oracle(d_out, value, weights):
    """One pair after the other: what a little more of its score does to the loss goes to the bias of its distance."""
    n = weights.shape[-1]
    d_bias = [[] for _ in range(n)]
    for *lead, i in np.ndindex(weights.shape[:-1]):
        lead = tuple(lead)
        p = [float(weight) for weight in weights[lead][i]]
        dp = [math.fsum(float(g * x) for g, x in zip(d_out[lead][i], value[lead][j], strict=True)) for j in range(n)]
        for j in range(i + 1):
            d_bias[i - j] += [dp[t] * p[t] * ((t == j) - p[j]) for t in range(n)]
    return np.array([math.fsum(terms) for terms in d_bias])


def _family(bugs):
    def through_softmax(d_weights, weights):
        if "ds_is_dp" in bugs:  # where a key is hidden, too
            return d_weights
        if "no_row_mean" in bugs:
            return weights * d_weights
        if "sigmoid" in bugs:
            return weights * (1 - weights) * d_weights
        mean = (weights * d_weights).sum(axis=-2 if "mean_queries" in bugs else -1, keepdims=True)
        if "mean_plain" in bugs or "sum_plain" in bugs:
            mean = (np.mean if "mean_plain" in bugs else np.sum)(d_weights, axis=-1, keepdims=True)
        if "paren" in bugs:
            return weights * d_weights - mean
        return weights * (d_weights + (mean if "plus" in bugs else -mean))

    def distance_bias_backward(d_out, value, weights):
        d_scores = through_softmax(d_out @ value.mT, weights)
        n = weights.shape[-1]
        if "weights" in bugs:
            d_scores = weights
        if "last_query" in bugs:  # the bias of distance r stands at key n - 1 - r
            row = d_scores[..., -1, ::-1].reshape(-1, n).sum(axis=0)
            return row[::-1] if "reversed" in bugs else row
        if "per_key" in bugs or "per_query" in bugs:
            axis = -1 if "per_query" in bugs else -2
            return d_scores.sum(axis=axis).reshape(-1, n).sum(axis=0)
        if "first_sequence" in bugs:
            d_scores = d_scores.reshape(-1, n, n)[0]
        side = 1 if "future" in bugs else -1
        axes = (0, 1) if "first_axes" in bugs else (-2, -1)
        diagonals = [np.trace(d_scores, side * (r + ("from_one" in bugs)), *axes) for r in range(n)]
        if "mean" in bugs:
            diagonals = [diagonal / (n - r) for r, diagonal in enumerate(diagonals)]
        if "reversed" in bugs:
            diagonals.reverse()
        if "per_sequence" in bugs:
            return np.array(diagonals)
        return np.array([np.mean(d) if "mean_of_sequences" in bugs else np.sum(d) for d in diagonals])

    return distance_bias_backward


def _causal_weights(rng, lead, n):
    scores = 1.5 * rng.standard_normal((*lead, n, n))
    exponentials = np.exp(scores) * np.tril(np.ones((n, n)))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _inputs(*lead, n, v):
    def make(rng):
        d_out, value = rng.standard_normal((2, *lead, n, v))
        return d_out, value, _causal_weights(rng, lead, n)

    return make


def _empty_rows(rng):
    # Two sequences, the second padded on the left: its first two queries see nothing.
    d_out, value, weights = _inputs(2, n=5, v=3)(rng)
    weights[1, :, :2] = 0
    total = weights.sum(axis=-1, keepdims=True)
    return d_out, value, weights / np.where(total == 0, 1, total)


def _by_distance(d_out, value, weights):
    """All pairs at once, each counted for its distance; the row mean from the output."""
    n = weights.shape[-1]
    d_scores = weights * (d_out @ value.mT - np.sum(d_out * (weights @ value), axis=-1, keepdims=True))
    total = d_scores.reshape(-1, n, n).sum(axis=0)
    distance = np.arange(n)[:, None] - np.arange(n)
    return np.array([total[distance == r].sum() for r in range(n)])


def _as_a_product(d_out, value, weights):
    """Hidden pairs have no gradient, so it does not matter to which bias they are counted."""
    n = weights.shape[-1]
    d_weights = d_out @ value.mT
    d_scores = weights * (d_weights - np.vecdot(weights, d_weights)[..., None])
    distance = np.eye(n)[(np.arange(n)[:, None] - np.arange(n)) % n]
    return np.einsum("bqk,qkr->r", d_scores.reshape(-1, n, n), distance)


_DISTANCE_BIAS = Exercise(
    "distance_bias_backward",
    title="The gradient of a bias for each distance",
    chapter="masks",
    level="medium",
    minutes=20,
    blanks=2,
    oracle=_oracle,
    solution=distance_bias_backward,
    family=_family,
    probes=(
        Probe("2 sequences of 5 tokens", _inputs(2, n=5, v=3)),
        Probe("no batch, n = v", _inputs(n=4, v=4), "equal", "mixed-up axes run here, and can be named"),
        Probe("no batch", _inputs(n=6, v=2), why="no leading axis at all"),
        Probe("two leading axes", _inputs(2, 3, n=4, v=5), why="batch and head share one bias"),
        Probe("one token", _inputs(3, n=1, v=2), "edge", "its only weight is 1, whatever the bias: the answer is 0"),
        Probe("padding on the left", _empty_rows, "edge", "rows of zeros contribute nothing"),
        Probe(
            "three leading axes, one of size 1", _inputs(2, 1, 3, n=4, v=1), "edge", "they all share one bias",
        ),
    ),
    mistakes=distance_bias_mistakes.DISTANCE_BIAS_BACKWARD,
    hints=(
        "Two steps. Up to the gradient of the scores nothing is new: through the product with the values, then through "
        "the softmax, row by row.",
        "A bias is added to a score, so the gradient of that score is its share. Mark on paper which scores of a "
        "4 by 4 square hold the bias of distance 1. What do you do with a number that was used in several places?",
        "The scores at distance r lie on one diagonal, r places below the main one: `np.trace` has an `offset` that is "
        "negative there. Add up each diagonal, and then all leading axes.",
    ),
    why="A bias is spread along a diagonal in the forward pass, so the backward pass sums along it. Hidden pairs have "
    "weight 0 and add nothing.",
    insight="Your biases' gradients sum to zero: adding one number to all of them shifts whole rows.",
    accepts={"each pair by its distance": _by_distance, "einsum": _as_a_product, **accepts.DISTANCE_BIAS},
    outputs=("d_bias",),
)  # fmt: skip

EXERCISES = (_DISTANCE_BIAS,)
