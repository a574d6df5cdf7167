"""A mask by its rule, written as loops."""

import numpy as np


def by_loops(q, k, may_look):
    """The mask whose entry (i, j) is may_look(i, j)."""
    return np.array([[may_look(i, j) for j in range(k)] for i in range(q)], bool).reshape(q, k)


def assert_mask(mask, expected):
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, expected, strict=True)
