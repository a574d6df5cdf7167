"""Attention whose products are cut along every axis, features too: the way to go in a very small fast memory."""

import numpy as np

from attnlib.checks.arrays import as_integer, quiet
from attnlib.costs.counted_inputs import as_one_head
from attnlib.costs.memory import slow_array, tiles


@quiet
def square_attention_on(memory, query, key, value, *, block=None):
    r"""Attention from products in square tiles of results, scores and weights in slow memory.

    A tile holds block × block numbers of a product; one column of the left factor and one row of the right pass at a
    time, so that no whole query or key need fit. The fast memory holds block (block + 2) numbers at its fullest, and
    between the two products a row of scores.

    Parameters
    ----------
    memory : Memory
        Counts what moves.
    query : array_like of shape (q, d)
    key : array_like of shape (k, d)
    value : array_like of shape (k, v)
        One head.
    block : int, optional
        Side of a tile; each product is one tile if left out.

    Returns
    -------
    out : ndarray of shape (q, v)
    weights : ndarray of shape (q, k)

    Raises
    ------
    TypeError
        If an array does not hold real numbers or `block` is not an integer.
    ValueError
        If the shapes do not fit or `block` is less than 1.
    MemoryError
        If a tile does not fit into `memory`.

    Notes
    -----
    With :math:`N_q = \lceil q / block \rceil`, and :math:`N_k, N_v` likewise, it loads
    d (q N_k + k N_q) + k (q N_v + v N_q) + q k numbers and stores 2 q k + q v. For q = k = n, v = d and the largest
    tile that fits into M numbers these are about 4 n² d / √M + 3 n²: less than Flash moves if M is less than 0.4 d².

    References
    ----------
    .. [1] Saha and Ye (2024), "The I/O Complexity of Attention, or How Optimal is FlashAttention?", ICML.

    Examples
    --------
    >>> from attnlib.costs import Memory
    >>> memory, x = Memory(capacity=8), np.ones((4, 3))
    >>> out, weights = square_attention_on(memory, x, x, x, block=2)
    >>> memory.loads, memory.stores
    (120, 44)
    """
    scale, query, key, value = as_one_head("square_attention_on", memory, query, key, value, None, None)
    if block is not None:
        as_integer("square_attention_on", "block", block, minimum=1)
    weights, out = slow_array(query, key), slow_array(query, value.T)
    _square_product(memory, query, key.T, weights, block)
    for scores in weights:
        row = memory.load(scores)
        row *= scale
        row -= row.max()
        np.exp(row, out=row)
        row /= row.sum()
        memory.store(row, scores)  # the weights take the place of the scores
        memory.free(row)
    _square_product(memory, weights, value, out, block)
    return out, weights


def _square_product(memory, left, right, out, block):
    """out = left @ right, one tile of `out` after the other, summed up over one inner index at a time."""
    for rows in tiles(len(left), block):
        for columns in tiles(right.shape[1], block):
            tile = memory.keep(np.zeros(out[rows, columns].shape, out.dtype))
            for inner in range(len(right)):
                column, row = memory.load(left[rows, inner]), memory.load(right[inner, columns])
                tile += np.outer(column, row)  # added number by number: in passing
                memory.free(column, row)
            memory.store(tile, out[rows, columns])
            memory.free(tile)
