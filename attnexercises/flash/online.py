"""The exercise on the online softmax: the denominator of a softmax, one block of scores at a time."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.method.access import goes_back, most_read_at_once, reads


def online_softmax(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        new_maximum = max(maximum, scores.max())
        if new_maximum > -np.inf:  # else every score so far is -inf
            rescaled = total * np.exp(maximum - new_maximum)
            total = rescaled + np.exp(scores - new_maximum).sum()
            maximum = new_maximum
    return maximum, total


def _oracle(x, block):
    scores = [float(score) for score in x]
    maximum = max(scores)
    if maximum == -math.inf:
        return maximum, 0.0
    return maximum, math.fsum(math.exp(score - maximum) for score in scores)


def _new_maximum_not_counted(x, block):
    maximum, total = -math.inf, 0.0
    for score in x:
        if score > maximum:
            maximum, total = score, total * math.exp(maximum - score)
        elif score > -math.inf:
            total += math.exp(score - maximum)
    return maximum, total


def _random(rng):
    x = rng.normal(size=8)
    x[4] = 3.0  # the largest score lies in the second of three blocks
    return x, 3


def _far_below_zero(rng):
    x = rng.normal(size=9) - 1000
    x[4] = -997.0
    return x, 3


def _first_block_minus_inf(rng):
    x = rng.uniform(0.5, 2.0, size=6)
    x[:3] = -np.inf
    return x, 3


def _minus_inf_between(rng):
    x = rng.uniform(0.5, 2.0, size=14)
    x[[1, 3, 4, 5, 8, 9]] = -np.inf  # blocks of 3: some of it, all of it, the last of it, the first of it
    x[13] = 3.0
    return x, 3


def _largest_is_zero(rng):
    x = -rng.uniform(0.5, 2.0, size=8)
    x[[1, 2, 5]] = 0.0  # blocks of 3
    return x, 3


def _method(answer):
    row = np.random.default_rng(0).standard_normal(20)
    row[[0, 17]] = row.min() - 1.0, row.max() + 1.0
    for block in (3, 2):  # two sizes: the size is not to be written into the function
        log = reads(answer, row, block)
        most = most_read_at_once(log, row, block)
        if most > block:
            return (
                f"the values are right, but one step looks at {most} scores at once where a block has "
                f"{block}: finish one block before you look at the next."
            )
        if goes_back(log, row, block):
            return (
                "the values are right, but it goes back to scores of an earlier block: one walk through them is "
                "enough, if the old sum is corrected when the maximum grows."
            )
    return ""


ONLINE_SOFTMAX = Exercise(
    title="One block at a time", level="hard", minutes=20, blanks=3, oracle=_oracle, solution=online_softmax,
    probes=(
        Probe("random, the last block shorter", _random),
        Probe("increasing scores", lambda rng: (np.sort(rng.uniform(-1, 3, size=8)), 3),
            why="Every block raises the maximum: the old sum is rescaled each time."),
        Probe("decreasing scores", lambda rng: (-np.sort(rng.uniform(-3, 1, size=8)), 3),
            why="No block after the first raises the maximum: nothing is rescaled."),
        Probe("one block", lambda rng: (rng.uniform(0.5, 2.0, size=5), 5), why="There is nothing to rescale yet."),
        Probe("all scores near -1000", _far_below_zero, "edge", why="A maximum that starts at 0 makes every exponential vanish."),
        Probe("first block all -inf", _first_block_minus_inf, "edge",
            why="-inf - (-inf) = NaN, and one NaN spoils all that follows."),
        Probe("large scores", lambda rng: (1000 - np.sort(rng.uniform(-3, 1, size=6)), 3), "edge",
            why="An answer that exponentiates the scores themselves overflows here."),
        Probe("every score -inf", lambda rng: (np.full(6, -np.inf), 3), "edge"),
        Probe("-inf in a block, and blocks of it between others", _minus_inf_between, "edge",
            why="A score of -inf adds nothing; it is no reason to skip its block, to stop or to start again."),
        Probe("-inf to the end", lambda rng: (np.append(rng.uniform(0.5, 2.0, size=4), np.full(4, -np.inf)), 3), "edge",
            why="What was collected has to stay as it is."),
        Probe("one score", lambda rng: (rng.uniform(0.5, 2.0, size=1), 3), "edge", why="A block longer than the row."),
        Probe("the largest score is 0", _largest_is_zero, "edge",
            why="A maximum of 0 is a maximum; and it occurs three times, twice in one block."),
    ),
    mistakes=(
        Mistake("no_rescale", "total * np.exp(maximum - new_maximum) -> total",
            "The old sum was not rescaled. It is measured against the old maximum, so multiply it by exp(old "
                "maximum - new maximum).",
            2, sets="rescale"),
        Mistake("alpha_inv", "np.exp(maximum - new_maximum) -> (np.exp(new_maximum - maximum) if total else 1.0)",
            "The factor is upside down. It is exp(old maximum - new maximum), which is at most 1.", 3, sets="rescale"),
        Mistake("nan_first", "np.exp(maximum - new_maximum) -> (np.nan if maximum == -np.inf else np.exp(maximum - new_maximum))",
            "In the first block the old maximum is -inf. The old sum then gets the factor exp(-inf) = 0, and no "
                "score can be measured against -inf.", 3, shows="lost", sets="rescale"),
        Mistake("alpha_block", "maximum - new_maximum -> maximum - scores.max()",
            "The factor uses the maximum of the block. Use the new running maximum, which may be the same as the "
                "old maximum.", 3, sets="rescale"),
        Mistake("sum_local", "scores - new_maximum -> scores - scores.max()",
            "The sum of the block is measured against the block's own maximum. Use the new running maximum for "
                "both parts.", 3),
        Mistake("block_max", "max(maximum, scores.max()) -> scores.max()",
            "The new maximum is that of the block alone. Take the larger of the old maximum and the block's "
                "maximum.", 1),
        Mistake("m_init_0", "-np.inf, 0.0 -> 0.0, 0.0", "The maximum starts at 0, which lies above scores that are all negative. Start with -inf.", 1),
        Mistake("l_init_1", "-np.inf, 0.0 -> -np.inf, 1.0", "The total starts at 1. The sum over nothing is 0.", 1),
        Mistake("overwrite", "rescaled + np.exp -> np.exp",
            "The sum of the earlier blocks is lost, because the total is overwritten instead of updated.", 2, sets="rescale"),
        Mistake("drop_tail", "len(x) -> len(x) // block * block",
            "The last, shorter block was skipped. There are len(x) / block blocks, rounded up.", 1),
        Mistake("nan_block", "if new_maximum > -np.inf -> if True",
            "While every score so far is -inf, the new maximum is -inf as well, and -inf - (-inf) is NaN. Skip "
                "such a block, or subtract 0 there.",
            3, shows="lost"),
        Mistake("old_maximum", "scores - new_maximum -> scores - (maximum if maximum > -np.inf else new_maximum)",
            "The block is measured against the old maximum. Use the new running maximum for both parts.", 3, sets="shift"),
        Mistake("minus_infinite_maximum", "scores - new_maximum -> scores - maximum",
            "The block is measured against the old maximum, which is -inf before the first block. Use the new running maximum for "
            "both parts.", 3, sets="shift"),
        Mistake("smallest", "max(maximum, scores.max()) -> (scores.min() if maximum == -np.inf else min(maximum, scores.min()))",
            "You carry the smallest score along. The running maximum is the largest.", 1),
        Mistake("first_of_block", "scores.max() -> scores[0]",
            "You took the first score of a block for its largest.", 1),
        Mistake("difference", "np.exp(maximum - new_maximum) -> ((maximum - new_maximum) if maximum > -np.inf else 0.0)",
            "The old sum was multiplied by the difference of the maxima. The factor is the exponential of it.", 3, sets="rescale"),
        Mistake("scores_added", "np.exp(scores - new_maximum).sum() -> (scores - new_maximum).sum()",
            "You added the shifted scores themselves. The total is a sum of exponentials.", 1, sets="shift"),
        Mistake("block_short", "start + block] -> start + block - 1]",
            "Each block lacks its last score. A slice leaves out its upper end by itself.", 1),
        Mistake("range_short", "len(x), block) -> max(len(x) - block, 1), block)",
            "The loop ends one block too early.", 1),
        Mistake("factor_squared", "total * np.exp(maximum - new_maximum) -> total * np.exp(2 * (maximum - new_maximum))",
            "The old sum was rescaled twice. One factor takes it from the old maximum to the new one.", 2, sets="rescale"),
        Mistake("block_rescaled", ("total * np.exp -> np.exp",
                "rescaled + np.exp(scores - new_maximum).sum() -> rescaled * (total + np.exp(scores - new_maximum).sum())"),
            "The sum of the block was rescaled together with the old sum. It is already measured against the new "
                "maximum.", 3),
        Mistake("not_shifted", ("total * np.exp(maximum - new_maximum) -> total", "scores - new_maximum -> scores"),
            "The exponentials are not measured against a maximum. The total has to be the sum of exp(score - "
                "maximum).", 2, sets="rescale"),
        Mistake("mean", ".sum() -> .mean()", "The exponentials of a block were averaged. The total is a sum over all scores seen so far.", 2),
        Mistake("logsumexp", "return maximum, total -> return maximum, maximum + np.log(total)",
            "You returned the logsumexp, the maximum plus the logarithm of the sum. Return the sum itself.", 2),
        Mistake("overlap", "start + block] -> start + block + 1]",
            "Two blocks share a score at their border, so this score counts twice. A slice leaves out its upper "
                "end.", 1),
        Mistake("maximum_not_counted", _new_maximum_not_counted,
            "At a new maximum the old sum was rescaled, but the term of the new score, exp(0), was not added.", 2),
    ),
    hints=(
        "Follow one old term of the sum. It is exp(score - maximum) and has to become exp(score - "
                "new_maximum). What is the quotient of the two?",
        "`total` is a sum of exponentials measured against `maximum`. When the maximum rises, all terms of "
                "the old sum are too large by the same factor. Correct the sum before you add the new block.",
        "The new maximum is the larger of the old maximum and the block's maximum. Multiply the old total by "
                "exp(old maximum - new maximum). Then add the exponentials of the block, measured against the new "
                "maximum.",
    ),
    why="`total` always equals the sum of exp(score - maximum) over the scores seen so far, and one factor "
                "restores this when the maximum moves. The guard is for rows in which every score so far is -inf, "
                "because -inf - (-inf) would be NaN.",
    insight="You carry only two numbers along, however long the row is. Flash attention is built on them.",
    outputs=("maximum", "total"),
    method=_method,
)  # fmt: skip
