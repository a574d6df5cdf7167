"""Which tiles of the score matrix Flash attention visits, and what is hidden inside one.

A tile is a block of query positions times a block of key positions. The tiles lie on a
fixed grid; one that a causal mask or a sliding window empties is left out.
"""

import math
from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_integer, as_truth

# A tile of float32 scores takes 512 KB, about an L2 cache. Measured for d = 64 on one thread, relative to this size:
# 64 × 64 takes 1.7 times as long, 128 × 128 1.2 times, 512 × 512 the same; 2048 × 2048 gains nothing and, causal,
# takes 1.6 times as long, because large tiles skip less.
BLOCK_Q, BLOCK_K = 256, 512
# Short sequences: a tile holds the scores of several heads, since a step of Python costs more than a short head. With
# more heads than this, what a step allocates beside the scores grows so large that its memory goes back to the system
# and has to be fetched anew, page by page. The backward allocates more: with 256 heads of 16 tokens it takes a tenth
# to a quarter longer.
MOST_HEADS, MOST_HEADS_BACKWARD = 256, 128


class Tile(NamedTuple):
    """The query and key positions of one tile, and whether the causal mask or window cuts into it."""

    rows: slice
    columns: slice
    cut: bool

    def view(self, workspace, heads):
        """The start of a flat `workspace` as an array of shape (heads, rows, columns)."""
        shape = heads, self.rows.stop - self.rows.start, self.columns.stop - self.columns.start
        return workspace[: math.prod(shape)].reshape(shape)


class Tiles(NamedTuple):
    """The grid of tiles over q × k scores, and the band of keys that each query sees.

    Query i sees the keys ``i + first <= j <= i + last``; None stands for no bound. `mask`
    is None or a (..., q, k) view of the caller's mask. A tile holds at most `most_heads` heads.
    """

    q: int
    k: int
    block_q: int
    block_k: int
    first: int | None = None
    last: int | None = None
    mask: np.ndarray | None = None
    most_heads: int = MOST_HEADS

    @property
    def hides(self):
        """Whether anything may be hidden at all."""
        return not (self.first is self.last is self.mask is None)

    def query_blocks(self):
        """Yield the query positions of each row of tiles, as a slice."""
        for start in range(0, self.q, self.block_q):
            yield slice(start, min(start + self.block_q, self.q))

    def along(self, rows):
        """Yield the tiles of one row of tiles, without those that the band empties.

        Keys outside the reach of all these queries are cut off, so that the first and the
        last tile may be narrower than `block_k`.
        """
        start = 0 if self.first is None else max(0, rows.start + self.first)
        stop = self.k if self.last is None else min(self.k, rows.stop + self.last)
        if start >= stop:
            return  # the band lies before the first key or after the last
        for column in range(start // self.block_k * self.block_k, stop, self.block_k):
            columns = slice(max(column, start), min(column + self.block_k, stop))
            # The first query has the earliest end, the last query the latest start.
            past_the_end = self.last is not None and columns.stop - 1 > rows.start + self.last
            before_the_start = self.first is not None and columns.start < rows.stop - 1 + self.first
            yield Tile(rows, columns, past_the_end or before_the_start)

    @property
    def heads(self):
        """How many heads go into one tile: one, unless their scores are so few that the tile holds several."""
        scores = min(self.block_q, self.q) * min(self.block_k, self.k)
        return max(1, min(self.block_q * self.block_k // max(1, scores), self.most_heads))

    def hide(self, scores, heads, tile):
        """Write ``-inf`` over the hidden scores of a tile and add the additive mask, in place."""
        if self.mask is not None:
            mask = pick(self.mask, heads, tile.rows, tile.columns)
            if mask.dtype.kind == "b":
                np.copyto(scores, -np.inf, where=~mask)
            else:
                scores += mask
                np.copyto(scores, -np.inf, where=mask == -np.inf)  # also where the score was inf or NaN
        if tile.cut:
            query = np.arange(tile.rows.start, tile.rows.stop)[:, np.newaxis]
            key = np.arange(tile.columns.start, tile.columns.stop)
            if self.last is not None:
                np.copyto(scores, -np.inf, where=key > query + self.last)
            if self.first is not None:
                np.copyto(scores, -np.inf, where=key < query + self.first)

    def workspace(self, dtype, heads):
        """A flat array that holds the largest tile of so many heads: see `Tile.view`."""
        return np.empty(min(self.heads, heads) * min(self.block_q, self.q) * min(self.block_k, self.k), dtype)


def plan_tiles(function, q, k, *, causal, window, offset, block_q, block_k, mask=None):
    """Check the arguments that say which tiles to visit, and return them as `Tiles`.

    Raises
    ------
    TypeError
        If `causal` is not a truth value or another argument is not an integer.
    ValueError
        If a block size or the window is less than 1.

    Examples
    --------
    >>> tiles = plan_tiles("tiles", 4, 4, causal=True, window=None, offset=0, block_q=2, block_k=2)
    >>> [[tile.columns.start for tile in tiles.along(rows)] for rows in tiles.query_blocks()]
    [[0], [0, 2]]
    """
    as_truth(function, "causal", causal)
    offset = as_integer(function, "offset", offset)
    block_q = as_integer(function, "block_q", block_q, minimum=1)
    block_k = as_integer(function, "block_k", block_k, minimum=1)
    tiles = Tiles(q, k, block_q, block_k, mask=mask)
    if window is not None:
        window = as_integer(function, "window", window, minimum=1)
        return tiles._replace(first=offset - window + 1, last=offset)
    return tiles._replace(last=offset) if causal else tiles


def plan_for(function, inputs, causal, window, offset, block_q, block_k):
    """`plan_tiles` for the checked arguments of an attention function."""
    q, k = inputs.scores_shape[-2:]
    mask = None if inputs.mask is None else np.broadcast_to(inputs.mask, inputs.scores_shape)  # a view
    bounds = {"causal": causal, "window": window, "offset": offset, "block_q": block_q, "block_k": block_k}
    return plan_tiles(function, q, k, mask=mask, **bounds)


def shared_heads(tiles, query, key):
    """Yield some key heads, as many as go into a tile, with the query heads that share them: one of each at a time.

    Heads are numbered in the order of the leading axes; some of them are a slice of the numbers.

    Examples
    --------
    >>> tiles = plan_tiles("tiles", 3, 7, causal=False, window=None, offset=0, block_q=4, block_k=8)
    >>> tiles.heads, list(shared_heads(tiles, np.ones((4, 3, 5)), np.ones((2, 7, 5))))
    (1, [(slice(0, 1, None), [slice(0, 2, 2), slice(1, 2, 2)]), (slice(1, 2, None), [slice(2, 4, 2), slice(3, 4, 2)])])
    """
    heads, key_heads = math.prod(query.shape[:-2]), math.prod(key.shape[:-2])
    group = heads // max(1, key_heads)
    for start in range(0, key_heads, tiles.heads):
        stop = min(start + tiles.heads, key_heads)
        yield slice(start, stop), [slice(start * group + member, stop * group, group) for member in range(group)]


def pick(array, heads, *place):
    """Some heads of an array of shape (..., n, x), as (heads, n, x): a view where they lie one after the other.

    Examples
    --------
    >>> pick(np.arange(12).reshape(2, 2, 3, 1), slice(1, 4, 2))[..., 0]
    array([[ 3,  4,  5],
           [ 9, 10, 11]])
    """
    leading = array.shape[:-2]
    if array.flags.c_contiguous:
        return array.reshape(math.prod(leading), *array.shape[-2:])[(heads, *place)]
    numbers = range(*heads.indices(math.prod(leading)))
    return array[(*np.unravel_index(numbers, leading), *place)] if leading else array[np.newaxis][(heads, *place)]


def longest(vectors):
    """The length of the longest row."""
    return math.sqrt(np.vecdot(vectors, vectors).max(initial=0))
