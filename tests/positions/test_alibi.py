"""attnlib.positions.alibi: is the bias slope times distance, with the published slopes?"""

import math

import numpy as np
import pytest

from attnlib.positions import alibi_bias, alibi_slopes


def test_the_bias_is_slope_times_distance():
    h, q, k, offset = 4, 3, 6, 2
    bias = alibi_bias(h, q, k, offset=offset)
    assert bias.shape == (h, q, k) and bias.dtype == np.float64
    for i, row, column in np.ndindex(h, q, k):
        assert bias[i, row, column] == -(2.0 ** (-8 * (i + 1) / h)) * abs(row + offset - column)


@pytest.mark.parametrize("h", [1, 2, 4, 8, 16])
def test_slopes_of_a_power_of_two_are_one_geometric_series(h):
    np.testing.assert_array_equal(alibi_slopes(h), [2.0 ** (-8 * i / h) for i in range(1, h + 1)])


def published_slopes(h):
    """The rule of the authors' code for any number of heads, as a recursion."""
    if math.log2(h).is_integer():
        return [2.0 ** (-8 * i / h) for i in range(1, h + 1)]
    power = 2 ** math.floor(math.log2(h))
    return published_slopes(power) + published_slopes(2 * power)[0::2][: h - power]


@pytest.mark.parametrize("h", range(1, 35))
def test_slopes_of_any_number_of_heads_follow_the_authors_code(h):
    np.testing.assert_allclose(alibi_slopes(h), published_slopes(h), rtol=1e-15)


def test_an_offset_moves_the_queries_along_the_keys():
    full = alibi_bias(3, 7, 7)
    np.testing.assert_array_equal(alibi_bias(3, 2, 7, offset=5), full[:, 5:])
    np.testing.assert_array_equal(alibi_bias(3, 1, 7, offset=-2)[:, 0], -alibi_slopes(3)[:, None] * np.arange(2, 9))


def test_a_bias_of_no_distance_is_a_plain_zero():
    assert not np.signbit(np.diagonal(alibi_bias(2, 3, 3), axis1=1, axis2=2)).any()
