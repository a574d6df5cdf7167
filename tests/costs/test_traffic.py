"""attnlib.costs.traffic: what moves when, and theorem 2 of the FlashAttention paper."""

import itertools
import math
import re

import numpy as np
import pytest
from costs_cases import D, K, Q, V, make_inputs, paper_blocks

from attnlib.costs import (
    Memory,
    count_bytes,
    count_traffic,
    flash_attention_keys_outer_on,
    flash_attention_on,
    naive_attention_on,
)

# --- theorem 2 ------------------------------------------------------------------------------------


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


# --- the formulas that readers see ----------------------------------------------------------------

METHODS = {  # the names of the rows, and what they count
    "naive": ("naive", False),
    "naive, backward": ("naive", True),
    "flash": ("flash", False),
    "flash-keys-outer": ("flash-keys-outer", False),
    "flash, backward": ("flash", True),
}


def formulas():
    """The rows of the table in the docstring: name, loads, stores."""
    rows = [re.split(r"  +", line.strip()) for line in count_traffic.__doc__.splitlines()]
    return {row[0]: row[1:] for row in rows if len(row) == 3 and row[0] in METHODS}


def value_of(formula, **letters):
    """2 q k + N_k (d + v): letters and brackets side by side are multiplied."""
    written = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", formula)
    return eval(written, {"__builtins__": {}}, letters)


def test_the_table_of_formulas_counts_what_the_loops_count(rng):
    table = formulas()
    assert table.keys() == METHODS.keys()
    for _ in range(50):
        q, k, d, v, block_q, block_k = map(int, rng.integers(1, 60, 6))
        tiles = {"N_q": math.ceil(q / block_q), "N_k": math.ceil(k / block_k)}
        for name, (method, backward) in METHODS.items():
            counted = count_traffic(q, k, d, v, method=method, backward=backward, block_q=block_q, block_k=block_k)
            assert [value_of(formula, q=q, k=k, d=d, v=v, **tiles) for formula in table[name]] == list(counted), name


# --- projections and bytes ------------------------------------------------------------------------


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
