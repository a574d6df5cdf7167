"""An exercise on the chain rule with two paths: an array that stands in a product twice."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe

# --- used_twice ------------------------------------------------------------------------------------------


def used_twice(d_out, x, a):
    first = d_out @ x @ a.T
    second = d_out.T @ x @ a
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
    id="used_twice",
    title="An array that is used twice",
    chapter="prerequisites",
    level="hard",
    minutes=15,
    oracle=_oracle,
    solution=used_twice,
    probes=(
        Probe("all sizes differ", lambda rng: _sizes(rng, 3, 5)),
        Probe(
            "square", lambda rng: _sizes(rng, 4, 4), "equal",
            why="Products with their factors in a wrong order run here, and show themselves by their values.",
        ),
        Probe(
            "one token", lambda rng: _sizes(rng, 1, 3), "edge",
            why="The upstream gradient is one number here, so that it can be followed by hand.",
        ),
        Probe("one feature", lambda rng: _sizes(rng, 4, 1), "edge", why="A column stays a column."),
    ),
    mistakes=(
        Mistake("first_only", "first + second -> first",
            "Only the X on the left is followed. The one on the right moves too, and its path is added.", 1, sets="paths"),
        Mistake("second_only", "first + second -> second",
            "Only the X on the right is followed. The one on the left moves too, and its path is added.", 1, sets="paths"),
        Mistake("doubled", "first + second -> 2 * first",
            "You took one path twice. The two places of X are not alike: A stands to the right of one, to the left of the other.", 2, sets="paths"),
        Mistake("multiplied", "first + second -> first * second",
            "You multiplied the two paths. Slopes multiply along a path; different paths are added.", 1, sets="paths"),
        Mistake("upstream_as_it_is", "d_out.T -> d_out",
            "On the path through the X on the right, d_out has to be transposed: that X counts the columns of out.", 3),
        Mistake("a_as_it_is", "a.T -> a", "On the path through the X on the left, A is the other factor's part: going back, it is transposed.", 3),
        Mistake("a_turned", "d_out.T @ x @ a -> d_out.T @ x @ a.T",
            "On the path through the X on the right, A is transposed once too often: X stands transposed there itself.", 3),
        Mistake("mean", "return first + second -> return (first + second) / 2",
            "You divided by 2; both paths act in full, so they are added.", 1, shows="factor"),
        Mistake("no_upstream", "first = -> d_out = np.ones_like(d_out)\nfirst =",
            "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it.", 1),
        Mistake("transposed", "return first + second -> return (first + second).T",
            "d_x was transposed at the end: a gradient has the shape of the array it belongs to.", 1),
        Mistake("upstream_turned", "first = d_out -> first = d_out.T",
            "On the path through the X on the left, d_out is transposed once too often: that X counts the rows of out.", 3),
        Mistake("subtracted", "first + second -> first - second",
            "One path was subtracted from the other; what reaches out on different paths is added.", 1, sets="paths"),
        Mistake("symmetrised", "first + second -> (d_out + d_out.T) @ x @ (a + a.T) / 2",
            "d_out and A were both made symmetric; each of the two paths has one d_out and one A, and they go together.", 3, sets="paths"),
        Mistake("textbook", "first + second -> x @ (a + a.T)",
            "This is the rule for the quadratic form of a vector, a single number; here out is a matrix, and d_out has to come in.", 1, sets="paths"),
    ),
    hints=(
        "X stands in two places, and moving one entry of it moves both. Hold one place fixed, find the gradient of "
        "the other; then the other way round. What is done with the two results?",
        "Name the first product: Y = XA, so that out = Y X^T. Y gets the gradient of a left factor, and hands it on "
        "to X. X^T gets the gradient of a right factor; transpose it, and it is one for X.",
        "From the left place: d_out, X and A transposed, in this order. From the right place: d_out transposed, X and "
        "A. The sum of both.",
    ),
    why="Each entry of X reaches out through two places. With the other place held fixed, each is a plain product; the "
    "chain rule adds the two gradients.",
    insight="When tokens are compared with tokens, each is used twice; so its gradient has two terms.",
    outputs=("d_x",),
)  # fmt: skip

EXERCISES = (USED_TWICE,)
