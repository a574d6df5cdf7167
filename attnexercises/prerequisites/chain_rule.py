"""Two exercises on going backwards: the chain rule for a matrix product, and what a row times matrices costs."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe, value_exercise

# --- linear_backward -------------------------------------------------------------------------------------


def linear_backward(d_out, x, weight):
    d_x = d_out @ weight.mT
    d_weight = x.mT @ d_out
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


def _linear_sizes(rng, n, m, d):
    return rng.normal(size=(n, d)), rng.normal(size=(n, m)), rng.normal(size=(m, d))


LINEAR_BACKWARD = Exercise(
    title="The chain rule for a matrix product", level="medium", minutes=20, blanks=2, oracle=_linear_backward_oracle,
    solution=linear_backward,
    probes=(
        Probe("all sizes differ", lambda rng: _linear_sizes(rng, 2, 3, 5)),
        Probe("square", lambda rng: _linear_sizes(rng, 4, 4, 4), "equal"),
        Probe("one row", lambda rng: _linear_sizes(rng, 1, 3, 2), "edge",
            why="The weight's gradient is a plain outer product here, easy to follow by hand."),
        Probe("one feature in, one out", lambda rng: _linear_sizes(rng, 4, 1, 1), "edge", why="Columns stay columns."),
    ),
    mistakes=(
        Mistake("dx_not_transposed", "weight.mT -> weight",
            "d_x: going back through a product needs the weight transposed.", 2, sets="d_x"),
        Mistake("dx_order", "d_out @ weight.mT -> weight.mT @ d_out",
            "d_x: the factors have changed places. weight was on the right of x, so it stays on the right of d_out.", 2,
            sets="d_x"),
        Mistake("dx_transposed", "return d_x -> return d_x.mT",
            "d_x was transposed at the end: a gradient has the shape of the array it belongs to.", 1),
        Mistake("dw_not_transposed", "x.mT -> x",
            "d_weight: x has to be transposed, so that the sum runs over the rows of x.", 3, sets="d_weight"),
        Mistake("dw_order", "x.mT @ d_out -> d_out @ x.mT",
            "d_weight: the factors have changed places. x was on the left of weight, so it stays on the left.", 3, sets="d_weight"),
        Mistake("dw_transposed", "return -> d_weight = d_weight.mT\nreturn",
            "d_weight was transposed at the end: a gradient has the shape of the array it belongs to.", 1),
        Mistake("dw_mean", "x.mT @ d_out -> x.mT @ d_out / len(x)",
            "d_weight was divided by the number of rows, but the rows' contributions add up. An average belongs in the loss.", 3,
            shows="factor"),
        Mistake("no_upstream", "d_x = -> d_out = np.ones_like(d_out)\nd_x =",
            "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it.", 1, sets="upstream"),
        Mistake("forward_output", "d_x = -> d_out = x @ weight\nd_x =",
            "You sent the output of the forward pass back. What goes back is the upstream gradient, d_out.", 1, sets="upstream"),
        Mistake("elementwise", ("d_out @ weight.mT -> d_out * weight", "x.mT @ d_out -> x * d_out"),
            "You multiplied entry by entry, which is the rule for numbers. But every entry of x reaches a whole row of out.", 2,
            sets="d_x d_weight"),
        Mistake("swapped", "return d_x, d_weight -> return d_weight, d_x",
            "The two gradients are returned in each other's place: d_x comes first.", 1),
        Mistake("dw_last_row", "x.mT @ d_out -> np.outer(x[-1], d_out[-1])",
            "Only the last row went into d_weight. In a loop over the rows, add each row's part to the sum so far.", 3,
            sets="d_weight"),
        Mistake("dw_first_row", "x.mT @ d_out -> np.outer(x[0], d_out[0])",
            "Only the first row went into d_weight. Every row of x uses the same weight, so the parts of all rows are added.", 3, sets="d_weight"),
        Mistake("dx_inverse", "d_out @ weight.mT -> d_out @ np.linalg.pinv(weight)",
            "You undid the product with an inverse. A gradient goes back through a product by the transpose.", 1, sets="d_x"),
        Mistake("dx_last", "d_out @ weight.mT -> np.outer(d_out[:, -1], weight[:, -1])",
            "Only the last column went into d_x. x_if reaches all entries of its row of out, so the parts of all columns are "
            "added.", 2, sets="d_x"),
        Mistake("output_twice", "d_x = -> d_out = d_out * (x @ weight)\nd_x =",
            "You multiplied d_out by the output. The slope of a product in one factor is the other factor, not the result.", 1, sets="upstream"),
        Mistake("signs_only", "d_x = -> d_out = np.sign(d_out)\nd_x =",
            "You used the signs of d_out alone. Its numbers say how much the loss changes with each entry of out.", 1, sets="upstream"),
        Mistake("step", "return d_x, d_weight -> return x - d_x, weight - d_weight",
            "You returned the arrays after a step downhill. The gradients themselves are asked for.", 1),
        Mistake("weight_step", "return d_x, d_weight -> return d_x, weight - d_weight",
            "You returned the new weight in the place of its gradient.", 1),
        Mistake("dw_sums_first", "x.mT @ d_out -> np.outer(x.sum(axis=0), d_out.sum(axis=0))",
            "For d_weight you added up the rows first. Multiply row i of x with row i of d_out, and then add over i.", 3,
            sets="d_weight"),
    ),
    hints=(
        "Take one entry of x, say x_if in row i and column f. Write out_ij as a sum. Which entries of out does x_if reach, and with "
        "which slopes? Then ask the same about weight_fj.",
        "out_ij is the sum over f of x_if weight_fj. So x_if reaches the entries out_ij for all j, each with the slope "
        "weight_fj. Sum d_out_ij * weight_fj over j.",
        "The sum over j is d_out times weight transposed. For weight_fj, sum over the rows i: x transposed times d_out.",
    ),
    why="Each entry collects the upstream gradient of every output that it reaches, times its slope there. If all sizes differ, "
    "these are the only products of d_out with the other array that have the right shapes.",
    insight="The backward pass of one product is two products: twice the work of the forward pass.",
    outputs=("d_x", "d_weight"),
)  # fmt: skip


# --- vjp_cost --------------------------------------------------------------------------------------------


def vjp_cost():
    first = 300 * 400  # g A: a row of 300 times (300, 400) leaves a row of 400
    second = 400 * 500  # (g A) B: a row of 400 times (400, 500)
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
    title="What a vector–Jacobian product costs", level="easy", minutes=5, answer=vjp_cost, oracle=_vjp_cost_oracle,
    quantities={"300 numbers in the row": 300, "400 columns of A": 400, "500 columns of B": 500},
    mistakes=(
        Mistake("matrices_first", lambda: 300 * 400 * 500 + 300 * 500,
            "This is the cost of computing A B first and then the row times the result, about 188 times more than the other order.",
            2),
        Mistake("matrix_product", lambda: 300 * 400 * 500,
            "This is the cost of the matrix product A B alone. Is it needed at all?", 2),
        Mistake("flops", lambda: 2 * (300 * 400 + 400 * 500),
            "You counted multiplications and additions. Only the multiplications are asked for.", 1),
        Mistake("first_only", lambda: 300 * 400,
            "This is the first product only. Its result, a row of 400 numbers, still has to be multiplied by B.", 3),
        Mistake("second_only", lambda: 400 * 500, "This is the second product only. The row has to go through A first.", 3),
        Mistake("ends_only", lambda: 300 * 500,
            "This skips the 400 numbers in between. A row of 300 meets A, and the result, a row of 400, meets B.", 3),
        Mistake("row_not_changed", lambda: 270_000,
            "You multiplied B by a row of 300 numbers. After the first product the row has 400 numbers.", 3),
        Mistake("last_size_twice", lambda: 350_000,
            "You counted the 500 columns of B in both products. The first product, g A, has nothing to do with B.", 3),
        Mistake("products_multiplied", lambda: 300 * 400 * 400 * 500,
            "You multiplied the costs of the two products. They come one after the other, so their costs add up.", 3),
        Mistake("one_less", lambda: 2 * (300 * 400 + 400 * 500) - 900,
            "You counted the additions as well. Only the multiplications are asked for.", 1),
        Mistake("sizes_added", lambda: 300 + 400 + 500,
            "You added the sizes. A row of n numbers times an (n, m) matrix needs n times m multiplications.", 1),
    ),
    hints=(
        "How many multiplications does a row of n numbers times an (n, m) matrix need? One for every entry of the matrix.",
        "Brackets may be placed freely: (g A) B and g (A B) are the same row. Only one of them never multiplies two Jacobians.",
        "(g A) needs 300 times 400 multiplications and leaves a row of 400 numbers. Then this row times B.",
    ),
    why="From the left, a row stays a row, and every matrix costs one multiplication for each of its entries. Computing A B first "
    "would take 60,150,000 multiplications in all.",
    insight="A loss is one number, so a single row goes back through a chain. That is cheap: it never multiplies two Jacobians.",
)  # fmt: skip
