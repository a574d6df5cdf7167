"""Two exercises on going backwards: the chain rule for a matrix product, and what a row times matrices costs."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe, value_exercise
from attnexercises.prerequisites import accepts, chain_rule_mistakes

# --- linear_backward -------------------------------------------------------------------------------------


def linear_backward(d_out, x, weight):
    d_x = d_out @ weight.T
    d_weight = x.T @ d_out
    return d_x, d_weight


def _linear_backward_oracle(d_out, x, weight):
    """The loss is L = sum of d_out * (x @ weight); each entry's derivative, summed term by term."""
    n, m = x.shape
    d = weight.shape[1]
    d_x, d_weight = np.empty((n, m)), np.empty((m, d))
    for i in range(n):
        for j in range(m):
            d_x[i, j] = math.fsum(d_out[i, k] * weight[j, k] for k in range(d))
    for j in range(m):
        for k in range(d):
            d_weight[j, k] = math.fsum(d_out[i, k] * x[i, j] for i in range(n))
    return d_x, d_weight


def _linear_backward_family(bugs):
    def linear_backward(d_out, x, weight):
        if "no_upstream" in bugs:
            d_out = np.ones_like(d_out)
        elif "forward_output" in bugs:
            d_out = x @ weight
        d_x = d_out @ weight.T
        if "dx_not_transposed" in bugs:
            d_x = d_out @ weight
        elif "dx_order" in bugs:
            d_x = weight.T @ d_out
        elif "elementwise" in bugs:
            d_x = d_out * weight
        if "dx_transposed" in bugs:
            d_x = d_x.T
        d_weight = x.T @ d_out
        if "dw_not_transposed" in bugs:
            d_weight = x @ d_out
        elif "dw_order" in bugs:
            d_weight = d_out @ x.T
        elif "elementwise" in bugs:
            d_weight = d_out * x
        if "dw_last_row" in bugs:
            d_weight = np.outer(x[-1], d_out[-1])
        elif "dw_sums_first" in bugs:
            d_weight = np.outer(x.sum(axis=0), d_out.sum(axis=0))
        if "dw_transposed" in bugs:
            d_weight = d_weight.T
        if "dw_mean" in bugs:
            d_weight = d_weight / len(x)
        return (d_weight, d_x) if "swapped" in bugs else (d_x, d_weight)

    return linear_backward


def _linear_backward_row_by_row(d_out, x, weight):
    d_x, d_weight = np.zeros(x.shape), np.zeros(weight.shape)
    for i in range(len(x)):
        d_x[i] = weight @ d_out[i]
        d_weight += np.outer(x[i], d_out[i])
    return d_x, d_weight


def _linear_sizes(rng, n, m, d):
    return rng.normal(size=(n, d)), rng.normal(size=(n, m)), rng.normal(size=(m, d))


LINEAR_BACKWARD = Exercise(
    id="linear_backward",
    title="The chain rule for a matrix product",
    chapter="prerequisites",
    level="medium",
    minutes=10,
    blanks=2,
    oracle=_linear_backward_oracle,
    solution=linear_backward,
    family=_linear_backward_family,
    probes=(
        Probe("all sizes differ", lambda rng: _linear_sizes(rng, 2, 3, 5)),
        Probe("square", lambda rng: _linear_sizes(rng, 4, 4, 4), "equal"),
        Probe(
            "one row", lambda rng: _linear_sizes(rng, 1, 3, 2), "edge",
            why="The weight's gradient is a plain outer product here, easy to follow by hand.",
        ),
        Probe("one feature in, one out", lambda rng: _linear_sizes(rng, 4, 1, 1), "edge", why="Columns stay columns."),
    ),
    mistakes=chain_rule_mistakes.LINEAR_BACKWARD,
    hints=(
        "d_x has the shape of x, and d_weight the shape of weight. There is only one way to multiply d_out with the "
        "other array that gives these shapes.",
        "In indices: out_ik = sum_j x_ij weight_jk. So x_ij reaches the entries out_ik for all k, each with the factor "
        "weight_jk: sum d_out_ik * weight_jk over k.",
        "Sum over k: d_out times weight transposed. For weight_jk sum over the rows i: x transposed times d_out.",
    ),
    why="Each entry collects the upstream gradient of every output that it reached, times its factor there. The shapes "
    "leave no other choice, which is a check that costs nothing when all sizes differ.",
    insight="The backward pass of one product is two products: twice the work of the forward pass.",
    accepts={
        "einsum": lambda d_out, x, weight: (
            np.einsum("nd,md->nm", d_out, weight), np.einsum("nm,nd->md", x, d_out),
        ),
        "row by row": _linear_backward_row_by_row,
        **accepts.LINEAR_BACKWARD,
    },
    outputs=("d_x", "d_weight"),
)  # fmt: skip


# --- vjp_cost --------------------------------------------------------------------------------------------


def vjp_cost():
    first = 300 * 400  # u A: a row of 300 times (300, 400) leaves a row of 400
    second = 400 * 500  # (u A) B: a row of 400 times (400, 500)
    return first + second


def _vjp_cost_oracle():
    multiplications = 0
    row = 300
    for rows, columns in ((300, 400), (400, 500)):
        assert row == rows
        for _ in range(columns):
            for _ in range(rows):
                multiplications += 1
        row = columns
    return multiplications


VJP_COST = value_exercise(
    "vjp_cost",
    title="What a vector–Jacobian product costs",
    chapter="prerequisites",
    level="easy",
    minutes=5,
    answer=vjp_cost,
    oracle=_vjp_cost_oracle,
    wrong={
        Mistake(
            "matrices_first", "300*400*500 + 300*500",
            "This is the cost of A B first, then the row times the result: about 188 times more than the other "
            "order.", 2,
        ): lambda: 300 * 400 * 500 + 300 * 500,
        Mistake(
            "matrix_product", "300*400*500",
            "This is the cost of the matrix product A B alone. Is it needed at all?", 2,
        ): lambda: 300 * 400 * 500,
        Mistake(
            "flops", "2 * (300*400 + 400*500)",
            "You counted multiplications and additions; only the multiplications are asked for.", 1,
        ): lambda: 2 * (300 * 400 + 400 * 500),
        Mistake(
            "first_only", "300*400",
            "This is the first product only; its result, a row of 400 numbers, still meets B.", 3,
        ): lambda: 300 * 400,
        Mistake(
            "second_only", "400*500",
            "This is the second product only; the row has to go through A first.", 3,
        ): lambda: 400 * 500,
        Mistake(
            "ends_only", "300*500",
            "This skips the 400 numbers in between: a row of 300 meets A, and the result, a row of 400, meets B.", 3,
        ): lambda: 300 * 500,
        Mistake(
            "sizes_added", "300 + 400 + 500",
            "You added the sizes; a row of n numbers times an (n, m) matrix needs n times m multiplications.", 1,
        ): lambda: 300 + 400 + 500,
    },
    hints=(
        "How many multiplications does a row of n numbers times an (n, m) matrix need? One for every entry of the "
        "matrix.",
        "Brackets may be placed freely: (u A) B and u (A B) are the same row. Only one of them never multiplies two "
        "matrices.",
        "(u A) needs 300 times 400 multiplications and leaves a row of 400 numbers. Then this row times B.",
    ),
    why="From the left, a row stays a row, and every matrix costs one multiplication for each of its entries. Forming "
    "A B first would cost 60,150,000, for a matrix that nobody asked for.",
    insight="Going backwards through a chain is cheap because it multiplies a row by matrices, never two matrices.",
)  # fmt: skip

EXERCISES = (LINEAR_BACKWARD, VJP_COST)
