"""Flash attention on a counted memory: no score leaves the fast memory. Queries in the outer loop, or keys."""

import numpy as np

from attnlib.checks.arrays import quiet
from attnlib.costs.counted_inputs import as_one_head
from attnlib.costs.memory import slow_array, tiles


@quiet
def flash_attention_on(memory, query, key, value, *, block_q=None, block_k=None, causal=False):
    """Flash attention, queries in the outer loop.

    A tile of queries stays in fast memory until its rows are finished; the keys and values stream past.

    Parameters
    ----------
    memory, query, key, value, block_q, block_k
        As for `naive_attention_on`.
    causal : bool, default False
        Let query i look at the keys up to i only. Tiles that this empties are skipped.

    Returns
    -------
    out : ndarray of shape (q, v)
    logsumexp : ndarray of shape (q,)
        float64, as from `attnlib.flash.flash_attention`.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As `naive_attention_on`; TypeError also if `causal` is neither True nor False.

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
    scale, query, key, value = as_one_head("flash_attention_on", memory, query, key, value, block_q, block_k, causal)
    out, logsumexp = slow_array(query, value.T), np.empty(len(query))
    for rows in tiles(len(query), block_q):
        query_tile = memory.load(query[rows])
        state = [memory.keep(array) for array in _start(query_tile, value)]
        for columns in tiles(len(key), block_k):
            if causal and columns.start >= rows.stop:
                break  # every key from here on is in the future of every query of this tile
            key_tile, value_tile = memory.load(key[columns]), memory.load(value[columns])
            scores = memory.keep(tile_scores(query_tile, key_tile, scale, rows, columns, causal))
            _absorb(*state, scores, value_tile)
            memory.free(key_tile, value_tile, scores)
        accumulated, maximum, total = state
        accumulated /= total[:, np.newaxis]
        memory.store(accumulated, out[rows])
        maximum += np.log(total)
        memory.store(maximum, logsumexp[rows])
        memory.free(query_tile, *state)
    return out, logsumexp


@quiet
def flash_attention_keys_outer_on(memory, query, key, value, *, block_q=None, block_k=None, causal=False):
    """Flash attention as first published, keys in the outer loop.

    A tile of keys and values stays in fast memory; the queries stream past and their unfinished rows of
    the output go out to slow memory and come back for every tile of keys.

    Parameters
    ----------
    memory, query, key, value, block_q, block_k, causal
        As for `flash_attention_on`.

    Returns
    -------
    out : ndarray of shape (q, v)
    logsumexp : ndarray of shape (q,)
        float64, as from `attnlib.flash.flash_attention`.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As `flash_attention_on`.

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
    scale, query, key, value = as_one_head(
        "flash_attention_keys_outer_on", memory, query, key, value, block_q, block_k, causal
    )
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
            scores = memory.keep(tile_scores(query_tile, key_tile, scale, rows, columns, causal))
            _absorb(*state, scores, value_tile)
            accumulated /= sums[:, np.newaxis]
            for fast, array in zip(state, slow, strict=True):
                memory.store(fast, array[rows])
            memory.free(query_tile, scores, *state)
        memory.free(key_tile, value_tile)
    return out, maximum + np.log(total)


def tile_scores(query, key, scale, rows, columns, causal):
    """The scores of one tile, those of hidden keys -inf."""
    scores = scale * (query @ key.T)
    if causal:
        future = np.arange(columns.start, columns.stop) > np.arange(rows.start, rows.stop)[:, np.newaxis]
        scores[future] = -np.inf
    return scores


def _start(query, value):
    """Output, running maximum and running sum of queries that have seen no key yet.

    The two numbers of a row are float64, as in `attnlib.flash`: float32 would lose the sum beside a large maximum.
    """
    rows = len(query)
    return np.zeros((rows, value.shape[1]), query.dtype), np.full(rows, -np.inf), np.zeros(rows)


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
