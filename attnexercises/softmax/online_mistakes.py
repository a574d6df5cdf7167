"""The known mistakes in `online_softmax`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

ONLINE_SOFTMAX = (
    Mistake(
        "no_rescale", "total + sum(exp(scores - new_maximum))",
        "The old sum was not rescaled: it was measured against the old maximum, so multiply it by exp(old maximum "
        "- new maximum).", 2,
        sets="rescale",
    ),
    Mistake(
        "alpha_inv", "total * exp(new_maximum - maximum) + ...",
        "The rescale factor is upside down: it is exp(old maximum - new maximum), at most 1.", 3,
        sets="rescale",
    ),
    Mistake(
        "nan_first", "total * exp(new_maximum - maximum) + ..., from the first block on",
        "In the first block the old maximum is -inf: the old sum then needs the factor exp(-inf) = 0, and no score "
        "can be measured against that maximum.", 3,
        shows="lost", sets="rescale",
    ),
    Mistake(
        "alpha_block", "total * exp(maximum - scores.max()) + ...",
        "The factor uses the block's maximum; use the new running maximum, which can be the old one.", 3,
        sets="rescale",
    ),
    Mistake(
        "sum_local", "sum(exp(scores - scores.max()))",
        "The block's sum is measured against its own maximum; use the new running maximum for both parts.", 3,
    ),
    Mistake(
        "block_max", "maximum = the largest score of the current block",
        "The new maximum is the block's own; it has to be the larger of the old one and the block's.", 1,
    ),
    Mistake(
        "m_init_0", "maximum starts at 0",
        "The maximum starts at 0, above scores that are all negative: start with -inf.", 1,
    ),
    Mistake(
        "l_init_1", "total starts at 1",
        "The total starts at 1: the sum over nothing is 0.", 1,
    ),
    Mistake(
        "overwrite", "total = the block's sum",
        "The sum of earlier blocks is lost: the total is overwritten instead of updated.", 2,
        sets="rescale",
    ),
    Mistake(
        "drop_tail", "len(x) // block blocks",
        "The last, shorter block was skipped: there are len(x) / block blocks, rounded up.", 1,
    ),
    Mistake(
        "nan_block", "-inf - (-inf)",
        "While every score so far is -inf, so is the new maximum, and -inf - (-inf) is NaN; skip such a block or "
        "shift by 0 there.", 3,
        shows="lost",
    ),
    Mistake(
        "old_maximum", "sum(exp(scores - maximum)), the old one",
        "The block is measured against the old maximum; use the new running maximum for both parts.", 3,
        sets="shift",
    ),
    Mistake(
        "block_rescaled", "(total + sum(exp(scores - new_maximum))) * exp(maximum - new_maximum)",
        "The block's sum was rescaled together with the old one; it is measured against the new maximum "
        "already.", 3,
    ),
    Mistake(
        "not_shifted", "sum(exp(scores))",
        "The exponentials are not measured against a maximum: total has to be the sum of exp(score - "
        "maximum).", 2,
        sets="rescale",
    ),
    Mistake(
        "mean", "mean(exp(scores - new_maximum))",
        "The exponentials of a block were averaged; total is a sum over all scores seen so far.", 2,
    ),
    Mistake(
        "logsumexp", "maximum + log(total)",
        "The logarithm was taken, and the maximum added: that is the logsumexp; total is the sum itself.", 2,
    ),
    Mistake(
        "overlap", "x[start : start + block + 1]",
        "Two blocks share a score at their border, so it counts twice; a slice leaves out its upper end.", 1,
    ),
    Mistake(
        "maximum_not_counted", "total *= exp(maximum - score) at a new maximum, and no + 1",
        "At a new maximum the old sum is rescaled, but the new score itself, exp(0), was not added.", 2,
    ),
)
