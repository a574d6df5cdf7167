"""The exercise on merging two partial results of attention, each over its own keys."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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


def _or_one(total):
    return np.where(total == 0, 1.0, total)


# Where a part counts by its factor alone, and the total is right all the same.
_FACTORS = "divisor = -> mass_a, mass_b = mass_a / _or_one(total_a), mass_b / _or_one(total_b)\ndivisor ="

_MERGE = Exercise(
    title="Two halves make a whole", level="medium", minutes=15, blanks=5, oracle=_merge_oracle, solution=merge_partials,
    probes=(
        Probe("5 keys and 3 keys", _partials(4, (5, 3), 2)),
        Probe("peaky scores", _partials(3, (4, 6), 5, lambda scores: 8 * scores), why="One part has nearly all the weight."),
        Probe("large scores", _partials(3, (4, 6), 2, lambda scores: scores + 1000), "edge", "Their exponentials overflow."),
        Probe("some rows see nothing in a part, or at all", _partials(4, (5, 3), 2, _some_hidden), "edge", "-inf - -inf is NaN."),
        Probe("one query, one feature", _partials(1, (2, 3), 1), "edge", "Axes of size 1 stay."),
        Probe("rows and parts far apart", _partials(4, (5, 3), 2, _far_apart), "edge", "Each row has its own maximum."),
        Probe("two parts of the same mass", _same_mass, "edge", "Their difference is 0, and nothing is empty."),
        Probe("which maximum is larger differs from row to row", _partials(3, (6, 4), 2, _in_turn),
            why="Each row has its own common maximum."),
        Probe("no row sees anything", _partials(2, (3, 4), 3, lambda scores: np.full_like(scores, -np.inf)), "edge",
            why="The maxima are -inf, the totals and out are 0."),
    ),
    mistakes=(
        Mistake("average", "share_a[:, np.newaxis] * out_a + share_b[:, np.newaxis] * out_b -> (out_a + out_b) / 2",
            "The two outputs were averaged; each counts by its share of the softmax's mass.", 1, sets="shares"),
        Mistake("l_only", ("* np.exp(maximum_a - finite) ->", "* np.exp(maximum_b - finite) ->"),
            "The totals are measured against different maxima: bring both to the common maximum first.", 2, sets="shares total"),
        Mistake("a_only", (_FACTORS, "np.where(total == 0, 1.0, total) -> np.where(mass_a + mass_b == 0, 1.0, mass_a + mass_b)"),
            "The weights miss the totals: a part with many keys carries more mass.", 2, sets="shares"),
        Mistake("factor_inv", "np.exp( -> 1 / np.exp(", "The factors are upside down: none may exceed 1.", 2),
        Mistake("totals_added", "return maximum, total -> return maximum, total_a + total_b",
            "total: the totals were added as they are; measure both against the common maximum.", 2, sets="total"),
        Mistake("total_unscaled", "total = mass_a + mass_b -> total = total_a + total_b",
            "The total by which out is divided was added up from the totals as they came, not from the masses.", 2, sets="total"),
        Mistake("swapped", ("share_a[ -> share_b[", "share_b[ -> share_a["),
            "Each output was weighted by the other part's mass.", 3),
        Mistake("unnormalised", (_FACTORS, "mass_a / divisor, mass_b / divisor -> mass_a, mass_b"),
            "These weights belong to sums, and out is a mean already: use each part's share of the total.", 3, sets="shares"),
        Mistake("no_shift",
            ("np.where(np.isneginf(maximum), 0.0, maximum) -> 0.0",
             "share_a, share_b = -> total = total * np.exp(-np.where(np.isneginf(maximum), 0.0, maximum))\nshare_a, share_b ="),
            "The masses are measured against 0, and near 1000 they overflow: measure both against the larger maximum.", 2,
            shows="lost"),
        Mistake("nan_rows", ("np.where(np.isneginf(maximum), 0.0, maximum) -> maximum", "np.where(total == 0, 1.0, -> ("),
            "Where neither part sees a key, -inf - (-inf) and 0/0 need a guard.", 3, shows="lost"),
        Mistake("added", "share_a[:, np.newaxis] * out_a + share_b[:, np.newaxis] * out_b -> out_a + out_b",
            "The two outputs were added; each is a mean and counts by its share of the softmax's mass.", 1, sets="shares"),
        Mistake("no_division", "mass_a / divisor, mass_b / divisor -> mass_a, mass_b",
            "The outputs were multiplied by the masses, but not divided by their sum: out is a mean.", 3, shows="row_factor",
            sets="shares"),
        Mistake("sums_divided", _FACTORS,
            "The outputs count as if they were sums; they are means already, and their totals belong to the weights.", 3,
            sets="shares"),
        Mistake("shares_l_only",
            ("mass_a / divisor, mass_b / divisor -> total_a / divisor, total_b / divisor",
             "np.where(total == 0, 1.0, total) -> np.where(total_a + total_b == 0, 1.0, total_a + total_b)"),
            "The shares in out come from the totals as they are, which are measured against different maxima.", 2, sets="shares"),
        Mistake("over_totals", "np.where(total == 0, 1.0, total) -> np.where(total_a + total_b == 0, 1.0, total_a + total_b)",
            "out was divided by the sum of the totals as they came; the masses have to add up to what divides.", 3,
            shows="row_factor", sets="shares"),
        Mistake("nan_division", "np.where(total == 0, 1.0, -> (",
            "Where neither part sees a key, 0 was divided by 0: divide by 1 there.", 3, shows="lost"),
        Mistake("smaller", "np.maximum( -> np.minimum(",
            "The common maximum is the smaller of the two in yours: what lies above it may overflow.", 2, sets="maximum"),
        Mistake("second", "np.maximum(maximum_a, maximum_b) -> maximum_b",
            "All is measured against the second part's maximum; the first one's may be the larger.", 2, sets="maximum"),
        Mistake("first_only", "np.exp(maximum_b - finite) -> np.ones_like(total_b)",
            "The second part was not brought to the common maximum: its own may be the smaller one, too.", 2, sets="maximum"),
        Mistake("one_for_all", "np.where(np.isneginf(maximum), 0.0, maximum) -> maximum.max()",
            "One maximum serves all queries: one that lies far below it loses its mass. Each row needs its own.", 2,
            sets="maximum"),
        Mistake("larger_alone",
            "share_a[:, np.newaxis] * out_a + share_b[:, np.newaxis] * out_b -> np.where(maximum_a >= maximum_b, out_a.T, "
            "out_b.T).T",
            "Only the part with the larger maximum counts; the other one has its share of the mass, too.", 1, sets="shares"),
        Mistake("against_zero",
            "return maximum, total -> return maximum, total_a * np.exp(maximum_a) + total_b * np.exp(maximum_b)",
            "The total is measured against 0; it has to be measured against the maximum that you return.", 2, sets="total"),
        Mistake("total_is_lse", "return maximum, total -> return maximum, maximum + np.log(_or_one(total))",
            "In place of the total you returned the logsumexp: the total is a sum of exponentials against the maximum.", 2,
            sets="total"),
    ),
    hints=(
        "What would the total of a part be, had it been measured against another maximum?",
        "The mass of a part is its total times exp(its maximum - common maximum). The two masses add up to the total.",
        "out is the mean of out_a and out_b with the masses as weights. Where the maximum is -inf subtract 0, and where the total "
        "is 0 divide by 1.",
    ),
    why="A mean of means, weighted by mass, is the mean over everything. The masses are only comparable once they are measured "
    "against one maximum.",
    insight="Merging is associative and does not care about order: keys can be split over time or over machines.",
    outputs=("maximum", "total", "out"),
)  # fmt: skip
