"""attnlib.attention.grouped: are query heads that share a key head what they are with the key head repeated?"""

import numpy as np
import pytest
from attention_cases import HEADS, B, H, K, Q, V, assert_close, backward, make_inputs

from attnlib.attention.grouped import fold_heads


def test_shared_heads_are_repeated_heads(rng):
    query, key, value = make_inputs(rng)
    d_out, mask = rng.normal(size=(B, H, Q, V)), rng.normal(size=(H, Q, K))
    repeated = [np.repeat(array, H // HEADS, axis=-3) for array in (key, value)]
    shared, full = backward(d_out, (query, key, value), mask), backward(d_out, (query, *repeated), mask)
    for a, b in zip(shared[:3], full[:3], strict=True):
        assert_close(a, b)
    for a, b in zip(shared[3:], full[3:], strict=True):
        assert_close(a, b.reshape(B, HEADS, H // HEADS, *a.shape[-2:]).sum(axis=2))


def test_folding_puts_the_heads_of_a_group_below_each_other(rng):
    query, key = rng.normal(size=(2, 6, 4, 5)), np.ones((2, 3, 7, 5))
    folded = fold_heads(query, like=key)
    assert folded.shape == (2, 3, 8, 5)
    for b, h, q in np.ndindex(2, 6, 4):  # query heads 0 and 1 share key head 0, and so on
        np.testing.assert_array_equal(folded[b, h // 2, h % 2 * 4 + q], query[b, h, q])
    assert np.shares_memory(folded, query)


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5), (2, 3, 4, 5)])
def test_without_shared_heads_folding_changes_nothing(shape):
    query = np.ones(shape)
    assert fold_heads(query, like=np.ones((*shape[:-2], 7, 5))) is query
