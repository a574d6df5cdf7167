"""attnlib.multihead.heads: are heads cut and put together again as they were?"""

import numpy as np
import pytest

from attnlib.multihead import merge_heads, split_heads


def test_split_cuts_features_into_blocks_and_merge_undoes_it(rng):
    x = rng.normal(size=(2, 5, 3 * 4))
    heads = split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4)
    for h in range(3):
        np.testing.assert_array_equal(heads[:, h], x[:, :, 4 * h : 4 * h + 4])
    np.testing.assert_array_equal(merge_heads(heads), x)
    assert split_heads(x[0], 3).shape == (3, 5, 4) and merge_heads(heads[0]).shape == (5, 12)
    assert split_heads(x[:0], 3).shape == (0, 3, 5, 4) and split_heads(x[:, :0], 3).shape == (2, 3, 0, 4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_splitting_and_merging_heads_keep_the_dtype(rng, dtype):
    x = rng.normal(size=(5, 12)).astype(dtype)
    heads = split_heads(x, 3)
    assert heads.dtype == merge_heads(heads).dtype == dtype
    np.testing.assert_array_equal(merge_heads(heads), x)
