"""attnlib.costs.flops: is every operation counted, once?"""

import itertools

import pytest
from costs_cases import EVERY_SMALL_CASE, D, K, Q, V, sizes
from hypothesis import given
from hypothesis import strategies as st

from attnlib.costs import count_flops, count_parameters, count_traffic, tiles


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


# --- the core -------------------------------------------------------------------------------------


def test_the_core_is_two_products_forward_four_backward_and_flash_one_more():
    n, d = 512, 64
    one = 2 * n * n * d
    assert count_flops(n, n, d).products == 2 * one == 4 * n**2 * d
    assert count_flops(n, n, d, backward=True).products == 4 * one
    assert count_flops(n, n, d, method="flash").products == 2 * one
    assert count_flops(n, n, d, method="flash", backward=True).products == 5 * one


def test_products_of_the_core_for_different_lengths_and_widths():
    assert count_flops(300, 700, 64, 96).products == 2 * 300 * 700 * (64 + 96) == 67_200_000


def test_heads_cost_no_more_products_but_more_softmax():
    one, eight = count_flops(1024, 1024, 512), count_flops(1024, 1024, 64, heads=8)
    assert one.products == eight.products and eight.elementwise == 8 * one.elementwise


# --- the projections ------------------------------------------------------------------------------


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


# --- operations and traffic alike -----------------------------------------------------------------


def test_what_is_left_out_means_one_naive_forward_without_mask_causality_bias_or_projections():
    plain = dict(backward=False, causal=False, batch=1, heads=1, kv_heads=1, m=0)
    for method in (dict(method="naive"), dict(method="flash", block_q=2, block_k=3)):
        assert count_flops(Q, K, D, V, **method) == count_flops(Q, K, D, V, **method, **plain, mask=False, bias=False)
        assert count_traffic(Q, K, D, V, **method) == count_traffic(Q, K, D, V, **method, **plain)
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
