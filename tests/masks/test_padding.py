"""attnlib.masks.padding: do masks of padded texts fit the scores?"""

import numpy as np
import pytest
from masks_cases import assert_mask

from attnlib.attention import attention
from attnlib.masks import padding_mask


def test_a_padding_mask_fits_batched_scores(rng):
    query, key, value = (rng.normal(size=(2, n, 3)) for n in (4, 5, 5))
    _, weights = attention(query, key, value, mask=padding_mask([5, 2], 5))
    assert (weights[0] > 0).all()
    np.testing.assert_array_equal(weights[1] > 0, np.tile([1, 1, 0, 0, 0], (4, 1)).astype(bool))


def test_a_padding_mask_with_a_head_axis_fits_scores_with_heads(rng):
    lengths = np.array([5, 2])
    # Two heads as well: without the head axis the mask would hide keys of one head, not of one sequence.
    query, key, value = (rng.normal(size=(2, 2, n, 3)) for n in (4, 5, 5))
    _, weights = attention(query, key, value, mask=padding_mask(lengths[:, np.newaxis], 5))
    assert (weights[0] > 0).all()
    assert not weights[1, :, :, 2:].any()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.uint64])
def test_small_integers_do_not_overflow(dtype):
    assert_mask(padding_mask(np.array([1], dtype), 300, side="left"), np.arange(300)[np.newaxis, np.newaxis] == 299)
