"""The exercise that derives the backward for a loss that depends on the logsumexp, too."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.recompute import accepts


def backward_with_logsumexp(d_out, d_logsumexp, query, key, value):
    c = 1 / np.sqrt(query.shape[1])
    scores = c * query @ key.T
    logsumexp = np.logaddexp.reduce(scores, axis=1, keepdims=True)
    weights = np.exp(scores - logsumexp)
    out = weights @ value
    d_value = weights.T @ d_out
    # the slope of a logsumexp in its scores is the softmax
    row_term = (d_out * out).sum(axis=1) - d_logsumexp
    d_scores = weights * (d_out @ value.T - row_term[:, np.newaxis])
    return c * d_scores @ key, c * d_scores.T @ query, d_value


def _oracle(d_out, d_logsumexp, query, key, value):
    """Slopes of the loss, by the complex step: no formula of a gradient in it."""

    def loss(queries, keys, values):
        total = 0
        for i, asked in enumerate(queries):
            scores = [sum(x * y for x, y in zip(asked, found)) / math.sqrt(len(asked)) for found in keys]
            top = max(score.real for score in scores)
            powers = [np.exp(score - top) for score in scores]
            total += d_logsumexp[i] * (top + np.log(sum(powers)))
            for power, row in zip(powers, values, strict=True):
                total += power / sum(powers) * sum(x * y for x, y in zip(row, d_out[i]))
        return total

    arrays = [array.astype(complex) for array in (query, key, value)]
    slopes = [np.zeros(array.shape) for array in arrays]
    for array, slope in zip(arrays, slopes, strict=True):
        for place in np.ndindex(array.shape):
            array[place] += 1e-30j
            slope[place] = loss(*arrays).imag / 1e-30
            array[place] -= 1e-30j
    return tuple(slopes)


def _family(bugs):
    def through_scores(weights, d_weights, row_mean, d_logsumexp):
        if "ignored" in bugs:
            d_logsumexp = np.zeros_like(d_logsumexp)
        if "sign" in bugs:
            d_logsumexp = -d_logsumexp
        if "no_mean" in bugs:
            row_mean = np.zeros_like(row_mean)
        share = weights
        if "unweighted" in bugs:
            share = np.ones(weights.shape)
        elif "spread" in bugs:
            share = np.full(weights.shape, 1 / weights.shape[1])
        elif "centred" in bugs:
            share = weights * (1 - weights)
        elif "squared" in bugs:
            share = weights**2
        elif "over_queries" in bugs:
            share = np.full(weights.shape, 1 / len(weights))
        if "times_mean" in bugs:
            return weights * (d_weights - row_mean * d_logsumexp)
        if "paren" in bugs:
            return weights * d_weights - row_mean + share * d_logsumexp
        return (0.0 if "alone" in bugs else 1.0) * weights * (d_weights - row_mean) + share * d_logsumexp

    def shift(scores):
        return 0.0 if "no_max" in bugs else scores.max(axis=1, keepdims=True)

    def variant(d_out, d_logsumexp, query, key, value):
        scale = 1 / math.sqrt(query.shape[1])
        scores = (1.0 if "scores_no_scale" in bugs else scale) * query @ key.T
        powers = np.exp(scores - shift(scores))
        weights = powers / powers.sum(axis=1, keepdims=True)
        out = weights @ value
        products = (out if "mean_of_out" in bugs else d_out) * out
        row_mean = products.sum(axis=1, keepdims=True)
        new = d_logsumexp[:, np.newaxis] / (scale if "new_unscaled" in bugs else 1)
        d_scores = through_scores(weights, d_out @ value.T, row_mean, new)
        if "no_scale" not in bugs:
            d_scores = (scale**2 if "scale_twice" in bugs else scale) * d_scores
        d_value = weights.T @ (d_out + d_logsumexp[:, np.newaxis] if "value_too" in bugs else d_out)
        return d_scores @ key, d_scores.T @ query, d_value

    return variant


def _inputs(q, k, d, v):
    def make(rng):
        shapes = (q, v), (q,), (q, d), (k, d), (k, v)
        return tuple(rng.standard_normal(shape) for shape in shapes)

    return make


def _rows_apart(rng):
    """The first feature adds 1000 to all scores of one row and takes 1000 from all of another."""
    d_out, d_logsumexp, query, key, value = _inputs(3, 5, 4, 2)(rng)
    query[:, 0], key[:, 0] = [40.0, 0.0, -40.0], 50.0
    return d_out, d_logsumexp, query, key, value


_DERIVED = Exercise(
    "backward_with_logsumexp",
    title="A gradient for the logsumexp, too",
    chapter="recompute",
    level="medium",
    minutes=15,
    blanks=4,
    oracle=_oracle,
    solution=backward_with_logsumexp,
    family=_family,
    probes=(
        Probe("all sizes differ", _inputs(3, 5, 4, 2)),
        Probe("one query", _inputs(1, 4, 3, 2), why="A part of the keys for one query, as when text is generated."),
        Probe("q = k = d = v", _inputs(3, 3, 3, 3), "equal", "A term along the wrong axis runs here."),
        Probe("rows far apart", _rows_apart, "edge", "The exponentials overflow, unless each row has its own shift."),
        Probe("one key, one feature", _inputs(3, 1, 2, 1), "edge", "Axes of size 1 stay; the logsumexp alone has a slope."),
    ),
    mistakes=(
        Mistake(
            "ignored", "dS = P (dP - D)",
            "The gradient of the logsumexp has not reached the scores.", 1,
        ),
        Mistake(
            "sign", "dS = P (dP - D - dl)",
            "The new term has the opposite sign: a larger score makes the logsumexp larger.", 2,
        ),
        Mistake(
            "unweighted", "dS = P (dP - D) + dl",
            "Every score got the whole gradient of the logsumexp; a score moves it only as much as its key weighs.", 2,
            sets="share",
        ),
        Mistake(
            "spread", "dS = P (dP - D) + dl / k",
            "The gradient of the logsumexp was spread evenly over the keys; a score moves it as much as its key "
            "weighs.", 2,
            sets="share",
        ),
        Mistake(
            "centred", "dS = P (dP - D) + P (1 - P) dl",
            "The new term uses p(1 - p), the slope of a weight; it takes the slope of the logsumexp.", 2,
            sets="share",
        ),
        Mistake(
            "no_mean", "dS = P (dP + dl)",
            "The row's mean is missing: the new term is added to it, it does not take its place.", 3,
            sets="mean",
        ),
        Mistake(
            "mean_of_out", "D = rowsum(O * O)",
            "The row's mean uses out twice; d_out has to meet out.", 3,
            sets="mean",
        ),
        Mistake(
            "no_scale", "dQ = dS K",
            "The scale is missing in front of d_query and d_key: it belongs to both.", 3,
            shows="factor",
        ),
        Mistake(
            "value_too", "dV = P^T (dO + dl)",
            "d_value got a share of the logsumexp's gradient, but no value has a part in the logsumexp.", 1,
        ),
        Mistake(
            "squared", "P² dl",
            "The weight stands twice in front of the new term: the slope of the logsumexp is the weight, once.", 2,
            sets="share",
        ),
        Mistake(
            "over_queries", "dS = P (dP - D) + dl / q",
            "The gradient of the logsumexp was spread over the queries; a score moves it as much as its key "
            "weighs.", 2,
            sets="share",
        ),
        Mistake(
            "times_mean", "dS = P (dP - D dl)",
            "The new gradient multiplies the row's mean; it is a term of its own beside it.", 3,
            sets="share mean",
        ),
        Mistake(
            "paren", "dS = P dP - D + P dl",
            "The row's mean was taken off after the weights were applied; it belongs into the bracket.", 3,
            sets="mean",
        ),
        Mistake(
            "alone", "dS = P dl",
            "Only the gradient of the logsumexp has reached the scores: that of the output is missing.", 1,
            sets="mean",
        ),
        Mistake(
            "new_unscaled", "dl not scaled",
            "The new term misses the scale, which stands in front of all that reaches query and key.", 3,
        ),
        Mistake(
            "scale_twice", "1 / d",
            "On the way back the scale was applied twice: once is enough for each of query and key.", 3,
            shows="factor", sets="back",
        ),
        Mistake(
            "scores_no_scale", "S = Q K^T",
            "The scores are not scaled when the weights are computed; the scale belongs into both passes.", 3,
        ),
        Mistake(
            "no_max", "exp without the maximum",
            "The exponentials overflow for large scores: each row needs a shift by its maximum.", 2,
            shows="lost",
        ),
    ),
    hints=(
        "On which of the three inputs does the logsumexp depend, and through which array?",
        "Take the derivative of log(sum of exp(score)) with respect to one score. You know that fraction.",
        "The derivative is the weight. So each score gets weight times (d_weights - D + d_logsumexp): what is new "
        "can be taken off D before the tiles begin.",
    ),
    why="The slope of a logsumexp in a score is that key's weight, so the new gradient enters inside the bracket, with "
    "the weight in front. It is one number a query, like D, and D takes it up.",
    insight="A kernel that has D as an input needs no new line for this: hand it D minus the new gradient.",
    accepts=accepts.BACKWARD_WITH_LOGSUMEXP,
    outputs=("d_query", "d_key", "d_value"),
    atol=1e-10,  # where scores near 1000 are subtracted from their logsumexp, sums that should be 0 are 1e-11
)  # fmt: skip

EXERCISES = (_DERIVED,)
