"""attnlib.attention: is the dtype kept, on the way too, and are the scores held once?"""

import numpy as np
import pytest
from attention_cases import B, H, K, Q, V, backward, make_inputs
from dtype_spy import spied
from memory_spy import peak_memory

from attnlib.attention import attention, attention_backward, attention_mask_backward


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("mask_dtype", [np.float16, np.float32, np.float64, bool])
def test_a_mask_or_a_scale_does_not_change_the_dtype(rng, dtype, mask_dtype):
    inputs, mask = make_inputs(rng, dtype=dtype), np.ones((Q, K), mask_dtype)
    results = backward(np.ones((B, H, Q, V), dtype), inputs, mask, scale=np.float64(0.5))
    assert [array.dtype for array in results] == [dtype] * 5
    if mask_dtype != bool:
        d_mask = attention_mask_backward(np.ones((B, H, Q, V), dtype), inputs[2], results[1], mask)
        assert d_mask.dtype == dtype


def test_nothing_on_the_way_of_float32_is_float64(rng):
    inputs, d_out = make_inputs(rng, dtype=np.float32), np.ones((B, H, Q, V), np.float32)
    weights = attention(*inputs)[1]
    for options in ({}, {"causal": True}, {"mask": np.ones(K)}, {"mask": np.ones(K, bool)}, {"scale": np.float64(2)}):
        assert spied(attention, *inputs, **options) == {np.dtype(np.float32)}
    assert spied(attention_backward, d_out, *inputs, weights) == {np.dtype(np.float32)}
    assert spied(attention_mask_backward, d_out, inputs[2], weights, np.ones(K)) == {np.dtype(np.float32)}


def test_float16_is_computed_in_float32_and_rounded_once(rng):
    inputs, d_out = make_inputs(rng, dtype=np.float16), rng.normal(size=(B, H, Q, V)).astype(np.float16)
    wide = [array.astype(np.float32) for array in inputs]
    half, single = attention(*inputs), attention(*wide)
    for a, b in zip(half, single, strict=True):
        np.testing.assert_array_equal(a, b.astype(np.float16), strict=True)
    expected = attention_backward(d_out.astype(np.float32), *wide, half[1].astype(np.float32))
    for a, b in zip(attention_backward(d_out, *inputs, half[1]), expected, strict=True):
        np.testing.assert_array_equal(a, b.astype(np.float16), strict=True)


def test_float16_scores_do_not_overflow():
    query = np.full((1, 64), 60000, np.float16)
    out, _ = attention(query, query, np.ones((1, 1), np.float16))
    np.testing.assert_array_equal(out, np.ones((1, 1), np.float16), strict=True)


def test_query_key_and_value_promote_together(rng):
    query, key, value = make_inputs(rng)
    out, weights = attention(query.astype(np.float32), key.astype(np.float16), value.astype(np.float16))
    assert out.dtype == weights.dtype == np.float32
    assert attention(query.astype(np.float32), key, value)[0].dtype == np.float64


def test_lists_and_integers_become_float64():
    out, weights = attention([[1, 0]], [[1, 0], [1, 0]], [[0], [4]], mask=[[True, True]])
    np.testing.assert_array_equal(out, [[2.0]], strict=True)
    np.testing.assert_array_equal(weights, [[0.5, 0.5]], strict=True)


PEAKS = {"plain": ({}, 1.0), "causal": ({"causal": True}, 1.5), "additive": ({"mask": np.zeros(512)}, 1.0)}


@pytest.mark.parametrize(("options", "peak"), PEAKS.values(), ids=PEAKS)
def test_the_scores_are_held_once(rng, options, peak):
    query, key, value = make_inputs(rng, (2,), heads=2, q=512, k=512, d=4, v=4, dtype=np.float32)
    buffer = 2 * 512 * 512 * 4
    _, weights = attention(query, key, value)
    d_out = rng.normal(size=(2, 512, 4)).astype(np.float32)
    assert peak_memory(lambda: attention(query, key, value, **options)) < (peak + 0.1) * buffer
    # One q x k buffer for d_scores and, a quarter of that, the booleans where a weight is 0.
    assert peak_memory(lambda: attention_backward(d_out, query, key, value, weights)) < 1.35 * buffer
