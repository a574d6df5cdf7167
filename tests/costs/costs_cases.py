"""Sizes of the tests of costs: some fixed ones, every small combination, and those that hypothesis draws."""

import itertools

from array_tools import query_key_value
from hypothesis import strategies as st

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
Q, K, D, V = 5, 7, 3, 2


def make_inputs(rng, q=Q, k=K, d=D, v=V):
    return query_key_value(rng, (), 1, q, k, d, v)


sizes = st.integers(1, 9)
blocks = st.none() | st.integers(1, 11)

# Hypothesis looks far afield; this goes through every small combination, ragged tiles and skipped ones among them.
EVERY_SMALL_CASE = list(itertools.product((0, 1, 4, 5), (1, 3, 5), (None, 1, 2, 3, 9), (None, 1, 2, 4, 9)))
