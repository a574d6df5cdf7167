"""Wrong answers to `flash_forward`, as readers may write them: the running maximum, the two sums, the blocks, the mask."""

import math

import numpy as np

from . import wrong


def hide(scores, start, causal, q, k):
    if causal:
        i, j = np.indices(scores.shape)
        scores = np.where(start + j > i + k - q, -np.inf, scores)
    return scores


def finite(x):
    return np.where(np.isneginf(x), 0.0, x)


def flash(query, key, value, block, causal, *, step, end=None, hide=hide, blocks=None, scale=math.sqrt, start=-np.inf):
    """The frame of a right answer: `step` takes the state, a block's scores and its values to the next state."""
    (q, d), k = query.shape, len(key)
    state = np.zeros((q, value.shape[1])), np.full((q, 1), start), np.zeros((q, 1))
    for at in blocks(k, block) if blocks else range(0, k, block):
        scores = query @ key[at : at + block].T / scale(d)
        state = step(*state, hide(scores, at, causal, q, k), value[at : at + block])
    return (end or divided)(*state)


def divided(acc, m, s):
    safe = np.where(s == 0, 1, s)
    return acc / safe, (m + np.log(safe))[:, 0]


def right(acc, m, s, scores, values):
    new = np.maximum(m, scores.max(axis=1, keepdims=True))
    a, p = np.exp(m - finite(new)), np.exp(scores - finite(new))
    return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)


# --- the running state ----------------------------------------------------------------------------


@wrong("flash_forward", "nothing is rescaled", named=("no_rescale",))
def nothing_rescaled(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(1)[:, None])
        p = np.exp(scores - finite(new))
        return acc + p @ values, new, s + p.sum(1)[:, None]

    return flash(*args, step=step)


@wrong("flash_forward", "the accumulated values are not rescaled", named=("o_no_rescale",))
def values_not_rescaled(*args):
    def step(acc, m, s, scores, values):
        _, new, total = right(acc, m, s, scores, values)
        acc += np.exp(scores - finite(new)) @ values
        return acc, new, total

    return flash(*args, step=step)


@wrong("flash_forward", "the total is not rescaled", named=("l_no_rescale",))
def total_not_rescaled(*args):
    def step(acc, m, s, scores, values):
        out, new, _ = right(acc, m, s, scores, values)
        return out, new, s + np.exp(scores - finite(new)).sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "the maximum is updated before the factor is computed", named=("no_rescale",))
def maximum_updated_first(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    acc, m, s = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for at in range(0, k, block):
        scores = hide(query @ key[at : at + block].T / np.sqrt(d), at, causal, q, k)
        m = np.maximum(m, scores.max(axis=1, keepdims=True))
        rescale = np.exp(m - np.maximum(m, scores.max(axis=1, keepdims=True)))
        p = np.exp(scores - finite(m))
        s = np.nan_to_num(rescale) * s + p.sum(axis=1, keepdims=True)
        acc = np.nan_to_num(rescale) * acc + p @ value[at : at + block]
    return divided(acc, m, s)


@wrong("flash_forward", "the factor upside down", named=("alpha_inv",))
def factor_upside_down(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a = np.where(np.isneginf(m), 0.0, np.exp(finite(new) - m))
        p = np.exp(scores - finite(new))
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "the factor upside down, infinite in the first block", named=())
def factor_infinite(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a, p = np.exp(new - m), np.exp(scores - finite(new))
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "the factor from the block's own maximum", named=("alpha_block",))
def factor_of_the_block(*args):
    def step(acc, m, s, scores, values):
        top = scores.max(axis=1, keepdims=True)
        new = np.maximum(m, top)
        a, p = np.exp(m - finite(top)), np.exp(scores - finite(new))
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "the exponentials from the block's own maximum", named=("p_block",))
def exponentials_of_the_block(*args):
    def step(acc, m, s, scores, values):
        top = scores.max(axis=1, keepdims=True)
        new = np.maximum(m, top)
        a, p = np.exp(m - finite(new)), np.exp(scores - finite(top))
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "m is the block's maximum, not the larger of the two", named=("m_block",))
def maximum_of_the_block(*args):
    def step(acc, m, s, scores, values):
        new = scores.max(axis=1, keepdims=True)
        a, p = np.exp(m - finite(new)), np.exp(scores - finite(new))
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "m stays what it was after the first block", named=("m_first",))
def first_maximum(*args):
    def step(acc, m, s, scores, values):
        new = np.where(np.isneginf(m), scores.max(axis=1, keepdims=True), m)
        p = np.exp(scores - finite(new))
        return acc + p @ values, new, s + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "m starts at 0", named=("m_init_0",))
def starts_at_zero(*args):
    return flash(*args, step=right, start=0.0)


@wrong("flash_forward", "m starts at -1e9", named=("nan_division",), says=r"more queries than keys.*NaN")
def starts_at_minus_1e9(*args):
    def end(acc, m, s):
        return acc / s, (m + np.log(s))[:, 0]

    return flash(*args, step=right, start=-1e9, end=end)


@wrong("flash_forward", "no maximum at all", named=("no_max",), says=r"far below zero.*NaN")
def no_maximum(*args):
    def step(acc, m, s, scores, values):
        p = np.exp(scores)
        return acc + p @ values, m, s + p.sum(axis=1, keepdims=True)

    def end(acc, m, s):
        with np.errstate(divide="ignore"):
            return acc / np.where(s == 0, 1, s), np.log(s)[:, 0]

    return flash(*args, step=step, end=end)


@wrong("flash_forward", "one maximum for all queries of a block", named=("m_all_queries",))
def one_maximum(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max())
        a, p = np.exp(m - finite(new)), np.exp(scores - finite(new))
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "the total is the block's own sum: overwritten", named=("l_overwrite",))
def total_overwritten(*args):
    def step(acc, m, s, scores, values):
        out, new, _ = right(acc, m, s, scores, values)
        return out, new, np.exp(scores - finite(new)).sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "the accumulated values are overwritten: the last block is left", named=("o_overwrite",))
def values_overwritten(*args):
    def step(acc, m, s, scores, values):
        _, new, total = right(acc, m, s, scores, values)
        return np.exp(scores - finite(new)) @ values, new, total

    return flash(*args, step=step)


@wrong("flash_forward", "the exponential of the total is rescaled: logarithms mixed up")
def logarithms_mixed_up(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a, p = finite(m) - finite(new), np.exp(scores - finite(new))
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "rescaled twice", named=("alpha_twice",))
def rescaled_twice(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a, p = np.exp(m - finite(new)), np.exp(scores - finite(new))
        return acc * a * a + p @ values, new, s * a * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step)


@wrong("flash_forward", "the block's part is rescaled, too")
def block_rescaled_too(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a, p = np.exp(finite(m) - finite(new)), np.exp(scores - finite(new))
        return (acc + p @ values) * a, new, (s + p.sum(axis=1, keepdims=True)) * a

    return flash(*args, step=step)


@wrong("flash_forward", "the maximum without keepdims: broadcast along the keys", says=r"\(5,3\) \(5,\)")
def maximum_without_keepdims(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    acc, m, s = np.zeros((q, value.shape[1])), np.full(q, -np.inf), np.zeros(q)
    for at in range(0, k, block):
        scores = hide(query @ key[at : at + block].T / np.sqrt(d), at, causal, q, k)
        new = np.maximum(m, scores.max(axis=1))
        p = np.exp(scores - new)
        s = s * np.exp(m - new) + p.sum(axis=1)
        acc = acc * np.exp(m - new) + p @ value[at : at + block]
        m = new
    return acc / s, m + np.log(s)


# --- division and logsumexp -----------------------------------------------------------------------


@wrong("flash_forward", "divided by the total after each block", named=("div_each_block", "no_final_div"))
def divided_after_each_block(*args):
    def step(acc, m, s, scores, values):
        acc, new, s = right(acc, m, s, scores, values)
        return acc / np.where(s == 0, 1, s), new, s

    return flash(*args, step=step, end=lambda acc, m, s: (acc, divided(acc, m, s)[1]))


@wrong("flash_forward", "divided by the total after each block and at the end", named=("div_each_block",))
def divided_each_time_and_at_the_end(*args):
    def step(acc, m, s, scores, values):
        acc, new, s = right(acc, m, s, scores, values)
        return acc / np.where(s == 0, 1, s), new, s

    return flash(*args, step=step)


@wrong("flash_forward", "never divided", named=("no_final_div",))
def never_divided(*args):
    return flash(*args, step=right, end=lambda acc, m, s: (acc, divided(acc, m, s)[1]))


@wrong("flash_forward", "each block's weights sum to one, and so does the end", named=("p_normalised",))
def blocks_normalised(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a, p = np.exp(m - finite(new)), np.exp(scores - finite(new))
        own = p.sum(axis=1, keepdims=True)
        return acc * a + np.divide(p, own, out=np.zeros_like(p), where=own > 0) @ values, new, s * a + own

    return flash(*args, step=step)


@wrong("flash_forward", "the mean of the blocks' outputs, logsumexp right", named=("norm_each_block",))
def mean_of_blocks(*args):
    outs = []

    def step(acc, m, s, scores, values):
        p = np.exp(scores - finite(scores.max(axis=1, keepdims=True)))
        own = p.sum(axis=1, keepdims=True)
        outs.append(p / np.where(own == 0, 1, own) @ values)
        return right(acc, m, s, scores, values)

    _, logsumexp = flash(*args, step=step)
    return sum(outs) / len(outs), logsumexp


@wrong("flash_forward", "the sum of the blocks' outputs", named=("sum_of_blocks",))
def sum_of_blocks(*args):
    def step(acc, m, s, scores, values):
        p = np.exp(scores - finite(scores.max(axis=1, keepdims=True)))
        own = p.sum(axis=1, keepdims=True)
        _, new, total = right(acc, m, s, scores, values)
        return acc + p / np.where(own == 0, 1, own) @ values, new, total

    return flash(*args, step=step, end=lambda acc, m, s: (acc, divided(acc, m, s)[1]))


@wrong("flash_forward", "logsumexp is the logarithm of the total", named=("lse_log_l",))
def logarithm_of_the_total(*args):
    return flash(*args, step=right, end=lambda acc, m, s: (divided(acc, m, s)[0], np.log(np.where(s == 0, 1, s)).ravel()))


@wrong("flash_forward", "the maximum in place of the logsumexp", named=("lse_max",))
def maximum_for_logsumexp(*args):
    return flash(*args, step=right, end=lambda acc, m, s: (divided(acc, m, s)[0], m[:, 0]))


@wrong("flash_forward", "the total in place of the logsumexp", named=("lse_total",))
def total_for_logsumexp(*args):
    return flash(*args, step=right, end=lambda acc, m, s: (divided(acc, m, s)[0], s[:, 0]))


@wrong("flash_forward", "exp(m) s in place of its logarithm", named=("lse_no_log",))
def no_logarithm(*args):
    return flash(*args, step=right, end=lambda acc, m, s: (divided(acc, m, s)[0], (np.exp(m) * s)[:, 0]))


@wrong("flash_forward", "m log(s)", named=())
def maximum_times_logarithm(*args):
    return flash(
        *args, step=right, end=lambda acc, m, s: (divided(acc, m, s)[0], (m * np.log(np.where(s == 0, 1, s)))[:, 0])
    )


@wrong("flash_forward", "log in base 2", named=())
def base_two(*args):
    return flash(
        *args, step=right, end=lambda acc, m, s: (divided(acc, m, s)[0], (m + np.log2(np.where(s == 0, 1, s)))[:, 0])
    )


@wrong("flash_forward", "logsumexp as a column", says=r"axis of size 1 is too many")
def logsumexp_as_a_column(*args):
    out, logsumexp = flash(*args, step=right)
    return out, logsumexp[:, None]


@wrong("flash_forward", "logsumexp first", says=r"order of the outputs")
def logsumexp_first(*args):
    out, logsumexp = flash(*args, step=right)
    return logsumexp, out


@wrong("flash_forward", "only the output", says=r"returns one array")
def only_the_output(*args):
    return flash(*args, step=right)[0]


@wrong("flash_forward", "logsumexp 0 for a row that sees nothing", named=("lse_zero",))
def zero_for_empty(*args):
    out, logsumexp = flash(*args, step=right)
    return out, np.where(np.isneginf(logsumexp), 0.0, logsumexp)


@wrong("flash_forward", "NaN for a row that sees nothing", named=("nan_rows",))
def nan_for_empty(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a, p = np.exp(m - new), np.exp(scores - new)
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step, end=lambda acc, m, s: (acc / s, (m + np.log(s))[:, 0]))


@wrong("flash_forward", "0/0 at the end for a row that sees nothing", named=("nan_division",))
def zero_by_zero(*args):
    return flash(*args, step=right, end=lambda acc, m, s: (acc / s, (m + np.log(s))[:, 0]))


@wrong("flash_forward", "an epsilon in the division", says=r"epsilon")
def epsilon(*args):
    return flash(*args, step=right, end=lambda acc, m, s: (acc / (s + 1e-6), divided(acc, m, s)[1]))


# --- blocks ---------------------------------------------------------------------------------------


@wrong("flash_forward", "as many blocks as fit", named=("drop_tail",))
def as_many_as_fit(*args):
    return flash(*args, step=right, blocks=lambda k, block: [i * block for i in range(k // block)])


@wrong("flash_forward", "the last block is always left out", named=("no_last_block",))
def last_block_left_out(*args):
    return flash(*args, step=right, blocks=lambda k, block: range(0, k - block, block))


@wrong("flash_forward", "the first block is left out", named=("no_first_block",))
def first_block_left_out(*args):
    return flash(*args, step=right, blocks=lambda k, block: range(block, k, block))


@wrong("flash_forward", "the tail begins at k - block: some keys twice", named=("tail_overlaps",))
def tail_overlaps(*args):
    def blocks(k, block):
        return [max(0, min(at, k - block)) for at in range(0, k, block)]

    return flash(*args, step=right, blocks=blocks)


@wrong("flash_forward", "steps of one: blocks overlap")
def steps_of_one(*args):
    return flash(*args, step=right, blocks=lambda k, block: range(max(1, k - block + 1)))


@wrong("flash_forward", "as many blocks as queries ask for")
def blocks_of_queries(query, key, value, block, causal):
    return flash(query, key, value, block, causal, step=right, blocks=lambda k, b: range(0, len(query), b))


@wrong("flash_forward", "zero keys fill up the last block", named=("pad_zero_keys",))
def zero_keys(query, key, value, block, causal):
    missing = -len(key) % block

    def still_by_the_real_number(scores, start, causal, q, k):
        return hide(scores, start, causal, q, k - missing)

    key, value = (np.vstack([array, np.zeros((missing, array.shape[1]))]) for array in (key, value))
    return flash(query, key, value, block, causal, step=right, hide=still_by_the_real_number)


@wrong("flash_forward", "the loop ends in its first round: return inside of it", named=("one_block",))
def returns_in_the_loop(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    state = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for at in range(0, k, block):
        scores = hide(query @ key[at : at + block].T / np.sqrt(d), at, causal, q, k)
        state = right(*state, scores, value[at : at + block])
        return divided(*state)


@wrong("flash_forward", "the loop stops at the first block that a query cannot see", named=("skips_hidden",))
def stops_at_a_hidden_block(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    state = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for at in range(0, k, block):
        scores = hide(query @ key[at : at + block].T / np.sqrt(d), at, causal, q, k)
        if np.isneginf(scores).all(axis=1).any():
            break
        state = right(*state, scores, value[at : at + block])
    return divided(*state)


@wrong("flash_forward", "blocks of keys, all values", says=r"size 7 is different from 3")
def all_values(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    state = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for at in range(0, k, block):
        scores = hide(query @ key[at : at + block].T / np.sqrt(d), at, causal, q, k)
        state = right(*state, scores, value)
    return divided(*state)


@wrong("flash_forward", "the values of the first block each time", named=("first_values",))
def first_values(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    state = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for at in range(0, k, block):
        scores = hide(query @ key[at : at + block].T / np.sqrt(d), at, causal, q, k)
        state = right(*state, scores, value[: scores.shape[1]])
    return divided(*state)


@wrong("flash_forward", "queries and keys walk together: only the blocks on the diagonal")
def diagonal_blocks_only(query, key, value, block, causal):
    out, logsumexp = np.zeros((len(query), value.shape[1])), np.full(len(query), -np.inf)
    for at in range(0, len(query), block):
        rows = slice(at, at + block)
        if len(key[rows]):
            out[rows], logsumexp[rows] = flash(query[rows], key[rows], value[rows], block, causal, step=right)
    return out, logsumexp


# --- mask and scale -------------------------------------------------------------------------------


@wrong("flash_forward", "causal is forgotten", named=("no_mask",))
def causal_forgotten(query, key, value, block, causal):
    return flash(query, key, value, block, False, step=right)


@wrong("flash_forward", "np.triu in each block", named=("local_cols", "no_offset"))
def triu_in_each_block(*args):
    def hide(scores, start, causal, q, k):
        return scores + np.triu(np.full(scores.shape, -np.inf), 1) if causal else scores

    return flash(*args, step=right, hide=hide)


@wrong("flash_forward", "np.triu in each block, from the last corner", named=("local_cols",))
def triu_from_the_last_corner(*args):
    def hide(scores, start, causal, q, k):
        return np.where(np.tri(*scores.shape, k - q, dtype=bool), scores, -np.inf) if causal else scores

    return flash(*args, step=right, hide=hide)


@wrong("flash_forward", "the mask as if q = k", named=("no_offset",))
def as_if_square(*args):
    def hide(scores, start, causal, q, k):
        j = start + np.arange(scores.shape[1])
        return np.where(causal & (j > np.arange(q)[:, None]), -np.inf, scores)

    return flash(*args, step=right, hide=hide)


@wrong("flash_forward", "each query misses its own place", named=("strict",))
def own_place_hidden(*args):
    def hide(scores, start, causal, q, k):
        j = start + np.arange(scores.shape[1])
        return np.where(causal & (j >= np.arange(q)[:, None] + k - q), -np.inf, scores)

    return flash(*args, step=right, hide=hide)


@wrong("flash_forward", "one key of the future is seen", named=("one_ahead",))
def one_ahead(*args):
    def hide(scores, start, causal, q, k):
        j = start + np.arange(scores.shape[1])
        return np.where(causal & (j > np.arange(q)[:, None] + k - q + 1), -np.inf, scores)

    return flash(*args, step=right, hide=hide)


@wrong("flash_forward", "the past is hidden", named=("past_hidden",))
def past_hidden(*args):
    def hide(scores, start, causal, q, k):
        j = start + np.arange(scores.shape[1])
        return np.where(causal & (j < np.arange(q)[:, None] + k - q), -np.inf, scores)

    return flash(*args, step=right, hide=hide)


@wrong("flash_forward", "hidden scores are -1e9", named=("minus_1e9",))
def minus_1e9(*args):
    def finite_hide(scores, start, causal, q, k):
        return np.where(np.isneginf(hide(scores, start, causal, q, k)), -1e9, scores)

    return flash(*args, step=right, hide=finite_hide)


@wrong("flash_forward", "hidden scores are 0", named=("hidden_zero",))
def hidden_scores_zero(*args):
    def zero_hide(scores, start, causal, q, k):
        return np.where(np.isneginf(hide(scores, start, causal, q, k)), 0.0, scores)

    return flash(*args, step=right, hide=zero_hide)


@wrong("flash_forward", "exponentials are hidden after the block's sum was taken")
def hidden_after_the_sum(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    acc, m, s = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for at in range(0, k, block):
        scores = query @ key[at : at + block].T / np.sqrt(d)
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a, p = np.exp(m - new), np.exp(scores - new)
        s = s * a + p.sum(axis=1, keepdims=True)
        acc = acc * a + np.where(np.isneginf(hide(scores, at, causal, q, k)), 0, p) @ value[at : at + block]
        m = new
    return acc / s, (m + np.log(s))[:, 0]


@wrong("flash_forward", "blocks that the diagonal cuts are skipped for all queries", named=("skips_cut",))
def cut_blocks_skipped(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    state = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for at in range(0, k, block):
        if causal and at + block - 1 > k - q:
            continue
        state = right(*state, query @ key[at : at + block].T / np.sqrt(d), value[at : at + block])
    return divided(*state)


@wrong("flash_forward", "no scale", named=("no_scale",))
def no_scale(*args):
    return flash(*args, step=right, scale=lambda d: 1.0)


@wrong("flash_forward", "divided by d", named=("scale_d",))
def divided_by_d(*args):
    return flash(*args, step=right, scale=lambda d: d)


@wrong("flash_forward", "the root of the block")
def root_of_the_block(query, key, value, block, causal):
    return flash(query, key, value, block, causal, step=right, scale=lambda d: math.sqrt(block))


@wrong("flash_forward", "the root of v", named=("scale_v",))
def root_of_v(query, key, value, block, causal):
    return flash(query, key, value, block, causal, step=right, scale=lambda d: math.sqrt(value.shape[1]))


@wrong("flash_forward", "scaled in the exponent of the new keys only")
def scaled_after_the_maximum(*args):
    def step(acc, m, s, scores, values):
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        a, p = np.exp(m - finite(new)), np.exp((scores - finite(new)) / 2)
        return acc * a + p @ values, new, s * a + p.sum(axis=1, keepdims=True)

    return flash(*args, step=step, scale=lambda d: 1.0)


@wrong("flash_forward", "no rescale and no division", named=("o_no_rescale", "no_final_div"))
def no_rescale_no_division(*args):
    def step(acc, m, s, scores, values):
        _, new, total = right(acc, m, s, scores, values)
        return acc + np.exp(scores - finite(new)) @ values, new, total

    return flash(*args, step=step, end=lambda acc, m, s: (acc, divided(acc, m, s)[1]))


@wrong("flash_forward", "mask inside the block, and the tail dropped", named=("local_cols", "drop_tail"))
def local_mask_and_no_tail(*args):
    def hide(scores, start, causal, q, k):
        return np.where(np.tri(*scores.shape, k - q, dtype=bool), scores, -np.inf) if causal else scores

    return flash(*args, step=right, hide=hide, blocks=lambda k, block: range(0, k - k % block, block))
