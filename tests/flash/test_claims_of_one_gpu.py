"""What chapter 8 says of the shared work on a single GPU: two kernels that need no sum of shares, and why one kernel may round differently."""

import numpy as np
import pytest
from flash_cases import alike, inputs

from attnlib.attention import attention, attention_backward
from attnlib.flash import flash_attention


def test_parts_move_little_more():
    d, each = 64, 64
    assert (d + 2 * (d + 1)) / (each * 2 * d) == pytest.approx(0.024, abs=0.0005)  # the query, and the result twice


def for_keys(d_out, query, key, value, ell, D, c):
    """The first kernel: it finishes dK and dV of a tile of keys."""
    P = np.exp(c * query @ key.T - ell)
    dS = P * (d_out @ value.T - D)
    return c * dS.T @ query, P.T @ d_out


def for_queries(d_out, query, key, value, ell, D, c):
    """The second kernel: it finishes dQ of a tile of queries."""
    P = np.exp(c * query @ key.T - ell)
    return c * (P * (d_out @ value.T - D)) @ key


def of_the_kernels(seed, n, d, tile):
    d_out, query, key, value = inputs(seed, n, d, d)
    out, ell = flash_attention(query, key, value)
    D = np.sum(d_out * out, axis=1)[:, np.newaxis]
    return d_out, query, key, value, ell[:, np.newaxis], D, d**-0.5, np.split(np.arange(n), n // tile)


@pytest.mark.parametrize(("n", "d", "tile"), [(24, 6, 8), (30, 5, 10), (16, 3, 4)])
@pytest.mark.parametrize("seed", range(8))
def test_two_kernels_are_right(n, d, tile, seed):
    d_out, query, key, value, ell, D, c, tiles = of_the_kernels(seed, n, d, tile)
    d_query = np.concatenate([for_queries(d_out[t], query[t], key, value, ell[t], D[t], c) for t in tiles])
    d_key, d_value = map(np.concatenate, zip(*(for_keys(d_out, query, key[t], value[t], ell, D, c) for t in tiles), strict=True))
    assert alike((d_query, d_key, d_value), attention_backward(d_out, query, key, value, attention(query, key, value)[1]))


@pytest.mark.parametrize("seed", range(8, 16))
def test_one_kernel_that_adds_three_tiles_in_another_order_has_other_bits(seed):
    d_out, query, key, value, ell, D, c, tiles = of_the_kernels(seed, 24, 6, 8)
    shares = [for_queries(d_out, query, key[t], value[t], ell, D, c) for t in tiles]
    assert not np.array_equal(sum(shares), sum(shares[::-1]))
    assert np.array_equal(shares[0] + shares[1], shares[1] + shares[0])  # two tiles have only one sum


