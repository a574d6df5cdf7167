"""attnlib.flash: is the dtype kept, on the way too, and the result as exact as it allows?"""

import numpy as np
import pytest
from dtype_spy import spied
from flash_cases import B, H, K, Q, V, assert_all_close, assert_close, flash, make_inputs, plain

from attnlib.flash import flash_attention, flash_attention_backward, flash_attention_mask_backward, merge_partials


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("mask_dtype", [np.float32, np.float64, bool])
def test_the_dtype_is_kept_and_the_result_as_exact_as_it_allows(rng, dtype, mask_dtype):
    inputs, d_out = make_inputs(rng, dtype=dtype), rng.normal(size=(B, H, Q, V)).astype(dtype)
    mask = rng.integers(0, 3, (Q, K)).astype(mask_dtype)
    options = {"mask": mask, "scale": np.float64(0.5), "block_q": 3, "block_k": 4}
    actual = flash(inputs, d_out, **options)
    assert actual[0].dtype == dtype
    assert actual[1].dtype == np.float64
    assert {gradient.dtype for gradient in actual[2:]} == {np.dtype(dtype)}
    exact = plain([array.astype(float) for array in inputs], d_out.astype(float), mask, 0.5)
    assert_all_close(actual, exact, {np.float16: 1e-3, np.float32: 1e-6, np.float64: 1e-14}[dtype])
    if mask_dtype != bool:
        options.pop("mask")
        d_mask = flash_attention_mask_backward(d_out, *inputs, *actual[:2], mask, **options)
        assert d_mask.dtype == dtype


def test_all_but_the_two_numbers_of_a_row_is_computed_in_float32(rng):
    inputs, d_out = make_inputs(rng, leading=(), dtype=np.float32), rng.normal(size=(Q, V)).astype(np.float32)
    options, mask = {"scale": np.float64(0.5), "causal": True, "block_k": 4}, rng.normal(size=(Q, K)).astype(np.float32)
    saved = flash_attention(*inputs, mask=mask, **options)
    float32 = {np.dtype(np.float32)}
    assert spied(flash_attention, *inputs, mask=mask, beyond=Q, **options) == float32
    assert spied(flash_attention, *inputs, scale=0.01, beyond=Q) == float32
    assert spied(flash_attention_backward, d_out, *inputs, *saved, mask=mask, beyond=Q, **options) == float32
    assert spied(flash_attention_mask_backward, d_out, *inputs, *saved, mask, beyond=Q, **options) == float32
    assert spied(merge_partials, *saved, *saved, beyond=Q) == float32


def test_integers_are_computed_in_float64():
    out, logsumexp = flash_attention([[1]], [[1], [1]], [[0], [4]])
    np.testing.assert_array_equal(out, [[2.0]], strict=True)
    assert_close(logsumexp, np.array([1 + np.log(2)]))
