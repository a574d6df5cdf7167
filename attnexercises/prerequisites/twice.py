"""An exercise on the chain rule with two paths: an array that stands in a product twice."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe

# --- used_twice ------------------------------------------------------------------------------------------


def used_twice(d_out, x, a):
    first = d_out @ x @ a.mT
    second = d_out.mT @ x @ a
    return first + second


def _oracle(d_out, x, a):
    """Every path of every term: X_ik A_kl X_jl of out_ij is reached from X_ik and from X_jl."""
    n, m = x.shape
    d_x = np.zeros((n, m))
    for i in range(n):
        for j in range(n):
            for k in range(m):
                for l in range(m):  # noqa: E741, the fourth index
                    d_x[i, k] += d_out[i, j] * a[k, l] * x[j, l]
                    d_x[j, l] += d_out[i, j] * a[k, l] * x[i, k]
    return d_x


def _sizes(rng, n, m):
    return rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(m, m))


USED_TWICE = Exercise(
    title="An array that is used twice", level="hard", minutes=15, oracle=_oracle, solution=used_twice,
    probes=(
        Probe("all sizes differ", lambda rng: _sizes(rng, 3, 5)),
        Probe("square", lambda rng: _sizes(rng, 4, 4), "equal",
            why="Products with their factors in a wrong order run here, and show themselves by their values."),
        Probe("one token", lambda rng: _sizes(rng, 1, 3), "edge",
            why="The upstream gradient is one number here, so that it can be followed by hand."),
        Probe("one feature", lambda rng: _sizes(rng, 4, 1), "edge", why="A column stays a column."),
    ),
    mistakes=(
        Mistake("a_exchanged", "a.mT second = d_out.mT @ x @ a -> a\nsecond = d_out.mT @ x @ a.mT",
            "The two transposes of A changed places. The X on the left meets A itself going forward, so A is transposed on its "
            "way back.", 3, sets="paths"),
        Mistake("reused", "d_out.mT @ x -> d_out.mT @ first",
            "The second path starts from the result of the first one. It needs x itself.", 2, sets="paths"),
        Mistake("upstream_once", "d_out.mT @ x -> x",
            "d_out is missing on the path through the X on the right. Every path begins with the upstream gradient.", 1),
        Mistake("first_only", "first + second -> first",
            "You followed only the X on the left. The X on the right moves too, and its path is added.", 1, sets="paths"),
        Mistake("second_only", "first + second -> second",
            "You followed only the X on the right. The X on the left moves too, and its path is added.", 1, sets="paths"),
        Mistake("doubled", "first + second -> 2 * first",
            "You took one path twice. The two places of X differ: A is to the right of the first X and to the left of the second.",
            2, sets="paths"),
        Mistake("multiplied", "first + second -> first * second",
            "You multiplied the two paths. Slopes multiply along a path; different paths are added.", 1, sets="paths"),
        Mistake("upstream_as_it_is", "d_out.mT -> d_out",
            "On the path through the X on the right, d_out has to be transposed, because the rows of that X belong to the columns "
            "of out.", 3),
        Mistake("a_as_it_is", "a.mT -> a",
            "On the path through the X on the left, A belongs to the other factor, which is transposed on the way back.", 3),
        Mistake("a_turned", "d_out.mT @ x @ a -> d_out.mT @ x @ a.mT",
            "On the path through the X on the right, A is transposed once too often, because that X is transposed itself.", 3),
        Mistake("mean", "return first + second -> return (first + second) / 2",
            "You divided by 2. Both paths act in full, so they are added without a factor.", 1, shows="factor"),
        Mistake("no_upstream", "first = -> d_out = np.ones_like(d_out)\nfirst =",
            "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it.", 1),
        Mistake("transposed", "return first + second -> return (first + second).mT",
            "d_x was transposed at the end: a gradient has the shape of the array it belongs to.", 1),
        Mistake("upstream_turned", "first = d_out -> first = d_out.mT",
            "On the path through the X on the left, d_out is transposed once too often, because the rows of that X are the rows of "
            "out.", 3),
        Mistake("subtracted", "first + second -> first - second",
            "You subtracted one path from the other. Different paths are added.", 1, sets="paths"),
        Mistake("symmetrised", "first + second -> (d_out + d_out.mT) @ x @ (a + a.mT) / 2",
            "You made d_out and A symmetric, which mixes the two paths. Each path has its own d_out and its own A.", 3,
            sets="paths"),
        Mistake("textbook", "first + second -> x @ (a + a.mT)",
            "This is the rule for the quadratic form of one vector, a single number. Here out is a matrix, and d_out is needed.", 1,
            sets="paths"),
    ),
    hints=(
        "X stands in two places, and moving one of its entries moves both. Hold one place fixed and find the gradient of the "
        "other, then the other way round. What do you do with the two results?",
        "Give the first product a name, Y = XA, so that out = Y X^T. Y gets the gradient of a left factor and passes it on to X. "
        "X^T gets the gradient of a right factor, and its transpose is a gradient of X.",
        "From the left place comes d_out times X times A transposed. From the right place comes d_out transposed times X times A. "
        "Add the two.",
    ),
    why="Each entry of X reaches out through two places. With one place held fixed, the rest is an ordinary product. The chain "
    "rule adds the two gradients.",
    insight="When rows are compared with rows, each row is used twice, so its gradient has two terms.",
    outputs=("d_x",),
)  # fmt: skip
