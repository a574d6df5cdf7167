"""Two short exercises on products of arrays: which shape they have, and how to transpose them."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe, value_exercise

# --- matrix_shapes ---------------------------------------------------------------------------------------


def matrix_shapes():
    a, b, c = np.ones((2, 3, 7)), np.ones((2, 5, 7)), np.ones((2, 5, 4))
    product = a @ b.mT  # (2, 3, 7) @ (2, 7, 5): the axis of size 7 is summed over, (2, 3, 5) is left
    out = product @ c  # (2, 3, 5) @ (2, 5, 4): the axis of size 5 is summed over
    return out.shape


MATRIX_SHAPES = value_exercise(
    title="The shape of a product of three arrays", level="easy", minutes=3, answer=matrix_shapes,
    oracle=lambda: np.einsum("bqd,bkd,bkv->bqv", np.ones((2, 3, 7)), np.ones((2, 5, 7)), np.ones((2, 5, 4))).shape,
    mistakes=(
        Mistake("stopped", lambda: (2, 3, 5),
            "This is the shape of the first product alone. The product with c then sums over the axis of size 5.", 2),
        Mistake("no_batch", lambda: (3, 4),
            "The batch axis is missing: `@` multiplies the last two axes, once for each batch element.", 1),
        Mistake("query_shape", lambda: (2, 3, 7),
            "This is the shape of a. But the first product sums over the axis of size 7, so it is gone.", 2),
        Mistake("value_shape", lambda: (2, 5, 4),
            "This is the shape of c. But the rows of c are summed over, and the result has one row for each row of a.", 2),
        Mistake("transposed", lambda: (2, 4, 3),
            "Rows and columns are swapped: a product has the rows of its left factor and the columns of its right factor.", 1),
        Mistake("keys_kept", lambda: (2, 3, 5, 4), "The axis of size 5 is still there, but the second product sums over it.", 2),
        Mistake("batch_twice", lambda: (2, 2, 3, 4),
            "The batch axis appears twice. Batch element 0 only meets batch element 0, so there is one such axis in the result.",
            1),
    ),
    hints=(
        "`@` works on the last two axes, and the axes before them stay as they are. `.mT` swaps the last two axes.",
        "Go from left to right. (3, 7) times (7, 5): which size disappears? Then multiply the result with (5, 4).",
        "The inner sizes disappear, 7 in the first product and 5 in the second. The outer sizes stay, behind the batch axis.",
    ),
    why="A matrix product sums over the inner axis and keeps the outer two, for every batch element. So the result has one row for "
    "each row of a, and one column for each column of c.",
    insight="Chapter 2 calls these three arrays query, key and value. You have just found the shape of its output.",
)  # fmt: skip


# --- product_transpose -----------------------------------------------------------------------------------


def product_transpose(a_t, b, c_t):
    return c_t @ b.mT @ a_t


def _product_transpose_oracle(a_t, b, c_t):
    *batch, m, n = a_t.shape
    k, d = c_t.shape[-1], c_t.shape[-2]
    out = np.empty((*batch, d, n))
    for where in np.ndindex(*batch):
        for row in range(d):
            for column in range(n):
                out[(*where, row, column)] = math.fsum(
                    a_t[(*where, i, column)] * b[(*where, i, j)] * c_t[(*where, row, j)]
                    for i in range(m)
                    for j in range(k)
                )
    return out


def _three_factors(rng, n, m, k, d, batch=()):
    return rng.normal(size=(*batch, m, n)), rng.normal(size=(*batch, m, k)), rng.normal(size=(*batch, d, k))


PRODUCT_TRANSPOSE = Exercise(
    title="The transpose of a product", level="easy", minutes=5, oracle=_product_transpose_oracle, solution=product_transpose,
    probes=(
        Probe("all sizes differ", lambda rng: _three_factors(rng, 2, 3, 4, 5)),
        Probe("square", lambda rng: _three_factors(rng, 3, 3, 3, 3), "equal"),
        Probe("a batch", lambda rng: _three_factors(rng, 2, 3, 4, 5, batch=(6,)), "edge",
            why="The ordinary batch; in the next case all sizes agree, so that `.T` runs and can be named."),
        Probe("a batch of 3 square matrices", lambda rng: _three_factors(rng, 3, 3, 3, 3, batch=(3,)), "edge"),
        Probe("three leading axes, one of size 1", lambda rng: _three_factors(rng, 2, 3, 1, 4, batch=(2, 1, 3)), "edge",
            why="Every axis stays, whatever its size."),
    ),
    mistakes=(
        Mistake("order_kept", "c_t @ b.mT @ a_t -> a_t @ b.mT @ c_t",
            "The factors are in the old order: transposing a product reverses it.", 2, sets="factors"),
        Mistake("b_not_transposed", "b.mT -> b", "b is not transposed. Only a_t and c_t already are.", 3),
        Mistake("not_transposed", "c_t @ b.mT @ a_t -> a_t.mT @ b @ c_t.mT",
            "You returned the product of a, b and c itself. Its transpose is asked for.", 1),
        Mistake("all_transposed", "c_t @ b.mT @ a_t -> c_t.mT @ b.mT @ a_t.mT",
            "You transposed a_t and c_t once more, but they already hold the transposes.", 3, sets="factors"),
        Mistake("elementwise", "@ -> *", "You multiplied entry by entry (`*`). The matrix product is `@`.", 1),
        Mistake("batch_reversed", "b.mT -> b.T",
            "`.T` reverses all axes, and in a batch also the batch axis. `.mT` swaps only the last two.", 3),
        Mistake("reshaped", "b.mT -> b.reshape(b.mT.shape)",
            "`reshape` keeps the numbers of b in order and only moves the cuts. A transpose puts entry (i, j) at (j, i).", 3),
        Mistake("dot", ("c_t @ b.mT -> c_t.dot(b.mT)", "@ a_t -> .dot(a_t)"),
            "`dot` pairs each batch element of one factor with every element of the other. `@` pairs equal elements.", 3),
    ),
    hints=(
        "Write down the shapes: a is (n, m), b is (m, k) and c is (k, d). What is the shape of the transpose of a @ b @ c?",
        "Transposing a product reverses the order of its factors and transposes each of them.",
        "From left to right: c transposed, b transposed, a transposed. You are given two of the three. For the third use `.mT`, "
        "which also works on a batch.",
    ),
    why="Each entry of the product is a sum over inner indices. Swapping its row and its column reverses the chain of factors. "
    "`.mT` swaps only the last two axes, so the line also holds for a batch of matrices.",
    insight="Every transpose in a backward pass comes from this rule.",
)  # fmt: skip
