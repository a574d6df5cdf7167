"""The known mistakes in `temperature_gradient`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

TEMPERATURE_GRADIENT = (
    Mistake(
        "sign", "+sum(d_scaled * scores) / T**2",
        "The sign is turned round: what does x / T do when T grows and x is positive?", 2,
        shows="minus", sets="slope",
    ),
    Mistake(
        "no_square", "-sum(d_scaled * scores) / T",
        "A factor 1/T is missing: what is the derivative of x / T with respect to T?", 2,
        sets="slope",
    ),
    Mistake(
        "scaled_twice", "-sum(d_scaled * scores / T) / T**2",
        "There is one division by T too many: differentiate x / T, with the raw score x.", 2,
    ),
    Mistake(
        "as_factor", "sum(d_scaled * scores)",
        "You differentiated by a factor that multiplies the scores, that is by 1/T; one step of the chain to T is "
        "missing.", 2,
        sets="slope",
    ),
    Mistake(
        "at_one", "softmax(scores)",
        "The softmax sees the scores as they are; they have to be divided by the temperature first.", 1,
        sets="temperature",
    ),
    Mistake(
        "multiplied", "softmax(scores * T)",
        "The scores were multiplied by the temperature before the softmax; a temperature divides.", 1,
        sets="temperature",
    ),
    Mistake(
        "no_softmax", "-sum(d_weights * scores) / T**2",
        "d_weights met the scores directly: it is the gradient for the weights and has to go through the softmax "
        "first.", 1,
        sets="mean",
    ),
    Mistake(
        "no_scores", "-sum(d_scaled) / T**2",
        "The pushes on the scaled scores are added up as they are; each counts by how far T moves its scaled "
        "score.", 2,
        shows="zero",
    ),
    Mistake(
        "no_mean", "weights * d_weights",
        "On the way through the softmax the weighted mean is missing: every weight depends on all scores of its "
        "row.", 3,
        sets="mean",
    ),
    Mistake(
        "plain_mean", "weights * (d_weights - mean(d_weights))",
        "On the way through the softmax you subtract the plain mean of d_weights; it has to be weighted.", 3,
        sets="mean",
    ),
    Mistake(
        "sigmoid", "weights * (1 - weights) * d_weights",
        "On the way through the softmax only the diagonal of the Jacobian was kept: all weights of the row "
        "move.", 3,
        sets="mean",
    ),
    Mistake(
        "no_keepdims", "sum(weights * d_weights, axis=-1) without keepdims",
        "Without `keepdims=True` the weighted means are broadcast along columns, so each row gets those of other "
        "rows.", 3,
        sets="mean",
    ),
    Mistake(
        "d_scores", "d_scaled / T",
        "You returned the gradient for the scores; they share one temperature, and its gradient is one number.", 2,
    ),
    Mistake(
        "per_row", "one sum for each row",
        "You summed along each row only; all rows share one temperature, and the loss feels it through each of "
        "them.", 3,
        sets="sum",
    ),
    Mistake(
        "mean_of_rows", "the mean of the rows' sums",
        "The rows were averaged; the contributions of all paths from T to the loss add up.", 3,
        sets="sum",
    ),
    Mistake(
        "mean_of_all", "the mean of all terms",
        "You took the mean of all contributions, not their sum: the chain rule adds the paths up.", 3,
        sets="sum",
    ),
    Mistake(
        "no_max", "exp(scores / T) without the shift",
        "Large exponents overflow: shift each row by its own maximum before `exp`.", 3,
        shows="lost",
    ),
    Mistake(
        "axis_0", "softmax over axis 0",
        "The softmax ran over axis 0; each row, along the last axis, has weights of its own.", 3,
        sets="axis",
    ),
    Mistake(
        "axis_all", "one softmax over all scores",
        "One softmax ran over all scores together; each row, along the last axis, has weights of its own.", 3,
        sets="axis",
    ),
    Mistake(
        "last_row", "the last row's contribution",
        "Only the last row counts here: in a loop over rows, add each row's contribution to what is there.", 3,
        sets="sum",
    ),
)
