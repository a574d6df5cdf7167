"""attnlib.attention: are scores of any size safe, and does NaN show where it must and nowhere else?"""

import numpy as np
import pytest
from attention_cases import NAN, B, D, H, K, Q, V, assert_close, backward, make_inputs

from attnlib.attention import attention, attention_backward, attention_mask_backward

# --- the scale ------------------------------------------------------------------------------------


def test_the_default_scale_is_one_over_the_root_of_the_features_of_the_query(rng):
    query, key, value = make_inputs(rng)
    expected = attention(query, key, value, scale=D**-0.5)
    for a, b in zip(attention(query, key, value), expected, strict=True):
        assert_close(a, b)


def test_scale_zero_takes_the_mean_of_the_values(rng):
    query, key, value = make_inputs(rng, heads=H)
    out, _, d_query, d_key, _ = backward(rng.normal(size=(B, H, Q, V)), (query, key, value), scale=0)
    assert_close(out, np.broadcast_to(value.mean(axis=-2, keepdims=True), out.shape))
    assert not d_query.any()
    assert not d_key.any()


def test_a_negative_scale_is_a_negative_query(rng):
    query, key, value = make_inputs(rng)
    assert_close(attention(query, key, value, scale=-0.7)[0], attention(-query, key, value, scale=0.7)[0])


def test_the_limit_of_large_scores_is_a_lookup(rng):
    query, key, value = make_inputs(rng, heads=H)
    for scale in (1e4, 1e8, 1e300):
        out, weights = attention(query, key, value, scale=scale)
        best = (query @ key.mT).argmax(axis=-1)
        np.testing.assert_array_equal(weights.argmax(axis=-1), best)
        assert np.isfinite(out).all()
    assert_close(out, np.take_along_axis(value, best[..., np.newaxis], axis=-2))


# --- any size -------------------------------------------------------------------------------------


def test_one_key_returns_its_value(rng):
    query, key, value = make_inputs(rng, heads=H, k=1)
    out, weights = attention(query, key, value)
    np.testing.assert_array_equal(weights, np.ones((B, H, Q, 1)))
    np.testing.assert_array_equal(out, np.broadcast_to(value, out.shape))


def test_ties_share_the_weight(rng):
    query, key, value = make_inputs(rng)
    _, weights = attention(query * 0, key, value)
    np.testing.assert_array_equal(weights, np.full((B, H, Q, K), 0.2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_far_from_zero_do_not_overflow(rng, dtype):
    inputs = make_inputs(rng, dtype=dtype)
    for shift in (-65536.0, 65536.0, 1e30):
        out, weights = attention(*inputs, mask=np.full((1, 1), shift))
        assert np.isfinite(out).all()
        np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-6)


# --- NaN and overflow -----------------------------------------------------------------------------


def test_an_overflow_of_the_scores_is_nan_without_a_warning():
    big = np.full((1, 2), 1e200)
    out, weights = attention(big, np.stack([big[0], -big[0]]), np.ones((2, 1)))
    assert np.isnan(weights).all()
    assert np.isnan(out).all()


def test_an_overflow_of_a_gradient_is_nan_without_a_warning():
    query, key, value = np.ones((1, 2)), np.ones((2, 2)), np.full((2, 2), 1e308)
    _, weights = attention(query, key, value)
    d_query, d_key, _ = attention_backward(np.full((1, 2), 10.0), query, key, value, weights)
    assert np.isnan(d_query).all()
    assert np.isnan(d_key).all()
    assert np.isnan(attention_mask_backward(np.full((1, 2), 10.0), value, weights, np.zeros(2))).all()


def test_nan_in_one_query_stays_in_its_row(rng):
    query, key, value = make_inputs(rng)
    expected, _ = attention(query, key, value)
    query[0, 1, 2, 3] = NAN
    out, weights = attention(query, key, value)
    assert np.isnan(out[0, 1, 2]).all()
    assert np.isnan(weights[0, 1, 2]).all()
    out[0, 1, 2] = expected[0, 1, 2]
    np.testing.assert_array_equal(out, expected)


def test_nan_in_one_value_stays_in_its_column(rng):
    query, key, value = make_inputs(rng, heads=H)
    expected, _ = attention(query, key, value)
    value[0, 1, 2, 3] = NAN
    out, _ = attention(query, key, value)
    assert np.isnan(out[0, 1, :, 3]).all()
    out[0, 1, :, 3] = expected[0, 1, :, 3]
    np.testing.assert_array_equal(out, expected)


def test_nan_in_an_additive_mask_stays_in_its_row(rng):
    inputs, mask = make_inputs(rng), np.zeros((Q, K))
    mask[2, 3] = NAN
    out, _ = attention(*inputs, mask=mask)
    assert np.isnan(out[..., 2, :]).all()
    assert np.isfinite(out[..., [0, 1, 3], :]).all()
