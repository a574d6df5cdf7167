"""attnlib.flash: is nothing larger than a tile ever held?"""

import numpy as np
import pytest
from flash_cases import make_inputs
from memory_spy import peak_memory

from attnlib.flash import flash_attention, flash_attention_backward, flash_attention_mask_backward


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"window": 100}, {"mask": True}], ids=str)
def test_the_memory_grows_with_the_length_not_with_its_square(rng, options):
    peaks = []
    for n in (512, 2048):
        inputs = make_inputs(rng, leading=(), q=n, k=n, d=16, v=16, dtype=np.float32)
        d_out = rng.normal(size=(n, 16)).astype(np.float32)
        if "mask" in options:
            options = {"mask": np.arange(n) % 3 > 0}  # over the keys: n numbers
        saved = flash_attention(*inputs, **options, block_q=64, block_k=64)
        forward = peak_memory(flash_attention, *inputs, **options, block_q=64, block_k=64)
        backward = peak_memory(flash_attention_backward, d_out, *inputs, *saved, **options, block_q=64, block_k=64)
        peaks.append((forward, backward))
    assert max(forward, backward) < 4 * n * n / 20  # the scores take 4 · n² bytes
    for small, large in zip(*peaks, strict=True):
        assert large < 4.5 * small


def test_the_gradient_of_a_small_mask_takes_little_memory(rng):
    n = 2048
    inputs, d_out = make_inputs(rng, (), q=n, k=n, d=16, v=16), rng.normal(size=(n, 16))
    mask = rng.normal(size=n)
    saved = flash_attention(*inputs, mask=mask)
    assert peak_memory(flash_attention_mask_backward, d_out, *inputs, *saved, mask, block_q=64, block_k=64) < n * n / 2


@pytest.mark.parametrize("mask_dtype", [np.float32, np.float64, bool])
def test_a_mask_that_repeats_one_row_takes_the_room_of_one_row(rng, mask_dtype):
    n = 1024
    inputs = make_inputs(rng, leading=(), q=n, k=n, d=16, v=16, dtype=np.float32)
    d_out, row = rng.normal(size=(n, 16)).astype(np.float32), (np.arange(n) % 3).astype(mask_dtype)
    mask = np.broadcast_to(row, (n, n))  # one row in memory
    options = {"block_q": 64, "block_k": 64}
    saved = flash_attention(*inputs, mask=row, **options)
    for same, expected in zip(flash_attention(*inputs, mask=mask, **options), saved, strict=True):
        np.testing.assert_array_equal(same, expected)
    assert peak_memory(flash_attention, *inputs, mask=mask, **options) < n * n
    assert peak_memory(flash_attention_backward, d_out, *inputs, *saved, mask=mask, **options) < n * n


def test_the_forward_holds_a_tile_beyond_its_results_however_many_queries(rng):
    beyond = []
    for n in (1024, 4096):
        query, key, value = make_inputs(rng, leading=(), q=n, k=64, d=64, v=8)
        results = n * (8 + 1) * 8  # out and logsumexp in float64
        beyond.append(peak_memory(flash_attention, query, key, value, block_q=64, block_k=64) - results)
    assert beyond[1] < beyond[0] + 64 * 64 * 8  # less than another tile
