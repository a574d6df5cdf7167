"""attnlib.positions.sinusoidal_encoding: is every wave where it should be?"""

import itertools
import math

import numpy as np
import pytest

from attnlib.positions import rotary, sinusoidal


def sinusoidal_by_loops(n, m, base=10000.0):
    out = np.empty((n, m))
    for p, column in itertools.product(range(n), range(m)):
        angle = p / base ** (2 * (column // 2) / m)
        out[p, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return out


@pytest.mark.parametrize("m", [0, 1, 2, 5, 6, 7])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_sinusoidal_matches_the_formula_written_as_loops(n, m):
    out = sinusoidal(n, m)
    assert out.shape == (n, m) and out.dtype == np.float64
    np.testing.assert_allclose(out, sinusoidal_by_loops(n, m), rtol=0, atol=4e-16)


def test_sinusoidal_takes_another_base():
    for base in (50, 1.1, 0.3):  # below 1 every wave is faster than the one before
        np.testing.assert_allclose(sinusoidal(9, 6, base=base), sinusoidal_by_loops(9, 6, base), rtol=0, atol=4e-15)


@pytest.mark.parametrize("m", [6, 512])
def test_every_row_of_sinusoidal_has_the_same_length(m):
    np.testing.assert_allclose((sinusoidal(40, m) ** 2).sum(axis=1), m / 2, rtol=1e-14)


def test_moving_on_by_s_positions_is_one_rotation_for_all_rows():
    # The columns are (sin, cos), so as a clock hand (cos, sin) they turn the other way in (sin, cos) coordinates.
    m, shift = 8, 3
    table = sinusoidal(20, m)
    np.testing.assert_allclose(rotary(table[:-shift], -shift), table[shift:], rtol=0, atol=1e-14)


def test_an_odd_width_is_the_even_one_with_its_own_frequencies_and_no_last_cosine():
    np.testing.assert_array_equal(sinusoidal(4, 1), np.sin(np.arange(4.0))[:, np.newaxis])
