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

import math

import numpy as np

from attnlib._arrays import as_float
from attnlib._inputs import as_integer


class Memory:
    """A small fast memory that counts what it loads from and stores to slow memory.

    Parameters
    ----------
    capacity : int, optional
        How many numbers fit. Unlimited if left out.

    Attributes
    ----------
    loads, stores : int
        Numbers moved so far from slow to fast memory, and back.
    used, peak : int
        Numbers in fast memory now, and the most there have been.

    Examples
    --------
    >>> memory = Memory(capacity=4)
    >>> slow = np.array([1.0, 2.0, 3.0])
    >>> fast = memory.load(slow[:2])
    >>> fast *= 10  # free of charge: it is in fast memory
    >>> memory.store(fast, slow[:2])
    >>> memory.free(fast)
    >>> slow, memory.loads, memory.stores, memory.used, memory.peak
    (array([10., 20.,  3.]), 2, 2, 0, 2)
    """

    def __init__(self, capacity=None):
        if capacity is not None:
            capacity = as_integer("Memory", "capacity", capacity, minimum=1)
        self.capacity = capacity
        self.loads = self.stores = self.used = self.peak = 0
        self._held = {}

    def load(self, slow):
        """Copy (part of) a slow array into fast memory and return the copy."""
        self._require_room(slow.size)
        self.loads += slow.size
        return self.keep(slow.copy())

    def keep(self, result):
        """Give an array that was computed in fast memory its room there; return it."""
        self._require_room(result.size)
        self._held[id(result)] = result
        self.used += result.size
        self.peak = max(self.peak, self.used)
        return result

    def store(self, fast, slow):
        """Write a whole fast array over (part of) a slow one of the same shape."""
        self._require_held("store", fast)
        if slow.shape != fast.shape:
            raise ValueError(f"Memory.store: both arrays must have one shape; got {fast.shape} and {slow.shape}.")
        self.stores += fast.size
        slow[...] = fast

    def free(self, *fast):
        """Make room: forget these arrays."""
        for array in fast:
            self._require_held("free", array)
            self.used -= self._held.pop(id(array)).size

    def _require_room(self, size):
        if self.capacity is not None and self.used + size > self.capacity:
            raise MemoryError(
                f"Memory: the fast memory holds {self.capacity} numbers and {self.used} are in use; "
                f"{size} more do not fit."
            )

    def _require_held(self, method, array):
        if self._held.get(id(array)) is not array:
            raise ValueError(f"Memory.{method}: the array is not in fast memory; load it, or keep it, first.")


def tiles(length, block=None):
    """Slices of `block` positions that cover 0 … length; the last one may be shorter.

    Examples
    --------
    >>> tiles(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    block = max(length, 1) if block is None else block
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


def naive_attention_on(memory, query, key, value, *, block_q=None, block_k=None):
    """Attention that writes all scores and all weights to slow memory. Returns out and weights.

    Three passes, each of which streams through q·k numbers. The middle one needs room for one row.
    """
    scale, query, key, value = _check("naive_attention_on", query, key, value, block_q, block_k)
    scores, weights, out = _slow(query, key), _slow(query, key), _slow(query, value.T)
    _wide_product(memory, query, key, scores, scale, block_q, block_k)
    for i in range(len(query)):
        row = memory.load(scores[i])
        row -= row.max()
        np.exp(row, out=row)
        row /= row.sum()
        memory.store(row, weights[i])
        memory.free(row)
    _tall_product(memory, weights, value, out, block_q, block_k)
    return out, weights


def naive_attention_backward_on(memory, d_out, query, key, value, weights, *, block_q=None, block_k=None):
    """Gradients of `naive_attention_on`: the weights come back from slow memory, d_scores goes through it."""
    scale, query, key, value = _check("naive_attention_backward_on", query, key, value, block_q, block_k)
    d_scores = _slow(query, key)
    d_query, d_key, d_value = np.empty_like(query), np.empty_like(key), np.empty_like(value)
    # forward: out = weights @ value
    _tall_product(memory, weights.T, d_out, d_value, block_k, block_q)
    _wide_product(memory, d_out, value, d_scores, 1.0, block_q, block_k)  # d_weights, overwritten below
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


def flash_attention_on(memory, query, key, value, *, block_q=None, block_k=None, causal=False):
    """Flash attention, queries in the outer loop [2]_. Returns out and logsumexp.

    A tile of queries stays in fast memory until its rows are finished; the keys and values stream past.
    """
    scale, query, key, value = _check("flash_attention_on", query, key, value, block_q, block_k)
    out, logsumexp = _slow(query, value.T), np.empty(len(query), query.dtype)
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
    """Flash attention as first published [1]_, keys in the outer loop. Returns out and logsumexp.

    A tile of keys and values stays in fast memory; the queries stream past and their unfinished rows of
    the output go out to slow memory and come back for every tile of keys.
    """
    scale, query, key, value = _check("flash_attention_keys_outer_on", query, key, value, block_q, block_k)
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
    """Gradients of both Flash loops: the weights are computed again, tile by tile, from logsumexp [2]_."""
    scale, query, key, value = _check("flash_attention_backward_on", query, key, value, block_q, block_k)
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


def _wide_product(memory, left, right, out, scale, block_rows, block_columns):
    """out = scale * left @ right.T where `out` is the large one: tiles of it are finished one by one."""
    for rows in tiles(len(left), block_rows):
        left_tile = memory.load(left[rows])
        for columns in tiles(len(right), block_columns):
            right_tile = memory.load(right[columns])
            product = memory.keep(scale * (left_tile @ right_tile.T))
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


def _slow(left, right):
    return np.empty((len(left), len(right)), left.dtype)


def _check(function, query, key, value, block_q, block_k):
    """Insist on two-dimensional arrays that fit together; return the scale 1 / sqrt(d) and them."""
    (query, key, value), _ = as_float(function, query=query, key=key, value=value)
    shapes = [array.shape for array in (query, key, value)]
    fits = [len(shape) for shape in shapes] == [2, 2, 2] and shapes[0][1] == shapes[1][1] > 0
    if not fits or not shapes[1][0] == shapes[2][0] > 0:
        raise ValueError(
            f"{function}: expected query (q, d), key (k, d) and value (k, v) of one head, with at least one key "
            f"and one feature; got {', '.join(map(str, shapes))}."
        )
    for name, block in (("block_q", block_q), ("block_k", block_k)):
        if block is not None:
            as_integer(function, name, block, minimum=1)
    return 1.0 / math.sqrt(query.shape[1]), query, key, value
