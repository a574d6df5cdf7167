"""The exercise on ALiBi: a straight slope of distance for each head."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.positions import accepts


def alibi(h, n):
    slopes = 2.0 ** (-8 * np.arange(1, h + 1) / h)
    distance = np.arange(n)[:, np.newaxis] - np.arange(n)
    bias = -slopes[:, np.newaxis, np.newaxis] * distance
    return np.where(distance >= 0, bias, -np.inf)


def _oracle(h, n):
    bias = np.full((h, n, n), -math.inf)
    for head in range(h):
        slope = math.pow(2, -8 * (head + 1) / h)
        for i in range(n):
            for j in range(i + 1):
                bias[head, i, j] = -slope * (i - j)
    return bias


def _family(bugs):
    def variant(h, n):
        heads = np.arange(1, h + 1) - ("h_from_0" in bugs)
        if "reverse" in bugs:
            heads = heads[::-1]
        exponents = -heads if "no_8" in bugs else -8 * heads / h
        slopes = 2.0**exponents
        if "no_slope" in bugs:
            slopes = np.ones(h)
        if "linear" in bugs:
            slopes = heads / h
        rows, columns = np.arange(n)[:, np.newaxis], np.arange(n)
        distance = rows - columns
        shown = distance >= ("mask_self" in bugs)
        if "to_start" in bugs:
            distance = 0 * rows - columns
        if "to_end" in bugs:
            distance = n - 1 - columns + 0 * rows
        if "from_one" in bugs:
            distance = distance + 1
        if "squared" in bugs:
            distance = distance**2
        bias = slopes[:, np.newaxis, np.newaxis] * distance
        bias = bias if "plus" in bugs else -bias
        if "no_mask" in bugs:
            out = bias
        elif "symmetric" in bugs:
            out = -np.abs(bias) if "plus" not in bugs else np.abs(bias)
        else:
            out = np.where(shown, bias, -1e9 if "finite" in bugs else 0.0 if "zero_hidden" in bugs else -np.inf)
        return out.mT if "future" in bugs else out

    return variant


_ALIBI = Exercise(
    "alibi",
    title="A slope for each head",
    chapter="positions",
    level="easy",
    minutes=10,
    blanks=3,
    oracle=_oracle,
    solution=alibi,
    family=_family,
    probes=(
        Probe("16 heads, 6 tokens", lambda rng: (16, 6), why="Slopes that are no whole powers of 2."),
        Probe("8 heads, 5 tokens", lambda rng: (8, 5), why="The slopes of the paper: a half, a quarter, ..."),
        Probe("4 heads, 4 tokens", lambda rng: (4, 4), "equal", "Axes that are mixed up have the right sizes here."),
        Probe("2 heads, 7 tokens", lambda rng: (2, 7), why="The slopes depend on the number of heads."),
        Probe("one head", lambda rng: (1, 3), "edge", "The slope of the only head is that of the last one."),
        Probe("one token", lambda rng: (4, 1), "edge", "A token and itself: no distance."),
    ),
    mistakes=(
        Mistake(
            "plus", "+slope * (i - j)",
            "Distant keys are rewarded: the bias falls with the distance.", 2,
            sets="sign",
        ),
        Mistake(
            "h_from_0", "heads counted from 0",
            "The heads were counted from 0 in the exponent; the first head is number 1.", 1,
            sets="slope",
        ),
        Mistake(
            "reverse", "slopes in reverse order",
            "The slopes stand in reverse order: the first head has the steepest.", 1,
            sets="slope",
        ),
        Mistake(
            "no_mask", "future not masked",
            "The future is not hidden: there the distance is negative, and the bias a reward.", 3,
            sets="mask",
        ),
        Mistake(
            "symmetric", "-slope * |i - j|",
            "The future is visible, at the same price as the past; here it is hidden.", 3,
            sets="mask",
        ),
        Mistake(
            "no_8", "2 ** (-head)",
            "The slopes do not depend on how many heads there are: the exponents run from -8/h to -8.", 1,
            sets="slope",
        ),
        Mistake(
            "no_slope", "-(i - j)",
            "All heads have slope 1: each needs its own.", 1,
            sets="slope",
        ),
        Mistake(
            "linear", "slope = head / h",
            "The slopes grow evenly with the head's number; they are powers of 2.", 1,
            sets="slope",
        ),
        Mistake(
            "zero_hidden", "0 where the future is",
            "The future has bias 0, like the token itself; hidden means -inf.", 3,
            sets="mask",
        ),
        Mistake(
            "finite", "-1e9 where the future is",
            "The future is hidden by a finite number only; hidden means -inf.", 3,
            sets="mask",
        ),
        Mistake(
            "mask_self", "a token does not see itself",
            "The diagonal is hidden, too: a token may look at itself.", 3,
            sets="mask",
        ),
        Mistake(
            "future", "queries and keys changed places",
            "Queries and keys have changed places: rows are queries, and the keys before a query are visible.", 2,
            sets="axes",
        ),
        Mistake(
            "from_one", "distance i - j + 1",
            "The distance of a token to itself was counted as 1; it is 0.", 2,
            sets="distance",
        ),
        Mistake(
            "to_start", "slope * j",
            "The bias was made of the key's position alone. Softmax cannot tell, but the distance is asked for.", 2,
            sets="distance",
        ),
        Mistake(
            "to_end", "-slope * (n - 1 - j)",
            "The distance was counted from the last token for all queries; each query has its own.", 2,
            sets="distance",
        ),
        Mistake(
            "squared", "-slope * (i - j)²",
            "The distance was squared; the bias is a straight line.", 2,
            sets="distance",
        ),
    ),
    hints=(
        "Two arrays: h slopes, and an n by n table of distances. The slopes are 2 to the powers -8/h, -16/h, ..., -8.",
        "The distance is the query's position minus the key's. The bias is minus slope times distance, shape (h, n, n).",
        "Where the distance is negative the key lies in the future: put -inf there, with `np.where`.",
    ),
    why="One outer product of slopes and distances, and the causal mask in the same array. No position enters the tokens.",
    insight="Nothing here is learned, and nothing depends on the length: row i begins in the same way in every longer text.",
    accepts=accepts.ALIBI,
)  # fmt: skip

EXERCISES = (_ALIBI,)
