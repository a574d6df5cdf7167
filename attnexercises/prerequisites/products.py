"""Two short exercises on products of arrays: which shape they have, and how to transpose them."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe, value_exercise

# --- matrix_shapes ---------------------------------------------------------------------------------------


def matrix_shapes():
    query, key, value = np.ones((2, 3, 7)), np.ones((2, 5, 7)), np.ones((2, 5, 4))
    scores = query @ key.mT  # (2, 3, 7) @ (2, 7, 5): the features are summed over, (2, 3, 5) is left
    out = scores @ value  # (2, 3, 5) @ (2, 5, 4): the keys are summed over
    return out.shape


MATRIX_SHAPES = value_exercise(
    "matrix_shapes",
    title="The shape of a product of three arrays",
    chapter="prerequisites",
    level="easy",
    minutes=3,
    answer=matrix_shapes,
    oracle=lambda: np.einsum("bqd,bkd,bkv->bqv", np.ones((2, 3, 7)), np.ones((2, 5, 7)), np.ones((2, 5, 4))).shape,
    mistakes=(
        Mistake("stopped", lambda: (2, 3, 5), "This is the shape of the first product alone; the product with value sums over the five keys.", 2),
        Mistake("no_batch", lambda: (3, 4), "The batch axis is missing: `@` multiplies the last two axes and does it for each batch element.", 1),
        Mistake("query_shape", lambda: (2, 3, 7),
            "This is the shape of query: the seven features were summed over in the first product and are gone.", 2),
        Mistake("value_shape", lambda: (2, 5, 4),
            "This is the shape of value: there is one row for each query, and the rows of value are summed over.", 2),
        Mistake("transposed", lambda: (2, 4, 3),
            "Rows and columns are swapped: a product has the rows of its left factor and the columns of its right one.", 1),
        Mistake("keys_kept", lambda: (2, 3, 5, 4), "The axis of the five keys is still there, but the second product sums over it.", 2),
        Mistake("batch_twice", lambda: (2, 2, 3, 4),
            "The batch axis appears twice: batch element 0 meets only batch element 0, so the axis stays a single one.", 1),
    ),
    hints=(
        "`@` works on the last two axes; the axes before them only have to fit. `.mT` swaps the last two axes.",
        "Go from left to right. (3, 7) times (7, 5): which size disappears? Then multiply the result with (5, 4).",
        "The inner sizes disappear, 7 in the first product and 5 in the second; the outer ones stay, behind the batch "
        "axis.",
    ),
    why="A matrix product sums over the inner axis and keeps the outer two, once for every batch element. Read as "
    "words: one row for each query, one column for each feature of a value.",
    insight="This is the shape of attention: one row for each query, one column for each feature of a value.",
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
    id="product_transpose",
    title="The transpose of a product",
    chapter="prerequisites",
    level="easy",
    minutes=5,
    oracle=_product_transpose_oracle,
    solution=product_transpose,
    probes=(
        Probe("all sizes differ", lambda rng: _three_factors(rng, 2, 3, 4, 5)),
        Probe("square", lambda rng: _three_factors(rng, 3, 3, 3, 3), "equal"),
        Probe(
            "a batch", lambda rng: _three_factors(rng, 2, 3, 4, 5, batch=(6,)), "edge",
            why="The ordinary batch; in the next case all sizes agree, so that `.T` runs and can be named.",
        ),
        Probe("a batch of 3 square matrices", lambda rng: _three_factors(rng, 3, 3, 3, 3, batch=(3,)), "edge"),
        Probe(
            "three leading axes, one of size 1", lambda rng: _three_factors(rng, 2, 3, 1, 4, batch=(2, 1, 3)), "edge",
            why="Every axis stays, whatever its size.",
        ),
    ),
    mistakes=(
        Mistake("order_kept", "c_t @ b.mT @ a_t -> a_t @ b.mT @ c_t",
            "The factors stand in the old order: transposing a product reverses it.", 2, sets="factors"),
        Mistake("b_not_transposed", "b.mT -> b", "b is not transposed; a_t and c_t already are.", 3),
        Mistake("not_transposed", "c_t @ b.mT @ a_t -> a_t.mT @ b @ c_t.mT",
            "You multiplied a, b and c in this order; the transpose of that product is asked for.", 1),
        Mistake("all_transposed", "c_t @ b.mT @ a_t -> c_t.mT @ b.mT @ a_t.mT",
            "a_t and c_t were transposed once more: they hold the transposes already.", 3, sets="factors"),
        Mistake("elementwise", "@ -> *", "You multiplied entry by entry (`*`); the matrix product is `@`.", 1),
        Mistake("batch_reversed", "b.mT -> b.T", "`.T` reverses all axes, of a batch the batch axis too; `.mT` swaps the last two.", 3),
        Mistake("reshaped", "b.mT -> b.reshape(b.mT.shape)",
            "`reshape` reads the same numbers of b in another order; a transpose puts entry (i, j) at (j, i).", 3),
        Mistake("dot", ("c_t @ b.mT -> c_t.dot(b.mT)", "@ a_t -> .dot(a_t)"),
            "`dot` pairs each batch element of one factor with each of the other; `@` pairs equal ones.", 3),
    ),
    hints=(
        "Write down the shapes. a is (n, m), b is (m, k), c is (k, d): which shape has the transpose of a @ b @ c?",
        "Transposing a product reverses the order of its factors and transposes each of them.",
        "From left to right: c transposed, b transposed, a transposed. Two of the three are handed to you ready-made; "
        "for the third use `.mT`, which also works on a batch.",
    ),
    why="Entry (r, s) of the product is a sum over inner indices, and swapping r and s turns the chain of factors "
    "around. `.mT` swaps the last two axes only, so the line holds for a batch of matrices as well.",
    insight="Reversing and transposing is all there is to the transposes in a backward pass.",
)  # fmt: skip

EXERCISES = (MATRIX_SHAPES, PRODUCT_TRANSPOSE)
