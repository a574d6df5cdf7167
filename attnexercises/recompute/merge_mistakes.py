"""The known mistakes in `merge_partials`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

MERGE_PARTIALS = (
    Mistake(
        "average", "(out_a + out_b) / 2",
        "The two outputs were averaged; each counts by its share of the softmax's mass.", 1,
        sets="shares",
    ),
    Mistake(
        "l_only", "weights total_i / (total_a + total_b)",
        "The totals are measured against different maxima: bring both to the common maximum first.", 2,
        sets="shares total",
    ),
    Mistake(
        "a_only", "weights exp(maximum_i - maximum) without total_i",
        "The weights miss the totals: a part with many keys carries more mass.", 2,
        sets="shares",
    ),
    Mistake(
        "factor_inv", "exp(maximum - maximum_i)",
        "The factors are upside down: none may exceed 1.", 2,
    ),
    Mistake(
        "totals_added", "total = total_a + total_b, out right",
        "total: the totals were added as they are; measure both against the common maximum.", 2,
        sets="total",
    ),
    Mistake(
        "total_unscaled", "total = total_a + total_b, and out divided by it",
        "The total by which out is divided was added up from the totals as they came, not from the masses.", 2,
        sets="total",
    ),
    Mistake(
        "swapped", "weights mass_b for out_a, mass_a for out_b",
        "Each output was weighted by the other part's mass.", 3,
    ),
    Mistake(
        "unnormalised", "exp(maximum_a - maximum) out_a + exp(maximum_b - maximum) out_b",
        "These weights belong to sums, and out is a mean already: use each part's share of the total.", 3,
        sets="shares",
    ),
    Mistake(
        "no_shift", "masses exp(m_i) total_i",
        "The masses are measured against 0, and near 1000 they overflow: measure both against the larger "
        "maximum.", 2,
        shows="lost",
    ),
    Mistake(
        "nan_rows", "-inf - (-inf)",
        "Where neither part sees a key, -inf - (-inf) and 0/0 need a guard.", 3,
        shows="lost",
    ),
    Mistake(
        "added", "out_a + out_b",
        "The two outputs were added; each is a mean and counts by its share of the softmax's mass.", 1,
        sets="shares",
    ),
    Mistake(
        "no_division", "mass_a out_a + mass_b out_b",
        "The outputs were multiplied by the masses, but not divided by their sum: out is a mean.", 3,
        shows="row_factor", sets="shares",
    ),
    Mistake(
        "sums_divided", "(exp(m_a - m) out_a + exp(m_b - m) out_b) / total",
        "The outputs count as if they were sums; they are means already, and their totals belong to the "
        "weights.", 3,
        sets="shares",
    ),
    Mistake(
        "shares_l_only", "out with weights total_i / (total_a + total_b)",
        "The shares in out come from the totals as they are, which are measured against different maxima.", 2,
        sets="shares",
    ),
    Mistake(
        "over_totals", "out divided by total_a + total_b",
        "out was divided by the sum of the totals as they came; the masses have to add up to what divides.", 3,
        shows="row_factor", sets="shares",
    ),
    Mistake(
        "nan_division", "0 / 0",
        "Where neither part sees a key, 0 was divided by 0: divide by 1 there.", 3,
        shows="lost",
    ),
    Mistake(
        "smaller", "minimum of the two",
        "The common maximum is the smaller of the two in yours: what lies above it may overflow.", 2,
        sets="maximum",
    ),
    Mistake(
        "second", "maximum_b",
        "All is measured against the second part's maximum; the first one's may be the larger.", 2,
        sets="maximum",
    ),
    Mistake(
        "first_only", "mass_b = total_b",
        "The second part was not brought to the common maximum: its own may be the smaller one, too.", 2,
        sets="maximum",
    ),
    Mistake(
        "one_for_all", "one maximum for all queries",
        "One maximum serves all queries: one that lies far below it loses its mass. Each row needs its own.", 2,
        sets="maximum",
    ),
    Mistake(
        "larger_alone", "out of the part with the larger maximum",
        "Only the part with the larger maximum counts; the other one has its share of the mass, too.", 1,
        sets="shares",
    ),
    Mistake(
        "against_zero", "total = total_a exp(m_a) + total_b exp(m_b)",
        "The total is measured against 0; it has to be measured against the maximum that you return.", 2,
        sets="total",
    ),
    Mistake(
        "total_is_lse", "total = maximum + log(total)",
        "In place of the total you returned the logsumexp: the total is a sum of exponentials against "
        "the maximum.", 2,
        sets="total",
    ),
)
