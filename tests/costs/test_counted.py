"""attnlib.costs, the counted loops: do they compute attention, and does the formula say exactly what they move?"""

import itertools
import math

import numpy as np
import pytest
from costs_cases import EVERY_SMALL_CASE, D, K, Q, V, blocks, make_inputs, sizes
from hypothesis import given
from hypothesis import strategies as st

from attnlib.costs import (
    Memory,
    Traffic,
    count_traffic,
    flash_attention_backward_on,
    flash_attention_keys_outer_on,
    flash_attention_on,
    naive_attention_backward_on,
    naive_attention_on,
)


def attention_by_formula(query, key, value, causal=False):
    scores = query @ key.T / math.sqrt(query.shape[1])
    if causal:
        scores[np.arange(len(key)) > np.arange(len(query))[:, np.newaxis]] = -np.inf
    exponentials = np.exp(scores)
    total = exponentials.sum(axis=1, keepdims=True)
    return exponentials @ value / total, exponentials / total, np.log(total[:, 0])


def numerical_gradients(rng_d_out, inputs, causal):
    gradients = []
    for position, array in enumerate(inputs):
        gradient = np.empty_like(array)
        for index in np.ndindex(array.shape):

            def loss(shift):
                moved = [other.copy() for other in inputs]
                moved[position][index] += shift  # noqa: B023
                return (rng_d_out * attention_by_formula(*moved, causal)[0]).sum()

            step = 1e-3
            gradient[index] = (8 * (loss(step) - loss(-step)) - (loss(2 * step) - loss(-2 * step))) / (12 * step)
        gradients.append(gradient)
    return gradients


FLASH_LOOPS = [(flash_attention_on, "flash"), (flash_attention_keys_outer_on, "flash-keys-outer")]


def moved(memory):
    assert memory.used == 0  # everything that was loaded has been freed
    return Traffic(memory.loads, memory.stores)


# --- forward --------------------------------------------------------------------------------------


def test_loops_are_right_and_move_what_the_formula_says_in_every_small_case():
    for (q, k, block_q, block_k), causal in itertools.product(EVERY_SMALL_CASE, (False, True)):
        sizes = q, k, D, V, block_q, block_k
        if not causal:
            check_naive_loops(*sizes, seed=q)
        for loops, method in FLASH_LOOPS:
            check_flash_loops(loops, method, *sizes, causal, seed=q)
        check_backward_loops(*sizes, causal, seed=q)


@given(st.tuples(st.integers(0, 9), sizes, sizes, sizes, blocks, blocks, st.integers(0, 2**32 - 1)))
def test_naive_loops_are_right_and_move_what_the_formula_says(case):
    check_naive_loops(*case)


def check_naive_loops(q, k, d, v, block_q, block_k, seed):
    inputs = make_inputs(np.random.default_rng(seed), q, k, d, v)
    out, weights, _ = attention_by_formula(*inputs)
    memory = Memory()
    result = naive_attention_on(memory, *inputs, block_q=block_q, block_k=block_k)
    for ours, expected in zip(result, (out, weights), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)
    assert moved(memory) == count_traffic(q, k, d, v, block_q=block_q, block_k=block_k)


@given(st.integers(0, 9), sizes, sizes, sizes, blocks, blocks, st.booleans(), st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("loops, method", FLASH_LOOPS)
def test_flash_loops_are_right_and_move_what_the_formula_says(
    loops, method, q, k, d, v, block_q, block_k, causal, seed
):
    check_flash_loops(loops, method, q, k, d, v, block_q, block_k, causal, seed)


def check_flash_loops(loops, method, q, k, d, v, block_q, block_k, causal, seed):
    inputs = make_inputs(np.random.default_rng(seed), q, k, d, v)
    out, _, logsumexp = attention_by_formula(*inputs, causal)
    memory, options = Memory(), dict(block_q=block_q, block_k=block_k, causal=causal)
    result = loops(memory, *inputs, **options)
    for ours, expected in zip(result, (out, logsumexp), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)
    assert moved(memory) == count_traffic(q, k, d, v, method=method, **options)


@pytest.mark.parametrize("q, k, block_q, block_k", [(7, 5, 2, 3), (5, 7, 3, 2), (3, 9, 2, 2), (9, 3, 2, 2), (4, 4, 4, 1)])
def test_a_causal_mask_skips_exactly_the_tiles_that_it_empties(rng, q, k, block_q, block_k):
    inputs, options = make_inputs(rng, q, k), dict(block_q=block_q, block_k=block_k, causal=True)
    visible = [(i, j) for i in range(q) for j in range(k) if j <= i]
    visited = {(i // block_q, j // block_k) for i, j in visible}  # tiles in which anybody sees anything
    length = {(i, j): min(block_q, q - i * block_q) for i, j in visited}
    width = {(i, j): min(block_k, k - j * block_k) for i, j in visited}
    memory = Memory()
    flash_attention_on(memory, *inputs, **options)
    assert moved(memory) == (q * D + sum(width.values()) * (D + V), q * (V + 1))
    memory = Memory()
    flash_attention_keys_outer_on(memory, *inputs, **options)
    columns = {j: width[i, j] for i, j in visited}
    assert memory.loads == sum(columns.values()) * (D + V) + sum(length.values()) * (D + V + 2)
    assert memory.stores == sum(length.values()) * (V + 2)


def test_the_flash_loops_are_causal_only_if_asked(rng):
    inputs, d_out = make_inputs(rng), rng.normal(size=(Q, V))
    for loops, _ in FLASH_LOOPS:
        for ours, expected in zip(loops(Memory(), *inputs), loops(Memory(), *inputs, causal=False), strict=True):
            np.testing.assert_array_equal(ours, expected)
    saved = flash_attention_on(Memory(), *inputs)
    gradients = flash_attention_backward_on(Memory(), d_out, *inputs, *saved)
    expected = flash_attention_backward_on(Memory(), d_out, *inputs, *saved, causal=False)
    for ours, gradient in zip(gradients, expected, strict=True):
        np.testing.assert_array_equal(ours, gradient)


# --- backward -------------------------------------------------------------------------------------


@given(st.tuples(st.integers(0, 9), sizes, sizes, sizes, blocks, blocks, st.booleans(), st.integers(0, 2**32 - 1)))
def test_backward_loops_agree_with_each_other_and_move_what_the_formula_says(case):
    check_backward_loops(*case)


def check_backward_loops(q, k, d, v, block_q, block_k, causal, seed):
    rng = np.random.default_rng(seed)
    inputs, d_out = make_inputs(rng, q, k, d, v), rng.normal(size=(q, v))
    out, weights, logsumexp = attention_by_formula(*inputs, causal)
    options = dict(block_q=block_q, block_k=block_k)
    naive, flash = Memory(), Memory()
    gradients = naive_attention_backward_on(naive, d_out, *inputs, weights, **options)
    ours = flash_attention_backward_on(flash, d_out, *inputs, out, logsumexp, causal=causal, **options)
    for one, other in zip(ours, gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert moved(naive) == count_traffic(q, k, d, v, backward=True, **options)
    for method in ("flash", "flash-keys-outer"):
        expected = count_traffic(q, k, d, v, method=method, backward=True, causal=causal, **options)
        assert moved(flash) == expected


@pytest.mark.parametrize("causal", [False, True])
def test_backward_loops_agree_with_fourth_order_differences(rng, causal):
    inputs, d_out = make_inputs(rng), rng.normal(size=(Q, V))
    out, weights, logsumexp = attention_by_formula(*inputs, causal)
    flash = flash_attention_backward_on(
        Memory(), d_out, *inputs, out, logsumexp, block_q=2, block_k=3, causal=causal
    )
    naive = naive_attention_backward_on(Memory(), d_out, *inputs, weights, block_q=2, block_k=3)
    for ours, other, expected in zip(flash, naive, numerical_gradients(d_out, inputs, causal), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(other, expected, rtol=0, atol=1e-10)


# --- edges ----------------------------------------------------------------------------------------

LOOPS = [naive_attention_on, flash_attention_on, flash_attention_keys_outer_on]


@pytest.mark.parametrize("loops", LOOPS)
def test_the_loops_survive_large_scores_and_keep_float32(rng, loops):
    query, key, value = (array.astype(np.float32) for array in make_inputs(rng))
    out, _ = loops(Memory(), 1000 * query, key, value, block_q=2, block_k=3)
    winner = (query.astype(float) @ key.astype(float).T).argmax(axis=1)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, value[winner])


@pytest.mark.parametrize("loops", LOOPS)
def test_the_loops_take_no_query_and_lists(loops):
    out, _ = loops(Memory(), np.ones((0, D)), np.ones((K, D)), np.ones((K, V)), block_q=2, block_k=3)
    assert out.shape == (0, V)
    assert loops(Memory(), [[1]], [[1]], [[5]])[0].item() == 5.0


def test_the_loops_fit_exactly_the_room_that_their_tiles_need(rng):
    block_q, block_k, d, v = 3, 4, 5, 2
    inputs = make_inputs(rng, 9, 12, d, v)
    need = block_q * (d + v + 2) + block_k * (d + v) + block_q * block_k
    for loops in (flash_attention_on, flash_attention_keys_outer_on):
        memory = Memory(need)
        loops(memory, *inputs, block_q=block_q, block_k=block_k)
        assert memory.peak == need
        with pytest.raises(MemoryError):
            loops(Memory(need - 1), *inputs, block_q=block_q, block_k=block_k)


def test_the_backward_fits_exactly_the_room_that_its_tiles_need(rng):
    block_q, block_k, d, v = 3, 4, 5, 2
    inputs, d_out = make_inputs(rng, 9, 12, d, v), rng.normal(size=(9, v))
    saved = flash_attention_on(Memory(), *inputs)
    # keys, values and both gradients; query, its gradient, d_out and two numbers a row; weights and d_scores
    need = block_k * 2 * (d + v) + block_q * (2 * d + v + 2) + 2 * block_q * block_k
    memory = Memory(need)
    flash_attention_backward_on(memory, d_out, *inputs, *saved, block_q=block_q, block_k=block_k)
    assert memory.peak == need
    assert moved(memory) == count_traffic(9, 12, d, v, method="flash", backward=True, block_q=block_q, block_k=block_k)
    with pytest.raises(MemoryError):
        flash_attention_backward_on(Memory(need - 1), d_out, *inputs, *saved, block_q=block_q, block_k=block_k)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("loops, method", FLASH_LOOPS)
def test_forward_and_backward_together_move_what_the_formulas_say_at_larger_sizes(rng, loops, method, causal):
    for _ in range(10):
        q, k, block_q, block_k = map(int, rng.integers(1, 70, 4))
        inputs, d_out, memory = make_inputs(rng, q, k), rng.normal(size=(q, V)), Memory()
        options = dict(block_q=block_q, block_k=block_k, causal=causal)
        saved = loops(memory, *inputs, **options)
        flash_attention_backward_on(memory, d_out, *inputs, *saved, **options)
        ways = [count_traffic(q, k, D, V, method=method, backward=back, **options) for back in (False, True)]
        assert moved(memory) == tuple(map(sum, zip(*ways, strict=True)))
