"""attnlib.positions: of any size, in any dtype, far from the start?"""

import numpy as np
import pytest
from memory_spy import peak_memory
from positions_cases import D, H, N, rotary_by_complex_numbers

from attnlib.positions import alibi_bias, rotary, rotary_backward, sinusoidal


def test_sizes_of_zero_give_empty_results():
    assert alibi_bias(2, 0, 3).shape == (2, 0, 3) and alibi_bias(2, 3, 0).shape == (2, 3, 0)
    assert rotary(np.ones((H, 0, D)), np.arange(0)).shape == (H, 0, D)
    assert rotary(np.ones((H, N, 0)), np.arange(N)).shape == (H, N, 0)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_of_x_is_kept(rng, dtype):
    x = rng.normal(size=(N, D)).astype(dtype)
    for positions in (np.arange(N), np.arange(N, dtype=np.float64), [0.5] * N):
        assert rotary(x, positions).dtype == rotary_backward(x, positions).dtype == dtype
    assert sinusoidal(3, 4, dtype=dtype).dtype == alibi_bias(2, 3, 4, dtype=dtype).dtype == dtype


def test_results_in_a_narrow_dtype_are_the_float64_ones_rounded_once(rng):
    x = rng.normal(size=(N, D)).astype(np.float16)
    exact = rotary_by_complex_numbers(x.astype(float), np.arange(N))
    np.testing.assert_allclose(rotary(x, np.arange(N)), exact, rtol=2**-11 * 1.01, atol=1e-6)
    np.testing.assert_array_equal(sinusoidal(70000, 4, dtype=np.float32), sinusoidal(70000, 4).astype(np.float32))
    np.testing.assert_array_equal(alibi_bias(3, 2, 9, dtype=np.float32), alibi_bias(3, 2, 9).astype(np.float32))


def test_integers_and_lists_become_float64():
    assert rotary([[1, 2]], [3]).dtype == np.float64


@pytest.mark.parametrize("position_dtype", [np.int32, np.int64, np.float32, np.float64])
def test_a_far_position_loses_no_digits_in_float32(rng, position_dtype):
    x = rng.normal(size=(N, D)).astype(np.float32)
    positions = (1_000_003 + np.arange(N)).astype(position_dtype)
    expected = rotary_by_complex_numbers(x.astype(float), positions.astype(float))
    np.testing.assert_allclose(rotary(x, positions), expected, rtol=0, atol=1e-6)


def test_nothing_of_the_size_of_x_is_made_in_float64(rng):
    x = rng.normal(size=(16, 64, 64)).astype(np.float32)
    assert peak_memory(rotary, x, np.arange(64)) < 2.7 * x.nbytes  # out, two halves and a small table; one float64 copy alone would be 2 more
