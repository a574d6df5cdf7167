"""Wrong answers to `flash_forward`, as readers may write them: which blocks, the mask, the scale."""

import math

import numpy as np

from . import wrong
from .flash_forward import divided, finite, flash, hide, right

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


@wrong("flash_forward", "the root of the block", named=("scale_block",))
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
