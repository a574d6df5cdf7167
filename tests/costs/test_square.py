"""attnlib.costs.square_attention_on: right, counted as its page says, within its room, and best in a small memory."""

import math

import numpy as np
import pytest
from costs_cases import D, K, Q, V, make_inputs

from attnlib.attention import attention
from attnlib.costs import Memory, count_traffic, fitting_blocks, square_attention_on

BLOCKS = [None, 1, 2, 3, 5, 20]


@pytest.mark.parametrize("block", BLOCKS)
def test_agrees_with_attention(rng, block):
    inputs = make_inputs(rng)
    for result, expected in zip(square_attention_on(Memory(), *inputs, block=block), attention(*inputs), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)


def test_large_scores_do_not_overflow(rng):
    query, key, value = make_inputs(rng)
    out, _ = square_attention_on(Memory(), 1e4 * query, key, value, block=2)
    np.testing.assert_allclose(out, attention(1e4 * query, key, value)[0], rtol=1e-9)


@pytest.mark.parametrize("block", BLOCKS)
def test_moves_what_its_page_says(rng, block):
    memory = Memory()
    square_attention_on(memory, *make_inputs(rng), block=block)
    of_q, of_k, of_v = (math.ceil(length / (block or length)) for length in (Q, K, V))
    loads = D * (Q * of_k + K * of_q) + K * (Q * of_v + V * of_q) + Q * K
    assert (memory.loads, memory.stores) == (loads, 2 * Q * K + Q * V)


def test_holds_a_tile_and_what_passes_and_frees_all(rng):
    inputs = make_inputs(rng, q=20, k=20, d=3, v=20)
    memory = Memory(5 * 5 + 2 * 5)
    square_attention_on(memory, *inputs, block=5)
    assert (memory.peak, memory.used) == (35, 0)
    with pytest.raises(MemoryError):
        square_attention_on(Memory(34), *inputs, block=5)


@pytest.mark.parametrize(("capacity", "best"), [(256, "square"), (48**2, "flash")])
def test_moves_fewest_where_the_memory_is_smaller_than_d_squared(rng, capacity, best):
    n = d = 48
    memory = Memory(capacity)
    square_attention_on(memory, *make_inputs(rng, n, n, d, d), block=math.isqrt(capacity + 1) - 1)
    totals = {"square": memory.loads + memory.stores}
    for method in ("naive", "flash"):
        block_q, block_k = fitting_blocks(capacity, d, method=method)
        totals[method] = count_traffic(n, n, d, method=method, block_q=block_q, block_k=block_k).total
    assert min(totals, key=totals.get) == best


def test_float32_stays_float32(rng):
    inputs = [array.astype(np.float32) for array in make_inputs(rng)]
    assert {array.dtype for array in square_attention_on(Memory(), *inputs, block=2)} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("arguments", "block", "error", "message"),
    [
        ((Memory(), [[1.0]], [[1.0]], [[1.0]]), 0, ValueError, "square_attention_on: block"),
        ((Memory(), [[1.0]], [[1.0]], [[1.0]]), 1.5, TypeError, "square_attention_on: block"),
        ((None, [[1.0]], [[1.0]], [[1.0]]), 1, TypeError, "square_attention_on: memory"),
        ((Memory(), [[1.0]], [[1.0, 2.0]], [[1.0]]), 1, ValueError, "square_attention_on: expected"),
    ],
)
def test_refuses(arguments, block, error, message):
    with pytest.raises(error, match=message):
        square_attention_on(*arguments, block=block)
