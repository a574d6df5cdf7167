"""Wrong answers to `flash_forward`, as readers may write them: the running state, the division, the logsumexp."""

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


@wrong("flash_forward", "m log(s)", named=("lse_product",))
def maximum_times_logarithm(*args):
    return flash(
        *args, step=right, end=lambda acc, m, s: (divided(acc, m, s)[0], (m * np.log(np.where(s == 0, 1, s)))[:, 0])
    )


@wrong("flash_forward", "log in base 2", named=("lse_base_2",))
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
