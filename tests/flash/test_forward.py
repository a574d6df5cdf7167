"""attnlib.flash.forward: is one pass right whatever the size and the order of the scores, and NaN where it must be?"""

import numpy as np
import pytest
from flash_cases import INF, NAN, H, K, Q, V, assert_all_close, assert_close, blocks, flash, make_inputs, plain

from attnlib.flash import flash_attention

# --- the running maximum --------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["rising", "falling", "late spike", "early spike", "ties"])
@blocks
def test_the_running_maximum_may_rise_fall_or_jump(rng, order, block_q, block_k):
    query, key, value = make_inputs(rng, leading=(), v=3)
    query[:, 0], key[:] = 1, 0
    key[:, 0] = {
        "rising": np.arange(K) * 60.0,
        "falling": np.arange(K) * -60.0,
        "late spike": np.eye(K)[-2] * 2000,
        "early spike": np.eye(K)[1] * 2000,
        "ties": np.full(K, 700.0),
    }[order]
    d_out = rng.normal(size=(Q, 3))
    actual = flash((query, key, value), d_out, scale=1, block_q=block_q, block_k=block_k)
    assert_all_close(actual, plain((query, key, value), d_out, scale=1), 1e-12)


def test_rows_may_be_far_apart(rng):
    query, key, value = make_inputs(rng, leading=())
    query *= 10.0 ** np.arange(-3, Q - 3)[:, np.newaxis]
    assert_all_close(flash_attention(query, key, value, block_k=2), plain((query, key, value)))


@pytest.mark.parametrize("size", [0, 1e-3, 1, 3, 4.4, 4.5, 5, 30])
def test_small_scores_need_no_maximum_and_large_ones_do(rng, size):
    # Scores between -size² and size²; from 20 on the maximum is taken.
    query, key, value = make_inputs(rng, leading=())
    query[:], key[:] = 0, 0
    query[:, 0], key[:, 0] = size, np.linspace(-size, size, K)
    d_out = rng.normal(size=(Q, V))
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        inputs = [array.astype(dtype) for array in (query, key, value)]
        expected = plain((query, key, value), d_out, scale=1)
        actual = flash(inputs, d_out.astype(dtype), scale=1, block_q=3, block_k=4)
        assert_all_close(actual, expected, tolerance * max(1, size))


def test_short_vectors_with_a_large_scale_have_large_scores():
    query, key = np.full((1, 4), 0.05), np.full((3, 4), 0.05)
    out, logsumexp = flash_attention(query, key, np.arange(3.0)[:, np.newaxis], scale=1e5)
    assert_close(out, [[1.0]])
    assert_close(logsumexp, [1e5 * 4 * 0.05**2 + np.log(3)])


@pytest.mark.parametrize("size", [1e2, 1e4, 1e7])
def test_the_limit_of_large_scores_is_a_lookup(rng, size):
    query, key, value = make_inputs(rng, heads=H)
    out, logsumexp = flash_attention(query, key, value, scale=size, block_q=3, block_k=2)
    scores = size * (query @ key.mT)
    assert_close(logsumexp, np.logaddexp.reduce(scores, axis=-1))
    if size == 1e7:
        assert_close(out, np.take_along_axis(value, scores.argmax(axis=-1)[..., np.newaxis], axis=-2))


@pytest.mark.parametrize("shift", [-65536.0, 65536.0])
def test_a_constant_added_to_all_scores_only_shifts_logsumexp(rng, shift):
    inputs = make_inputs(rng)
    out, logsumexp = flash_attention(*inputs, mask=np.full((1, 1), shift), block_k=3)
    expected = flash_attention(*inputs, block_k=3)
    assert_close(out, expected[0], 1e-10)
    assert_close(logsumexp, expected[1] + shift)


@pytest.mark.parametrize("scale", [-1e4, 1e4])
def test_large_scores_do_not_overflow_whatever_their_sign(rng, scale):
    inputs = make_inputs(rng, dtype=np.float32)
    assert_all_close(flash_attention(*inputs, scale=scale), plain([x.astype(float) for x in inputs], scale=scale), 1e-4)


# --- NaN and overflow -----------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_nan_or_infinity_in_a_live_query_stays_in_its_row(rng, bad):
    inputs = make_inputs(rng)
    expected, _ = flash_attention(*inputs, block_q=3, block_k=4)
    inputs[0][0, 1, 2, 0] = bad
    out, logsumexp = flash_attention(*inputs, block_q=3, block_k=4)
    assert np.isnan(out[0, 1, 2]).all()
    assert np.isnan(logsumexp[0, 1, 2])
    out[0, 1, 2] = expected[0, 1, 2] = 0
    assert_close(out, expected)


def test_a_nan_in_a_live_key_or_value_reaches_every_row_that_sees_it(rng):
    query, key, value = make_inputs(rng, leading=())
    key[5, 0] = NAN
    out, _ = flash_attention(query, key, value, causal=True, block_q=3, block_k=4)
    assert np.isnan(out[5:]).all()
    assert np.isfinite(out[:5]).all()
    key[5, 0], value[5, 1] = 0, NAN
    out, _ = flash_attention(query, key, value, causal=True, block_q=1, block_k=1)
    np.testing.assert_array_equal(np.isnan(out), (np.arange(Q)[:, np.newaxis] >= 5) & (np.arange(V) == 1))
    mask = np.zeros((Q, K))
    mask[2, 3] = NAN
    out, _ = flash_attention(query, key, np.ones((K, V)), mask=mask)
    np.testing.assert_array_equal(np.isnan(out).any(axis=-1), np.arange(Q) == 2)


def test_an_overflow_of_the_scores_is_nan_without_a_warning():
    big = np.full((1, 2), 1e200)
    out, logsumexp = flash_attention(big, np.stack([big[0], -big[0]]), np.ones((2, 1)), block_k=1)
    assert np.isnan(out).all()
    assert np.isnan(logsumexp).all()
