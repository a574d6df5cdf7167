"""The exercise on the gradient of softmax: a weighted mean a row in place of the Jacobian."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.softmax import accepts, backward_mistakes
from attnexercises.softmax.stable import plain_softmax


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
        if "softmax_again" in bugs:
            weights = plain_softmax(weights)
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
        elif "axis_1" in bugs:
            total = product.sum(axis=1, keepdims=True)
        elif "rows_of_axis_0" in bugs:
            total = product.sum(axis=tuple(range(1, product.ndim)), keepdims=True)
        factor = product if "product_reused" in bugs else d_weights
        bracket = factor + total if "plus" in bugs else factor - total
        out = bracket if "no_outer_y" in bugs else weights * bracket
        if "no_bracket" in bugs:
            out = product - total
        elif "weight_on_mean" in bugs:
            out = d_weights - weights * total
        elif "no_diagonal" in bugs:
            out = -weights * product.sum(axis=-1, keepdims=True)
        elif "log_softmax" in bugs:
            out = d_weights - weights * d_weights.sum(axis=-1, keepdims=True)
        elif "renormalised" in bugs:
            out = product / total
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
    blanks=2,
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
        Probe("one row", lambda rng: (rng.normal(size=5), _weights(rng, 5)), "edge", why="No leading axis at all."),
        Probe(
            "three leading axes, one of size 1", lambda rng: (rng.normal(size=(2, 1, 3, 4)), _weights(rng, 2, 1, 3, 4)),
            "edge", why="Any number of axes, and each one of them stays, whatever its size.",
        ),
    ),
    mistakes=backward_mistakes.SOFTMAX_BACKWARD,
    hints=(
        "The Jacobian of one row is p_i * (delta_ij - p_j). You need the vector d_weights times this matrix, not the "
        "matrix.",
        "Multiply it out for one j: p_j times d_weights_j, minus p_j times one number that is the same for the whole "
        "row. Which number is that? It is a mean of d_weights, weighted by p.",
        "Sum d_weights * weights along the last axis and keep that axis; subtract the sum from d_weights; multiply the "
        "difference by weights.",
    ),
    why="The Jacobian is a diagonal minus an outer product, so its product with a vector needs one weighted mean a row "
    "and never the k x k matrix. A score is pushed by how far its upstream gradient lies from that mean.",
    insight="Every row of the answer sums to 0: moving all scores of a row together changes no weight.",
    accepts={
        "explicit jacobian": _softmax_backward_jacobian, "einsum": _softmax_backward_einsum, **accepts.SOFTMAX_BACKWARD,
    },
    outputs=("d_x",),
)  # fmt: skip

EXERCISES = (SOFTMAX_BACKWARD,)
