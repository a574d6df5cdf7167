"""Arrays for the tests of several rooms: made, laid out in memory, compared."""

import numpy as np


def query_key_value(rng, leading, heads, q, k, d, v, dtype=np.float64):
    """Random query, key and value; `heads` of key and value, where there is a head axis."""
    key_leading = (*leading[:-1], heads) if leading else ()
    shapes = (*leading, q, d), (*key_leading, k, d), (*key_leading, k, v)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


# The same numbers, stored in another way.
LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "reversed": lambda x: x[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
    "every second": lambda x: np.repeat(np.repeat(x, 2, axis=-1), 2, axis=-2)[..., ::2, ::2],
    "transposed heads": lambda x: x.swapaxes(-3, -2).copy().swapaxes(-3, -2),
}


def close(ours, expected, tolerance=1e-13):
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)
