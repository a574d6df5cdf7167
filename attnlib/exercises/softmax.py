"""Exercises on softmax and its gradient: oracles, solutions, and every wrong answer we know."""

import math

import numpy as np

from attnlib.exercises._model import Exercise, Mistake, Probe

# --- softmax ---------------------------------------------------------------------------------------------


def softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _softmax_oracle(x):
    out = np.empty(x.shape)
    for row in np.ndindex(x.shape[:-1]):
        largest = max(float(score) for score in x[row])
        exponentials = [math.exp(float(score) - largest) for score in x[row]]
        total = math.fsum(exponentials)
        for k, exponential in enumerate(exponentials):
            out[(*row, k)] = exponential / total
    return out


def _softmax_family(bugs):
    def softmax(x):
        if "inplace" in bugs:
            x -= x.max(axis=-1, keepdims=True)
        scores = x.astype(float)
        axis = 0 if "axis_0" in bugs else -1
        shift = scores.max(axis=0 if "max_axis_0" in bugs else axis, keepdims=True)
        if "no_max" in bugs or "only_exp" in bugs:
            shift = 0.0
        elif "max_global" in bugs:
            shift = scores.max()
        elif "shift_mean" in bugs:
            shift = scores.mean(axis=axis, keepdims=True)
        elif "shift_min" in bugs:
            shift = scores.min(axis=axis, keepdims=True)
        elif "max_no_keepdims" in bugs:
            shift = scores.max(axis=axis)
        shifted = shift - scores if "shift_reversed" in bugs else scores - shift
        exponentials = scores if "no_exp" in bugs else np.exp(shifted)
        total = exponentials.sum(axis=axis, keepdims=True)
        if "only_exp" in bugs:
            total = 1.0
        elif "axis_all" in bugs:
            total = exponentials.sum()
        elif "sum_axis_0" in bugs:
            total = exponentials.sum(axis=0, keepdims=True)
        elif "sum_no_keepdims" in bugs:
            total = exponentials.sum(axis=axis)
        elif "no_division" in bugs:
            total = 1.0
        out = exponentials / total
        if "log" in bugs:
            out = np.log(out)
        return out.astype(x.dtype) if "int_buffer" in bugs else out

    return softmax


def _softmax_loop(x):
    out = np.zeros(x.shape)
    for row in np.ndindex(x.shape[:-1]):
        exponentials = np.exp(x[row] - max(x[row]))
        out[row] = exponentials / sum(exponentials)
    return out


def _softmax_logsumexp(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.exp(x - largest - np.log(np.exp(x - largest).sum(axis=-1, keepdims=True)))


def _rows_far_apart(rng):
    x = rng.normal(size=(3, 4))
    x[1] -= 2000
    return (x,)


def _wide_rows(rng):
    x = rng.normal(size=(3, 5))
    x[:, ::2] -= 900
    return (x,)


def _outlier(rng):
    x = rng.normal(size=(1, 6))
    x[0, 2] = 1000
    return (x,)


SOFTMAX = Exercise(
    id="softmax",
    title="A softmax that no finite score can break",
    chapter="softmax",
    level="easy",
    minutes=10,
    oracle=_softmax_oracle,
    solution=softmax,
    family=_softmax_family,
    probes=(
        Probe("all sizes differ", lambda rng: (rng.normal(size=(2, 3, 5)),)),
        Probe("square", lambda rng: (rng.normal(size=(4, 4)),), "equal"),
        Probe(
            "large scores", lambda rng: (rng.normal(size=(3, 4)) + 1000,), "edge",
            why="The plainest overflow: the message about it names this case.",
        ),
        Probe("rows far apart", _rows_far_apart, "edge"),
        Probe("wide rows", _wide_rows, "edge"),
        Probe("one huge score", _outlier, "edge"),
        Probe("integers", lambda rng: (rng.integers(1, 6, size=(3, 4)),), "edge"),
    ),
    mistakes=(
        Mistake(
            "axis_0", "softmax(x, axis=0)",
            "Your output equals softmax over axis 0, so every column sums to 1; each row (the last axis) has to.", 1,
        ),
        Mistake(
            "axis_all", "e / e.sum() over all elements",
            "The whole array sums to 1, which means `sum()` ran without `axis`; every row needs its own "
            "denominator.", 1,
        ),
        Mistake(
            "sum_axis_0", "e / e.sum(0), the maximum along the last axis",
            "Your columns sum to 1: the maximum is taken along rows, but the sum along axis 0; both belong on the "
            "last.", 1,
        ),
        Mistake(
            "no_exp", "x / x.sum(-1)",
            "Your rows sum to 1, but you divided the raw scores by their sum; exponentiate first, otherwise weights "
            "can "
            "be negative.", 2,
        ),
        Mistake(
            "only_exp", "exp(x)",
            "These are the exponentials alone, so no row sums to 1; each has to be divided by the sum of its row.", 3,
        ),
        Mistake(
            "no_division", "e, or e / e.max(-1)",
            "The largest weight of each row is 1: these are the exponentials; they still have to be divided by the "
            "sum of "
            "their row.", 3,
        ),
        Mistake(
            "no_max", "exp(x) / exp(x).sum(-1) without subtracting the maximum",
            "Right on small inputs, NaN or inf on scores near 1000: shift each row by its maximum before `exp`.", 2,
        ),
        Mistake(
            "max_global", "subtract x.max() of the whole array",
            "Shifting by one global maximum underflows any row that lies far below it (0/0); use the maximum of each "
            "row.",
            2,
        ),
        Mistake(
            "shift_mean", "subtract the mean of the row",
            "Shifting by the mean leaves large exponents when one score stands out; which shift makes all of them at "
            "most 0?", 2,
        ),
        Mistake(
            "shift_min", "subtract the minimum of the row",
            "Shifting by the minimum makes every exponent positive, and a wide row overflows; they should all be at "
            "most "
            "0.", 2,
        ),
        Mistake(
            "shift_reversed", "exp(x.max(-1) - x)",
            "The largest score got the smallest weight: the shift is the wrong way round.", 3,
        ),
        Mistake(
            "max_axis_0", "subtract x.max(axis=0), the sum along the last axis",
            "You subtract the maximum of each column, which changes the weights within a row; shift a row by its own "
            "maximum.", 3,
        ),
        Mistake(
            "max_no_keepdims", "x.max(-1) without keepdims",
            "The maximum of each row lost its axis: with `keepdims=True` it stays beside its own row.", 3,
        ),
        Mistake(
            "sum_no_keepdims", "e / e.sum(-1) without keepdims",
            "Without `keepdims=True` the row sums are broadcast along columns; on square inputs this silently "
            "divides by "
            "the wrong row's sum.", 3,
        ),
        Mistake("log", "log(softmax(x))", "You returned log-probabilities: exp of your answer is right.", 3),
        Mistake(
            "inplace", "x -= x.max(-1) on the caller's array",
            "The values are right but your function changed its input array; write `x = x - ...` instead of "
            "`x -= ...`.", 3,
        ),
        Mistake(
            "int_buffer", "out = np.zeros_like(x) with integer x",
            "For integer input you stored probabilities in an integer buffer, so they were truncated to 0; make the "
            "buffer float.", 3,
        ),
    ),
    hints=(
        "What happens to exp(1000)? And along which axis must the weights sum to 1?",
        "Adding a constant to all scores of a row changes nothing: numerator and denominator get the same factor. "
        "Choose the constant for each row so that its largest exponent is 0.",
        "Subtract from each row its maximum, exponentiate, divide each row by its own sum. Both the maximum and the "
        "sum "
        "run along the last axis and must keep that axis, with size 1.",
    ),
    why="After the shift every exponent is at most 0, so nothing overflows, and one exponent is exactly 0, so the "
    "sum is "
    "at least 1 and never vanishes. `keepdims=True` keeps the maximum and the sum beside the row they belong to.",
    insight="A shift that changes nothing on paper decides whether the computer gets an answer at all.",
    accepts={"loop": _softmax_loop, "logsumexp": _softmax_logsumexp},
    outputs=("weights",),
)  # fmt: skip


# --- softmax_backward ------------------------------------------------------------------------------------


def softmax_backward(d_weights, weights):
    weighted_mean = (d_weights * weights).sum(axis=-1, keepdims=True)
    return weights * (d_weights - weighted_mean)


def _softmax_backward_oracle(d_weights, weights):
    d_x = np.empty(weights.shape)
    size = weights.shape[-1]
    for row in np.ndindex(weights.shape[:-1]):
        dp, p = [float(v) for v in d_weights[row]], [float(v) for v in weights[row]]
        for j in range(size):
            jacobian = [p[i] * ((i == j) - p[j]) for i in range(size)]
            d_x[(*row, j)] = math.fsum(dp[i] * jacobian[i] for i in range(size))
    return d_x


def _softmax_backward_family(bugs):
    def softmax_backward(d_weights, weights):
        if "swapped" in bugs:
            d_weights, weights = weights, d_weights
        product = d_weights * weights
        total = product.sum(axis=-1, keepdims=True)
        if "no_rowsum" in bugs:
            total = 0.0
        elif "rowsum_dy" in bugs:
            total = d_weights.sum(axis=-1, keepdims=True)
        elif "mean_dy" in bugs:
            total = d_weights.mean(axis=-1, keepdims=True)
        elif "mean" in bugs:
            total = product.mean(axis=-1, keepdims=True)
        elif "axis_rows" in bugs:
            total = product.sum(axis=-2, keepdims=True)
        elif "axis_all" in bugs:
            total = product.sum()
        elif "sum_no_keepdims" in bugs:
            total = product.sum(axis=-1)
        bracket = d_weights + total if "plus" in bugs else d_weights - total
        out = bracket if "no_outer_y" in bugs else weights * bracket
        if "no_bracket" in bugs:
            out = product - total
        if "sigmoid" in bugs:
            out = weights * (1 - weights) * d_weights
        elif "ce_shortcut" in bugs:
            out = weights - d_weights
        return -out if "sign" in bugs else out

    return softmax_backward


def _softmax_backward_jacobian(d_weights, weights):
    identity = np.eye(weights.shape[-1])
    jacobian = weights[..., :, None] * (identity - weights[..., None, :])
    return (d_weights[..., None, :] @ jacobian)[..., 0, :]


def _softmax_backward_einsum(d_weights, weights):
    return weights * d_weights - weights * np.einsum("...i,...i->...", weights, d_weights)[..., None]


def _weights(rng, *shape):
    exponentials = np.exp(rng.normal(size=shape))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _one_hot_upstream(rng):
    d_weights = np.zeros((3, 4))
    d_weights[[0, 1, 2], [1, 3, 0]] = 1.0
    return d_weights, _weights(rng, 3, 4)


SOFTMAX_BACKWARD = Exercise(
    id="softmax_backward",
    title="The gradient without the matrix",
    chapter="softmax",
    level="medium",
    minutes=15,
    oracle=_softmax_backward_oracle,
    solution=softmax_backward,
    family=_softmax_backward_family,
    probes=(
        Probe("all sizes differ", lambda rng: (rng.normal(size=(2, 3, 5)), _weights(rng, 2, 3, 5))),
        Probe("square", lambda rng: (rng.normal(size=(4, 4)), _weights(rng, 4, 4)), "equal"),
        Probe(
            "constant upstream gradient", lambda rng: (np.full((3, 4), 2.5), _weights(rng, 3, 4)), "edge",
            why="Adding a constant to all weights' gradients must change nothing: the answer is 0.",
        ),
        Probe(
            "uniform weights", lambda rng: (rng.normal(size=(3, 5)), np.full((3, 5), 0.2)), "edge",
            why="The answer is the deviation from the plain mean, so every slip can be followed by hand.",
        ),
        Probe("one-hot upstream gradient", _one_hot_upstream, "edge", why="The answer is one row of the Jacobian."),
    ),
    mistakes=(
        Mistake(
            "no_rowsum", "weights * d_weights",
            "Your gradient misses the row-sum term: raising one score lowers all other weights of its row, the "
            "`- weights * sum(d_weights * weights)` part.", 2,
        ),
        Mistake(
            "sigmoid", "weights * (1 - weights) * d_weights",
            "This is only the diagonal of the Jacobian (the sigmoid rule); the off-diagonal entries -p_i*p_j are "
            "missing.", 1,
        ),
        Mistake(
            "rowsum_dy", "weights * (d_weights - d_weights.sum(-1))",
            "The term you subtract must be the sum of d_weights over the row weighted by weights, not the plain "
            "sum.", 2,
        ),
        Mistake(
            "mean", "weights * (d_weights - mean(d_weights * weights))",
            "You subtract the mean of d_weights * weights; it must be their sum: the weights already do the "
            "averaging.", 2,
        ),
        Mistake(
            "mean_dy", "weights * (d_weights - mean(d_weights))",
            "You subtract the plain mean of d_weights; every entry has to count by its weight: it is the weighted "
            "mean.", 2,
        ),
        Mistake(
            "no_bracket", "weights * d_weights - sum(d_weights * weights)",
            "The weighted mean is subtracted after the product; the weights have to multiply the whole difference.", 3,
        ),
        Mistake(
            "axis_rows", "sum(d_weights * weights, axis=-2)",
            "The sum in the Jacobian runs along the softmax axis (last), not along the rows.", 3,
        ),
        Mistake(
            "axis_all", "sum(d_weights * weights) over everything",
            "One number was subtracted from every row: `sum()` is missing its axis, and batch elements got mixed.", 3,
        ),
        Mistake(
            "sum_no_keepdims", "sum(d_weights * weights, axis=-1) without keepdims",
            "Without `keepdims=True` the row sums are broadcast along columns, so each row gets the sums of other "
            "rows.", 3,
        ),
        Mistake(
            "no_outer_y", "d_weights - sum(d_weights * weights)",
            "The bracket is right but it still has to be multiplied by weights.", 3,
        ),
        Mistake(
            "plus", "weights * (d_weights + sum(d_weights * weights))",
            "The row sum is added, but raising one score takes weight away from the others: it has to be "
            "subtracted.", 2,
        ),
        Mistake("sign", "-weights * (d_weights - sum(d_weights * weights))",
            "Your gradient is exactly minus the right one.", 3,
        ),
        Mistake(
            "swapped", "d_weights * (weights - sum(d_weights * weights))",
            "weights and d_weights have changed places: the upstream gradient comes first, and it appears in the "
            "bracket.",
            3,
        ),
        Mistake(
            "ce_shortcut", "weights - d_weights",
            "`weights - target` is the gradient of softmax together with cross-entropy; here d_weights is a "
            "gradient, not "
            "a target.", 1,
        ),
    ),
    hints=(
        "The Jacobian of one row is p_i * (delta_ij - p_j). You need the vector d_weights times this matrix, not the "
        "matrix.",
        "Multiply it out for one j: p_j times d_weights_j, minus p_j times one number that is the same for the whole "
        "row. "
        "Which number is that? It is a mean of d_weights, weighted by p.",
        "Sum d_weights * weights along the last axis and keep that axis; subtract the sum from d_weights; multiply the "
        "difference by weights.",
    ),
    why="The Jacobian is a diagonal minus an outer product, so its product with a vector needs one weighted mean a row "
    "and never the k x k matrix. A score is pushed by how far its upstream gradient lies from that mean.",
    insight="Every row of the answer sums to 0: a softmax can only move weight from one score to another.",
    accepts={"explicit jacobian": _softmax_backward_jacobian, "einsum": _softmax_backward_einsum},
    outputs=("d_x",),
)  # fmt: skip

EXERCISES = (SOFTMAX, SOFTMAX_BACKWARD)
