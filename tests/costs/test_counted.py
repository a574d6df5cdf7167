"""attnlib.costs: do the loops compute attention, and do the formulas say exactly what the loops move?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.costs import (
    A100,
    Flops,
    Machine,
    Memory,
    Traffic,
    arithmetic_intensity,
    count_bytes,
    count_flops,
    count_parameters,
    count_traffic,
    flash_attention_backward_on,
    flash_attention_keys_outer_on,
    flash_attention_on,
    kv_cache_bytes,
    naive_attention_backward_on,
    naive_attention_on,
    paper_blocks,
    roofline,
    tiles,
)

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
Q, K, D, V = 5, 7, 3, 2


def make_inputs(rng, q=Q, k=K, d=D, v=V):
    return rng.normal(size=(q, d)), rng.normal(size=(k, d)), rng.normal(size=(k, v))


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


sizes = st.integers(1, 9)
blocks = st.none() | st.integers(1, 11)

# Hypothesis looks far afield; this goes through every small combination, ragged tiles and skipped ones among them.
EVERY_SMALL_CASE = list(itertools.product((0, 1, 4, 5), (1, 3, 5), (None, 1, 2, 3, 9), (None, 1, 2, 4, 9)))


FLASH_LOOPS = [(flash_attention_on, "flash"), (flash_attention_keys_outer_on, "flash-keys-outer")]


def moved(memory):
    assert memory.used == 0  # everything that was loaded has been freed
    return Traffic(memory.loads, memory.stores)


# --- the loops compute attention, and the formula says exactly what they move ---------------------------------------


def test_loops_are_right_and_move_what_the_formula_says_in_every_small_case():
    for (q, k, block_q, block_k), causal in itertools.product(EVERY_SMALL_CASE, (False, True)):
        sizes = q, k, D, V, block_q, block_k
        if not causal:
            check_naive_loops(*sizes, seed=q)
        for loops, method in FLASH_LOOPS:
            check_flash_loops(loops, method, *sizes, causal, seed=q)
        check_backward_loops(*sizes, causal, seed=q)


@settings(deadline=None)
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


@settings(deadline=None)
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


@settings(deadline=None)
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


# --- the memory -----------------------------------------------------------------------------------------------------


def test_a_load_is_a_copy_and_a_store_writes_back():
    memory, slow = Memory(), np.arange(4.0)
    fast = memory.load(slow[1:3])
    fast += 10
    np.testing.assert_array_equal(slow, np.arange(4.0))
    memory.store(fast, slow[2:])
    np.testing.assert_array_equal(slow, [0, 1, 11, 12])
    assert (memory.loads, memory.stores, memory.used, memory.peak) == (2, 2, 2, 2)


def test_what_is_computed_takes_room_but_is_not_traffic():
    memory = Memory(capacity=6)
    first = memory.keep(np.ones(4))
    assert (memory.loads, memory.stores, memory.used) == (0, 0, 4)
    memory.free(first)
    second = memory.keep(np.ones(3))
    assert (memory.used, memory.peak) == (3, 4) and second.size == 3


@pytest.mark.parametrize("method", ["load", "keep"])
def test_more_than_the_capacity_is_refused_and_exactly_the_capacity_is_not(method):
    memory = Memory(capacity=5)
    memory.load(np.ones(3))
    getattr(memory, method)(np.ones(2))
    message = "holds 5 numbers and 5 are in use; 1 more do not fit"
    with pytest.raises(MemoryError, match=message):
        getattr(memory, method)(np.ones(1))
    assert memory.used == 5 and memory.loads in (3, 5)


@pytest.mark.parametrize("use", [lambda m, a: m.store(a, np.ones(2)), lambda m, a: m.free(a)], ids=["store", "free"])
def test_only_what_is_in_fast_memory_can_be_stored_or_freed(use):
    memory, slow = Memory(), np.ones(2)
    fast = memory.load(slow)
    for array in (slow, fast.copy(), fast[:]):
        with pytest.raises(ValueError, match="the array is not in fast memory; load it, or keep it, first"):
            use(memory, array)
    memory.free(fast)
    with pytest.raises(ValueError, match="not in fast memory"):
        use(memory, fast)


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


def test_tiles_cover_everything_once():
    for length, block in itertools.product(range(12), range(1, 14)):
        parts = tiles(length, block)
        assert [i for part in parts for i in range(part.start, part.stop)] == list(range(length))
        assert all(part.stop - part.start == block for part in parts[:-1])
    assert tiles(5) == [slice(0, 5)] and tiles(0) == []


# --- theorem 2 of the FlashAttention paper --------------------------------------------------------------------------


def test_traffic_of_flash_is_a_constant_times_n2_d2_over_the_capacity():
    n, ratios = 4096, []
    for d, capacity in itertools.product((32, 64, 128), (8192, 16384, 32768)):
        block_q, block_k = paper_blocks(capacity, d)
        traffic = count_traffic(n, n, d, method="flash-keys-outer", block_q=block_q, block_k=block_k).total
        ratios.append(traffic / (n**2 * d**2 / capacity))
    # n / (M / 4 d) tiles of keys, for each of which query and output come in and the output goes out: 4 · 3, and a bit.
    assert 12 < min(ratios) and max(ratios) <= 13


def test_the_paper_needs_d_squared_and_not_d():
    def per(d, power):
        block_q, block_k = paper_blocks(16384, d)
        return count_traffic(4096, 4096, d, method="flash-keys-outer", block_q=block_q, block_k=block_k).total / d**power

    assert 0.95 < per(128, 2) / per(32, 2) < 1.05 and per(128, 1) / per(32, 1) > 3.5


def test_naive_traffic_is_bounded_by_scores_and_inputs_whatever_the_capacity():
    n, d = 4096, 64
    assert count_traffic(n, n, d).total == 4 * n**2 + 4 * n * d == 68_157_440


def test_tiling_loses_when_the_fast_memory_is_small_against_d_squared():
    n, d = 4096, 64
    naive = count_traffic(n, n, d).total

    def flash(capacity):
        block_q, block_k = paper_blocks(capacity, d)
        return count_traffic(n, n, d, method="flash-keys-outer", block_q=block_q, block_k=block_k).total

    assert flash(8192) > 1.5 * naive  # 2 d²
    assert flash(16384) < 0.8 * naive  # 4 d²
    assert flash(32768) < 0.4 * naive


def test_tiling_loses_by_count_too_when_both_run_in_the_same_small_memory(rng):
    n, d, capacity = 96, 32, 192
    inputs = make_inputs(rng, n, n, d, d)
    # One key at a time leaves the most room for queries. Flash has to keep query, output and two numbers a row.
    naive, flash = Memory(capacity), Memory(capacity)
    naive_attention_on(naive, *inputs, block_q=(capacity - d) // (d + 1), block_k=1)
    flash_attention_on(flash, *inputs, block_q=(capacity - 2 * d) // (2 * d + 3), block_k=1)
    assert flash.loads + flash.stores > 1.3 * (naive.loads + naive.stores)


@pytest.mark.parametrize("d, capacity", [(8, 256), (8, 1024), (16, 1024), (16, 512)])
def test_the_blocks_of_the_paper_fit_up_to_a_constant(rng, d, capacity):
    block_q, block_k = paper_blocks(capacity, d)
    memory = Memory(math.floor(1.25 * capacity) + 2 * block_q)
    flash_attention_keys_outer_on(memory, *make_inputs(rng, 128, 128, d, d), block_q=block_q, block_k=block_k)
    assert memory.peak > 0.7 * capacity


def test_queries_in_the_outer_loop_move_less_than_keys_in_the_outer_loop():
    size = dict(block_q=64, block_k=64)
    assert count_traffic(4096, 4096, 64, method="flash", **size).total < 0.7 * (
        count_traffic(4096, 4096, 64, method="flash-keys-outer", **size).total
    )


def test_causal_skipping_halves_the_traffic_of_flash_and_none_of_the_naive():
    size = dict(block_q=64, block_k=64)
    for method, ratio in (("naive", 1), ("flash", 0.5), ("flash-keys-outer", 0.5)):
        full = count_traffic(4096, 4096, 64, method=method, **size).total
        causal = count_traffic(4096, 4096, 64, method=method, causal=True, **size).total
        assert causal / full == pytest.approx(ratio, rel=0.04)


# --- operations -----------------------------------------------------------------------------------------------------


def flops_by_loops(q, k, d, v, flash, backward, block_q, block_k, causal, mask):
    """Go through every tile and row, and write down what is done there."""
    products = elementwise = 0
    for rows, columns in itertools.product(tiles(q, block_q if flash else None), tiles(k, block_k if flash else None)):
        if flash and causal and columns.start > rows.stop - 1:
            continue
        for _row in range(rows.start, rows.stop):
            for _column in range(columns.start, columns.stop):
                if not backward:
                    products += 2 * d + 2 * v  # scores, out
                    elementwise += 5 + mask + (not flash)
                else:
                    products += 2 * v + 2 * v + 2 * d + 2 * d  # d_value, d_weights, d_query, d_key
                    products += 2 * d if flash else 0  # the scores once again
                    elementwise += 6 + mask if flash else 5
            if flash and not backward:
                elementwise += 1 + 2 + 2 + v  # new maximum; difference, exp; rescale, add; rescale the output
    for _row in range(q if flash else 0):
        elementwise += 2 * v if backward else v + 2
    return products, elementwise


@given(
    st.tuples(
        sizes, sizes, sizes, sizes, st.booleans(), st.booleans(), st.integers(1, 11), st.integers(1, 11),
        st.booleans(), st.booleans(),
    )
)  # fmt: skip
def test_flops_are_what_a_walk_over_all_tiles_adds_up(case):
    check_flops(*case)


def test_flops_are_what_a_walk_over_all_tiles_adds_up_in_every_small_case():
    for (q, k, block_q, block_k), *switches in itertools.product(EVERY_SMALL_CASE, *[(False, True)] * 3):
        flash, backward, causal = switches
        check_flops(q, k, D, V, flash, backward, block_q or max(q, 1), block_k or k, causal, mask=q > 1)


def check_flops(q, k, d, v, flash, backward, block_q, block_k, causal, mask):
    flops = count_flops(
        q, k, d, v, method="flash" if flash else "naive", backward=backward, block_q=block_q, block_k=block_k,
        causal=causal, mask=mask,
    )  # fmt: skip
    expected = flops_by_loops(q, k, d, v, flash, backward, block_q, block_k, causal, mask)
    assert (flops.products, flops.elementwise) == expected and flops.projections == 0
    assert flops.total == sum(expected)


def test_the_core_is_two_products_forward_four_backward_and_flash_one_more():
    n, d = 512, 64
    one = 2 * n * n * d
    assert count_flops(n, n, d).products == 2 * one == 4 * n**2 * d
    assert count_flops(n, n, d, backward=True).products == 4 * one
    assert count_flops(n, n, d, method="flash").products == 2 * one
    assert count_flops(n, n, d, method="flash", backward=True).products == 5 * one


def test_products_of_the_core_for_different_lengths_and_widths():
    assert count_flops(300, 700, 64, 96).products == 2 * 300 * 700 * (64 + 96) == 67_200_000


@pytest.mark.parametrize("m", [64, 512, 1024])
def test_projections_and_core_cost_the_same_at_n_equal_to_twice_the_width(m):
    flops = count_flops(2 * m, 2 * m, m // 8, heads=8, m=m)
    assert flops.projections == flops.products == 8 * (2 * m) * m**2


def test_projections_dominate_a_short_sequence():
    flops = count_flops(512, 512, 64, heads=12, m=768)
    assert flops.products / flops.projections == pytest.approx(1 / 3)


def test_the_seed_of_a_common_slip_projections_of_one_narrow_head():
    # 8 n m d: 134 million operations for n 4096, m 64, d 64, against 4.3 thousand million in the core.
    flops = count_flops(4096, 4096, 64, m=64)
    assert flops.projections == 134_217_728 and flops.products == 4_294_967_296


def test_projections_count_each_width_head_and_bias():
    q, k, d, v, m, h, g, b = 3, 5, 7, 2, 11, 6, 3, 4
    outputs = [(q, m, h * d), (k, m, g * d), (k, m, g * v), (q, h * v, m)]
    forward = count_flops(q, k, d, v, m=m, heads=h, kv_heads=g, batch=b)
    assert forward.projections == b * sum(2 * rows * a * c for rows, a, c in outputs)
    assert count_flops(q, k, d, v, m=m, heads=h, kv_heads=g, batch=b, backward=True).projections == 2 * forward.projections
    with_bias = count_flops(q, k, d, v, m=m, heads=h, kv_heads=g, batch=b, bias=True)
    assert with_bias.projections - forward.projections == b * sum(rows * c for rows, _, c in outputs)
    assert count_flops(q, k, d, v, m=m, heads=h, batch=b).projections > forward.projections


def test_what_is_left_out_means_one_naive_forward_without_mask_causality_bias_or_projections():
    plain = dict(backward=False, causal=False, batch=1, heads=1, kv_heads=1, m=0)
    for sizes in (dict(method="naive"), dict(method="flash", block_q=2, block_k=3)):
        assert count_flops(Q, K, D, V, **sizes) == count_flops(Q, K, D, V, **sizes, **plain, mask=False, bias=False)
        assert count_traffic(Q, K, D, V, **sizes) == count_traffic(Q, K, D, V, **sizes, **plain)
    assert count_flops(Q, K, D, V) == count_flops(Q, K, D, V, method="naive")
    assert count_flops(Q, K, D, m=6) == count_flops(Q, K, D, D, m=6, bias=False)
    assert count_traffic(Q, K, D, V) == count_traffic(Q, K, D, V, method="naive", block_q=Q, block_k=K)
    assert count_traffic(Q, K, D) == count_traffic(Q, K, D, D)
    assert count_parameters(6, 2, 3) == count_parameters(6, 2, 3, 3, kv_heads=2, key_width=6, value_width=6, bias=False)


@pytest.mark.parametrize("method", ["naive", "flash"])
def test_without_keys_or_queries_there_is_nothing_to_multiply(method):
    for q, k in ((0, K), (Q, 0), (0, 0)):
        assert count_flops(q, k, D, V, method=method).products == 0
        assert count_traffic(q, k, D, V, method=method) == count_traffic(q, k, D, V, method=method, block_q=1, block_k=1)


def test_batch_and_heads_multiply_the_core():
    one, many = count_flops(Q, K, D, V), count_flops(Q, K, D, V, batch=3, heads=4)
    assert many == (0, 12 * one.products, 12 * one.elementwise)
    one, many = count_traffic(Q, K, D, V, method="flash"), count_traffic(Q, K, D, V, method="flash", batch=3, heads=4)
    assert many == (12 * one.loads, 12 * one.stores)


def test_heads_cost_no_more_products_but_more_softmax():
    one, eight = count_flops(1024, 1024, 512), count_flops(1024, 1024, 64, heads=8)
    assert one.products == eight.products and eight.elementwise == 8 * one.elementwise


# --- bytes, intensity, roofline -------------------------------------------------------------------------------------


def test_projection_traffic_moves_each_matrix_once():
    q, k, d, v, m, h, g, b = 3, 5, 7, 2, 11, 6, 3, 4
    core = count_traffic(q, k, d, v, heads=h, batch=b)
    full = count_traffic(q, k, d, v, heads=h, batch=b, kv_heads=g, m=m)
    matrices = [(q, m, h * d), (k, m, g * d), (k, m, g * v), (q, h * v, m)]
    assert full.loads - core.loads == sum(b * rows * a + a * c for rows, a, c in matrices)
    assert full.stores - core.stores == sum(b * rows * c for rows, _, c in matrices)
    core = count_traffic(q, k, d, v, heads=h, batch=b, backward=True)
    full = count_traffic(q, k, d, v, heads=h, batch=b, kv_heads=g, m=m, backward=True)
    # d_x = d_y @ W.T loads d_y and W; d_W = x.T @ d_y loads x and d_y.
    assert full.loads - core.loads == sum(b * rows * a + a * c + 2 * b * rows * c for rows, a, c in matrices)
    assert full.stores - core.stores == sum(b * rows * a + a * c for rows, a, c in matrices)


@pytest.mark.parametrize("dtype, size", [("float16", 2), (np.float32, 4), ("float64", 8)])
def test_bytes_are_numbers_times_their_size(dtype, size):
    options = dict(method="flash", block_q=2, causal=True, heads=3)
    assert count_bytes(Q, K, D, V, dtype=dtype, **options) == size * count_traffic(Q, K, D, V, **options).total
    assert count_bytes(Q, K, D) == 4 * count_traffic(Q, K, D).total


def test_intensity_depends_on_the_dtype_and_takes_counts_or_numbers():
    flops, traffic = Flops(1, 700, 99), Traffic(30, 10)
    assert arithmetic_intensity(flops, traffic) == 800 / 160
    assert arithmetic_intensity(800, 40, dtype="float16") == 800 / 80
    assert arithmetic_intensity(np.int64(800), np.float64(40)) == 5.0
    assert arithmetic_intensity(800, 0) == math.inf


def test_naive_attention_waits_for_memory_in_both_dtypes_and_fused_attention_does_not_in_float32():
    n, d = 4096, 64
    flops = count_flops(n, n, d)
    for dtype in ("float32", "float16"):
        assert roofline(flops, count_traffic(n, n, d, method="naive", block_q=64), A100, dtype=dtype).bound == "memory"
    fused = count_traffic(n, n, d, method="flash", block_q=n)
    assert roofline(flops, fused, A100, dtype="float32").bound == "compute"


def test_the_roofline_compares_bytes_and_peak_of_one_dtype():
    machine = Machine(bandwidth=100.0, peak_flops={"float32": 1000.0, "float16": 8000.0})
    single = roofline(10_000, 200, machine, dtype=np.float32)
    assert single == (12.5, 10.0, 10.0, "compute")
    half = roofline(10_000, 200, machine, dtype="float16")
    assert half == (25.0, 80.0, 4.0, "memory")
    assert roofline(2000, 50, machine).bound == "compute"  # on the ridge: nothing waits


def test_the_ridges_of_the_a100_are_not_mixed():
    assert roofline(1, 1, A100, dtype="float32").ridge == pytest.approx(12.5, abs=0.1)
    assert roofline(1, 1, A100, dtype="float16").ridge == pytest.approx(201, abs=0.5)
    assert A100.bandwidth == 1555 * 10**9 and A100.peak_flops["float16"] == 16 * A100.peak_flops["float32"] == 312e12


# --- parameters and cache -------------------------------------------------------------------------------------------


def test_parameters_of_multi_head_attention():
    assert count_parameters(512, 8, 64) == 4 * 512**2 and count_parameters(1, 1, 1) == 4
    assert count_parameters(512, 8, 64, bias=True) == 4 * 512**2 + 4 * 512
    m, h, g, d, v, a, c = 11, 6, 3, 7, 2, 5, 13
    weights = m * h * d + a * g * d + c * g * v + h * v * m
    assert count_parameters(m, h, d, v, kv_heads=g, key_width=a, value_width=c) == weights
    with_bias = count_parameters(m, h, d, v, kv_heads=g, key_width=a, value_width=c, bias=True)
    assert with_bias == weights + h * d + g * d + g * v + m


def test_bytes_of_a_key_value_cache():
    assert kv_cache_bytes(3, 7, 1000, 4, 80, dtype=np.float32) == 53_760_000
    assert kv_cache_bytes(1, 32, 4096, 32, 128) == 2 * 2**30
    assert kv_cache_bytes(2, 3, 5, 7, 11, 13) == 2 * 3 * 5 * 7 * (11 + 13) * 2


# --- errors ---------------------------------------------------------------------------------------------------------

ONES = np.ones((Q, D)), np.ones((K, D)), np.ones((K, V))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: Memory(0), ValueError, "Memory: capacity must be at least 1; got 0"),
        (lambda: Memory(2.5), TypeError, "Memory: capacity must be an integer; got 2.5"),
        (lambda: (m := Memory()).store(m.load(np.ones(2)), np.ones(3)), ValueError, r"one shape; got \(2,\) and \(3,\)"),
        (lambda: naive_attention_on(Memory(3), *ONES), MemoryError, "holds 3 numbers and 0 are in use; 15 more"),
        (lambda: naive_attention_on(Memory(), ONES[0], ONES[1][:, :2], ONES[2]), ValueError, r"naive_attention_on: .*\(7, 2\)"),
        (lambda: flash_attention_on(Memory(), *ONES[:2], ONES[2][:3]), ValueError, r"flash_attention_on: .*\(3, 2\)"),
        (lambda: flash_attention_on(Memory(), ONES[0][None], *ONES[1:]), ValueError, r"one head.*\(1, 5, 3\)"),
        (lambda: flash_attention_on(Memory(), np.ones((Q, D, 1)), *ONES[1:]), ValueError, r"one head.*\(5, 3, 1\)"),
        (lambda: flash_attention_on(Memory(), *ONES[:2], np.ones((K, V, 1))), ValueError, r"one head.*\(7, 2, 1\)"),
        (lambda: flash_attention_on(Memory(), ONES[0], ONES[1][:0], ONES[2][:0]), ValueError, "at least one key"),
        (lambda: flash_attention_on(Memory(), ONES[0][:, :0], ONES[1][:, :0], ONES[2]), ValueError, "one feature"),
        (lambda: flash_attention_on(Memory(), *ONES, block_q=0), ValueError, "block_q must be at least 1; got 0"),
        (lambda: flash_attention_on(Memory(), *ONES, block_k=1.0), TypeError, "block_k must be an integer; got 1.0"),
        (lambda: flash_attention_on(Memory(), ONES[0] > 0, *ONES[1:]), TypeError, "query must be an array of real"),
        (lambda: count_flops(1, 2, 3, method="flash-keys-outer"), ValueError, "count_flops: method must be one of naive, flash;"),
        (lambda: count_traffic(1, 2, 3, method="Flash"), ValueError, "one of naive, flash, flash-keys-outer; got 'Flash'"),
        (lambda: count_traffic(-1, 2, 3), ValueError, "count_traffic: q must be at least 0; got -1"),
        (lambda: count_bytes(1, 2, 3.0), TypeError, "count_traffic: d must be an integer; got 3.0"),
        (lambda: count_flops(1, 2, 3, block_q=0), ValueError, "count_flops: block_q must be at least 1; got 0"),
        (lambda: count_flops(1, 2, 3, heads=True), TypeError, "count_flops: heads must be an integer; got True"),
        (lambda: count_flops(1, 2, 3, m=-4), ValueError, "count_flops: m must be at least 0; got -4"),
        (lambda: paper_blocks(0, 4), ValueError, "paper_blocks: capacity must be at least 1; got 0"),
        (lambda: count_parameters(4, 0, 2), ValueError, "count_parameters: heads must be at least 1; got 0"),
        (lambda: kv_cache_bytes(1, 1, -1, 1, 1), ValueError, "kv_cache_bytes: n must be at least 0; got -1"),
        (lambda: roofline(1, 1, A100, dtype="float64"), ValueError, "no peak for float64; it has float32, float16"),
        (lambda: arithmetic_intensity("many", 1), TypeError, "arithmetic_intensity: flops must be a count; got 'many'"),
        (lambda: roofline(1, [2], A100), TypeError, r"roofline: traffic must be a count; got \[2\]"),
        (lambda: roofline("many", 1, A100), TypeError, "roofline: flops must be a count; got 'many'"),
        (lambda: arithmetic_intensity(True, 1), TypeError, "flops must be a count; got True"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_message_that_says_why(call, error, message):
    with pytest.raises(error, match=message):
        call()
