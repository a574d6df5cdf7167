"""Sinusoidal encodings: a row of sines and cosines for each position, which is added to the token."""

import numpy as np

from attnlib.checks.arrays import as_float_dtype, as_integer, quiet
from attnlib.positions.rotary_embedding import turning_speeds


@quiet
def sinusoidal(n, m, *, base=10000.0, dtype=np.float64):
    r"""A row of m waves for each position, from a fast wave to slower and slower ones.

    .. math:: out_{p,2i} = \sin(p\,\theta_i), \qquad out_{p,2i+1} = \cos(p\,\theta_i),
              \qquad \theta_i = base^{-2i/m}

    Columns 2i and 2i+1 are the two coordinates of a clock hand that turns by
    :math:`\theta_i` radians a position. Moving on by s positions turns every hand by
    a fixed angle: row p+s is a rotation of row p that does not depend on p.

    Parameters
    ----------
    n : int
        Number of positions, counted from 0.
    m : int
        Width of a token. If m is odd, the last wave is a sine without its cosine.
    base : float, default 10000.0
        The slowest hand needs almost :math:`2\pi\,base` positions for one turn.
    dtype : dtype, default float64
        The result is computed in float64 and rounded once.

    Returns
    -------
    out : ndarray of shape (n, m)
        Add it to the tokens: ``x + sinusoidal(n, m, dtype=x.dtype)``.

    Raises
    ------
    TypeError
        If `n` or `m` is not an integer, or `dtype` is not a float dtype.
    ValueError
        If `n` or `m` is negative, or `base` is not positive and finite.

    References
    ----------
    .. [1] Vaswani et al. (2017), "Attention Is All You Need", section 3.5. Their
       :math:`d_{model}` is our m.

    Examples
    --------
    >>> sinusoidal(3, 4).round(4)
    array([[ 0.    ,  1.    ,  0.    ,  1.    ],
           [ 0.8415,  0.5403,  0.01  ,  1.    ],
           [ 0.9093, -0.4161,  0.02  ,  0.9998]])

    A batch of 2 texts gets the same rows; with a cache, the newest token gets the last one:

    >>> x = np.ones((2, 3, 4)) + sinusoidal(3, 4)
    >>> newest = np.ones((2, 1, 4)) + sinusoidal(3, 4)[-1:]
    >>> np.array_equal(newest, x[:, -1:])
    True
    """
    n = as_integer("sinusoidal", "n", n, minimum=0)
    m = as_integer("sinusoidal", "m", m, minimum=0)
    dtype = as_float_dtype("sinusoidal", dtype)
    angles = np.arange(n, dtype=np.float64)[:, np.newaxis] * turning_speeds("sinusoidal", m, base)
    out = np.empty((n, m), dtype)
    out[:, 0::2] = np.sin(angles)
    out[:, 1::2] = np.cos(angles[:, : m // 2])
    return out
