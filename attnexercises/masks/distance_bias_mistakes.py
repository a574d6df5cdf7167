"""The known mistakes in `distance_bias_backward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

DISTANCE_BIAS_BACKWARD = (
    Mistake(
        "no_row_mean", "dS = P dP",
        "Between weights and scores the row's weighted mean is missing: a score also moves the other weights.", 1,
        sets="softmax",
    ),
    Mistake(
        "ds_is_dp", "dS = dP",
        "The gradient of the weights went on as that of the scores: the softmax between them is missing.", 1,
        sets="softmax",
    ),
    Mistake(
        "sigmoid", "dS = P (1 - P) dP",
        "Between weights and scores you used the sigmoid rule: a score also moves the other weights of its "
        "row.", 1,
        sets="softmax",
    ),
    Mistake(
        "weights", "sums of P",
        "You added up the weights themselves: what reaches a bias is the gradient of the scores.", 1,
        sets="softmax",
    ),
    Mistake(
        "per_key", "sum over the queries",
        "You summed over the queries, for each key; a bias belongs to a distance.", 2,
        sets="collect",
    ),
    Mistake(
        "per_query", "sum over the keys",
        "You summed over the keys, for each query; a bias belongs to a distance.", 2,
        shows="zero", sets="collect",
    ),
    Mistake(
        "last_query", "the last row alone",
        "Only the last query was asked: every query that is far enough in uses the same bias.", 2,
        sets="collect",
    ),
    Mistake(
        "future", "diagonals above the main one",
        "You collected where keys lie in the future, which is hidden; the past lies on the other side of the "
        "diagonal.", 3,
    ),
    Mistake(
        "reversed", "the largest distance first",
        "The largest distance comes first; the first bias is that of distance 0, a token and itself.", 3,
        shows="permuted",
    ),
    Mistake(
        "mean", "means along the diagonals",
        "You averaged over the pairs at each distance; a number used in several places gets the sum.", 2,
    ),
    Mistake(
        "mean_of_sequences", "means over the batch",
        "The leading axes were averaged: one set of biases serves all sequences, so their gradients add up.", 3,
        sets="batch",
    ),
    Mistake(
        "first_axes", "np.trace without its axes",
        "The diagonals run along the first two axes; with a batch those are not queries and keys.", 3,
    ),
    Mistake(
        "per_sequence", "the batch axis kept",
        "Your answer keeps the leading axes: one set of biases serves all sequences, so their gradients add "
        "up.", 3,
        sets="batch",
    ),
    Mistake(
        "mean_plain", "D = mean(dP)",
        "From each row of d_weights its plain mean was taken off; the mean has to be weighted by the weights.", 1,
        sets="softmax",
    ),
    Mistake(
        "sum_plain", "D = sum(dP)",
        "From each row of d_weights its plain sum was taken off; what belongs there is its mean, "
        "weighted by the weights.", 1,
        sets="softmax",
    ),
    Mistake(
        "mean_queries", "sum(P dP, axis=-2)",
        "The weighted mean of d_weights was taken along the queries; a softmax ties the keys of one query.", 1,
        sets="softmax",
    ),
    Mistake(
        "paren", "dS = P dP - D",
        "The row's mean was taken off after the weights were applied; it belongs to d_weights.", 1,
        sets="softmax",
    ),
    Mistake(
        "plus", "dS = P (dP + D)",
        "The row's mean was added to d_weights, not taken off.", 1,
        sets="softmax",
    ),
    Mistake(
        "first_sequence", "the first leading index alone",
        "Only the first sequence counts; one set of biases serves all of them, so their gradients add up.", 3,
        sets="batch",
    ),
    Mistake(
        "from_one", "diagonals from 1 on",
        "Your first number is that of distance 1; a token and itself are at distance 0.", 3,
    ),
)
