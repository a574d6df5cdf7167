"""The exercise on ALiBi: a straight slope of distance for each head."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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


_ALIBI = Exercise(
    title="A slope for each head", level="easy", minutes=10, blanks=3, oracle=_oracle, solution=alibi,
    probes=(
        Probe("16 heads, 6 tokens", lambda rng: (16, 6), why="Slopes that are no whole powers of 2."),
        Probe("8 heads, 5 tokens", lambda rng: (8, 5), why="The slopes of the paper: a half, a quarter, ..."),
        Probe("4 heads, 4 tokens", lambda rng: (4, 4), "equal", "Axes that are mixed up have the right sizes here."),
        Probe("2 heads, 7 tokens", lambda rng: (2, 7), why="The slopes depend on the number of heads."),
        Probe("one head", lambda rng: (1, 3), "edge", "The slope of the only head is that of the last one."),
        Probe("one token", lambda rng: (4, 1), "edge", "A token and itself: no distance."),
    ),
    mistakes=(
        Mistake("plus", "-slopes -> slopes", "Distant keys are rewarded: the bias falls with the distance.", 2, sets="sign"),
        Mistake("h_from_0", "np.arange(1, h + 1) -> np.arange(h)",
            "The heads were counted from 0 in the exponent; the first head is number 1.", 1, sets="slope"),
        Mistake("reverse", "np.arange(1, h + 1) -> np.arange(h, 0, -1)",
            "The slopes stand in reverse order: the first head has the steepest.", 1, sets="slope"),
        Mistake("no_mask", "np.where(distance >= 0, bias, -np.inf) -> bias",
            "The future is not hidden: there the distance is negative, and the bias a reward.", 3, sets="mask"),
        Mistake("symmetric", "-np.inf -> -bias",
            "The future is visible, at the same price as the past; here it is hidden.", 3, sets="mask mirror"),
        Mistake("no_8", "-8 * np.arange(1, h + 1) / h -> -np.arange(1, h + 1)",
            "The slopes do not depend on how many heads there are: the exponents run from -8/h to -8.", 1, sets="slope"),
        Mistake("no_slope", "2.0 ** (-8 * np.arange(1, h + 1) / h) -> np.ones(h)",
            "All heads have slope 1: each needs its own.", 1, sets="slope"),
        Mistake("linear", "2.0 ** (-8 * np.arange(1, h + 1) / h) -> np.arange(1, h + 1) / h",
            "The slopes grow evenly with the head's number; they are powers of 2.", 1, sets="slope"),
        Mistake("base_e", "2.0 ** -> np.e **",
            "The slopes are powers of e. They are powers of 2.", 2),
        Mistake("one_slope", "np.arange(1, h + 1) / h -> np.ones(h) / h",
            "All heads have the slope of the first. Each has its own.", 2),
        Mistake("zero_hidden", "-np.inf -> 0.0",
            "The future has bias 0, like the token itself; hidden means -inf.", 3, sets="mask"),
        Mistake("finite", "-np.inf -> -1e9", "The future is hidden by a finite number only; hidden means -inf.", 3, sets="mask"),
        Mistake("mask_self", ">= -> >", "The diagonal is hidden, too: a token may look at itself.", 3, sets="mask"),
        Mistake("future", "-np.inf) -> -np.inf).mT",
            "Queries and keys have changed places: rows are queries, and the keys before a query are visible.", 2, sets="axes"),
        Mistake("from_one", "* distance -> * (distance + 1)",
            "The distance of a token to itself was counted as 1; it is 0.", 2, sets="distance"),
        Mistake("to_start", "* distance -> * (0 * distance - np.arange(n))",
            "The bias was made of the key's position alone. Softmax cannot tell, but the distance is asked for.", 2,
            sets="distance mirror"),
        Mistake("to_end", "* distance -> * (0 * distance + n - 1 - np.arange(n))",
            "The distance was counted from the last token for all queries; each query has its own.", 2, sets="distance mirror"),
        Mistake("squared", "* distance -> * distance**2",
            "The distance was squared; the bias is a straight line.", 2, sets="distance mirror"),
    ),
    hints=(
        "Two arrays: h slopes, and an n by n table of distances. The slopes are 2 to the powers -8/h, -16/h, ..., -8.",
        "The distance is the query's position minus the key's. The bias is minus slope times distance, shape (h, n, n).",
        "Where the distance is negative the key lies in the future: put -inf there, with `np.where`.",
    ),
    why="One outer product of slopes and distances, and the causal mask in the same array. No position enters the tokens.",
    insight="Nothing here is learned, and nothing depends on the length: row i begins in the same way in every longer text.",
)  # fmt: skip
