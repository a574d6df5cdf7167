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
        Probe("16 heads, 6 tokens", lambda rng: (16, 6), why="With 16 heads the exponents are not whole numbers."),
        Probe("8 heads, 5 tokens", lambda rng: (8, 5), why="These are the slopes of the paper: a half, a quarter and so on."),
        Probe("4 heads, 4 tokens", lambda rng: (4, 4), "equal", "If axes are mixed up, their sizes still fit here."),
        Probe("2 heads, 7 tokens", lambda rng: (2, 7), why="The slopes depend on the number of heads."),
        Probe("one head", lambda rng: (1, 3), "edge", "The first head is the last head, too."),
        Probe("one token", lambda rng: (4, 1), "edge", "The only distance is 0."),
    ),
    mistakes=(
        Mistake("plus", "-slopes -> slopes", "Far keys are rewarded here. The bias has to fall with the distance.", 2, sets="sign"),
        Mistake("prices", "return np.where -> return -np.where",
            "These are prices to subtract. A bias is added to the scores, so all its signs are the opposite.", 2, sets="sign mask"),
        Mistake("h_from_0", "np.arange(1, h + 1) -> np.arange(h)",
            "The heads are counted from 0 in the exponent. The first head is number 1.", 1, sets="slope"),
        Mistake("reverse", "np.arange(1, h + 1) -> np.arange(h, 0, -1)",
            "The slopes are in reverse order. The first head has the steepest slope.", 1, sets="slope"),
        Mistake("no_mask", "np.where(distance >= 0, bias, -np.inf) -> bias",
            "The future is not hidden. Its distances are negative, so the bias even rewards it.", 3, sets="mask"),
        Mistake("symmetric", "-np.inf -> -bias",
            "The future can be seen, at the same price as the past. It has to be hidden.", 3, sets="mask mirror"),
        Mistake("no_8", "-8 * np.arange(1, h + 1) / h -> -np.arange(1, h + 1)",
            "These slopes do not depend on the number of heads. The exponents run from -8/h to -8.", 1, sets="slope"),
        Mistake("exponent_4", "-8 * -> -4 *",
            "The last head has the slope 2 to the power -4. It should be 2 to the power -8.", 1, sets="slope"),
        Mistake("one_head_less", "/ h) -> / max(h - 1, 1))",
            "You divided the exponents by the number of steps between the heads. Divide them by the number of heads.", 1, sets="slope"),
        Mistake("no_slope", "2.0 ** (-8 * np.arange(1, h + 1) / h) -> np.ones(h)",
            "All heads have the slope 1. Each head needs its own slope.", 1, sets="slope"),
        Mistake("linear", "2.0 ** (-8 * np.arange(1, h + 1) / h) -> np.arange(1, h + 1) / h",
            "These slopes grow evenly with the number of the head. They should be powers of 2.", 1, sets="slope"),
        Mistake("base_e", "2.0 ** -> np.e **",
            "The slopes are powers of e. They are powers of 2.", 2),
        Mistake("one_slope", "np.arange(1, h + 1) / h -> np.ones(h) / h",
            "All heads have the slope of the first. Each has its own.", 2),
        Mistake("zero_hidden", "-np.inf -> 0.0",
            "The future has the bias 0, as if it were the token itself. A hidden key has -inf.", 3, sets="mask"),
        Mistake("finite", "-np.inf -> -1e9", "The future is hidden by a finite number. A hidden key has -inf.", 3, sets="mask"),
        Mistake("mask_self", ">= -> >", "The diagonal is hidden, too. But a token may look at itself.", 3, sets="mask"),
        Mistake("future", "-np.inf) -> -np.inf).mT",
            "Queries and keys are exchanged. Each row is a query, and it sees the keys before it.", 2, sets="axes"),
        Mistake("from_one", "* distance -> * (distance + 1)",
            "The distance of a token to itself is counted as 1. It is 0.", 2, sets="distance"),
        Mistake("to_start", "* distance -> * (0 * distance - np.arange(n))",
            "The bias is made of the key's position alone. A softmax would not notice, but the exercise asks for the distance.", 2,
            sets="distance mirror"),
        Mistake("to_end", "* distance -> * (0 * distance + n - 1 - np.arange(n))",
            "The distance is counted from the last token, for all queries. Count it from each query.", 2, sets="distance mirror"),
        Mistake("root_distance",
            "-slopes[:, np.newaxis, np.newaxis] * distance -> -slopes[:, np.newaxis, np.newaxis] * np.sqrt(np.abs(distance))",
            "You took the root of the distance. The bias should be a straight line.", 2, sets="distance mirror"),
        Mistake("squared", "* distance -> * distance**2",
            "The distance is squared. The bias should be a straight line.", 2, sets="distance mirror"),
    ),
    hints=(
        "You need two arrays: h slopes, and an n by n table of distances. The slopes are 2 to the powers -8/h, -16/h, ..., -8.",
        "The distance is the query's position minus the key's. The bias is minus slope times distance, shape (h, n, n).",
        "Where the distance is negative, the key lies in the future. Put -inf there with `np.where`.",
    ),
    why="The bias is an outer product of slopes and distances, with the causal mask in the same array. The tokens stay as they are.",
    insight="Nothing here is learned, and nothing depends on the length: in a longer text, row i begins with the same numbers.",
)  # fmt: skip
