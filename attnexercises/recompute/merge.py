"""The exercise on merging two partial results of attention, each over its own keys."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def merge_partials(out_a, logsumexp_a, out_b, logsumexp_b):
    maximum = np.maximum(logsumexp_a, logsumexp_b)
    finite = np.where(np.isneginf(maximum), 0.0, maximum)  # nothing seen by either
    mass_a = np.exp(logsumexp_a - finite)
    mass_b = np.exp(logsumexp_b - finite)
    total = mass_a + mass_b
    divisor = np.where(total == 0, 1.0, total)
    share_a, share_b = mass_a / divisor, mass_b / divisor
    out = share_a[:, np.newaxis] * out_a + share_b[:, np.newaxis] * out_b
    logsumexp = maximum + np.log(divisor)
    return out, logsumexp


def _merge_oracle(out_a, logsumexp_a, out_b, logsumexp_b):
    out, logsumexp = np.zeros(out_a.shape), np.full(len(out_a), -np.inf)
    for i in range(len(out_a)):
        parts = [(out_a[i], logsumexp_a[i]), (out_b[i], logsumexp_b[i])]
        top = max(part[1] for part in parts)
        if top == -math.inf:
            continue
        masses = [math.exp(each - top) for _, each in parts]
        logsumexp[i] = top + math.log(math.fsum(masses))
        for mass, (mean, _) in zip(masses, parts, strict=True):
            out[i] += 0 if mass == 0 else mass / math.fsum(masses) * mean
    return out, logsumexp


def _partials(q, counts, v, change=lambda scores: scores):
    def make(rng):
        parts = []
        for number, k in enumerate(counts):
            scores, value = change(rng.standard_normal((q, k)) + number), rng.standard_normal((k, v))
            maximum = scores.max(axis=1, initial=-np.inf)
            finite = np.where(np.isneginf(maximum), 0, maximum)
            exponentials = np.exp(scores - finite[:, None])
            total = _or_one(exponentials.sum(axis=1))
            parts += [exponentials @ value / total[:, None], maximum + np.log(total)]
        return tuple(parts)

    return make


def _some_hidden(scores):
    scores[0] = -np.inf  # in both parts: nothing to see at all
    scores[1 if scores.shape[1] == 5 else 2] = -np.inf  # in one part
    return scores


def _in_turn(scores):
    """The larger logsumexp is in turn in the part of 6 keys and in the other one."""
    return scores + (800.0 * np.array([[1], [-1], [1]]) if scores.shape[1] == 6 else 0.0)


def _far_apart(scores):
    """The rows lie 1000 apart, and in the second row the part of 5 keys is 1000 below that of 3."""
    places = np.array([[0.0], [0.0], [1000.0], [-1000.0]])
    places[1] = -1000.0 if scores.shape[1] == 5 else 0.0
    return scores + places


def _same_mass(rng):
    out, logsumexp = _partials(3, (4,), 2)(rng)
    return out, logsumexp, rng.standard_normal(out.shape), logsumexp.copy()


def _or_one(total):
    return np.where(total == 0, 1.0, total)


_OUT = "share_a[:, np.newaxis] * out_a + share_b[:, np.newaxis] * out_b -> "

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
        Probe(
            "which logsumexp is larger differs from row to row", _partials(3, (6, 4), 2, _in_turn),
            why="Each row has its own maximum.",
        ),
        Probe(
            "no row sees anything", _partials(2, (3, 4), 3, lambda scores: np.full_like(scores, -np.inf)), "edge",
            why="The logsumexps are -inf, and out is 0.",
        ),
    ),
    mistakes=(
        Mistake("average", _OUT + "(out_a + out_b) / 2",
                "The two outputs were averaged. Each of them counts by its share of the softmax's denominator.", 1, sets="shares"),
        Mistake("added", _OUT + "out_a + out_b",
                "The two outputs were added. Each of them is a mean and counts by its share of the denominator.", 1, sets="shares"),
        Mistake("swapped", ("share_a[ -> share_b[", "share_b[ -> share_a["),
                "Each output was weighted by the other part's share.", 3, sets="shares"),
        Mistake("larger_alone", _OUT + "np.where(logsumexp_a >= logsumexp_b, out_a.T, out_b.T).T",
                "Only the part with the larger logsumexp counts in out. The other part has a share of the denominator, too.", 1, sets="shares"),
        Mistake("not_divided", "mass_a / divisor, mass_b / divisor -> mass_a, mass_b",
                "The outputs were multiplied by the masses, but not divided by their sum. A mean needs both.", 3, shows="row_factor", sets="shares"),
        Mistake("no_exponential", "mass_a / divisor, mass_b / divisor -> logsumexp_a / (logsumexp_a + logsumexp_b), logsumexp_b / (logsumexp_a + logsumexp_b)",
                "The outputs are weighted by the logsumexps. A part's denominator is the exponential of its logsumexp.", 2, sets="shares"),
        Mistake("factor_inv", ("np.exp(logsumexp_a - finite) -> np.exp(finite - logsumexp_a)", "np.exp(logsumexp_b - finite) -> np.exp(finite - logsumexp_b)"),
                "The masses are upside down: the sign in the exponent belongs the other way round.", 2, sets="shares logsumexp"),
        Mistake("lse_added", "maximum + np.log(divisor) -> logsumexp_a + logsumexp_b",
                "The logsumexps were added. What adds up are the two denominators, which are their exponentials.", 2, sets="logsumexp"),
        Mistake("lse_larger", "maximum + np.log(divisor) -> maximum",
                "For logsumexp the larger of the two was returned. The other part adds its mass to the denominator.", 2, sets="logsumexp"),
        Mistake("log_10", "np.log(divisor) -> np.log10(divisor)",
            "You took the logarithm to base 10. The logsumexp is a natural logarithm.", 3),
        Mistake("log_2", "np.log(divisor) -> np.log2(divisor)",
            "You took the logarithm to base 2. The logsumexp is a natural logarithm.", 3),
        Mistake("log_subtracted", "maximum + np.log(divisor) -> maximum - np.log(divisor)",
            "You subtracted the logarithm of the sum. It is added to the maximum.", 3),
        Mistake("shares_squared", "share_a[:, np.newaxis] * out_a + share_b[:, np.newaxis] * out_b -> share_a[:, np.newaxis] ** 2 * out_a + share_b[:, np.newaxis] ** 2 * out_b",
            "The shares multiply the outputs twice. Once is enough.", 2),
        Mistake("lse_total", "maximum + np.log(divisor) -> total",
            "You returned the total. Take its logarithm, and add the maximum that you took off.", 3, sets="logsumexp"),
        Mistake("lse_smaller", "maximum + np.log(divisor) -> np.minimum(logsumexp_a, logsumexp_b) + np.log(divisor)",
            "You added the logarithm of the total to the smaller logsumexp. Add back what you took off, the larger one.", 3, sets="logsumexp"),
        Mistake("lse_log_2", "maximum + np.log(divisor) -> maximum + np.log(2.0)",
            "You added the logarithm of 2. The smaller part counts as much as its mass, not as a whole.", 2, sets="logsumexp"),
        Mistake("lse_averaged", "maximum + np.log(divisor) -> (logsumexp_a + logsumexp_b) / 2",
            "The logsumexps were averaged. What adds up are the two denominators, which are their exponentials.", 2, sets="logsumexp"),
        Mistake("no_log", "np.log(divisor) -> divisor",
                "The sum of the masses was added to the maximum without a logarithm.", 3, sets="logsumexp"),
        Mistake("unit_forgotten", "maximum + np.log(divisor) -> np.log(total)",
                "logsumexp is measured against the maximum that was subtracted: add the maximum to it again.", 3, sets="logsumexp"),
        Mistake("mean_lse", "maximum + np.log(divisor) -> maximum + np.log(divisor / 2)",
                "logsumexp holds the mean of the two denominators, not their sum.", 2, sets="logsumexp"),
        Mistake("weighted_lse", "maximum + np.log(divisor) -> np.where(np.isneginf(maximum), maximum, share_a * np.maximum(logsumexp_a, -1e300) + share_b * np.maximum(logsumexp_b, -1e300))",
                "The logsumexps were averaged by the shares, as the outputs are. The denominators have to be added.", 2, sets="logsumexp"),
        Mistake("no_shift", ("np.where(np.isneginf(maximum), 0.0, maximum) -> 0.0", "maximum + np.log(divisor) -> np.log(total)"),
                "The masses are measured against 0, and near 1000 they overflow. Measure both against the larger logsumexp.", 2, shows="lost"),
        Mistake("nan_rows", ("np.where(np.isneginf(maximum), 0.0, maximum) -> maximum", "np.where(total == 0, 1.0, total) -> total"),
                "Where neither part sees a key, -inf - (-inf) is not a number. Subtract 0 there.", 3, shows="lost"),
        Mistake("nan_division", "np.where(total == 0, 1.0, total) -> total",
                "Where neither part sees a key, the shares are not numbers. Such a query keeps the output 0.", 3, shows="lost"),
        Mistake("smaller", "np.maximum( -> np.minimum(",
                "Both masses are measured against the smaller logsumexp in yours. What lies far above it overflows.", 2, sets="maximum"),
        Mistake("second", "np.maximum(logsumexp_a, logsumexp_b) -> logsumexp_b",
                "Both masses are measured against the second part's logsumexp. The first part's may be the larger one.", 2, sets="maximum"),
        Mistake("first_only", "np.exp(logsumexp_b - finite) -> np.ones_like(logsumexp_b)",
                "The second part's mass was set to 1. That is so only where its logsumexp is the larger one.", 2, sets="shares logsumexp"),
        Mistake("one_for_all", ("np.where(np.isneginf(maximum), 0.0, maximum) -> maximum.max()", "maximum + np.log(divisor) -> finite + np.log(total)"),
                "One maximum serves all queries, and a query that lies far below it loses its mass. Each row needs its own.", 2, sets="maximum"),
    ),
    hints=(
        "A part's denominator is the exponential of its logsumexp. What is the denominator over the keys of both parts?",
        "Measure both denominators against the larger logsumexp: the mass of a part is exp(its logsumexp - the larger "
        "one). The sum of the two masses is the common denominator in the same unit.",
        "out is the mean of out_a and out_b with the masses as weights; logsumexp is the maximum plus the logarithm of "
        "their sum. Where both logsumexps are -inf, subtract 0, and divide by 1.",
    ),
    why="A mean of means, each weighted by its denominator, is the mean over everything. The denominators can be "
    "compared once they are measured in the same unit.",
    insight="Merging does not depend on the order, so keys can be split over time, over processors or over machines.",
    outputs=("out", "logsumexp"),
)  # fmt: skip
