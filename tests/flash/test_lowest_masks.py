"""attnlib.flash: rows of scores that an additive mask moves to the end of the range, as `finfo(dtype).min` does.

Softmax does not mind: a row moved as a whole has the weights of whatever its scores have left, none where the number
swallows them. Beyond 1e18 `logsumexp` has lost the sum; the backward has to find the weights all the same.
"""

import warnings

import numpy as np
import pytest
from flash_cases import H, assert_all_close, flash, make_inputs

from attnlib.attention import attention, attention_backward, attention_mask_backward
from attnlib.flash import backward as flash_backward
from attnlib.flash import flash_attention, flash_attention_backward, flash_attention_mask_backward, merge_partials

Q, K, D, V = 5, 7, 3, 2
FILLS = {
    np.float16: [np.finfo(np.float16).min],
    np.float32: [np.finfo(np.float32).min, -1e38, -1e30, -1e15, -1e12, 1e30],
    np.float64: [np.finfo(np.float64).min, -1e308, -1e38, -1e15, -1e12, 1e12],
}
fills = pytest.mark.parametrize(("mask_dtype", "fill"), [(dtype, fill) for dtype in FILLS for fill in FILLS[dtype]])
dtypes = pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
TOLERANCE = {np.float16: 2e-3, np.float32: 1e-6, np.float64: 1e-11}


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def mask_with(fill, dtype):
    """One row at `fill`, one that has three keys left, one that has none but -inf and `fill`."""
    mask = np.zeros((Q, K), dtype)
    mask[1] = mask[2, 3:] = mask[4, :2] = fill
    mask[4, 2:] = -np.inf
    return mask


@dtypes
@fills
@pytest.mark.parametrize("options", [{}, {"block_q": 2, "block_k": 3}], ids=["one tile", "tiles"])
def test_outputs_and_gradients_are_those_of_plain_attention(rng, dtype, mask_dtype, fill, options):
    inputs, mask = make_inputs(rng, (H,), 3, Q, K, D, V, dtype), mask_with(fill, mask_dtype)
    d_out = rng.normal(size=(H, Q, V)).astype(dtype)
    out, weights = attention(*inputs, mask=mask)
    gradients = attention_backward(d_out, *inputs, weights)
    actual = flash(inputs, d_out, mask, **options)
    assert_all_close((actual[0], *actual[2:]), (out, *gradients), TOLERANCE[dtype])
    d_mask = flash_attention_mask_backward(d_out, *inputs, *actual[:2], mask, **options)
    assert_all_close([d_mask], [attention_mask_backward(d_out, inputs[2], weights, mask)], 5 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fill", ["lowest", -1e38])
def test_a_row_at_the_lowest_number_averages_all_values(rng, dtype, fill):
    inputs, d_out = make_inputs(rng, (), None, Q, K, D, V, dtype), rng.normal(size=(Q, V)).astype(dtype)
    mask = np.full((1, 1), np.finfo(dtype).min if fill == "lowest" else fill, dtype)
    np.testing.assert_array_equal(attention(*inputs, mask=mask)[1], np.full((Q, K), dtype(1) / dtype(K)))
    out, _, d_query, d_key, d_value = flash(inputs, d_out, mask, block_q=3, block_k=2)
    np.testing.assert_allclose(out, np.tile(inputs[2].mean(axis=0), (Q, 1)), rtol=1e-5)
    np.testing.assert_allclose(d_value, np.tile(d_out.sum(axis=0) / K, (K, 1)), rtol=1e-5)
    d_scores = (d_out @ inputs[2].T - (d_out @ inputs[2].mean(axis=0))[:, np.newaxis]) / K
    assert_all_close([d_query, d_key], [d_scores @ inputs[1] / D**0.5, d_scores.T @ inputs[0] / D**0.5], 1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_number_below_the_range_of_the_computation_hides_like_minus_infinity(rng, dtype):
    inputs, d_out = make_inputs(rng, (), None, Q, K, D, V, dtype), rng.normal(size=(Q, V)).astype(dtype)
    mask = mask_with(np.finfo(np.float64).min, np.float64)
    actual, expected = flash(inputs, d_out, mask), flash(inputs, d_out, np.where(mask < -1, -np.inf, 0))
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not actual[0][1].any() and not attention(*inputs, mask=mask)[0][1].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_score_that_falls_below_the_range_is_hidden_as_by_plain_attention(rng, dtype):
    lowest = np.finfo(dtype).min
    query, key = np.array([[1.0], [1.0], [-1.0]], dtype), np.array([[lowest], [lowest / 2], [1.0]], dtype)
    value, d_out = rng.normal(size=(3, V)).astype(dtype), rng.normal(size=(3, V)).astype(dtype)
    mask = np.array([[lowest] * 3, [lowest, lowest, -np.inf], [lowest, 0, lowest]], dtype)
    out, weights = attention(query, key, value, mask=mask, scale=1)
    np.testing.assert_array_equal(weights, [[0, 0, 1], [0, 0, 0], [0, 1, 0]])
    actual = flash((query, key, value), d_out, mask, scale=1, block_k=2)
    np.testing.assert_array_equal(actual[0], out)
    np.testing.assert_array_equal(actual[4], attention_backward(d_out, query, key, value, weights, scale=1)[2])


def test_such_a_row_changes_no_other(rng):
    inputs, d_out = make_inputs(rng, (), None, Q, K, D, V), rng.normal(size=(Q, V))
    d_out[1] = 0
    expected = flash(inputs, d_out, np.zeros((Q, 1)), block_q=3)
    mask = np.zeros((Q, 1))
    mask[1] = -1e38
    actual = flash(inputs, d_out, mask, block_q=3)
    for a, b in zip(actual[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(np.delete(a, 1, axis=0), np.delete(b, 1, axis=0))
    assert_all_close(actual[3:], expected[3:])


@pytest.mark.parametrize(("fill", "passes"), [(0, 1), (-1e9, 1), (1e9, 1), (-1e11, 2), (-1e38, 2)])
def test_only_rows_beyond_1e10_cost_a_second_pass(rng, monkeypatch, fill, passes):
    inputs, d_out, mask = make_inputs(rng, (), None, Q, K, D, V), rng.normal(size=(Q, V)), np.zeros((Q, 1))
    mask[1] = fill
    saved = flash_attention(*inputs, mask=mask)
    rows, again = [], flash_backward._weights_again
    monkeypatch.setattr(flash_backward, "_weights_again", lambda *all: rows.append(all[-1].rows.start) or again(*all))
    flash_attention_backward(d_out, *inputs, *saved, mask=mask, block_q=2)
    assert rows == [0] * passes + [2, 4]


# --- parts of the keys ----------------------------------------------------------------------------


@pytest.mark.parametrize(("fill", "tolerance"), [(-1e9, 1e-6), (-1e11, 1e-4), (1e13, 1e-2)])
def test_the_gradients_of_parts_are_as_exact_as_logsumexp(rng, fill, tolerance):
    query, key, value = make_inputs(rng, (), None, Q, K, D, V)
    d_out, mask = rng.normal(size=(Q, V)), np.full((Q, 1), float(fill))
    ends = slice(0, 2), slice(2, K)
    parts = [flash_attention(query, key[end], value[end], mask=mask) for end in ends]
    merged = merge_partials(*parts[0], *parts[1])
    _, weights = attention(query, key, value, mask=mask)
    _, d_key, d_value = attention_backward(d_out, query, key, value, weights)
    for end in ends:
        share = flash_attention_backward(d_out, query, key[end], value[end], *merged, mask=mask)
        assert_all_close(share[1:], [d_key[end], d_value[end]], tolerance)


def test_a_part_far_below_the_rest_has_no_gradient(rng):
    query, key, value = make_inputs(rng, (), None, Q, K, D, V)
    d_out, high, low = rng.normal(size=(Q, V)), np.full((1, 1), -1e30), np.full((1, 1), -2e30)
    parts = [flash_attention(query, key, value, mask=mask) for mask in (high, low)]
    merged = merge_partials(*parts[0], *parts[1])
    for options in ({"mask": low}, {"mask": high, "causal": True, "offset": -Q}):
        for gradient in flash_attention_backward(d_out, query, key, value, *merged, **options):
            assert not gradient.any()


def test_beyond_1e18_parts_with_the_same_maximum_count_the_same_whatever_their_number_of_keys(rng):
    query, value, mask = np.ones((1, 2)), np.arange(5.0)[:, np.newaxis], np.full((1, 1), -1e30)
    ends = slice(0, 1), slice(1, 5)
    parts = [flash_attention(query, np.ones((5, 2))[end], value[end], mask=mask) for end in ends]
    merged = merge_partials(*parts[0], *parts[1])
    np.testing.assert_array_equal(merged[0], [[1.25]])  # half of 0 and half of 2.5; the mean of all is 2
    d_value = flash_attention_backward([[1.0]], query, np.ones((4, 2)), value[1:], *merged, mask=mask)[2]
    np.testing.assert_allclose(d_value, np.full((4, 1), 0.25))
