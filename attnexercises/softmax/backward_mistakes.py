"""The known mistakes in `softmax_backward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

SOFTMAX_BACKWARD = (
    Mistake(
        "no_rowsum", "weights * d_weights",
        "Your gradient misses the row-sum term: raising one score lowers all other weights of its row, the `- "
        "weights * sum(d_weights * weights)` part.", 2,
        sets="term",
    ),
    Mistake(
        "sigmoid", "weights * (1 - weights) * d_weights",
        "You used only the diagonal of the Jacobian (the sigmoid rule); the off-diagonal entries -p_i*p_j are "
        "missing.", 1,
        sets="term",
    ),
    Mistake(
        "rowsum_dy", "weights * (d_weights - d_weights.sum(-1))",
        "The row's term is the plain sum of d_weights; it has to be the sum weighted by weights.", 2,
        sets="term",
    ),
    Mistake(
        "mean", "weights * (d_weights - mean(d_weights * weights))",
        "The row's term is the mean of d_weights * weights; it has to be their sum: the weights already do the "
        "averaging.", 2,
        sets="term",
    ),
    Mistake(
        "mean_dy", "weights * (d_weights - mean(d_weights))",
        "The row's term is the plain mean of d_weights; every entry has to count by its weight: it is the "
        "weighted mean.", 2,
        sets="term",
    ),
    Mistake(
        "no_bracket", "weights * d_weights - sum(d_weights * weights)",
        "The row's term is subtracted after the product; the weights have to multiply the whole difference.", 3,
    ),
    Mistake(
        "axis_rows", "sum(d_weights * weights, axis=-2)",
        "The sum in the Jacobian runs along the softmax axis (last), not along the rows.", 3,
        sets="term",
    ),
    Mistake(
        "axis_all", "sum(d_weights * weights) over everything",
        "`sum()` is missing its axis: every row needs a term of its own, and batch elements must not be mixed.", 3,
        sets="term",
    ),
    Mistake(
        "sum_no_keepdims", "sum(d_weights * weights, axis=-1) without keepdims",
        "Without `keepdims=True` the row sums are broadcast along columns, so each row gets the sums of other "
        "rows.", 3,
        sets="term",
    ),
    Mistake(
        "no_outer_y", "d_weights - sum(d_weights * weights)",
        "The bracket still has to be multiplied by weights.", 3,
    ),
    Mistake(
        "plus", "weights * (d_weights + sum(d_weights * weights))",
        "The row's term is added, but raising one score takes weight away from the others: it has to be "
        "subtracted.", 2,
    ),
    Mistake(
        "sign", "-weights * (d_weights - sum(d_weights * weights))",
        "The sign of the whole gradient is turned round.", 3,
        shows="minus",
    ),
    Mistake(
        "swapped", "d_weights * (weights - sum(d_weights * weights))",
        "weights and d_weights have changed places: the upstream gradient comes first, and it appears in the "
        "bracket.",
        3,
    ),
    Mistake(
        "ce_shortcut", "weights - d_weights",
        "`weights - target` is the gradient of softmax together with cross-entropy; here d_weights is a gradient, "
        "not a target.", 1,
    ),
    Mistake(
        "log_softmax", "d_weights - weights * sum(d_weights)",
        "This is the gradient of log-softmax; here the weights themselves were differentiated, not their "
        "logarithms.", 1,
        sets="outer",
    ),
    Mistake(
        "softmax_again", "softmax(weights) in the place of weights",
        "weights went through the softmax once more; they are its output already.", 1,
    ),
    Mistake(
        "product_reused", "weights * (product - sum(product)), product = weights * d_weights",
        "The product weights * d_weights is for the sum only; inside the bracket stands d_weights by "
        "itself.", 3,
    ),
    Mistake(
        "renormalised", "weights * d_weights / sum(weights * d_weights)",
        "You divided by the row sum, as softmax does going forward; in its Jacobian a term is subtracted.", 2,
        sets="outer",
    ),
    Mistake(
        "weight_on_mean", "d_weights - weights * sum(d_weights * weights)",
        "weights multiply the sum alone here; both terms of the bracket need that factor.", 3,
        sets="outer",
    ),
    Mistake(
        "no_diagonal", "-weights * sum(d_weights * weights)",
        "Only the outer product of the Jacobian is there; its diagonal, the weight times its own gradient, "
        "is missing.", 1,
        sets="outer",
    ),
    Mistake(
        "axis_1", "sum(d_weights * weights, axis=1)",
        "The sum runs along axis 1, the last one of a matrix only; with more axes the last one is "
        "`axis=-1`.", 3,
        sets="term",
    ),
    Mistake(
        "rows_of_axis_0", "for each d, p of axis 0: p * (d - sum(d * p))",
        "A loop over axis 0 takes whole matrices for rows as soon as there are three axes; a row is what "
        "lies along the last.", 3,
        sets="term",
    ),
)
