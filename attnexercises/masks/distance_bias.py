"""The exercise on a bias for each distance: its gradient stands in no box of the book, readers derive it."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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


_MISTAKES = (
    Mistake("no_row_mean", "(d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> d_weights",
        "On the way from weights to scores the row's weighted mean is missing. A score also moves the other weights.", 1,
        sets="softmax"),
    Mistake("ds_is_dp", "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> d_weights",
        "You used the gradient of the weights as the gradient of the scores. The softmax between them is missing.", 1,
        sets="softmax"),
    Mistake("sigmoid", "(d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> (1 - weights) * d_weights",
        "You used the sigmoid rule between weights and scores. A score also moves the other weights of its row.", 1,
        sets="softmax"),
    Mistake("weights", "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> weights",
        "You added up the weights themselves. A bias collects gradients of scores, not weights.", 1, sets="softmax"),
    Mistake("weight_squared", "weights * (d_weights - -> weights**2 * (d_weights -",
        "The weights multiply the gradient of the scores twice. Once is enough.", 1),
    Mistake("row_mean_all", "d_weights).sum(axis=-1, keepdims=True) -> d_weights).sum(axis=(-2, -1), keepdims=True)",
        "One mean was subtracted from all queries of a sequence. Each query has a mean of its own, over its keys.", 1),
    Mistake("per_key",
        "np.array([np.trace(d_scores, offset=-r, axis1=-2, axis2=-1).sum() for r in range(n)]) -> "
        "d_scores.sum(axis=-2).reshape(-1, n).sum(axis=0)",
        "You summed over the queries, for each key. A bias belongs to a distance.", 2, sets="collect"),
    Mistake("per_query",
        "np.array([np.trace(d_scores, offset=-r, axis1=-2, axis2=-1).sum() for r in range(n)]) -> "
        "d_scores.sum(axis=-1).reshape(-1, n).sum(axis=0)",
        "You summed over the keys, for each query. A bias belongs to a distance.", 2, shows="zero", sets="collect"),
    Mistake("last_query",
        "np.array([np.trace(d_scores, offset=-r, axis1=-2, axis2=-1).sum() for r in range(n)]) -> d_scores[..., -1, "
        "::-1].reshape(-1, n).sum(axis=0)",
        "You used only the last query. Every query with a key at this distance uses the same bias.", 2, sets="collect"),
    Mistake("future", "offset=-r -> offset=r",
        "You collected from keys in the future, which are hidden. The past is on the other side of the diagonal.", 3),
    Mistake("reversed", "range(n)]) -> range(n)])[::-1]",
        "Your largest distance comes first. The first bias belongs to distance 0, a token and itself.", 3, shows="permuted"),
    Mistake("mean", ".sum() for -> .sum() / (n - r) for",
        "You averaged over the pairs at each distance. A number that is used in several places gets the sum.", 2),
    Mistake("mean_of_sequences", ".sum() for -> .mean() for",
        "You averaged over the leading axes. One set of biases serves all sequences, so their gradients add up.", 3, sets="batch"),
    Mistake("first_axes", ", axis1=-2, axis2=-1 ->",
        "Your diagonals run along the first two axes. With a batch these are not queries and keys.", 3),
    Mistake("per_sequence", "axis2=-1).sum() -> axis2=-1)",
        "Your answer keeps the leading axes. One set of biases serves all sequences, so their gradients add up.", 3, sets="batch"),
    Mistake("mean_plain", "(weights * d_weights).sum( -> d_weights.mean(",
        "You subtracted the plain mean of each row of d_weights. The mean has to be weighted by the weights.", 1, sets="softmax"),
    Mistake("sum_plain", "(weights * d_weights).sum( -> d_weights.sum(",
        "You subtracted the plain sum of each row of d_weights. Subtract its mean instead, weighted by the weights.", 1,
        sets="softmax"),
    Mistake("mean_queries", "axis=-1, keepdims -> axis=-2, keepdims",
        "You took the weighted mean of d_weights along the queries. A softmax ties the keys of one query together.", 1,
        sets="softmax"),
    Mistake("paren",
        "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> weights * d_weights - (weights * "
        "d_weights).sum(axis=-1, keepdims=True)",
        "You subtracted the row's mean after applying the weights. It has to be subtracted from d_weights.", 1, sets="softmax"),
    Mistake("plus", "(d_weights - -> (d_weights +",
        "You added the row's mean to d_weights. It has to be subtracted.", 1, sets="softmax"),
    Mistake("first_sequence", "n = value.shape[-2] -> n = value.shape[-2]\nd_scores = d_scores.reshape(-1, n, n)[0]",
        "You used only the first sequence. One set of biases serves all sequences, so their gradients add up.", 3, sets="batch"),
    Mistake("from_one", "offset=-r -> offset=-(r + 1)",
        "Your first number belongs to distance 1. A token and itself are at distance 0.", 3),
)

_DISTANCE_BIAS = Exercise(
    title="The gradient of a bias for each distance", level="medium", minutes=20, blanks=2, oracle=_oracle,
    solution=distance_bias_backward,
    probes=(
        Probe("2 sequences of 5 tokens", _inputs(2, n=5, v=3)),
        Probe("no batch, n = v", _inputs(n=4, v=4), "equal", "mixed-up axes run here, and can be named"),
        Probe("no batch", _inputs(n=6, v=2), why="no leading axis at all"),
        Probe("two leading axes", _inputs(2, 3, n=4, v=5), why="batch and head share one bias"),
        Probe("one token", _inputs(3, n=1, v=2), "edge", "its only weight is 1, whatever the bias: the answer is 0"),
        Probe("padding on the left", _empty_rows, "edge", "rows of zeros contribute nothing"),
        Probe("three leading axes, one of size 1", _inputs(2, 1, 3, n=4, v=1), "edge", "they all share one bias"),
    ),
    mistakes=_MISTAKES,
    hints=(
        "There are two steps. The gradient of the scores is known from chapter 3: go back through the product with the values, "
        "then through the softmax, row by row.",
        "A bias is added to a score, so it receives the gradient of that score. Mark on paper which scores of a 4 by 4 square hold "
        "the bias of distance 1. What do you do with a number that was used in several places?",
        "The scores at distance r are on one diagonal, r places below the main diagonal, where the `offset` of `np.trace` is "
        "negative. Add up each diagonal, and then all leading axes.",
    ),
    why="A bias is spread along a diagonal in the forward pass, so the backward pass sums along it. Hidden pairs have weight 0 and "
    "add nothing.",
    insight="Your biases' gradients sum to zero: adding one number to all of them shifts whole rows.",
    outputs=("d_bias",),
)  # fmt: skip
