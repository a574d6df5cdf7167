"""attnlib.attention: `window` and `offset` mean what they mean for Flash attention and for the masks."""

import numpy as np
import pytest

from attnlib.attention import attention
from attnlib.flash import flash_attention
from attnlib.masks import causal_mask, sliding_window_mask

B, H, Q, K, D, V = 2, 3, 4, 7, 5, 6
BOUNDS = [{"causal": True, "offset": offset} for offset in (-2, 0, 3, 9)]
BOUNDS += [{"window": window, "offset": offset, "causal": causal} for window, offset, causal in ((1, 0, False), (2, 3, True), (3, -1, False), (20, 3, False))]


@pytest.fixture
def arrays(rng):
    return rng.standard_normal((B, H, Q, D)), rng.standard_normal((B, H, K, D)), rng.standard_normal((B, H, K, V))


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_it_computes_what_flash_attention_computes(arrays, bounds):
    out, weights = attention(*arrays, **bounds)
    np.testing.assert_allclose(out, flash_attention(*arrays, **bounds)[0], rtol=1e-12, atol=1e-14)
    window, offset = bounds.get("window"), bounds["offset"]
    mask = causal_mask(Q, K, offset=offset) if window is None else sliding_window_mask(Q, K, window, offset=offset)
    assert (weights[..., ~mask] == 0).all() and (weights[..., mask] > 0).all()


def test_a_mask_and_a_window_must_both_allow_a_key(arrays, rng):
    mask = rng.random((Q, K)) < 0.5
    _, weights = attention(*arrays, mask=mask, window=3, offset=3)
    np.testing.assert_array_equal(weights[0, 0] > 0, mask & sliding_window_mask(Q, K, 3, offset=3))


def test_one_new_query_with_a_cache_sees_every_key_if_it_says_where_it_stands(arrays):
    query, key, value = arrays
    _, weights = attention(query[..., :1, :], key, value, causal=True, offset=K - 1)
    assert (weights > 0).all()
    _, weights = attention(query[..., :1, :], key, value, causal=True)
    assert (weights[..., 1:] == 0).all()  # aligned at the first key, as in PyTorch


@pytest.mark.parametrize(
    "options, error, said",
    [
        ({"window": 0}, ValueError, "attention: window must be at least 1; got 0"),
        ({"window": 1.5}, TypeError, "attention: window must be an integer; got 1.5"),
        ({"causal": True, "offset": 0.5}, TypeError, "attention: offset must be an integer; got 0.5"),
    ],
)
def test_what_is_no_window_or_offset_is_refused(arrays, options, error, said):
    with pytest.raises(error, match=said):
        attention(*arrays, **options)
