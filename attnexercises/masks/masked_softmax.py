"""The exercise on a softmax with a mask, and a wrong one for `spot_mask`."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def masked_softmax(scores, keep):
    alive = keep.any(axis=-1, keepdims=True)  # may this query look at anything?
    visible = np.where(keep | ~alive, scores, -np.inf)
    exponentials = np.exp(visible - visible.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.where(alive, weights, 0)


def _masked_oracle(scores, keep):
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        allowed = [j for j, may in enumerate(keep[row]) if may]
        largest = max((scores[row][j] for j in allowed), default=0.0)
        powers = [math.exp(scores[row][j] - largest) for j in allowed]
        for j, power in zip(allowed, powers, strict=True):
            weights[(*row, j)] = power / math.fsum(powers)
    return weights


def _padding(rng):
    keep = np.arange(5) < np.array([[[3]], [[4]]])
    return rng.standard_normal((2, 3, 5)), np.broadcast_to(keep, (2, 3, 5)).copy()


def _shifted(by):
    def make(rng):
        keep = np.arange(6) <= np.arange(4)[:, np.newaxis] + 1
        return by + rng.standard_normal((4, 6)), keep

    return make


def _empty_rows(rng):
    keep = np.tril(np.ones((4, 4), dtype=bool)) & (np.arange(4) >= 2)
    return rng.standard_normal((4, 4)), keep


def _huge_hidden(rng):
    scores, keep = _shifted(0.0)(rng)
    scores[0, 3] = scores[2, 5] = 900.0
    return scores, keep


def _near_minus_2e9(rng):
    # Hundreds apart: each row has one weight 1, so that a sum in another order cannot be wrong in its digits.
    scores, keep = _shifted(0.0)(rng)
    return 100.0 * rng.permuted(np.tile(np.arange(6.0), (4, 1)), axis=1) - 2e9, keep


def _zeros(rng):
    scores, keep = _shifted(0.0)(rng)
    scores[1:, 1] = scores[3, 3] = 0.0
    scores[0, 0] = -0.0
    return scores, keep


def _wide_rows(rng):
    scores, keep = _shifted(0.0)(rng)
    return scores + 1000.0 * (np.arange(6) % 3), keep


def _empty_everywhere(rng):
    keep = rng.random((2, 1, 3, 4, 5)) < 0.7
    keep[..., 0, :, :][..., [0, 2], :] = False
    keep[..., 1, :, :][..., 3, :] = False
    keep[0, 0, 2] = False
    return rng.standard_normal(keep.shape), keep


_CARELESS = "keep.any(axis=-1, keepdims=True) -> np.True_"  # no care for rows that see nothing
# Where the sum is 0, too, the weights are 0.
_ZEROS = "weights = -> alive = alive & (exponentials != 0)\nweights ="

_MISTAKES = (
    Mistake("inverted", "alive = -> keep = ~keep\nalive =",
        "Your mask works the wrong way round: True means that the query may look at the key.", 1),
    Mistake("after_no_renorm", ("keep | ~alive -> True", "np.where(alive, weights, 0) -> weights * keep"),
        "You hid the keys after the softmax. They have to be hidden before it.", 2, shows="rows_sum", sets="hide"),
    Mistake("after_renorm",
        ("keep | ~alive -> True", "np.exp(visible -> keep * np.exp(visible",
         "return -> alive = alive & (exponentials != 0)\nreturn"),
        "Hidden keys still take part in the maximum, so one with a huge score wipes out the visible keys. Hide them before the softmax.", 2,
        sets="hide"),
    Mistake("times_zero", (_CARELESS, "-np.inf -> 0.0"),
        "A score of 0 does not hide a key: the exponential of 0 is 1, and the key still gets a weight.", 2, sets="hide"),
    Mistake("add_bool", (_CARELESS, "np.where(keep | ~alive, scores, -np.inf) -> scores + keep"),
        "You added True and False, 1 and 0, to the scores: that makes a key e times as likely and hides none.", 2, sets="hide"),
    Mistake("minus_ten", (_CARELESS, "-np.inf -> -10.0"),
        "A finite number such as -10 hides a key only as long as some visible score is far higher.", 2, sets="hide"),
    Mistake("inf_times", "np.where(keep | ~alive, scores, -np.inf) -> scores + ~keep * -np.inf",
        "0 times infinity is NaN. Choose between two numbers instead of multiplying them.", 2, shows="lost", sets="hide"),
    Mistake("uniform", "np.where(alive, weights, 0) -> keep / np.where(alive, keep.sum(axis=-1, keepdims=True), 1)",
        "All visible keys get the same weight. Their scores have to decide how much each of them counts.", 2, sets="hide"),
    Mistake("hardmax", "np.where(alive, weights, 0) -> np.where(alive, visible == visible.max(axis=-1, keepdims=True), 0) * 1.0",
        "You picked the best visible key only. A softmax gives every visible key a share.", 2, sets="hide"),
    Mistake("exponentials_alone", "weights = exponentials / exponentials.sum(axis=-1, keepdims=True) -> weights = exponentials",
        "The exponentials were not divided by the sum of their row.", 2, shows="rows_sum"),
    Mistake("not_masked", "keep | ~alive -> True",
        "Hidden keys still get weight: only the rows that see nothing were treated. Hide a key before the softmax.", 1, sets="hide"),
    Mistake("first_of_batch", "keep): -> keep):\n    keep = keep[:1] if keep.ndim > 2 else keep",
        "You used the mask of the first batch element for all of them.", 1, shows="one_element"),
    Mistake("inplace", "exponentials = -> np.copyto(scores, -np.inf, where=~keep)\nexponentials =",
        "You wrote into the caller's scores; work on an array of your own.", 1),
    Mistake("zero_hidden", "alive = -> keep = keep & (scores != 0)\nalive =",
        "A score of 0 counts as hidden. Only `keep` may hide a score.", 2),
    Mistake("sum_of_rows", "exponentials.sum(axis=-1, keepdims=True) -> exponentials.sum(axis=(-2, -1), keepdims=True)",
        "The exponentials of several rows were added up. Each row is divided by its own sum.", 2, sets="total"),
    Mistake("nan_rows", (_CARELESS, "np.where(alive, weights, 0) -> weights"),
        "For a query with no allowed key you compute -inf minus -inf. Such a query should get zeros.", 3, shows="lost"),
    Mistake("minus_1e9_add", (_CARELESS, "np.where(keep | ~alive, scores, -np.inf) -> scores + np.where(keep, 0, -1e9)"),
        "If you add -1e9 to a whole row, its scores keep their differences. A query with no allowed key should get zeros.", 3,
        sets="hide"),
    Mistake("minus_1e9_fill", (_CARELESS, "-np.inf -> -1e9"),
        "If a whole row is -1e9, its scores are equal. A query with no allowed key should get zeros.", 3, sets="hide"),
    Mistake("no_max", ("visible - visible.max(axis=-1, keepdims=True) -> visible", _ZEROS),
        "The exponential of a large score overflows. Shift each row by its largest visible score.", 2, shows="lost", sets="shift"),
    Mistake("max_global", ("visible.max(axis=-1, keepdims=True) -> visible.max()", _ZEROS),
        "You used one maximum for all rows. A row far below it underflows to zeros, so each row needs its own maximum.", 2,
        shows="lost", sets="shift"),
    Mistake("finfo_min", (_CARELESS, "-np.inf -> np.finfo(float).min"),
        "A query with no allowed key spreads its weight evenly over forbidden keys. It should get zeros.", 3, sets="hide"),
    Mistake("softmax_queries", "axis=-1 -> axis=max(-2, -scores.ndim)",
        "Your softmax runs along the queries, the axis before the last. It is the keys that share a query's weight.", 2,
        shows="rows_sum"),
    Mistake("all_not_any", "keep.any -> keep.all",
        "You treated every query that hides some key as empty. Only a query that hides all keys is empty.", 3),
    Mistake("log", "weights, 0 -> visible - np.logaddexp.reduce(visible, axis=-1, keepdims=True), -np.inf",
        "You returned the logarithms of the weights. The exercise asks for the weights themselves.", 2, shows="lost"),
)

_MASKED = Exercise(
    title="A softmax with a mask", level="medium", minutes=15, blanks=3, oracle=_masked_oracle, solution=masked_softmax,
    probes=(
        Probe("padding", _padding),
        Probe("causal", lambda rng: (rng.standard_normal((4, 4)), np.tril(np.ones((4, 4), dtype=bool))), "equal",
            "square, so that mixed-up axes run"),
        Probe("all allowed", lambda rng: (rng.standard_normal((3, 5)), np.ones((3, 5), dtype=bool)), why="then it is a softmax"),
        Probe("scores near -30", _shifted(-30.0), why="below every modest fill"),
        Probe("scores near 1000", _shifted(1000.0), "edge", "their exponentials overflow"),
        Probe("scores near -2e9", _near_minus_2e9, "edge", "below every fill: only minus infinity is lower"),
        Probe("a row that sees nothing", _empty_rows, "edge", "among others that see something"),
        Probe("a hidden key has a huge score", _huge_hidden, "edge", "it must not enter the maximum"),
        Probe("rows far apart", lambda rng: (_shifted(0.0)(rng)[0] - [[0], [2000], [0], [1000]], _shifted(0.0)(rng)[1]), "edge",
            "each row needs its own maximum"),
        Probe("zeros among the scores", _zeros, "edge", "a score of 0 is a score like any other"),
        Probe("scores 1000 apart in a row", _wide_rows, "edge", "only the largest visible score is a safe shift"),
        Probe("three leading axes, empty rows first, between and last", _empty_everywhere, "edge",
            "every axis stays, and an empty row says nothing about the next"),
        Probe("every row empty", lambda rng: (rng.standard_normal((3, 2)), np.zeros((3, 2), dtype=bool)), "edge", "all zeros"),
        Probe("one row", lambda rng: (rng.standard_normal(5), np.arange(5) != 3), "edge", "no leading axis at all"),
    ),
    mistakes=_MISTAKES,
    hints=(
        "Choose score by score, with `np.where`: the score itself if the key is allowed, otherwise a number whose exponential is "
        "exactly 0.",
        "Only minus infinity is below every score. Put it in before the maximum is taken and before the sum; then the softmax of "
        "chapter 1 does the rest, row by row.",
        "In a row without an allowed key the maximum is minus infinity as well. Find those rows with `keep.any` along the last "
        "axis, give them harmless scores, and put zeros in at the end.",
    ),
    why="Rows with nothing to look at keep their scores, so that no infinity meets another, and are set to zero at the end. The "
    "library replaces their maximum by 0 instead; the weights are the same. Replacing each NaN by 0 at the end, with `np.nan_to_num`, "
    "gives the same weights, too, as long as the scores are finite. But a NaN among the visible scores would then vanish, and "
    "nobody would look for its cause.",
    insight="Hidden keys get exactly 0, whatever their scores: as if they had been deleted.",
)  # fmt: skip


# spot_mask: the reader sees the scores that `suspect` gets for 5 tokens, and its weights

suspect = _MASKED.family(frozenset({"minus_ten"}))
