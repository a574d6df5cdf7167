"""attnlib.attention: does a hidden key have no effect, and does who may look at nothing get zeros?"""

import numpy as np
import pytest
from attention_cases import HEADS, INF, NAN, B, D, H, K, Q, V, assert_close, backward, make_inputs

from attnlib.attention import attention, attention_backward, attention_mask_backward
from attnlib.masks import causal_mask, padding_mask

# --- hidden keys ----------------------------------------------------------------------------------

LOWEST32 = np.finfo(np.float32).min


def test_hidden_keys_can_as_well_be_deleted(rng):
    query, key, value = make_inputs(rng)
    keep, d_out = np.array([True, False, True, True, False]), rng.normal(size=(B, H, Q, V))
    out, weights, *gradients = backward(d_out, (query, key, value), keep)
    short = backward(d_out, (query, key[..., keep, :], value[..., keep, :]))
    assert_close(out, short[0])
    assert_close(weights[..., keep], short[1])
    assert not weights[..., ~keep].any()
    assert_close(gradients[0], short[2])
    for gradient, expected in zip(gradients[1:], short[3:], strict=True):
        assert_close(gradient[..., keep, :], expected)
        assert not gradient[..., ~keep, :].any()


@pytest.mark.parametrize("fill", [-INF, -1e30, LOWEST32, np.finfo(np.float64).min])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_very_low_number_hides_a_key_too(rng, fill, dtype):
    inputs, keep = make_inputs(rng, dtype=dtype), causal_mask(Q, K)
    for a, b in zip(attention(*inputs, mask=np.where(keep, 0, fill)), attention(*inputs, mask=keep), strict=True):
        np.testing.assert_array_equal(a, b)


GARBAGE = {"float64": (np.float64, 1e308), "float32": (np.float32, 3e38)}


@pytest.mark.parametrize(("dtype", "huge"), GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("additive", [False, True])
def test_huge_numbers_at_hidden_keys_reach_nothing(rng, dtype, huge, sign, additive):
    query, key, value = make_inputs(rng, dtype=dtype)
    d_out = rng.normal(size=(B, H, Q, V)).astype(dtype)
    keep = padding_mask([[3], [5]], K)
    mask = np.where(keep, 0, -INF) if additive else keep
    clean = backward(d_out, (query, key, value), mask)
    key[0, :, 3:], value[0, :, 3:] = sign * huge, sign * huge
    for array, expected in zip(backward(d_out, (query, key, value), mask), clean, strict=True):
        np.testing.assert_array_equal(array, expected)
    bias = np.zeros((H, Q, K), dtype)
    garbage = attention_mask_backward(d_out, value, clean[1], bias)
    assert np.isfinite(garbage).all()


@pytest.mark.parametrize("additive", [False, True])
def test_nan_in_a_hidden_key_stays_hidden_and_nan_in_a_hidden_value_does_not(rng, additive):
    query, key, value = make_inputs(rng)
    keep = np.array([True] * 4 + [False])
    mask = np.where(keep, 0, -INF) if additive else keep
    expected = attention(query, key, value, mask=mask)
    key[..., 4, :] = NAN
    for a, b in zip(attention(query, key, value, mask=mask), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    value[..., 4, :] = NAN  # documented: 0 · NaN is NaN
    out, weights = attention(query, key, value, mask=mask)
    np.testing.assert_array_equal(weights, expected[1])
    assert np.isnan(out).all()


def test_nan_in_a_hidden_key_stays_out_of_the_forward_and_reaches_only_d_query(rng):
    query, key, value, d_out = rng.normal(size=(2, 5)), rng.normal(size=(3, 5)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    mask = np.array([True, True, False])
    clean = attention(query, key, value, mask=mask)
    dirty_key = key.copy()
    dirty_key[2] = np.nan
    out, weights = attention(query, dirty_key, value, mask=mask)
    np.testing.assert_array_equal(out, clean[0])
    d_query, d_key, d_value = attention_backward(d_out, query, dirty_key, value, weights)
    assert np.isnan(d_query).all()  # documented: 0 · NaN
    expected = attention_backward(d_out, query, key, value, clean[1])
    np.testing.assert_array_equal(d_key, expected[1])
    np.testing.assert_array_equal(d_value, expected[2])


# --- nothing to look at ---------------------------------------------------------------------------

EMPTY = {
    "boolean": lambda keep: {"mask": keep},
    "minus infinity": lambda keep: {"mask": np.where(keep, 0, -INF)},
    "boolean and causal": lambda keep: {"mask": keep, "causal": True},
    "minus infinity and causal": lambda keep: {"mask": np.where(keep, 0, -INF), "causal": True},
}


@pytest.mark.parametrize("make", EMPTY.values(), ids=EMPTY)
def test_a_query_that_may_look_at_nothing_gets_zeros_and_disturbs_no_other(rng, make):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    keep = np.ones((B, 1, Q, K), bool)
    expected = backward(d_out * np.array([1, 1, 0, 1])[:, np.newaxis], inputs, **make(keep))
    keep[:, :, 2] = False
    results = backward(d_out, inputs, **make(keep))
    for actual, wanted in zip(results[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(actual[..., 2, :], 0)
        np.testing.assert_array_equal(actual[..., [0, 1, 3], :], wanted[..., [0, 1, 3], :])
    for actual, wanted in zip(results[3:], expected[3:], strict=True):
        assert_close(actual, wanted)


@pytest.mark.parametrize("mask", [np.zeros((1, 1), bool), np.full((1, 1), -INF)], ids=["boolean", "minus infinity"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_if_everything_is_hidden_everything_is_zero(rng, mask, dtype):
    inputs = make_inputs(rng, dtype=dtype)
    for array in backward(np.ones((B, H, Q, V), dtype), inputs, mask):
        np.testing.assert_array_equal(array, np.zeros(array.shape, dtype), strict=True)


def test_a_sample_of_padding_only_is_zero_and_leaves_the_other_alone(rng):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    alone = backward(d_out[:1], [array[:1] for array in inputs])
    for array, expected in zip(backward(d_out, inputs, padding_mask([[K], [0]], K)), alone, strict=True):
        assert_close(array[:1], expected)
        assert not array[1:].any()


def test_no_keys_give_zeros(rng):
    query, key, value = make_inputs(rng, k=0)
    d_out = rng.normal(size=(B, H, Q, V))
    for causal in (False, True):
        out, weights, d_query, d_key, d_value = backward(d_out, (query, key, value), causal=causal)
        np.testing.assert_array_equal(out, np.zeros((B, H, Q, V)))
        np.testing.assert_array_equal(d_query, np.zeros((B, H, Q, D)))
        assert weights.shape == (B, H, Q, 0)
        assert (d_key.shape, d_value.shape) == ((B, HEADS, 0, D), (B, HEADS, 0, V))


def test_no_queries_give_nothing_and_zero_gradients(rng):
    query, key, value = make_inputs(rng, q=0)
    out, weights, d_query, d_key, d_value = backward(np.ones((B, H, 0, V)), (query, key, value), causal=True)
    assert (out.shape, weights.shape, d_query.shape) == ((B, H, 0, V), (B, H, 0, K), (B, H, 0, D))
    np.testing.assert_array_equal(d_key, np.zeros((B, HEADS, K, D)))
    np.testing.assert_array_equal(d_value, np.zeros((B, HEADS, K, V)))


@pytest.mark.parametrize("leading", [(0, H), (B, 0)])
def test_an_empty_batch_gives_an_empty_batch(rng, leading):
    inputs = make_inputs(rng, leading, heads=min(leading[-1], HEADS))
    results = backward(np.ones((*leading, Q, V)), inputs, np.ones((Q, K), bool))
    assert [array.size for array in results] == [0] * 5
    d_mask = attention_mask_backward(np.ones((*leading, Q, V)), inputs[2], results[1], np.zeros((Q, K)))
    np.testing.assert_array_equal(d_mask, np.zeros((Q, K)))
