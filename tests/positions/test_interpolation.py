"""attnlib.positions.interpolation: do longer texts stay among the positions that were trained?"""

import numpy as np
import pytest
from positions_cases import D

from attnlib.positions import interpolated_positions, rotary


@pytest.mark.parametrize("n, trained", [(0, 3), (1, 1), (3, 7), (7, 7), (8, 7), (21, 7), (1000, 16)])
def test_positions_are_evenly_spaced_and_stay_below_the_trained_length(n, trained):
    positions = interpolated_positions(n, trained)
    assert positions.shape == (n,) and positions.dtype == np.float64
    expected = [i if n <= trained else i * trained / n for i in range(n)]
    np.testing.assert_allclose(positions, expected, rtol=1e-15)
    assert n == 0 or positions[-1] < trained


def test_rotary_takes_them_and_every_second_token_stands_where_it_stood(rng):
    x = rng.normal(size=(10, D))
    stretched = rotary(x, interpolated_positions(10, 5))
    np.testing.assert_allclose(stretched[::2], rotary(x[::2], np.arange(5)), rtol=0, atol=1e-15)
