"""Naive attention on a counted memory: three passes, each of which streams through all scores or all weights."""

import numpy as np

from attnlib.checks.arrays import quiet
from attnlib.costs.counted_inputs import as_one_head
from attnlib.costs.memory import slow_array, tiles


@quiet
def naive_attention_on(memory, query, key, value, *, block_q=None, block_k=None):
    """Attention that writes all scores and all weights to slow memory.

    Three passes, each of which streams through q × k numbers. The middle one needs room for one row.

    Parameters
    ----------
    memory : Memory
        Counts what moves.
    query : array_like of shape (q, d)
    key : array_like of shape (k, d)
    value : array_like of shape (k, v)
        One head.
    block_q, block_k : int, optional
        Rows of a tile of queries and of keys; all of them if left out.

    Returns
    -------
    out : ndarray of shape (q, v)
    weights : ndarray of shape (q, k)

    Raises
    ------
    TypeError
        If an array does not hold real numbers or a block size is not an integer.
    ValueError
        If the shapes do not fit or a block size is less than 1.
    MemoryError
        If a tile does not fit into `memory`.

    References
    ----------
    .. [1] Dao et al. (2022), "FlashAttention", arXiv:2205.14135, algorithm 0.

    Examples
    --------
    >>> from attnlib.costs import Memory
    >>> memory, x = Memory(), np.ones((4, 2))
    >>> out, weights = naive_attention_on(memory, x, x, x)
    >>> memory.loads, memory.stores
    (56, 40)
    """
    scale, query, key, value = as_one_head("naive_attention_on", memory, query, key, value, block_q, block_k)
    scores, weights, out = slow_array(query, key), slow_array(query, key), slow_array(query, value.T)
    _wide_product(memory, query, key, scores, block_q, block_k, scale)
    for i in range(len(query)):
        row = memory.load(scores[i])
        row -= row.max()
        np.exp(row, out=row)
        row /= row.sum()
        memory.store(row, weights[i])
        memory.free(row)
    _tall_product(memory, weights, value, out, block_q, block_k)
    return out, weights


@quiet
def naive_attention_backward_on(memory, d_out, query, key, value, weights, *, block_q=None, block_k=None):
    """Gradients of `naive_attention_on`: the weights come back from slow memory, d_scores goes through it.

    Parameters
    ----------
    memory, query, key, value, block_q, block_k
        As for `naive_attention_on`.
    d_out : array_like of shape (q, v)
        Gradient of the loss with respect to `out`.
    weights : array_like of shape (q, k)
        What `naive_attention_on` returned.

    Returns
    -------
    d_query : ndarray of shape (q, d)
    d_key : ndarray of shape (k, d)
    d_value : ndarray of shape (k, v)

    Raises
    ------
    TypeError, ValueError, MemoryError
        As `naive_attention_on`.

    Examples
    --------
    >>> from attnlib.costs import Memory
    >>> x, weights = np.ones((4, 2)), np.full((4, 4), 0.25)
    >>> memory = Memory()
    >>> d_query, d_key, d_value = naive_attention_backward_on(memory, x, x, x, x, weights)
    >>> memory.loads, memory.stores
    (120, 56)
    """
    scale, query, key, value, d_out, weights = as_one_head(
        "naive_attention_backward_on", memory, query, key, value, block_q, block_k, d_out=d_out, weights=weights
    )
    d_scores = slow_array(query, key)
    d_query, d_key, d_value = np.empty_like(query), np.empty_like(key), np.empty_like(value)
    # forward: out = weights @ value
    _tall_product(memory, weights.T, d_out, d_value, block_k, block_q)
    _wide_product(memory, d_out, value, d_scores, block_q, block_k)  # d_weights, overwritten below
    # forward: weights = softmax(scores)
    for i in range(len(query)):
        row, d_row = memory.load(weights[i]), memory.load(d_scores[i])
        d_row -= row @ d_row
        d_row *= scale * row
        memory.store(d_row, d_scores[i])
        memory.free(row, d_row)
    # forward: scores = scale * query @ key.mT
    _tall_product(memory, d_scores, key, d_query, block_q, block_k)
    _tall_product(memory, d_scores.T, query, d_key, block_k, block_q)
    return d_query, d_key, d_value


def _wide_product(memory, left, right, out, block_rows, block_columns, scale=None):
    """out = left @ right.T, times a scale, where `out` is the large one: tiles of it are finished one by one."""
    for rows in tiles(len(left), block_rows):
        left_tile = memory.load(left[rows])
        for columns in tiles(len(right), block_columns):
            right_tile = memory.load(right[columns])
            product = memory.keep(left_tile @ right_tile.T)
            if scale is not None:
                product *= scale
            memory.store(product, out[rows, columns])
            memory.free(right_tile, product)
        memory.free(left_tile)


def _tall_product(memory, left, right, out, block_rows, block_inner):
    """out = left @ right where `left` is the large one: rows of `out` are summed up over tiles of it."""
    for rows in tiles(len(left), block_rows):
        total = memory.keep(np.zeros((rows.stop - rows.start, right.shape[1]), right.dtype))
        for inner in tiles(len(right), block_inner):
            left_tile, right_tile = memory.load(left[rows, inner]), memory.load(right[inner])
            total += left_tile @ right_tile
            memory.free(left_tile, right_tile)
        memory.store(total, out[rows])
        memory.free(total)
