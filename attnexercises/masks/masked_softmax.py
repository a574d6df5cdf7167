"""The exercise on a softmax with a mask, and a wrong one for `spot_mask`."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.masks import accepts, masked_softmax_mistakes
from attnexercises.softmax.stable import careful_softmax


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


_FILLS = {"times_zero": 0.0, "minus_ten": -10.0, "minus_1e9_fill": -1e9, "finfo_min": np.finfo(float).min}


def _masked_family(bugs):
    def variant(scores, keep):
        keep = ~keep if "inverted" in bugs else keep
        keep = keep[:1] if "first_of_batch" in bugs and keep.ndim > 2 else keep
        if "all_not_any" in bugs:
            keep = keep & keep.all(axis=-1, keepdims=True)
        given = scores.copy()
        if "inplace" in bugs:
            np.copyto(scores, -np.inf, where=~keep)
        if "after_no_renorm" in bugs or "after_renorm" in bugs:
            weights = careful_softmax(given, bugs) * keep
            total = weights.sum(axis=-1, keepdims=True)
            if "nan_rows" not in bugs:
                total = np.where(total == 0, 1, total)
            return weights if "after_no_renorm" in bugs else weights / total
        if "inf_times" in bugs:
            return careful_softmax(given + ~keep * -np.inf, bugs)
        if "add_bool" in bugs:
            return careful_softmax(given + keep, bugs)
        if "minus_1e9_add" in bugs:
            return careful_softmax(given + np.where(keep, 0, -1e9), bugs)
        fill = next((number for bug, number in _FILLS.items() if bug in bugs), -np.inf)
        visible = np.where(keep, given, fill)
        if "softmax_queries" in bugs and visible.ndim > 1:
            return careful_softmax(visible.mT, bugs).mT
        if "log" in bugs:
            total = np.logaddexp.reduce(visible, axis=-1, keepdims=True)
            return visible - np.where(np.isneginf(total), 0, total)
        return careful_softmax(visible, bugs)

    return variant


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


_MASKED = Exercise(
    "masked_softmax",
    title="A softmax with a mask",
    chapter="masks",
    level="medium",
    minutes=15,
    blanks=3,
    oracle=_masked_oracle,
    solution=masked_softmax,
    family=_masked_family,
    probes=(
        Probe("padding", _padding),
        Probe(
            "causal",
            lambda rng: (rng.standard_normal((4, 4)), np.tril(np.ones((4, 4), dtype=bool))),
            "equal",
            "square, so that mixed-up axes run",
        ),
        Probe(
            "all allowed",
            lambda rng: (rng.standard_normal((3, 5)), np.ones((3, 5), dtype=bool)),
            why="then it is a softmax",
        ),
        Probe("scores near -30", _shifted(-30.0), why="below every modest fill"),
        Probe("scores near 1000", _shifted(1000.0), "edge", "their exponentials overflow"),
        Probe("scores near -2e9", _near_minus_2e9, "edge", "below every fill: only minus infinity is lower"),
        Probe("a row that sees nothing", _empty_rows, "edge", "among others that see something"),
        Probe("a hidden key has a huge score", _huge_hidden, "edge", "it must not enter the maximum"),
        Probe(
            "rows far apart",
            lambda rng: (_shifted(0.0)(rng)[0] - [[0], [2000], [0], [1000]], _shifted(0.0)(rng)[1]),
            "edge",
            "each row needs its own maximum",
        ),
        Probe("zeros among the scores", _zeros, "edge", "a score of 0 is a score like any other"),
        Probe("scores 1000 apart in a row", _wide_rows, "edge", "only the largest visible score is a safe shift"),
        Probe(
            "three leading axes, empty rows first, between and last", _empty_everywhere, "edge",
            "every axis stays, and an empty row says nothing about the next",
        ),
        Probe("every row empty", lambda rng: (rng.standard_normal((3, 2)), np.zeros((3, 2), dtype=bool)), "edge", "all zeros"),
        Probe("one row", lambda rng: (rng.standard_normal(5), np.arange(5) != 3), "edge", "no leading axis at all"),
    ),
    mistakes=masked_softmax_mistakes.MASKED_SOFTMAX,
    hints=(
        "Choose score by score, with `np.where`: the score itself if the key is allowed, otherwise a number whose "
        "exponential is exactly 0.",
        "Only minus infinity is below every score. Put it in before the maximum is taken and before the sum; then the "
        "softmax of chapter 1 does the rest, row by row.",
        "In a row without an allowed key the maximum is minus infinity as well. Find those rows with `keep.any` along "
        "the last axis, give them harmless scores, and put zeros in at the end.",
    ),
    why="Rows with nothing to look at keep their scores, so that no infinity meets another, and are set to zero at the "
    "end. The library replaces their maximum by 0 instead; the weights are the same.",
    insight="Hidden keys get exactly 0, whatever their scores: as if they had been deleted.",
    accepts={
        "maximum replaced": lambda scores, keep: careful_softmax(np.where(keep, scores, -np.inf)),
        **accepts.MASKED_SOFTMAX,
    },
)  # fmt: skip


# spot_mask: the reader sees the weights of `suspect`, 5 tokens

suspect = _masked_family(frozenset({"after_no_renorm"}))

EXERCISES = (_MASKED,)
