"""Sizes of the tests of costs: some fixed ones, every small combination, and those that hypothesis draws."""

import itertools
import math

from array_tools import query_key_value
from hypothesis import strategies as st

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
Q, K, D, V = 5, 7, 3, 2


def make_inputs(rng, q=Q, k=K, d=D, v=V):
    return query_key_value(rng, (), 1, q, k, d, v)


def paper_blocks(capacity, d):
    """Tile sizes (block_q, block_k) of Dao et al. (2022), algorithm 1, line 1, for a fast memory of `capacity` numbers.

    The rule is meant up to a constant: with the tile of scores and the running maxima and sums, the loop needs up to
    1.25 capacity + 5 d + 2 block_q numbers. The 5 d are there because block_k is rounded up.
    """
    block_k = math.ceil(capacity / (4 * d))
    return min(block_k, d), block_k


sizes = st.integers(1, 9)
blocks = st.none() | st.integers(1, 11)

# Hypothesis looks far afield; this goes through every small combination, ragged tiles and skipped ones among them.
EVERY_SMALL_CASE = list(itertools.product((0, 1, 4, 5), (1, 3, 5), (None, 1, 2, 3, 9), (None, 1, 2, 4, 9)))
