"""The exercise on the online softmax: the denominator of a softmax, one block of scores at a time."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.method.access import exponents, goes_back, most_read_at_once, reads
from attnexercises.softmax import accepts, online_mistakes


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


def _family(bugs):
    def online_softmax(x, block):
        if "maximum_not_counted" in bugs:
            return _new_maximum_not_counted(x, block)
        maximum = 0.0 if "m_init_0" in bugs else -np.inf
        total = 1.0 if "l_init_1" in bugs else 0.0
        for j in range(len(x) // block if "drop_tail" in bugs else math.ceil(len(x) / block)):
            part = x[j * block : (j + 1) * block + ("overlap" in bugs)]
            top = part.max()
            new_maximum = top if "block_max" in bugs else max(maximum, top)
            if top == -np.inf and "nan_block" not in bugs:
                continue
            rescale = np.exp(maximum - new_maximum)
            if "no_rescale" in bugs:
                rescale = 1.0
            elif "alpha_inv" in bugs:
                rescale = np.exp(new_maximum - maximum) if total else 1.0
            elif "nan_first" in bugs and maximum == -np.inf:
                rescale = np.nan  # what exp(inf) * 0 makes of the sum
            elif "alpha_block" in bugs:
                rescale = np.exp(maximum - top)
            shift = top if "sum_local" in bugs else new_maximum
            if "old_maximum" in bugs and maximum > -np.inf:
                shift = maximum
            if "not_shifted" in bugs:
                shift, rescale = 0.0, 1.0
            exponentials = np.exp(part - shift)
            block_total = exponentials.mean() if "mean" in bugs else exponentials.sum()
            if "block_rescaled" in bugs:
                block_total = rescale * block_total
            total = block_total if "overwrite" in bugs else rescale * total + block_total
            maximum = new_maximum
        return maximum, (maximum + np.log(total) if "logsumexp" in bugs else total)

    return online_softmax


def _new_maximum_not_counted(x, block):
    maximum, total = -math.inf, 0.0
    for score in x:
        if score > maximum:
            maximum, total = score, total * math.exp(maximum - score)
        elif score > -math.inf:
            total += math.exp(score - maximum)
    return maximum, total


def _one_score_at_a_time(x, block):
    maximum, total = -math.inf, 0.0
    for score in x:
        if score == -math.inf:
            continue
        if score > maximum:
            maximum, total = score, total * math.exp(maximum - score) + 1.0
        else:
            total += math.exp(score - maximum)
    return maximum, total


def _by_logsumexp(x, block):
    maximum, both = -np.inf, -np.inf
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        maximum, both = np.maximum(maximum, scores.max()), np.logaddexp(both, np.logaddexp.reduce(scores))
    return maximum, np.exp(both - maximum) if maximum > -np.inf else 0.0


def _safe_shift(x, block):
    maximum, total = -np.inf, 0.0
    for part in np.split(x, range(block, len(x), block)):
        new_maximum = np.maximum(maximum, part.max())
        shift = 0.0 if np.isneginf(new_maximum) else new_maximum
        total = total * np.exp(maximum - shift) + np.exp(part - shift).sum()
        maximum = new_maximum
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
        log, heard = reads(answer, row, block), exponents(answer, row, block)
        # the old maximum and a few numbers more may be exponentiated together with a block
        most = max([most_read_at_once(log, row, block), *(len(part) for part in heard if len(part) > 2 * block)])
        if most > block:
            return (
                f"the values are right, but one step looks at {most} scores at once where a block has "
                f"{block}: use up one block before you look at the next."
            )
        # only who has seen all scores can measure the first one against the largest of all
        if goes_back(log, row, block) or any(np.isclose(part, row[0] - row[17], rtol=1e-9).any() for part in heard):
            return (
                "the values are right, but it goes back to scores of an earlier block: one walk through them is "
                "enough, if the old sum is corrected when the maximum grows."
            )
    return ""


ONLINE_SOFTMAX = Exercise(
    id="online_softmax",
    title="One block at a time",
    chapter="softmax",
    level="hard",
    minutes=20,
    blanks=3,
    oracle=_oracle,
    solution=online_softmax,
    family=_family,
    probes=(
        Probe("random, the last block shorter", _random),
        Probe(
            "increasing scores", lambda rng: (np.sort(rng.uniform(-1, 3, size=8)), 3),
            why="Every block raises the maximum: the old sum is rescaled each time.",
        ),
        Probe(
            "decreasing scores", lambda rng: (-np.sort(rng.uniform(-3, 1, size=8)), 3),
            why="No block after the first raises the maximum: nothing is rescaled.",
        ),
        Probe("one block", lambda rng: (rng.uniform(0.5, 2.0, size=5), 5), why="There is nothing to rescale yet."),
        Probe(
            "all scores near -1000", _far_below_zero, "edge",
            why="A maximum that starts at 0 makes every exponential vanish.",
        ),
        Probe(
            "first block all -inf", _first_block_minus_inf, "edge",
            why="-inf - (-inf) = NaN, and one NaN spoils all that follows.",
        ),
        Probe(
            "large scores", lambda rng: (1000 - np.sort(rng.uniform(-3, 1, size=6)), 3), "edge",
            why="An answer that exponentiates the scores themselves overflows here.",
        ),
        Probe("every score -inf", lambda rng: (np.full(6, -np.inf), 3), "edge"),
        Probe(
            "-inf in a block, and blocks of it between others", _minus_inf_between, "edge",
            why="A score of -inf adds nothing; it is no reason to skip its block, to stop or to start again.",
        ),
        Probe(
            "-inf to the end", lambda rng: (np.append(rng.uniform(0.5, 2.0, size=4), np.full(4, -np.inf)), 3), "edge",
            why="What was collected has to stay as it is.",
        ),
        Probe("one score", lambda rng: (rng.uniform(0.5, 2.0, size=1), 3), "edge", why="A block longer than the row."),
        Probe(
            "the largest score is 0", _largest_is_zero, "edge",
            why="A maximum of 0 is a maximum; and it occurs three times, twice in one block.",
        ),
    ),
    mistakes=online_mistakes.ONLINE_SOFTMAX,
    hints=(
        "Follow one old term of the sum. It is exp(score - maximum), and has to become exp(score - new_maximum): what "
        "is the quotient of the two?",
        "`total` is a sum of exponentials measured against `maximum`. When the maximum grows, the old sum is too large "
        "by one common factor; correct it before you add the new block.",
        "The new maximum is the larger of the old one and the block's. Multiply the old total by exp(old maximum - new "
        "maximum), then add the block's exponentials, shifted by the new maximum. If the new maximum is still -inf, "
        "change nothing.",
    ),
    why="`total` always equals the sum of exp(score - maximum) over the scores seen so far, and one factor restores "
    "this when the maximum moves. The guard is for rows in which every score so far is -inf: -inf - (-inf) would be "
    "NaN.",
    insight="Only two numbers are carried along, however long the row is; Flash attention is built on them.",
    accepts={
        "loops": _one_score_at_a_time, "by logsumexp": _by_logsumexp, "safe shift": _safe_shift,
        **accepts.ONLINE_SOFTMAX,
    },
    outputs=("maximum", "total"),
    method=_method,
)  # fmt: skip

EXERCISES = (ONLINE_SOFTMAX,)
