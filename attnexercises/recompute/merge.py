"""The exercise on merging two partial results of attention, each over its own keys."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.recompute import accepts, merge_mistakes


def merge_partials(maximum_a, total_a, out_a, maximum_b, total_b, out_b):
    maximum = np.maximum(maximum_a, maximum_b)
    finite = np.where(np.isneginf(maximum), 0.0, maximum)  # nothing seen by either
    mass_a = total_a * np.exp(maximum_a - finite)
    mass_b = total_b * np.exp(maximum_b - finite)
    total = mass_a + mass_b
    divisor = np.where(total == 0, 1.0, total)
    share_a, share_b = mass_a / divisor, mass_b / divisor
    out = share_a[:, np.newaxis] * out_a + share_b[:, np.newaxis] * out_b
    return maximum, total, out


def _merge_oracle(maximum_a, total_a, out_a, maximum_b, total_b, out_b):
    rows, out = len(out_a), np.zeros(out_a.shape)
    maximum, total = np.zeros(rows), np.zeros(rows)
    for i in range(rows):
        parts = [(maximum_a[i], total_a[i], out_a[i]), (maximum_b[i], total_b[i], out_b[i])]
        maximum[i] = max(part[0] for part in parts)
        masses = [0.0 if t == 0 else t * math.exp(m - maximum[i]) for m, t, _ in parts]
        total[i] = math.fsum(masses)
        for mass, (_, _, mean) in zip(masses, parts, strict=True):
            out[i] += 0 if mass == 0 else mass / total[i] * mean
    return maximum, total, out


def _merge_family(bugs):
    def variant(maximum_a, total_a, out_a, maximum_b, total_b, out_b):
        maximum = np.maximum(maximum_a, maximum_b)
        if "smaller" in bugs or "second" in bugs:
            maximum = np.minimum(maximum_a, maximum_b) if "smaller" in bugs else maximum_b
        finite = maximum if "nan_rows" in bugs else np.where(np.isneginf(maximum), 0.0, maximum)
        if "no_shift" in bugs:
            finite = np.zeros_like(maximum)
        if "one_for_all" in bugs:
            finite = np.full_like(maximum, maximum.max())
        sign = -1 if "factor_inv" in bugs else 1
        factors = [np.exp(sign * (m - finite))[:, None] for m in (maximum_a, maximum_b)]
        if "first_only" in bugs:
            factors[1] = np.ones_like(factors[1])
        totals = [total_a[:, None], total_b[:, None]]
        total = totals[0] * factors[0] + totals[1] * factors[1]
        shares = [factors[0] * totals[0], factors[1] * totals[1]]
        if "l_only" in bugs:
            shares, total = totals, totals[0] + totals[1]
        elif "a_only" in bugs:
            shares = factors
        if "shares_l_only" in bugs:
            shares = totals
        if bugs & {"totals_added", "total_unscaled"}:
            total = totals[0] + totals[1]
        if "swapped" in bugs:
            shares = shares[::-1]
        if "average" in bugs:
            out = (out_a + out_b) / 2
        elif "added" in bugs:
            out = out_a + out_b
        elif "unnormalised" in bugs or "sums_divided" in bugs:
            out = factors[0] * out_a + factors[1] * out_b
            out = out / np.where(total == 0, 1, total) if "sums_divided" in bugs else out
        elif "no_division" in bugs:
            out = shares[0] * out_a + shares[1] * out_b
        elif "larger_alone" in bugs:
            out = np.where(maximum_a >= maximum_b, out_a.T, out_b.T).T
        else:
            bottom = total if "total_unscaled" in bugs else shares[0] + shares[1]
            if "over_totals" in bugs:
                bottom = totals[0] + totals[1]
            if "nan_rows" not in bugs and "nan_division" not in bugs:
                bottom = np.where(bottom == 0, 1, bottom)
            out = (shares[0] * out_a + shares[1] * out_b) / bottom
        if "no_shift" in bugs:
            total = total * np.exp(-np.where(np.isneginf(maximum), 0.0, maximum))[:, None]
        if "against_zero" in bugs:
            total = totals[0] * np.exp(maximum_a)[:, None] + totals[1] * np.exp(maximum_b)[:, None]
        if "total_is_lse" in bugs:
            total = maximum[:, None] + np.log(np.where(total == 0, 1, total))
        return maximum, total[:, 0], out

    return variant


def _partials(q, counts, v, change=lambda scores: scores):
    def make(rng):
        parts = []
        for number, k in enumerate(counts):
            scores, value = change(rng.standard_normal((q, k)) + number), rng.standard_normal((k, v))
            maximum = scores.max(axis=1, initial=-np.inf)
            exponentials = np.exp(scores - np.where(np.isneginf(maximum), 0, maximum)[:, None])
            total = exponentials.sum(axis=1)
            parts += [maximum, total, exponentials @ value / np.where(total == 0, 1, total)[:, None]]
        return tuple(parts)

    return make


def _some_hidden(scores):
    scores[0] = -np.inf  # in both parts: nothing to see at all
    scores[1 if scores.shape[1] == 5 else 2] = -np.inf  # in one part
    return scores


def _in_turn(scores):
    """The larger maximum is in turn in the part of 6 keys and in the other one."""
    return scores + (3.0 * np.array([[1], [-1], [1]]) if scores.shape[1] == 6 else 0.0)


def _far_apart(scores):
    """The rows lie 1000 apart, and in the second row the part of 5 keys is 1000 below that of 3."""
    places = np.array([[0.0], [0.0], [1000.0], [-1000.0]])
    places[1] = -1000.0 if scores.shape[1] == 5 else 0.0
    return scores + places


def _same_mass(rng):
    maximum, total, out = _partials(3, (4,), 2)(rng)
    return maximum, total, out, maximum.copy(), total.copy(), rng.standard_normal(out.shape)


def _by_logsumexp(maximum_a, total_a, out_a, maximum_b, total_b, out_b):
    a, b = maximum_a + np.log(total_a), maximum_b + np.log(total_b)
    both = np.logaddexp(a, b)
    safe = np.where(np.isneginf(both), 0, both)
    out = np.exp(a - safe)[:, None] * out_a + np.exp(b - safe)[:, None] * out_b
    maximum = np.maximum(maximum_a, maximum_b)
    return maximum, np.exp(safe - np.where(np.isneginf(maximum), 0, maximum)) * ~np.isneginf(both), out


_MERGE = Exercise(
    "merge_partials",
    title="Two halves make a whole",
    chapter="recompute",
    level="medium",
    minutes=15,
    blanks=5,
    oracle=_merge_oracle,
    solution=merge_partials,
    family=_merge_family,
    probes=(
        Probe("5 keys and 3 keys", _partials(4, (5, 3), 2)),
        Probe(
            "peaky scores", _partials(3, (4, 6), 5, lambda scores: 8 * scores),
            why="One part has nearly all the weight.",
        ),
        Probe("large scores", _partials(3, (4, 6), 2, lambda scores: scores + 1000), "edge", "Their exponentials overflow."),
        Probe("some rows see nothing in a part, or at all", _partials(4, (5, 3), 2, _some_hidden), "edge", "-inf - -inf is NaN."),
        Probe("one query, one feature", _partials(1, (2, 3), 1), "edge", "Axes of size 1 stay."),
        Probe("rows and parts far apart", _partials(4, (5, 3), 2, _far_apart), "edge", "Each row has its own maximum."),
        Probe("two parts of the same mass", _same_mass, "edge", "Their difference is 0, and nothing is empty."),
        Probe(
            "which maximum is larger differs from row to row", _partials(3, (6, 4), 2, _in_turn),
            why="Each row has its own common maximum.",
        ),
        Probe(
            "no row sees anything", _partials(2, (3, 4), 3, lambda scores: np.full_like(scores, -np.inf)), "edge",
            why="The maxima are -inf, the totals and out are 0.",
        ),
    ),
    mistakes=merge_mistakes.MERGE_PARTIALS,
    hints=(
        "What would the total of a part be, had it been measured against another maximum?",
        "The mass of a part is its total times exp(its maximum - common maximum). The two masses add up to the total.",
        "out is the mean of out_a and out_b with the masses as weights. Where the maximum is -inf subtract 0, and "
        "where the total is 0 divide by 1.",
    ),
    why="A mean of means, weighted by mass, is the mean over everything. The masses are only comparable once they are "
    "measured against one maximum.",
    insight="Merging is associative and does not care about order: keys can be split over time or over machines.",
    accepts={"by logsumexp": _by_logsumexp, **accepts.MERGE_PARTIALS},
    outputs=("maximum", "total", "out"),
)  # fmt: skip

EXERCISES = (_MERGE,)
