"""A counted two-level memory, and the loops of naive and Flash attention that run on it.

Ordinary arrays are slow memory: large, and paid for by the number. What is loaded, or computed and kept,
lives in fast memory, which has a capacity. What a single line needs in passing (a product that is added to a
tile, a vector of maxima) is not counted. The loops compute the real result, so that nothing that moves can be
left out of the count unnoticed.

One head at a time: query (q, d), key (k, d), value (k, v). `block_q` and `block_k` are the rows of a tile of
queries and of keys, all of them if left out.

References
----------
.. [1] Dao, Fu, Ermon, Rudra and Ré (2022), "FlashAttention: Fast and Memory-Efficient Exact Attention with
   IO-Awareness", NeurIPS, algorithms 0 (naive) and 1, theorem 2.
.. [2] Dao (2023), "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning",
   algorithms 1 and 2.
"""

import numpy as np

from attnlib.costs.counted_inputs import as_one_head, slow_array
from attnlib.costs.memory import tiles


def flash_attention_on(memory, query, key, value, *, block_q=None, block_k=None, causal=False):
    """Flash attention, queries in the outer loop.

    A tile of queries stays in fast memory until its rows are finished; the keys and values stream past.

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
    causal : bool, default False
        Let query i look at the keys up to i only. Tiles that this empties are skipped.

    Returns
    -------
    out : ndarray of shape (q, v)
    logsumexp : ndarray of shape (q,)

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
    .. [1] Dao (2023), "FlashAttention-2", arXiv:2307.08691, algorithm 1.

    Examples
    --------
    >>> from attnlib.costs import Memory
    >>> memory, x = Memory(), np.ones((4, 2))
    >>> out, logsumexp = flash_attention_on(memory, x, x, x, block_q=2, block_k=2)
    >>> memory.loads, memory.stores
    (40, 12)
    """
    scale, query, key, value = as_one_head("flash_attention_on", query, key, value, block_q, block_k)
    out, logsumexp = slow_array(query, value.T), np.empty(len(query), query.dtype)
    for rows in tiles(len(query), block_q):
        query_tile = memory.load(query[rows])
        state = [memory.keep(array) for array in _start(query_tile, value)]
        for columns in tiles(len(key), block_k):
            if causal and columns.start >= rows.stop:
                break  # every key from here on is in the future of every query of this tile
            key_tile, value_tile = memory.load(key[columns]), memory.load(value[columns])
            scores = memory.keep(_scores(query_tile, key_tile, scale, rows, columns, causal))
            _absorb(*state, scores, value_tile)
            memory.free(key_tile, value_tile, scores)
        accumulated, maximum, total = state
        accumulated /= total[:, np.newaxis]
        memory.store(accumulated, out[rows])
        maximum += np.log(total)
        memory.store(maximum, logsumexp[rows])
        memory.free(query_tile, *state)
    return out, logsumexp


def flash_attention_keys_outer_on(memory, query, key, value, *, block_q=None, block_k=None, causal=False):
    """Flash attention as first published, keys in the outer loop.

    A tile of keys and values stays in fast memory; the queries stream past and their unfinished rows of
    the output go out to slow memory and come back for every tile of keys.

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
    causal : bool, default False
        Let query i look at the keys up to i only. Tiles that this empties are skipped.

    Returns
    -------
    out : ndarray of shape (q, v)
    logsumexp : ndarray of shape (q,)

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
    .. [1] Dao et al. (2022), "FlashAttention", arXiv:2205.14135, algorithm 1.

    Examples
    --------
    >>> from attnlib.costs import Memory
    >>> memory, x = Memory(), np.ones((4, 2))
    >>> out, logsumexp = flash_attention_keys_outer_on(memory, x, x, x, block_q=2, block_k=2)
    >>> memory.loads, memory.stores
    (64, 32)
    """
    scale, query, key, value = as_one_head("flash_attention_keys_outer_on", query, key, value, block_q, block_k)
    out, maximum, total = slow = _start(query, value)
    for columns in tiles(len(key), block_k):
        if causal and columns.start >= len(query):
            break
        key_tile, value_tile = memory.load(key[columns]), memory.load(value[columns])
        for rows in tiles(len(query), block_q):
            if causal and columns.start >= rows.stop:
                continue
            query_tile, *state = memory.load(query[rows]), *(memory.load(array[rows]) for array in slow)
            accumulated, _, sums = state
            accumulated *= sums[:, np.newaxis]  # what is in slow memory is normalised already
            scores = memory.keep(_scores(query_tile, key_tile, scale, rows, columns, causal))
            _absorb(*state, scores, value_tile)
            accumulated /= sums[:, np.newaxis]
            for fast, array in zip(state, slow, strict=True):
                memory.store(fast, array[rows])
            memory.free(query_tile, scores, *state)
        memory.free(key_tile, value_tile)
    return out, maximum + np.log(total)


def flash_attention_backward_on(
    memory, d_out, query, key, value, out, logsumexp, *, block_q=None, block_k=None, causal=False
):
    """Gradients of both Flash loops: the weights are computed again, tile by tile, from `logsumexp`.

    Parameters
    ----------
    memory : Memory
        Counts what moves.
    d_out : array_like of shape (q, v)
        Gradient of the loss with respect to `out`.
    query : array_like of shape (q, d)
    key : array_like of shape (k, d)
    value : array_like of shape (k, v)
        One head.
    out : ndarray of shape (q, v)
    logsumexp : ndarray of shape (q,)
        What either loop returned.
    block_q, block_k : int, optional
        Rows of a tile of queries and of keys; all of them if left out.
    causal : bool, default False
        Let query i look at the keys up to i only. Tiles that this empties are skipped.

    Returns
    -------
    d_query : ndarray of shape (q, d)
    d_key : ndarray of shape (k, d)
    d_value : ndarray of shape (k, v)

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
    .. [1] Dao (2023), "FlashAttention-2", arXiv:2307.08691, algorithm 2.

    Examples
    --------
    >>> from attnlib.costs import Memory
    >>> x = np.ones((4, 2))
    >>> saved = flash_attention_on(Memory(), x, x, x)
    >>> memory = Memory()
    >>> d_query, d_key, d_value = flash_attention_backward_on(memory, x, x, x, x, *saved, block_q=2, block_k=2)
    >>> memory.loads, memory.stores
    (96, 36)
    """
    scale, query, key, value = as_one_head("flash_attention_backward_on", query, key, value, block_q, block_k)
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
            weights = memory.keep(_scores(query_tile, key_tile, scale, rows, columns, causal))
            weights -= lse_tile[:, np.newaxis]
            np.exp(weights, out=weights)
            # forward: out = weights @ value
            d_value_tile += weights.T @ d_out_tile
            d_scores = memory.keep(d_out_tile @ value_tile.T)
            # forward: weights = softmax(scores)
            d_scores -= mean_tile[:, np.newaxis]
            d_scores *= weights
            # forward: scores = scale * query @ key.mT
            d_query_tile += scale * (d_scores @ key_tile)
            d_key_tile += scale * (d_scores.T @ query_tile)
            memory.store(d_query_tile, d_query[rows])
            memory.free(weights, d_scores, *loaded)
        memory.store(d_key_tile, d_key[columns])
        memory.store(d_value_tile, d_value[columns])
        memory.free(key_tile, value_tile, d_key_tile, d_value_tile)
    return d_query, d_key, d_value


def _scores(query, key, scale, rows, columns, causal):
    scores = scale * (query @ key.T)
    if causal:
        future = np.arange(columns.start, columns.stop) > np.arange(rows.start, rows.stop)[:, np.newaxis]
        scores[future] = -np.inf
    return scores


def _start(query, value):
    """Output, running maximum and running sum of queries that have seen no key yet."""
    shape, dtype = (len(query), value.shape[1]), query.dtype
    return np.zeros(shape, dtype), np.full(shape[0], -np.inf, dtype), np.zeros(shape[0], dtype)


def _absorb(accumulated, maximum, total, scores, value):
    """Take one more tile of scores and values into the running output, maximum and sum, all in place.

    The old numbers were measured against the old maximum, so they are rescaled to the new one first.
    """
    new_maximum = np.maximum(maximum, scores.max(axis=1))
    rescale = np.exp(maximum - new_maximum)
    maximum[:] = new_maximum
    scores -= maximum[:, np.newaxis]
    np.exp(scores, out=scores)
    total *= rescale
    total += scores.sum(axis=1)
    accumulated *= rescale[:, np.newaxis]
    accumulated += scores @ value
