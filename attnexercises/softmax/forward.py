"""The exercise on softmax: oracle, solution, and every wrong answer we know."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _softmax_oracle(x):
    out = np.empty(x.shape)
    for row in np.ndindex(x.shape[:-1]):
        largest = max(float(score) for score in x[row])
        exponentials = [math.exp(float(score) - largest) for score in x[row]]
        total = math.fsum(exponentials)
        for k, exponential in enumerate(exponentials):
            out[(*row, k)] = exponential / total
    return out


def _once_more(weights):
    """A second softmax, for the mistake `twice`."""
    return np.exp(weights) / np.exp(weights).sum(axis=-1, keepdims=True)


def _rows_far_apart(rng):
    x = rng.normal(size=(3, 4))
    x[1] -= 2000
    return (x,)


def _first_row_far_below(rng):
    x = rng.normal(size=(3, 4))
    x[0] -= 2000
    return (x,)


def _zeros(rng):
    x = rng.normal(size=(3, 4))
    x[0, 1], x[2] = 0.0, 0.0
    return (x,)


def _wide_rows(rng):
    x = rng.normal(size=(3, 5))
    x[:, ::2] -= 900
    return (x,)


def _outlier(rng):
    x = rng.normal(size=(1, 6))
    x[0, 2] = 20_000  # beyond the exponent of every float, also the extended one
    return (x,)


SOFTMAX = Exercise(
    title="A softmax that no finite score can break", level="easy", minutes=10, blanks=3, oracle=_softmax_oracle, solution=softmax,
    probes=(
        Probe("all sizes differ", lambda rng: (rng.normal(size=(2, 3, 5)),)),
        Probe("square", lambda rng: (rng.normal(size=(4, 4)),), "equal"),
        Probe("large scores", lambda rng: (rng.normal(size=(3, 4)) + 1000,), "edge",
            why="The plainest overflow: the message about it names this case."),
        Probe("rows far apart", _rows_far_apart, "edge",
            why="One maximum for all rows lies far above one of them; the last case has the far row in front."),
        Probe("wide rows", _wide_rows, "edge"),
        Probe("one huge score", _outlier, "edge"),
        Probe("integers", lambda rng: (rng.integers(1, 6, size=(3, 4)),), "edge"),
        Probe("one row", lambda rng: (rng.normal(size=5),), "edge", why="No leading axis at all."),
        Probe("three leading axes, one of size 1", lambda rng: (rng.normal(size=(2, 1, 3, 4)),), "edge",
            why="Any number of axes, and each one of them stays, whatever its size."),
        Probe("first row far below", _first_row_far_below, "edge",
            why="The maximum of the first row is not that of all: each shift by one number fails in its own way."),
        Probe("zeros among the scores", _zeros, "edge", why="A score of 0 is a score like any other; it hides nothing."),
    ),
    mistakes=(
        Mistake("axis_0", "axis=-1 -> axis=0",
            "The softmax ran over axis 0; it belongs on the last axis, along each row.", 1, shows="axis_0_sum rows_sum",
            sets="axis"),
        Mistake("axis_all", "sum(axis=-1, keepdims=True) -> sum()",
            "`sum()` ran without `axis`, over the whole array; every row needs its own denominator.", 1, shows="total_sum rows_sum",
            sets="total"),
        Mistake("sum_axis_0", "sum(axis=-1 -> sum(axis=0",
            "The sum runs along axis 0; it belongs on the last axis, as the maximum does.", 1, shows="axis_0_sum rows_sum",
            sets="total axis"),
        Mistake("no_exp", "np.exp(shifted) -> x",
            "You divided the raw scores by their sum; exponentiate first, otherwise weights can be negative.", 2,
            shows="negative_rows", sets="total scores_twice"),
        Mistake("only_exp",
            ("np.exp(shifted) -> np.exp(x)", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> exponentials"),
            "These are the exponentials alone; each has to be divided by the sum of its row.", 3, shows="rows_sum",
            sets="total log"),
        Mistake("one_more", "exponentials.sum(axis=-1, keepdims=True) -> (exponentials.sum(axis=-1, keepdims=True) + 1)",
            "You added 1 to the sum of each row. Divide the exponentials by their sum alone.", 2, sets="total"),
        Mistake("sum_of_rows",
            "exponentials.sum(axis=-1, keepdims=True) -> exponentials.sum(axis=tuple(range(-min(x.ndim, 2), 0)), keepdims=True)",
            "One sum was taken over all rows of a batch element. Each row is divided by its own sum.", 2, sets="total"),
        Mistake("no_division", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> exponentials",
            "The exponentials still have to be divided by the sum of their row.", 3, shows="largest_one rows_sum",
            sets="total log"),
        Mistake("no_max", "x - x.max(axis=-1, keepdims=True) -> x",
            "Large exponents overflow: shift each row by its maximum before `exp`.", 2, shows="lost", sets="shift"),
        Mistake("max_global", "x.max(axis=-1, keepdims=True) -> x.max()",
            "You subtract one maximum from the whole array. In a row that lies far below it, all exponentials become 0, and 0/0 is "
            "NaN. Use the maximum of each row.", 2, shows="lost", sets="shift"),
        Mistake("shift_mean", "x.max( -> x.mean(",
            "Shifting by the mean leaves large exponents when one score stands out; which shift makes all of them at most 0?", 2,
            shows="lost", sets="shift"),
        Mistake("shift_min", "x.max( -> x.min(",
            "A row with widely spread scores overflows. If you subtract any score but the largest, some exponents stay above 0; "
            "which shift makes all of them at most 0?", 2, shows="lost", sets="shift"),
        Mistake("shift_fixed", "x.max(axis=-1, keepdims=True) -> 1000.0",
            "You subtract the same constant from every input. In a row far below it, all exponentials become 0, and 0/0 is NaN. "
            "Let the constant depend on the row.", 2, shows="lost", sets="shift"),
        Mistake("shift_reversed", "x - x.max(axis=-1, keepdims=True) -> x.max(axis=-1, keepdims=True) - x",
            "The shift is the wrong way round: the largest score has to get the largest weight.", 3),
        Mistake("max_axis_0", "x.max(axis=-1 -> x.max(axis=0",
            "You subtract the maximum of each column, which changes the weights within a row; shift a row by its own maximum.", 3,
            sets="shift axis"),
        Mistake("max_no_keepdims", "x.max(axis=-1, keepdims=True) -> x.max(axis=-1)",
            "Without `keepdims=True` the maxima run along the columns, so entry (i, j) gets the maximum of row j instead of row i.",
            3, sets="shift"),
        Mistake("sum_no_keepdims", "sum(axis=-1, keepdims=True) -> sum(axis=-1)",
            "Without `keepdims=True` the sums run along the columns, so entry (i, j) is divided by the sum of row j instead of row "
            "i.", 3, sets="total"),
        Mistake("lse_no_keepdims",
            "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return np.exp(x - x.max(axis=-1) - "
            "np.log(exponentials.sum(axis=-1)))",
            "Without `keepdims=True` the logsumexps run along the columns, so entry (i, j) gets the logsumexp of row j instead of "
            "row i.", 3, sets="total log"),
        Mistake("log",
            "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return np.log(exponentials / "
            "exponentials.sum(axis=-1, keepdims=True))",
            "You took the logarithm at the end. Return the weights themselves.", 3, sets="log"),
        Mistake("base_2", "np.exp(shifted) -> np.exp2(shifted)",
            "You took powers of 2. A softmax takes powers of e.", 2, sets="total"),
        Mistake("standardised", "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return _once_more((x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True))",
            "You divided by the standard deviation of the row. Only a shift leaves the weights as they are; a factor changes "
            "them.", 2, sets="scores"),
        Mistake("squares", "np.exp(shifted) -> x * x",
            "You took squares. An exponential makes every number positive and still keeps the order of the scores.", 2, sets="total scores_twice"),
        Mistake("absolute", "np.exp(shifted) -> np.abs(x)",
            "You took absolute values, so a very low score counts as much as a high one. Take exponentials.", 2, sets="total scores_twice"),
        Mistake("shares_first", "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return _once_more(x / x.sum(axis=-1, keepdims=True))",
            "You divided by the sum of the scores before taking exponentials. First exponentials, then the division.", 2, sets="scores"),
        Mistake("range_shares", "np.exp(shifted) -> (x - x.min(axis=-1, keepdims=True))",
            "There is no exponential: you shifted the scores by their minimum and divided by the sum.", 2, sets="total scores_twice"),
        Mistake("over_scores", "/ exponentials.sum(axis=-1, keepdims=True) -> / x.sum(axis=-1, keepdims=True)",
            "You divided by the sum of the scores. Divide by the sum of the exponentials.", 3, sets="total"),
        Mistake("shift_after", "np.exp(shifted) -> (np.exp(x) - np.exp(x).max(axis=-1, keepdims=True))",
            "You subtracted the maximum after the exponential. Shift the scores first, then take exponentials.", 2, sets="shift total"),
        Mistake("running_sum", "exponentials.sum(axis=-1, keepdims=True) -> exponentials.cumsum(axis=-1)",
            "You divided by the sum up to the entry itself. The denominator is the sum of the whole row.", 3, sets="total"),
        Mistake("others_only", "exponentials.sum(axis=-1, keepdims=True) -> (exponentials.sum(axis=-1, keepdims=True) - exponentials)",
            "The denominator leaves out the entry itself. It is the sum of the whole row, the same for all its entries.", 3, sets="total"),
        Mistake("mean_total", "exponentials.sum(axis=-1, keepdims=True) -> exponentials.mean(axis=-1, keepdims=True)",
            "You divided by the mean of the exponentials. Divide by their sum.", 3, sets="total", shows="rows_sum"),
        Mistake("negative_exponent", "np.exp(shifted) -> np.exp(-np.abs(shifted - shifted.mean(axis=-1, keepdims=True)))",
            "Your exponent falls on both sides of the mean. The largest score has to get the largest weight.", 2, sets="total"),
        Mistake("inplace", "shifted = x - x.max(axis=-1, keepdims=True) -> x -= x.max(axis=-1, keepdims=True)\nshifted = x",
            "Your function writes into its input array: write `x = x - ...` instead of `x -= ...`.", 3),
        Mistake("int_buffer",
            "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return (exponentials / exponentials.sum(axis=-1, "
            "keepdims=True)).astype(x.dtype)",
            "For integer input the weights are stored in an integer buffer, which cuts them off; make the buffer float.", 3),
        Mistake("axis_1", "axis=-1 -> axis=1",
            "You normalised along axis 1, the last one of a matrix only; with more axes the last one is `axis=-1`.", 1,
            sets="axis"),
        Mistake("rows_of_axis_0", "axis=-1 -> axis=tuple(range(1, x.ndim))",
            "A loop over axis 0 takes whole matrices for rows as soon as there are three axes; a row is what lies along the last.",
            1, sets="axis"),
        Mistake("sigmoid", "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return 1 / (1 + np.exp(-x))",
            "This is the logistic function of each score by itself; a softmax compares each score with the others of its row.", 2,
            sets="weights"),
        Mistake("hardmax",
            "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return np.eye(x.shape[-1])[x.argmax(axis=-1)]",
            "You picked the largest score of the row; a softmax gives each score a share.", 2, sets="weights"),
        Mistake("scaled", "x - x.max(axis=-1, keepdims=True) -> (x - x.max(axis=-1, keepdims=True)) / math.sqrt(x.shape[-1])",
            "The scores were divided by the root of the row's length; that factor belongs to attention, not to softmax.", 2,
            sets="scores"),
        Mistake("max_divided", "x - x.max(axis=-1, keepdims=True) -> x / x.max(axis=-1, keepdims=True)",
            "You divided by the largest score of the row; subtracting it is what cancels in the quotient.", 2, sets="scores"),
        Mistake("twice",
            "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return _once_more(exponentials / "
            "exponentials.sum(axis=-1, keepdims=True))",
            "The softmax was applied twice: the weights went through it as if they were scores.", 3, sets="scores_twice"),
    ),
    hints=(
        "exp(1000) is too large for the computer. Which number can you subtract from every score of a row, so that the weights "
        "stay the same and no exponential becomes too large?",
        "If the largest score of a row becomes 0, all others are negative, and no exponential is larger than 1. Which number do "
        "you subtract for that? It is a different one for each row.",
        "Subtract the maximum of each row from the row, take `np.exp`, and divide each row by its sum. Write `axis=-1` and "
        "`keepdims=True` in both `max` and `sum`, so that each row gets its own maximum and its own sum.",
    ),
    why="After the shift every exponent is at most 0, so nothing overflows, and one exponent is exactly 0, so the sum is at least "
    "1 and never vanishes. `keepdims=True` keeps the maximum and the sum beside the row they belong to.",
    insight="A shift that changes nothing on paper decides whether the computer gets an answer at all.",
    outputs=("weights",),
)  # fmt: skip
