"""One token at a time: keep the keys and values of the past instead of computing them again."""

import numpy as np

from attnlib._arrays import as_float
from attnlib._inputs import as_integer, as_mask, attention_inputs
from attnlib.attention import attention
from attnlib.masks import causal_mask, combine_masks
from attnlib.multihead import _prepare, _project, _project_heads, merge_heads


class KVCache:
    """The keys and values so far, in arrays made once and large enough for all that will come.

    This is the one object of the library with a state of its own: `append` changes it. Growing an array
    by one row means copying all of it, so that n tokens would cost n² / 2 copied rows; here a new row is
    written into its place.

    Parameters
    ----------
    capacity : int
        How many positions fit.
    leading : tuple of int, default ()
        The axes before the positions, for example ``(b, kv_heads)``: a cache holds the heads of the
        *keys*, which grouped-query attention makes few.
    d : int
        Features of a key.
    v : int, optional
        Features of a value; d if left out.
    dtype : dtype, default float64
        What the cache stores.

    Raises
    ------
    TypeError
        If a size is not an integer, or `dtype` is not a float dtype.
    ValueError
        If a size is negative.

    Examples
    --------
    >>> cache = KVCache(100, leading=(2, 4), d=8, dtype=np.float32)
    >>> cache.append(np.ones((2, 4, 3, 8), np.float32), np.ones((2, 4, 3, 8), np.float32))
    >>> len(cache), cache.keys.shape, cache.nbytes
    (3, (2, 4, 3, 8), 51200)
    """

    def __init__(self, capacity, *, leading=(), d, v=None, dtype=np.float64):
        name = "KVCache"
        self.capacity = as_integer(name, "capacity", capacity, minimum=0)
        leading = tuple(as_integer(name, "leading", size, minimum=0) for size in leading)
        d = as_integer(name, "d", d, minimum=0)
        v = as_integer(name, "v", d if v is None else v, minimum=0)
        if np.dtype(dtype).kind != "f":
            raise TypeError(f"{name}: dtype must be a float dtype; got {np.dtype(dtype)}.")
        self._keys = np.zeros((*leading, self.capacity, d), dtype)
        self._values = np.zeros((*leading, self.capacity, v), dtype)
        self._length = 0

    def __len__(self):
        return self._length

    @property
    def keys(self):
        """The keys so far, shape (..., k, d): a read-only view, which stays right when more are appended."""
        return self._filled(self._keys)

    @property
    def values(self):
        """The values so far, shape (..., k, v): a read-only view."""
        return self._filled(self._values)

    @property
    def nbytes(self):
        """Bytes of both arrays, filled or not."""
        return self._keys.nbytes + self._values.nbytes

    def append(self, key, value):
        """Add the keys and values of one or several new positions, after those that are there.

        Parameters
        ----------
        key : array_like of shape (..., n, d)
        value : array_like of shape (..., n, v)

        Raises
        ------
        TypeError
            If the cache's dtype cannot hold them without rounding.
        ValueError
            If a shape does not fit or the cache is full. It is left as it was.
        """
        key, value = self._as_new_rows("KVCache.append", key, value)
        start, stop = self._length, self._length + key.shape[-2]
        self._keys[..., start:stop, :] = key
        self._values[..., start:stop, :] = value
        self._length = stop

    def _as_new_rows(self, function, key, value):
        """The two as arrays, if they can be appended."""
        rows = []
        for name, array, stored in (("key", key, self._keys), ("value", value, self._values)):
            _, dtype = as_float(function, **{name: array})
            array = np.asarray(array)
            if not np.can_cast(dtype, stored.dtype):
                raise TypeError(
                    f"{function}: a cache of {stored.dtype} would round {name}, which is {dtype}; convert it."
                )
            expected = (*stored.shape[:-2], "n", stored.shape[-1])
            if array.ndim != stored.ndim or (*array.shape[:-2], "n", array.shape[-1]) != expected:
                raise ValueError(f"{function}: {name} must have the shape {expected} of this cache; got {array.shape}.")
            rows.append(array)
        key, value = rows
        if key.shape[-2] != value.shape[-2]:
            raise ValueError(
                f"{function}: key and value must have the same number of positions n; "
                f"got {key.shape} and {value.shape}."
            )
        self._require_room(function, key.shape[-2])
        return key, value

    def _require_room(self, function, n):
        if self._length + n > self.capacity:
            raise ValueError(
                f"{function}: the cache is full: it holds {self._length} of {self.capacity} positions "
                f"and {n} more do not fit."
            )

    def _filled(self, array):
        view = array[..., : self._length, :]
        view.flags.writeable = False
        return view


class SlidingKVCache(KVCache):
    """A cache that forgets: it keeps the last `capacity` positions, whatever the length of the text.

    The newest position is written over the oldest, so the rows are not in the order of the text. Attention
    does not mind: it sums over keys, in any order. (Positions that matter have to be in the keys
    themselves, as with `rotary`.) It takes one position at a time: in a chunk, the later tokens would
    overwrite what the earlier ones still have to see.

    Parameters
    ----------
    capacity, leading, d, v, dtype
        As for `KVCache`; `capacity` is the window, at least 1.

    Examples
    --------
    >>> cache = SlidingKVCache(2, d=1)
    >>> for position in range(5):
    ...     cache.append([[position]], [[position]])
    >>> len(cache), cache.keys.ravel()
    (2, array([4., 3.]))
    """

    def __init__(self, capacity, *, leading=(), d, v=None, dtype=np.float64):
        capacity = as_integer("SlidingKVCache", "capacity", capacity, minimum=1)
        super().__init__(capacity, leading=leading, d=d, v=v, dtype=dtype)
        self._next = 0

    def append(self, key, value):
        """Add one new position; when the cache is full, in place of the oldest. See `KVCache.append`."""
        key, value = self._as_new_rows("SlidingKVCache.append", key, value)
        self._keys[..., self._next, :] = key[..., 0, :]
        self._values[..., self._next, :] = value[..., 0, :]
        self._next = (self._next + 1) % self.capacity
        self._length = min(self._length + 1, self.capacity)

    def _require_room(self, function, n):
        if n != 1:
            raise ValueError(f"{function}: a sliding cache takes one position at a time; got {n}.")


def attend_with_cache(query, key, value, cache, *, mask=None, scale=None):
    """Append the keys and values of new tokens, then let these tokens look at everything so far.

    Token by token, in chunks of any size, or all at once, the outputs are those of causal
    attention over the whole sequence. One new token costs k scores, not k²: the rows of the past
    would come out as before and nobody asks for them again.

    Parameters
    ----------
    query : array_like of shape (..., n, d)
        Queries of the n new tokens; may have more heads than the cache, as in `attention`.
    key : array_like of shape (..., n, d)
    value : array_like of shape (..., n, v)
        Keys and values of the new tokens. A token sees itself.
    cache : KVCache
        Holds the past. It is changed: afterwards it holds the new tokens too.
    mask : array_like, optional
        As for `attention`, broadcasting to (..., n, k) with k the length of the cache *afterwards*; for
        example to hide padding. Its columns are in the order of the cache's rows. The future is hidden
        without it.
    scale : float, optional
        By default ``1 / sqrt(d)``.

    Returns
    -------
    out : ndarray of shape (..., n, v)
    weights : ndarray of shape (..., n, k)

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit or the cache is full. After an error the cache is as it was before.

    References
    ----------
    .. [1] Shazeer (2019), "Fast Transformer Decoding: One Write-Head is All You Need", section 2.4.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(5, 3))
    >>> expected, _ = attention(x, x, x, causal=True)
    >>> cache = KVCache(5, d=3)
    >>> one_by_one = [attend_with_cache(row, row, row, cache)[0] for row in np.split(x, 5)]
    >>> bool(np.allclose(np.concatenate(one_by_one), expected))
    True
    """
    return _attend("attend_with_cache", query, key, value, cache, mask, scale)


@np.errstate(over="ignore", invalid="ignore")  # an overflow shows as inf or NaN, without a warning
def multihead_decode(x, params, cache, *, mask=None):
    """Run `multihead_attention` on new tokens only; the cache holds what is needed of the past.

    Parameters
    ----------
    x : array_like of shape (..., n, m)
        The new tokens.
    params : MultiHeadParams
    cache : KVCache
        With the axes ``leading=(..., params.kv_heads)``. It is changed.
    mask : array_like, optional
        As for `attend_with_cache`; broadcasts to (..., h, n, k).

    Returns
    -------
    out : ndarray of shape (..., n, m)
        What ``multihead_attention(..., causal=True)`` on the whole sequence returns for these tokens.
    weights : ndarray of shape (..., h, n, k)

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit or the cache is full. After an error the cache is as it was before.

    Examples
    --------
    >>> from attnlib.multihead import init_multihead
    >>> params = init_multihead(np.random.default_rng(0), m=8, heads=4, kv_heads=2)
    >>> cache = KVCache(10, leading=(params.kv_heads,), d=params.d)
    >>> out, weights = multihead_decode(np.ones((3, 8)), params, cache)
    >>> out.shape, weights.shape, len(cache)
    ((3, 8), (4, 3, 3), 3)
    """
    x, _, params, dtype = _prepare("multihead_decode", x, params, None)
    query, key, value = _project_heads(x, params)
    # A float16 layer computes in float32; its cache is float16 like its result.
    key, value = key.astype(dtype, copy=False), value.astype(dtype, copy=False)
    attended, weights = _attend("multihead_decode", query, key, value, cache, mask, None)
    out = _project(merge_heads(attended), params.out_weight, params.out_bias)
    return out.astype(dtype, copy=False), weights.astype(dtype, copy=False)


def _attend(function, query, key, value, cache, mask, scale):
    if not isinstance(cache, KVCache):
        raise TypeError(f"{function}: cache must be a KVCache; got {type(cache).__name__}.")
    # Everything is checked before the cache is touched.
    inputs = attention_inputs(function, query, key, value, scale=scale)
    cache._as_new_rows(function, key, value)
    q, n = inputs.scores_shape[-2:]
    if q != n:
        raise ValueError(f"{function}: query and key must belong to the same new tokens; got {q} queries and {n} keys.")
    k = min(len(cache) + n, cache.capacity)
    if mask is not None:
        mask = as_mask(function, mask, (*inputs.scores_shape[:-1], k), inputs.query.dtype)
    cache.append(key, value)
    if n > 1:  # a single new token stands at the end: all keys are in its past
        # New token i stands at position k - n + i.
        mask = combine_masks(mask, causal_mask(n, k, offset=k - n))
    return attention(query, cache.keys, cache.values, mask=mask, scale=scale)
