"""Where decoding keeps the keys and values of the past."""

import numpy as np

from attnlib.checks.arrays import as_float, as_float_dtype, as_integer


class KVCache:
    """The keys and values so far, in arrays made once and large enough for all that will come.

    A cache has a state, which `append` changes; the functions of the library have none. Growing an array by
    one row means copying all of it, so that n tokens would cost n² / 2 copied rows. Here a new row is written
    into its place instead.

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
    dtype : dtype, optional
        What the cache stores; by default the dtype of the first keys and values that are appended, so that a
        model in float32 gets a cache in float32.

    Raises
    ------
    TypeError
        If a size is not an integer, or `dtype` is not a float dtype.
    ValueError
        If a size is negative.

    Examples
    --------
    >>> cache = KVCache(100, leading=(2, 4), d=8)
    >>> cache.append(np.ones((2, 4, 3, 8), np.float32), np.ones((2, 4, 3, 8), np.float32))
    >>> len(cache), cache.keys.shape, cache.nbytes
    (3, (2, 4, 3, 8), 51200)
    """

    def __init__(self, capacity, *, leading=(), d, v=None, dtype=None):
        name = type(self).__name__
        self.capacity = as_integer(name, "capacity", capacity, minimum=0)
        leading, d, v = as_cache_sizes(name, leading, d, v)
        self._follows = dtype is None  # until something has been appended
        dtype = as_float_dtype(name, np.float64 if dtype is None else dtype)
        self._keys = np.zeros((*leading, self.capacity, d), dtype)
        self._values = np.zeros((*leading, self.capacity, v), dtype)
        self._length = 0

    def __len__(self):
        return self._length

    @property
    def keys(self):
        """The keys so far, shape (..., k, d): a read-only view. Later ones are not in it and do not change it."""
        return self._filled(self._keys)

    @property
    def values(self):
        """The values so far, shape (..., k, v): a read-only view, like `keys`."""
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
        *leading, _, d = self._keys.shape
        stored = None if self._follows else self._keys.dtype
        key, value, dtype = as_new_rows(function, key, value, stored, leading, d, self._values.shape[-1])
        self._require_room(function, key.shape[-2])
        if self._follows:
            self._keys, self._values = (array.astype(dtype, copy=False) for array in (self._keys, self._values))
            self._follows = False
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


def as_cache_sizes(name, leading, d, v):
    """The sizes that every cache takes, checked: the leading axes, the features of a key and those of a value."""
    if not isinstance(leading, (tuple, list)):
        raise TypeError(f"{name}: leading must be a tuple of integers; got {leading!r}.")
    leading = tuple(as_integer(name, "leading", size, minimum=0) for size in leading)
    d = as_integer(name, "d", d, minimum=0)
    return leading, d, as_integer(name, "v", d if v is None else v, minimum=0)


def as_new_rows(function, key, value, stored, leading, d, v):
    """Keys (leading, n, d) and values (leading, n, v) as arrays, and the dtype that holds both without rounding.

    `stored` is the dtype of the cache, which must not round them; None if the cache has none yet.
    """
    rows = []
    for name, array, features in (("key", key, d), ("value", value, v)):
        _, dtype = as_float(function, **{name: array})
        array = np.asarray(array)
        if stored is not None and not np.can_cast(dtype, stored):
            raise TypeError(f"{function}: a cache of {stored} would round {name}, which is {dtype}; convert it.")
        expected = (*leading, "n", features)
        if array.ndim != len(expected) or (*array.shape[:-2], "n", array.shape[-1]) != expected:
            raise ValueError(f"{function}: {name} must have the shape {expected} of this cache; got {array.shape}.")
        rows.append(array)
    key, value = rows
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"{function}: key and value must have the same number of positions n; got {key.shape} and {value.shape}."
        )
    return key, value, as_float(function, key=key, value=value)[1]


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

    def __init__(self, capacity, *, leading=(), d, v=None, dtype=None):
        capacity = as_integer("SlidingKVCache", "capacity", capacity, minimum=1)
        super().__init__(capacity, leading=leading, d=d, v=v, dtype=dtype)
        self._next = 0

    @property
    def keys(self):
        """The keys that are kept, shape (..., k, d), not in the order of the text: a read-only view.

        When the cache is full, the next `append` writes over the oldest of its rows: copy what you want to keep.
        """
        return self._filled(self._keys)

    @property
    def values(self):
        """The values that are kept, shape (..., k, v): a read-only view that `append` writes into, like `keys`."""
        return self._filled(self._values)

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
