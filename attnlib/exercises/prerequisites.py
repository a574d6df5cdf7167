"""Six short exercises on what the course builds on: products, transposes, the chain rule, sums, variances."""

import math

import numpy as np

from attnlib.exercises._model import Exercise, Mistake, Probe, value_exercise

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
    wrong={
        Mistake(
            "stopped", "the shape of query @ key.mT",
            "This is the shape of the first product alone; the product with value sums over the five keys.", 2,
        ): lambda: (2, 3, 5),
        Mistake(
            "no_batch", "the batch axis dropped",
            "The batch axis is missing: `@` multiplies the last two axes and does it for each batch element.", 1,
        ): lambda: (3, 4),
        Mistake(
            "query_shape", "the shape of query",
            "This is the shape of query: the seven features were summed over in the first product and are gone.", 2,
        ): lambda: (2, 3, 7),
        Mistake(
            "value_shape", "the shape of value",
            "This is the shape of value: there is one row for each query, and the rows of value are summed over.", 2,
        ): lambda: (2, 5, 4),
        Mistake(
            "transposed", "rows and columns swapped",
            "Rows and columns are swapped: a product has the rows of its left factor and the columns of its right "
            "one.", 1,
        ): lambda: (2, 4, 3),
        Mistake(
            "keys_kept", "no axis summed over in the second product",
            "The axis of the five keys is still there, but the second product sums over it.", 2,
        ): lambda: (2, 3, 5, 4),
        Mistake(
            "batch_twice", "batch paired with batch",
            "The batch axis appears twice: batch element 0 meets only batch element 0, so the axis stays a single "
            "one.", 1,
        ): lambda: (2, 2, 3, 4),
    },
    hints=(
        "`@` works on the last two axes; the axes before them only have to fit. `.mT` swaps the last two axes.",
        "Go from left to right. (3, 7) times (7, 5): which size disappears? Then multiply the result with (5, 4).",
        "The inner sizes disappear, 7 in the first product and 5 in the second; the outer ones stay, behind the batch "
        "axis.",
    ),
    why="A matrix product sums over the inner axis and keeps the outer two, once for every batch element. Read as "
    "words: "
    "one row for each query, one column for each feature of a value.",
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


def _product_transpose_family(bugs):
    def product_transpose(a_t, b, c_t):
        def transpose(x):
            return x.T if "batch_reversed" in bugs else x.swapaxes(-1, -2)

        middle = b if "b_not_transposed" in bugs else transpose(b)
        if "elementwise" in bugs:
            return c_t * middle * a_t
        if "all_transposed" in bugs:
            return transpose(c_t) @ middle @ transpose(a_t)
        if "order_kept" in bugs:
            return a_t @ middle @ c_t
        if "not_transposed" in bugs:
            return transpose(a_t) @ b @ transpose(c_t)
        return c_t @ middle @ a_t

    return product_transpose


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
    family=_product_transpose_family,
    probes=(
        Probe("all sizes differ", lambda rng: _three_factors(rng, 2, 3, 4, 5)),
        Probe("square", lambda rng: _three_factors(rng, 3, 3, 3, 3), "equal"),
        Probe(
            "a batch", lambda rng: _three_factors(rng, 2, 3, 4, 5, batch=(6,)), "edge",
            why="The ordinary batch; in the next case all sizes agree, so that `.T` runs and can be named.",
        ),
        Probe("a batch of 3 square matrices", lambda rng: _three_factors(rng, 3, 3, 3, 3, batch=(3,)), "edge"),
    ),
    mistakes=(
        Mistake(
            "order_kept", "a_t @ b.mT @ c_t",
            "Every factor is transposed, but they stand in the old order: transposing a product reverses it.", 2,
        ),
        Mistake(
            "b_not_transposed", "c_t @ b @ a_t",
            "The order is reversed as it must be, but b is not transposed; a_t and c_t already are.", 3,
        ),
        Mistake(
            "not_transposed", "a @ b @ c",
            "This is the product A B C itself; its transpose is asked for.", 1,
        ),
        Mistake(
            "all_transposed", "c @ b.mT @ a",
            "a_t and c_t were transposed once more: they hold the transposes already.", 3,
        ),
        Mistake(
            "elementwise", "c_t * b.mT * a_t",
            "You multiplied entry by entry (`*`); the matrix product is `@`.", 1,
        ),
        Mistake(
            "batch_reversed", "b.T on a batched array",
            "Right for single matrices; on a batch, `.T` reverses all axes, the batch axis too. `.mT` swaps the last "
            "two.",
            3,
        ),
    ),
    hints=(
        "Write down the shapes. A is (n, m), B is (m, k), C is (k, d): which shape has the transpose of A B C?",
        "Transposing a product reverses the order of its factors and transposes each of them.",
        "From left to right: C transposed, B transposed, A transposed. Two of the three are handed to you "
        "ready-made; for "
        "the third use `.mT`, which also works on a batch.",
    ),
    why="Entry (r, s) of the product is a sum over inner indices, and swapping r and s turns the chain of factors "
    "around. "
    "`.mT` swaps the last two axes only, so the line holds for a batch of matrices as well.",
    insight="Reversing and transposing is all there is to the transposes in a backward pass.",
    accepts={
        "transpose at the end": lambda a_t, b, c_t: (a_t.mT @ b @ c_t.mT).mT,
        "einsum": lambda a_t, b, c_t: np.einsum("...mn,...mk,...dk->...dn", a_t, b, c_t),
    },
)  # fmt: skip


# --- delta_sum -------------------------------------------------------------------------------------------


def delta_sum():
    a = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]])
    g = np.array([1, 10, 100])
    return (np.diag(a) * g).sum()  # the delta keeps the terms with i = j: one sum is left


def _delta_sum_oracle():
    a, g = [[1, 2, 3], [4, 5, 6], [7, 8, 10]], [1, 10, 100]
    total = 0
    for i in range(3):
        for j in range(3):
            if i == j:
                total += a[i][j] * g[j]
    return total


DELTA_SUM = value_exercise(
    "delta_sum",
    title="A sum with a Kronecker delta",
    chapter="prerequisites",
    level="easy",
    minutes=3,
    answer=delta_sum,
    oracle=_delta_sum_oracle,
    wrong={
        Mistake(
            "delta_ignored", "sum of A_ij g_j over all i and j",
            "All nine terms were added; the delta is 0 unless i = j, so most of them vanish.", 1,
        ): lambda: 2062,
        Mistake(
            "off_diagonal", "the terms with i != j",
            "You added the terms with different i and j; the delta is 1 where they are equal.", 1,
        ): lambda: 1011,
        Mistake(
            "no_g", "sum of A_ii",
            "This is the sum of the diagonal of A; each term also carries its factor g.", 3,
        ): lambda: 16,
        Mistake(
            "one_term", "A_11 g_1",
            "Only one term is left in your sum: the delta removes one of the two sums, the other one still runs.", 2,
        ): lambda: 1,
        Mistake(
            "factored", "(sum of A_ii) * (sum of g_j)",
            "You took the sum of g out of the sum, but g carries the summation index: add the products.", 3,
        ): lambda: 1776,
        Mistake(
            "misread", "the last entry read as 9",
            "You took the last entry of A for a 9; it is 10, which breaks the pattern on purpose.", 1,
        ): lambda: 951,
        Mistake(
            "anti_diagonal", "the other diagonal",
            "You added the diagonal from top right to bottom left; i = j is the one from top left.", 1,
        ): lambda: 357,
        Mistake(
            "vector", "the terms, not added",
            "These are the right three terms; the sum over the index that is left adds them to one number.", 2,
        ): lambda: np.array([1, 50, 1000]),
    },
    hints=(
        "The delta is 1 where i equals j, and 0 elsewhere. Which of the nine terms survive?",
        "A sum over j with a delta picks the one term j = i: the sum over j and the delta disappear together. The sum "
        "over i stays.",
        "What is left is the sum over i of A_ii g_i: three products, one for each entry of the diagonal.",
    ),
    why="The delta removes one sum by picking the term with j = i. What is left is a single sum over the diagonal.",
    insight="A delta deletes one sum and renames its index; that is its whole use in the derivations to come.",
)  # fmt: skip


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
    ),
    mistakes=(
        Mistake(
            "dx_not_transposed", "d_x = d_out @ weight",
            "d_x: going back through a product needs the weight transposed. On unequal sizes the shapes would not "
            "fit.", 2,
        ),
        Mistake(
            "dx_order", "d_x = weight.T @ d_out",
            "d_x: the factors are in the wrong order. weight stood on the right of x, so it stays on the right of "
            "d_out.",
            2,
        ),
        Mistake(
            "dx_transposed", "d_x = (d_out @ weight.T).T",
            "d_x is transposed: a gradient has the shape of the array it belongs to.", 1,
        ),
        Mistake(
            "dw_not_transposed", "d_weight = x @ d_out",
            "d_weight: x has to be transposed, so that the sum runs over the rows of x.", 3,
        ),
        Mistake(
            "dw_order", "d_weight = d_out @ x.T",
            "d_weight: the factors are in the wrong order. x stood on the left of weight, so it stays on the left.", 3,
        ),
        Mistake(
            "dw_transposed", "d_weight = d_out.T @ x",
            "d_weight is transposed: a gradient has the shape of the array it belongs to.", 1,
        ),
        Mistake(
            "dw_mean", "d_weight divided by the number of rows",
            "d_weight is too small by the number of rows: the rows' contributions add up; an average belongs into the "
            "loss.", 3,
        ),
        Mistake(
            "no_upstream", "d_out taken as ones",
            "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it.", 1,
        ),
        Mistake(
            "forward_output", "out = x @ weight in place of d_out",
            "You sent the output of the forward pass backwards; what goes back is the upstream gradient, d_out.", 1,
        ),
        Mistake(
            "elementwise", "d_out * weight, d_out * x",
            "You multiplied entry by entry, the rule for numbers; every entry of x reaches a whole row of out.", 2,
        ),
        Mistake(
            "swapped", "(d_weight, d_x)",
            "Both gradients are right but returned in the wrong order: d_x comes first.", 1,
        ),
    ),
    hints=(
        "d_x has the shape of x, and d_weight the shape of weight. There is only one way to multiply d_out with the "
        "other "
        "array that gives these shapes.",
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
    why="From the left, a row stays a row, and every matrix costs one multiplication for each of its entries. "
    "Forming A B "
    "first would cost 60,150,000, for a matrix that nobody asked for.",
    insight="Going backwards through a chain is cheap because it multiplies a row by matrices, never two matrices.",
)  # fmt: skip


# --- variance_of_sum -------------------------------------------------------------------------------------


def variance_of_sum():
    one_term = 1 * 4  # independent and of mean 0: the variance of the product is the product of the variances
    return 64 * one_term  # independent terms: their variances add up


def _variance_of_sum_oracle():
    """Exact, for q = -1, 1 and k = -2, 2: the distribution of the sum, built up term by term."""
    chances = {0: 1.0}
    for _ in range(64):
        longer = {}
        for total, chance in chances.items():
            for q in (-1, 1):
                for k in (-2, 2):
                    longer[total + q * k] = longer.get(total + q * k, 0.0) + chance / 4
        chances = longer
    mean = math.fsum(chance * total for total, chance in chances.items())
    return math.fsum(chance * (total - mean) ** 2 for total, chance in chances.items())


VARIANCE_OF_SUM = value_exercise(
    "variance_of_sum",
    title="The variance of a dot product",
    chapter="prerequisites",
    level="medium",
    minutes=5,
    answer=variance_of_sum,
    oracle=_variance_of_sum_oracle,
    wrong={
        Mistake(
            "standard_deviation", "sqrt(64 * 4)",
            "This is the standard deviation; the variance, its square, is asked for.", 1,
        ): lambda: 16,
        Mistake(
            "one_term", "1 * 4",
            "This is the variance of one product; the variances of the 64 independent terms add up.", 2,
        ): lambda: 4,
        Mistake(
            "count_only", "64 * 1",
            "The variance of the keys is missing: one product has the variance 1 times 4.", 2,
        ): lambda: 64,
        Mistake(
            "variances_added", "64 * (1 + 4)",
            "Variances add up for a sum; for a product of independent numbers of mean 0 they multiply.", 2,
        ): lambda: 320,
        Mistake(
            "as_deviation", "64 * 4**2",
            "You squared the 4, but it is a variance already, not a standard deviation.", 1,
        ): lambda: 1024,
        Mistake(
            "root_of_variance", "64 * 1 * 2",
            "You multiplied standard deviations (1 and 2) and added those; it is variances that add up.", 1,
        ): lambda: 128,
        Mistake(
            "count_squared", "64**2 * 4",
            "The factor 64 went in squared: that is right for 64 times the same number, not for 64 independent "
            "ones.", 3,
        ): lambda: 16384,
        Mistake(
            "mean", "4 / 64",
            "This is the variance of the mean of the 64 products; a dot product is their sum.", 3,
        ): lambda: 0.0625,
        Mistake(
            "expectation", "the mean, 0",
            "This is the mean of the dot product; the variance says how far it strays from there.", 1,
        ): lambda: 0,
    },
    hints=(
        "The variance is the mean of the squared distance from the mean; everything here has mean 0. First take one "
        "product q_i k_i alone.",
        "For independent numbers of mean 0 the mean of (q k) squared is the mean of q squared times the mean of k "
        "squared. "
        "And the variances of independent terms add up.",
        "One product has the variance 1 times 4. There are 64 independent ones.",
    ),
    why="Independence makes the variance of one product the product of the variances, since both means are 0. It also "
    "makes the 64 variances add up, because the mixed terms average to 0.",
    insight="The variance grows like the number of features d, so dividing by sqrt(d) undoes the growth.",
)  # fmt: skip


EXERCISES = (MATRIX_SHAPES, PRODUCT_TRANSPOSE, DELTA_SUM, LINEAR_BACKWARD, VJP_COST, VARIANCE_OF_SUM)
