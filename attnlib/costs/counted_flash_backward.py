"""The backward of Flash attention on a counted memory: the weights are computed again, one tile after the other."""

import numpy as np

from attnlib.checks.arrays import quiet
from attnlib.costs.counted_flash import tile_scores
from attnlib.costs.counted_inputs import as_one_head
from attnlib.costs.memory import tiles


@quiet
def flash_attention_backward_on(
    memory, d_out, query, key, value, out, logsumexp, *, block_q=None, block_k=None, causal=False
):
    """Gradients of both Flash loops: the weights are computed again, tile by tile, from `logsumexp`.

    Parameters
    ----------
    memory, query, key, value, block_q, block_k, causal
        As for `flash_attention_on`.
    d_out : array_like of shape (q, v)
        Gradient of the loss with respect to `out`.
    out : array_like of shape (q, v)
    logsumexp : array_like of shape (q,)
        What either loop returned.

    Returns
    -------
    d_query : ndarray of shape (q, d)
    d_key : ndarray of shape (k, d)
    d_value : ndarray of shape (k, v)

    Raises
    ------
    TypeError, ValueError, MemoryError
        As `flash_attention_on`.

    References
    ----------
    .. [1] Dao (2023), "FlashAttention-2", arXiv:2307.08691, algorithm 2.

    Examples
    --------
    >>> from attnlib.costs import Memory, flash_attention_on
    >>> x = np.ones((4, 2))
    >>> saved = flash_attention_on(Memory(), x, x, x)
    >>> memory = Memory()
    >>> d_query, d_key, d_value = flash_attention_backward_on(memory, x, x, x, x, *saved, block_q=2, block_k=2)
    >>> memory.loads, memory.stores
    (96, 36)
    """
    scale, query, key, value, d_out, out, logsumexp = as_one_head(
        "flash_attention_backward_on", memory, query, key, value, block_q, block_k, causal,
        d_out=d_out, out=out, logsumexp=logsumexp,
    )  # fmt: skip
    d_query, d_key, d_value = np.zeros_like(query), np.zeros_like(key), np.zeros_like(value)
    row_mean = np.empty_like(logsumexp)
    for rows in tiles(len(query), block_q):
        product, d_out_tile = memory.load(out[rows]), memory.load(d_out[rows])
        product *= d_out_tile
        mean_tile = memory.keep(product.sum(axis=1))
        memory.store(mean_tile, row_mean[rows])
        memory.free(product, d_out_tile, mean_tile)
    for columns in tiles(len(key), block_k):
        if causal and columns.start >= len(query):
            break
        key_tile, value_tile = memory.load(key[columns]), memory.load(value[columns])
        d_key_tile, d_value_tile = memory.keep(np.zeros_like(key_tile)), memory.keep(np.zeros_like(value_tile))
        for rows in tiles(len(query), block_q):
            if causal and columns.start >= rows.stop:
                continue
            loaded = [memory.load(array[rows]) for array in (query, d_query, d_out, logsumexp, row_mean)]
            query_tile, d_query_tile, d_out_tile, lse_tile, mean_tile = loaded
            # forward: weights = softmax(scores)
            weights = memory.keep(tile_scores(query_tile, key_tile, scale, rows, columns, causal))
            weights -= lse_tile[:, np.newaxis]
            np.exp(weights, out=weights)
            # forward: out = weights @ value
            d_value_tile += weights.T @ d_out_tile
            d_scores = memory.keep(d_out_tile @ value_tile.T)
            # forward: weights = softmax(scores)
            d_scores -= mean_tile[:, np.newaxis]
            d_scores *= weights
            # forward: scores = scale * query @ key.mT
            d_scores *= scale
            d_query_tile += d_scores @ key_tile
            d_key_tile += d_scores.T @ query_tile
            memory.store(d_query_tile, d_query[rows])
            memory.free(weights, d_scores, *loaded)
        memory.store(d_key_tile, d_key[columns])
        memory.store(d_value_tile, d_value[columns])
        memory.free(key_tile, value_tile, d_key_tile, d_value_tile)
    return d_query, d_key, d_value
