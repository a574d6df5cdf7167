"""The exercise that derives the backward for a loss that depends on the logsumexp, too."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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
    title="A gradient for the logsumexp, too",
    level="medium",
    minutes=15,
    blanks=4,
    oracle=_oracle,
    solution=backward_with_logsumexp,
    probes=(
        Probe("all sizes differ", _inputs(3, 5, 4, 2)),
        Probe("one query", _inputs(1, 4, 3, 2), why="A part of the keys for one query, as when text is generated."),
        Probe("q = k = d = v", _inputs(3, 3, 3, 3), "equal", "A term along the wrong axis runs here."),
        Probe("rows far apart", _rows_apart, "edge", "The exponentials overflow, unless each row has its own shift."),
        Probe("one key, one feature", _inputs(3, 1, 2, 1), "edge", "Axes of size 1 stay; the logsumexp alone has a slope."),
    ),
    mistakes=(
        Mistake("ignored", "- d_logsumexp ->", "The gradient of the logsumexp has not reached the scores.", 1),
        Mistake("sign", "row_term = -> d_logsumexp = -d_logsumexp\nrow_term =",
                "The new term has the wrong sign. A larger score makes the logsumexp larger.", 2),
        Mistake("unweighted",
                ("- d_logsumexp ->",
                 "row_term[:, np.newaxis]) -> row_term[:, np.newaxis]) + d_logsumexp[:, np.newaxis]"),
                "Every score received the whole gradient of the logsumexp. A score moves it only as much as its key "
            "weighs.", 2, sets="share"),
        Mistake("spread",
                ("- d_logsumexp ->",
                 "row_term[:, np.newaxis]) -> row_term[:, np.newaxis]) + d_logsumexp[:, np.newaxis] / len(key)"),
                "The gradient of the logsumexp was spread evenly over the keys. A score moves it as much as its key "
            "weighs.", 2, sets="share"),
        Mistake("centred",
                ("- d_logsumexp ->",
                 "row_term[:, np.newaxis]) -> row_term[:, np.newaxis]) + weights * (1 - weights) * d_logsumexp[:, np.newaxis]"),
                "The new term uses p(1 - p), the slope of a weight. It takes the slope of the logsumexp.", 2, sets="share"),
        Mistake("no_mean", "(d_out * out).sum(axis=1) -> 0 * d_logsumexp",
                "The row's mean is missing. The new term joins it and does not replace it.", 3, sets="mean"),
        Mistake("mean_of_out", "d_out * out -> out * out",
                "The row's mean was computed from out alone. It takes the product of d_out and out.", 3, sets="mean"),
        Mistake("scale_times", "c = 1 / np.sqrt(query.shape[1]) -> c = np.sqrt(query.shape[1])",
            "Your scale is the root of d. The scores are divided by it, and so are their gradients.", 1, sets="forth back"),
        Mistake("scale_d", "c = 1 / np.sqrt(query.shape[1]) -> c = 1 / query.shape[1]",
            "Your scale is 1 over d. The scores are divided by the root of d.", 1, sets="forth back"),
        Mistake("no_softmax", "weights = np.exp(scores - logsumexp) -> weights = scores",
            "There is no softmax in your forward pass. You used the scores themselves as weights.", 1, sets="share mean"),
        Mistake("no_scale", "c * d_scores -> d_scores",
                "The scale is missing in d_query and d_key. Both need it.", 3, shows="factor"),
        Mistake("value_too", "weights.T @ d_out -> weights.T @ (d_out + d_logsumexp[:, np.newaxis])",
                "d_value received a share of the logsumexp's gradient, but the logsumexp does not depend on the values.", 1),
        Mistake("doubled", "- d_logsumexp -> - 2 * d_logsumexp",
            "The new term counts twice. The logsumexp has one gradient, and it enters once.", 2),
        Mistake("as_maximum",
            ("- d_logsumexp ->",
             "row_term[:, np.newaxis]) -> row_term[:, np.newaxis]) + d_logsumexp[:, np.newaxis] * (weights == weights.max(axis=1, keepdims=True))"),
            "The new term reaches the largest score alone, as if the logsumexp were a maximum. Every score moves it by its weight.", 2, sets="share"),
        Mistake("exponential",
            ("- d_logsumexp ->",
             "row_term[:, np.newaxis]) -> row_term[:, np.newaxis]) + d_logsumexp[:, np.newaxis] * np.exp(scores)"),
            "The new term is multiplied by the exponential of the score. Divide by the sum of the exponentials as well.", 2, sets="share"),
        Mistake("times_score",
            ("- d_logsumexp ->",
             "row_term[:, np.newaxis]) -> row_term[:, np.newaxis]) + d_logsumexp[:, np.newaxis] * scores"),
            "The new term is multiplied by the score. The slope of the logsumexp in a score is that key's weight.", 2, sets="share"),
        Mistake("into_d_out", ("c = 1 -> d_out = d_out + d_logsumexp[:, np.newaxis]\nc = 1", "- d_logsumexp ->"),
            "You added d_logsumexp to d_out. The logsumexp is an output of its own, and depends on the scores alone.", 1, sets="share mean back"),
        Mistake("mean_of_features", "(d_out * out).sum(axis=1) -> (d_out * out).mean(axis=1)",
            "You averaged the product of d_out and output over the features. The features have to be added.", 2, sets="mean"),
        Mistake("squared",
                ("- d_logsumexp ->",
                 "row_term[:, np.newaxis]) -> row_term[:, np.newaxis]) + weights**2 * d_logsumexp[:, np.newaxis]"),
                "The new term is multiplied by the weight twice. The slope of the logsumexp is the weight, once.", 2, sets="share"),
        Mistake("over_queries",
                ("- d_logsumexp ->",
                 "row_term[:, np.newaxis]) -> row_term[:, np.newaxis]) + d_logsumexp[:, np.newaxis] / len(query)"),
                "The gradient of the logsumexp was spread over the queries. A score moves it as much as its key weighs.", 2, sets="share"),
        Mistake("times_mean", "- d_logsumexp -> * d_logsumexp",
                "The new gradient multiplies the row's mean. It is a term of its own beside the mean.", 3, sets="share mean"),
        Mistake("paren", "d_scores = weights -> d_scores = (weights - 1) * (d_out * out).sum(axis=1, keepdims=True) + weights",
                "The row's mean was subtracted after the weights were applied. It belongs into the bracket.", 3, sets="mean"),
        Mistake("alone", ("(d_out * out).sum(axis=1) -> 0 * d_logsumexp", "d_out @ value.T - row_term -> -row_term"),
                "Only the gradient of the logsumexp has reached the scores. The gradient of the output is missing.", 1, sets="mean"),
        Mistake("new_unscaled", "out = -> d_logsumexp = d_logsumexp / c\nout =",
                "The new term lacks the scale, which multiplies everything that reaches query and key.", 3),
        Mistake("scale_twice", "c * d_scores -> c**2 * d_scores",
                "The scale was applied twice on the way back. d_query and d_key need it once each.", 3, shows="factor", sets="back"),
        Mistake("scores_no_scale", "scores = c * query -> scores = query",
                "The scores are not scaled when the weights are computed. The scale belongs into both passes.", 3),
        Mistake("no_max", "np.exp(scores - logsumexp) -> np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)",
                "The exponentials overflow for large scores. Each row needs a shift by its maximum.", 2, shows="lost"),
    ),
    hints=(
        "On which of the three inputs does the logsumexp depend, and through which array?",
        "Take the derivative of log(sum of exp(score)) with respect to one score. You know that fraction.",
        "The derivative is the weight. So each score receives weight times (d_weights - D + d_logsumexp), and the new "
        "term can be subtracted from D before the tiles begin.",
    ),
    why="The slope of a logsumexp in a score is that key's weight, so the new gradient enters inside the bracket, with "
    "the weight in front. Like D it is one number for each query, so it can be subtracted from D.",
    insight="A kernel that takes D as an input needs no new line: hand it D minus the new gradient.",
    outputs=("d_query", "d_key", "d_value"),
    atol=1e-10,  # where scores near 1000 are subtracted from their logsumexp, sums that should be 0 are 1e-11
)  # fmt: skip
