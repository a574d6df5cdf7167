"""ALiBi: a bias that falls in a straight line with the distance and is added to the scores."""

import numpy as np

from attnlib.checks.arrays import as_float_dtype, as_integer, quiet


def alibi_slopes(h):
    r"""What each head of ALiBi subtracts for each token of distance, the steepest head first.

    .. math:: slope_i = 2^{-8i/h}, \qquad i = 1 \dots h

    The formula holds for h a power of two, which is all that the paper trains. For other
    h the authors' code takes the slopes of the power of two below, and then every other
    slope of the power of two above. We do the same, so that published models fit.

    Parameters
    ----------
    h : int
        Number of query heads.

    Returns
    -------
    slopes : ndarray of shape (h,)

    Raises
    ------
    TypeError
        If `h` is not an integer.
    ValueError
        If `h` is less than 1.

    References
    ----------
    .. [1] Press, Smith and Lewis (2022), "Train Short, Test Long: Attention with Linear
       Biases Enables Input Length Extrapolation", ICLR, section 3.

    Examples
    --------
    >>> alibi_slopes(4)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625])
    """
    h = as_integer("alibi_slopes", "h", h, minimum=1)
    power = 2 ** (h.bit_length() - 1)  # the largest power of two up to h
    exponents = np.arange(1, power + 1, dtype=np.float64) / power
    between = (np.arange(0, h - power, dtype=np.float64) + 0.5) / power
    return 2.0 ** (-8 * np.concatenate([exponents, between]))


@quiet
def alibi_bias(h, q, k, *, offset=0, dtype=np.float64):
    r"""A bias for the scores that falls with the distance between query and key.

    .. math:: bias_{hqk} = -slope_h\, |q + offset - k|

    The paper defines it for keys at or before the query and masks the rest: pass it on
    as ``attention(..., mask=alibi_bias(h, q, k), causal=True)``. The bias itself masks
    nothing. A future key is treated like a past one at the same distance, so without a
    causal mask this is the symmetric form for encoders.

    Parameters
    ----------
    h, q, k : int
        Number of query heads, queries and keys.
    offset : int, default 0
        Position of the first query, with keys counted from 0. As in `causal_mask`; with a
        cache it is k - q.
    dtype : dtype, default float64
        The result is computed in float64 and rounded once.

    Returns
    -------
    bias : ndarray of shape (h, q, k)
        Zero where the key is at the query's own position, negative elsewhere.

    Raises
    ------
    TypeError
        If a size or `offset` is not an integer, or `dtype` is not a float dtype.
    ValueError
        If `h` is less than 1, or `q` or `k` is negative.

    References
    ----------
    .. [1] Press, Smith and Lewis (2022), "Train Short, Test Long: Attention with Linear
       Biases Enables Input Length Extrapolation", ICLR, section 3.

    Examples
    --------
    >>> alibi_bias(8, 3, 3)[0]
    array([[ 0. , -0.5, -1. ],
           [-0.5,  0. , -0.5],
           [-1. , -0.5,  0. ]])

    Every text of a batch gets the same bias, and every *query* head a slope, however many key heads they share. With a
    cache, the newest token is the last query:

    >>> newest = alibi_bias(8, 1, 3, offset=2)
    >>> newest.shape, np.array_equal(newest, alibi_bias(8, 3, 3)[:, -1:])
    ((8, 1, 3), True)
    """
    h = as_integer("alibi_bias", "h", h, minimum=1)
    q = as_integer("alibi_bias", "q", q, minimum=0)
    k = as_integer("alibi_bias", "k", k, minimum=0)
    offset = as_integer("alibi_bias", "offset", offset)
    dtype = as_float_dtype("alibi_bias", dtype)
    rows, columns = np.arange(q, dtype=np.int64)[:, np.newaxis], np.arange(k, dtype=np.int64)
    nearness = -np.abs(rows + offset - columns)  # an integer, so that the diagonal is 0 and not -0
    return (alibi_slopes(h)[:, np.newaxis, np.newaxis] * nearness).astype(dtype)
