"""A store for the keys and values of many texts, which lie in pages that a table for each text finds."""

import numpy as np

from attnlib.checks.arrays import as_float_dtype, as_integer
from attnlib.decoding.kv_cache import as_cache_sizes, as_new_rows


class PagedKVCache:
    """The keys and values of many texts in pages of one size, which lie anywhere.

    A text takes a free page when its last one is full, so that no memory is set aside for tokens that may never
    come. Texts that begin alike share their full pages, which do not change any more.

    Parameters
    ----------
    pages : int
        How many pages there are, for all texts together.
    size : int
        Positions in a page, at least 1.
    leading : tuple of int, default ()
        The axes before the positions, as for `KVCache`.
    d, v
        As for `KVCache`.
    dtype : dtype, optional
        What the pages store, for all texts; by default the dtype of the first keys and values that are appended.

    Attributes
    ----------
    tables : dict
        For each text the list of its pages, in the order of the text.
    lengths : dict
        For each text how many positions it has.

    Raises
    ------
    TypeError
        If a size is not an integer, or `dtype` is not a float dtype.
    ValueError
        If a size is too small.

    References
    ----------
    .. [1] Kwon et al. (2023), "Efficient Memory Management for Large Language Model Serving with PagedAttention".

    Examples
    --------
    >>> cache = PagedKVCache(4, 2, d=1)
    >>> for text in ("a", "b"):
    ...     cache.start(text)
    ...     cache.append(text, np.ones((3, 1)), np.ones((3, 1)))
    >>> cache.tables, cache.free
    ({'a': [0, 1], 'b': [2, 3]}, 0)
    >>> cache.finish("a")
    >>> cache.free
    2
    """

    def __init__(self, pages, size, *, leading=(), d, v=None, dtype=None):
        pages = as_integer("PagedKVCache", "pages", pages, minimum=0)
        self.size = as_integer("PagedKVCache", "size", size, minimum=1)
        leading, d, v = as_cache_sizes("PagedKVCache", leading, d, v)
        self._follows = dtype is None  # until something has been appended
        dtype = as_float_dtype("PagedKVCache", np.float64 if dtype is None else dtype)
        self._keys = np.zeros((*leading, pages, self.size, d), dtype)
        self._values = np.zeros((*leading, pages, self.size, v), dtype)
        self._users = np.zeros(pages, int)  # how many texts have this page in their table
        self.tables, self.lengths = {}, {}

    @property
    def free(self):
        """How many pages no text uses."""
        return int((self._users == 0).sum())

    def start(self, text, like=None):
        """Begin a text, empty or with everything that the text `like` has; full pages are shared, the rest is copied.

        Parameters
        ----------
        text : hashable
            Its name.
        like : hashable, optional

        Raises
        ------
        KeyError
            If there is no text `like`.
        ValueError
            If there is such a text already, or no page for the copy.
        """
        if text in self.tables:
            raise ValueError(f"PagedKVCache.start: there is a text {text!r} already.")
        if like is None:
            self.tables[text], self.lengths[text] = [], 0
            return
        keys, values = self.read(like)
        full = self.lengths[like] // self.size
        shared, begun = self.tables[like][:full], full * self.size
        self._require_pages("start", int(begun < self.lengths[like]))
        self._users[shared] += 1
        self.tables[text], self.lengths[text] = shared, begun
        if begun < self.lengths[like]:
            self.append(text, keys[..., begun:, :], values[..., begun:, :])

    def append(self, text, key, value):
        """Add the keys and values of new positions to a text.

        Parameters
        ----------
        text : hashable
        key : array_like of shape (..., n, d)
        value : array_like of shape (..., n, v)

        Raises
        ------
        KeyError
            If there is no such text.
        TypeError
            If the cache's dtype cannot hold them without rounding.
        ValueError
            If a shape does not fit or there are not enough free pages. The cache is left as it was.
        """
        table, start = self.tables[text], self.lengths[text]
        *leading, _, _, d = self._keys.shape
        stored = None if self._follows else self._keys.dtype
        key, value, dtype = as_new_rows("PagedKVCache.append", key, value, stored, leading, d, self._values.shape[-1])
        stop = start + key.shape[-2]
        table += self._take("append", -(-stop // self.size) - len(table))
        if self._follows:
            self._keys, self._values = (array.astype(dtype, copy=False) for array in (self._keys, self._values))
            self._follows = False
        place = self._places(text, np.arange(start, stop))
        self._keys[(..., *place, slice(None))] = key
        self._values[(..., *place, slice(None))] = value
        self.lengths[text] = stop

    def read(self, text):
        """The keys (..., k, d) and values (..., k, v) of a text, in its order: copies."""
        place = self._places(text, np.arange(self.lengths[text]))
        return self._keys[(..., *place, slice(None))], self._values[(..., *place, slice(None))]

    def finish(self, text):
        """Forget a text; the pages that it alone used are free."""
        self._users[self.tables.pop(text)] -= 1
        del self.lengths[text]

    def _places(self, text, positions):
        """The page and the slot of each position."""
        table = np.array(self.tables[text], int)
        return table[positions // self.size], positions % self.size

    def _take(self, function, count):
        self._require_pages(function, count)
        taken = np.flatnonzero(self._users == 0)[: max(count, 0)]
        self._users[taken] = 1
        return taken.tolist()

    def _require_pages(self, function, count):
        if count > self.free:
            raise ValueError(f"PagedKVCache.{function}: free pages: {self.free}; needed: {count}.")
