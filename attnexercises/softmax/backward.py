"""The exercise on the gradient of softmax: a weighted mean a row in place of the Jacobian."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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


def _weights(rng, *shape):
    exponentials = np.exp(rng.normal(size=shape))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _one_hot_upstream(rng):
    d_weights = np.zeros((3, 4))
    d_weights[[0, 1, 2], [1, 3, 0]] = 1.0
    return d_weights, _weights(rng, 3, 4)


SOFTMAX_BACKWARD = Exercise(
    title="The gradient without the matrix", level="medium", minutes=15, blanks=2, oracle=_softmax_backward_oracle, solution=softmax_backward,
    probes=(
        Probe("all sizes differ", lambda rng: (rng.normal(size=(2, 3, 5)), _weights(rng, 2, 3, 5))),
        Probe("square", lambda rng: (rng.normal(size=(4, 4)), _weights(rng, 4, 4)), "equal"),
        Probe("constant upstream gradient", lambda rng: (np.full((3, 4), 2.5), _weights(rng, 3, 4)), "edge",
            why="Adding a constant to all weights' gradients must change nothing: the answer is 0."),
        Probe("uniform weights", lambda rng: (rng.normal(size=(3, 5)), np.full((3, 5), 0.2)), "edge",
            why="The answer is the deviation from the plain mean, so every slip can be followed by hand."),
        Probe("one-hot upstream gradient", _one_hot_upstream, "edge", why="The answer is one row of the Jacobian."),
        Probe("one row", lambda rng: (rng.normal(size=5), _weights(rng, 5)), "edge", why="No leading axis at all."),
        Probe("three leading axes, one of size 1", lambda rng: (rng.normal(size=(2, 1, 3, 4)), _weights(rng, 2, 1, 3, 4)), "edge",
            why="Any number of axes, and each one of them stays, whatever its size."),
    ),
    mistakes=(
        Mistake("no_rowsum", "d_weights - weighted_mean -> d_weights",
            "Raising one score lowers all other weights of its row. Your gradient leaves this out: the part `- weights * sum(d_weights * weights)` "
            "is missing.", 2, sets="term"),
        Mistake("sigmoid", "d_weights - weighted_mean -> (1 - weights) * d_weights",
            "You used only the diagonal of the Jacobian (the sigmoid rule); the off-diagonal entries -p_i*p_j are missing.", 1, sets="term front"),
        Mistake("rowsum_dy", "(d_weights * weights).sum -> d_weights.sum",
            "You subtract the plain sum of each row of d_weights. Subtract the weighted sum instead, of d_weights * weights.", 2, sets="term"),
        Mistake("mean", ".sum -> .mean",
            "You subtract the mean of d_weights * weights. Take their sum instead: the weights add up to 1, so they already do the averaging.", 2,
            sets="term"),
        Mistake("mean_dy", "(d_weights * weights).sum -> d_weights.mean",
            "You subtract the plain mean of d_weights. It has to be the weighted mean, in which every entry counts by its weight.", 2, sets="term"),
        Mistake("no_bracket", "weights * (d_weights - weighted_mean) -> weights * d_weights - weighted_mean",
            "You subtract after multiplying by the weights. The weights have to multiply the whole difference.", 3),
        Mistake("axis_rows", "axis=-1 -> axis=-2", "The sum in the Jacobian runs along the softmax axis (last), not along the rows.", 3, sets="term"),
        Mistake("axis_all", "sum(axis=-1, keepdims=True) -> sum()",
            "`sum()` is missing its axis: every row needs a term of its own, and batch elements must not be mixed.", 3, sets="term"),
        Mistake("sum_no_keepdims", "sum(axis=-1, keepdims=True) -> sum(axis=-1)",
            "Without `keepdims=True` the weighted means run along the columns, so entry (i, j) gets the mean of row j instead of row i.", 3,
            sets="term"),
        Mistake("no_outer_y", "weights * (d_weights -> (d_weights", "The bracket still has to be multiplied by weights.", 3, sets="front"),
        Mistake("plus", "d_weights - weighted_mean -> d_weights + weighted_mean",
            "You add the weighted mean. Raising one score takes weight away from the others, so the mean has to be subtracted.", 2),
        Mistake("sign", "return weights * (d_weights - weighted_mean) -> return -(weights * (d_weights - weighted_mean))",
            "The sign of the whole gradient is flipped.", 3, shows="minus"),
        Mistake("swapped", "weighted_mean = -> d_weights, weights = weights, d_weights\nweighted_mean =",
            "weights and d_weights are swapped: the upstream gradient is the first argument, and it belongs in the bracket.", 3),
        Mistake("ce_shortcut", "weights * (d_weights - weighted_mean) -> weights - d_weights",
            "`weights - target` is the gradient of softmax together with cross-entropy; here d_weights is a gradient, not a target.", 1),
        Mistake("log_softmax", "weights * (d_weights - weighted_mean) -> d_weights - weights * d_weights.sum(axis=-1, keepdims=True)",
            "This is the gradient of log-softmax; here the weights themselves were differentiated, not their logarithms.", 1, sets="outer"),
        Mistake("softmax_again", "weighted_mean = -> weights = np.exp(weights) / np.exp(weights).sum(axis=-1, keepdims=True)\nweighted_mean =",
            "weights went through the softmax once more; they are its output already.", 1),
        Mistake("product_reused", "(d_weights - weighted_mean) -> (d_weights * weights - weighted_mean)",
            "The product weights * d_weights belongs in the sum only. The sum is subtracted from d_weights itself.", 3),
        Mistake("renormalised", "weights * (d_weights - weighted_mean) -> d_weights * weights / weighted_mean",
            "You divided by the row sum, as softmax does going forward; in its Jacobian a term is subtracted.", 2, sets="outer"),
        Mistake("weight_on_mean", "weights * (d_weights - weighted_mean) -> d_weights - weights * weighted_mean",
            "weights multiply the sum alone here; both terms of the bracket need that factor.", 3, sets="outer"),
        Mistake("no_diagonal", "weights * (d_weights - weighted_mean) -> -weights * weighted_mean",
            "Only the outer product of the Jacobian is there; its diagonal, the weight times its own gradient, is missing.", 1, sets="outer"),
        Mistake("largest", "(d_weights * weights).sum -> d_weights.max",
            "You subtract the largest entry of each row of d_weights. Subtract the mean, weighted with the weights.", 2, sets="term"),
        Mistake("weights_squared", "(d_weights * weights).sum -> (d_weights * weights**2).sum",
            "The weights are squared in your mean. Each entry of d_weights counts by its weight once.", 2, sets="term"),
        Mistake("sum_of_weights", "(d_weights * weights).sum -> weights.sum",
            "You subtract the sum of the weights, which is 1 in every row. Subtract the mean of d_weights, weighted with them.", 2, sets="term outer"),
        Mistake("weight_squared", "weights * (d_weights -> weights**2 * (d_weights",
            "The weights multiply the bracket twice. Once is enough.", 3, sets="front"),
        Mistake("row_total", "weights * (d_weights - weighted_mean) -> weights * (d_weights - weighted_mean) / weights.shape[-1]",
            "You divided by the length of the row. The Jacobian has no such factor.", 3, sets="outer"),
        Mistake("outer_repeats", "weights * (d_weights - weighted_mean) -> weights * d_weights - (d_weights * weights**2).sum(axis=-1, keepdims=True)",
            "The outer product in your Jacobian holds p_i * p_i. Entry (i, j) needs two different weights, p_i * p_j.", 1, sets="outer"),
        Mistake("axis_1", "axis=-1 -> axis=1",
            "The sum runs along axis 1, the last one of a matrix only; with more axes the last one is `axis=-1`.", 3, sets="term"),
        Mistake("rows_of_axis_0", "axis=-1 -> axis=tuple(range(1, weights.ndim))",
            "A loop over axis 0 takes whole matrices for rows as soon as there are three axes; a row is what lies along the last.", 3, sets="term"),
    ),
    hints=(
        "Put the Jacobian p_i * (delta_ij - p_j) into the sum over i and multiply out. You get two sums. In the first, the delta leaves a single "
        "term. In the second, what can you take out of the sum?",
        "For one j you get p_j * d_weights_j, minus p_j times a number that is the same for the whole row. This number is the mean of d_weights, "
        "weighted with the weights p.",
        "Sum d_weights * weights along the last axis, with `keepdims=True`. Subtract this sum from d_weights. Multiply the difference by weights.",
    ),
    why="The Jacobian is a diagonal minus an outer product, so its product with a vector needs one weighted mean a row "
    "and never the k x k matrix. The gradient of a score is how far its upstream gradient lies from that mean, times the score's weight.",
    insight="Every row of the answer sums to 0: moving all scores of a row together changes no weight.",
    outputs=("d_x",),
)  # fmt: skip
