"""Rotary embeddings: pairs of features are rotated by an angle that grows with the position."""

import numpy as np

from attnlib.checks.arrays import as_float, broadcasts_to, quiet


@quiet
def rotary(x, positions, *, base=10000.0, pairs="neighbours"):
    r"""Rotate each pair of features by an angle proportional to the position.

    .. math:: \begin{pmatrix} out_{2i} \\ out_{2i+1} \end{pmatrix} =
              \begin{pmatrix} \cos p\theta_i & -\sin p\theta_i \\ \sin p\theta_i & \cos p\theta_i \end{pmatrix}
              \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}, \qquad \theta_i = base^{-2i/d}

    Apply it to queries and keys, not to values. A dot product of two rotated vectors
    depends on the difference of their angles, so the score of a query at position p
    and a key at position r depends on p - r only.

    Parameters
    ----------
    x : array_like of shape (..., n, d)
        Queries or keys of one head or of many; d is even.
    positions : array_like, broadcastable to shape (..., n)
        Position of each row of `x`. With a cache, new tokens do not start at 0.
        Fractions and negative numbers are fine.
    base : float, default 10000.0
        Must be the one that the keys in a cache were rotated with.
    pairs : {"neighbours", "halves"}, default "neighbours"
        Which features are a pair: 2i and 2i + 1, as in the formula, or i and i + d/2, which other
        code calls ``rotate_half``.

    Returns
    -------
    out : ndarray of shape (..., n, d)
        In the dtype of `x`. Every pair keeps its length.

    Raises
    ------
    TypeError
        If `x` or `positions` does not hold real numbers.
    ValueError
        If d is odd, `positions` does not broadcast to (..., n) or is not finite,
        `base` is not positive and finite, or `pairs` is not one of the two.

    Notes
    -----
    The angles are computed in float64 whatever the dtype of `x`: at position 100 000 a
    float32 angle would be off by up to 0.005 radians. Sine and cosine are then rounded to the
    dtype of `x`, and all that has the size of `x` stays in it.

    The two pairings are the same operation on features in another order. Weights trained
    with one need their columns permuted for the other: even features first, then odd ones,
    leads from neighbours to halves.

    References
    ----------
    .. [1] Su et al. (2021), "RoFormer: Enhanced Transformer with Rotary Position
       Embedding", arXiv:2104.09864, eq. 34. Their i counts from 1.

    Examples
    --------
    A quarter turn:

    >>> rotary([[3.0, 1.0]], [np.pi / 2]).round(12)
    array([[-1.,  3.]])

    A batch of 2 texts with 3 heads, 5 tokens long; with a cache, the newest token stands at position 4:

    >>> x = np.random.default_rng(0).normal(size=(2, 3, 5, 4))
    >>> rotated, newest = rotary(x, np.arange(5)), rotary(x[..., -1:, :], [4])
    >>> rotated.shape, np.allclose(newest, rotated[..., -1:, :])
    ((2, 3, 5, 4), True)

    The second text is padded by 2 tokens on the left, so its positions start later; the 1 stands for the heads:

    >>> positions = np.maximum(np.arange(5) - np.array([0, 2])[:, np.newaxis, np.newaxis], 0)
    >>> positions.shape, rotary(x, positions).shape
    ((2, 1, 5), (2, 3, 5, 4))
    """
    return _rotate("rotary", "x", x, positions, base, pairs, 1)


@quiet
def rotary_backward(d_out, positions, *, base=10000.0, pairs="neighbours"):
    r"""Gradient of `rotary` with respect to x: rotate back.

    A rotation is linear, so its gradient is the transposed matrix, and the transpose of
    a rotation is the rotation by the opposite angle. The backward needs nothing that the forward computed.

    .. math:: \begin{pmatrix} dx_{2i} \\ dx_{2i+1} \end{pmatrix} =
              \begin{pmatrix} \cos p\theta_i & \sin p\theta_i \\ -\sin p\theta_i & \cos p\theta_i \end{pmatrix}
              \begin{pmatrix} dout_{2i} \\ dout_{2i+1} \end{pmatrix}

    Parameters
    ----------
    d_out : array_like of shape (..., n, d)
        Gradient of the loss with respect to the result of `rotary`.
    positions : array_like, broadcastable to shape (..., n)
        As in the forward. Positions are not learned: they get no gradient.
    base : float, default 10000.0
    pairs : {"neighbours", "halves"}, default "neighbours"
        As in the forward, both.

    Returns
    -------
    d_x : ndarray of shape (..., n, d)

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        As for `rotary`.

    Examples
    --------
    >>> rotary_backward(rotary([[3.0, 1.0]], [7]), [7]).round(12)
    array([[3., 1.]])

    A batch of 2 texts with 3 heads:

    >>> rotary_backward(np.ones((2, 3, 5, 4)), np.arange(5)).shape
    (2, 3, 5, 4)
    """
    # forward: out = rotation(+angle) @ x
    return _rotate("rotary_backward", "d_out", d_out, positions, base, pairs, -1)


def _rotate(function, name, x, positions, base, pairs, sign):
    (x,), dtype = as_float(function, **{name: x})
    (positions,), _ = as_float(function, positions=positions)
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(
            f"{function}: {name} must have shape (..., n, d) with an even number of features d, "
            f"because features are rotated in pairs; got {x.shape}."
        )
    rows = x.shape[:-1]
    if not broadcasts_to(positions.shape, rows):
        raise ValueError(
            f"{function}: positions must broadcast to the shape (..., n) of {name} without its last axis.\n"
            f"  positions:        {positions.shape}\n  {name + ' (..., n, d):':<17} {x.shape}"
        )
    if not np.isfinite(positions).all():
        raise ValueError(f"{function}: positions must be finite; got NaN or infinity.")
    first, second = _members(function, pairs, x.shape[-1])
    angles = positions[..., np.newaxis] * turning_speeds(function, x.shape[-1], base)
    cos, sin = np.cos(angles).astype(x.dtype), (sign * np.sin(angles)).astype(x.dtype)
    out = np.empty_like(x)
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., first] * sin + x[..., second] * cos
    return out.astype(dtype, copy=False)


def _members(function, pairs, width):
    """The slices that hold the first and the second feature of all pairs."""
    if not isinstance(pairs, str) or pairs not in ("neighbours", "halves"):
        raise ValueError(f"{function}: pairs must be 'neighbours' or 'halves'; got {pairs!r}.")
    if pairs == "halves":
        return slice(0, width // 2), slice(width // 2, width)
    return slice(0, width, 2), slice(1, width, 2)


def turning_speeds(function, width, base):
    """The angle by which each pair turns from one position to the next, ceil(width / 2) of them."""
    if isinstance(base, (bool, np.bool_)) or not isinstance(base, (int, float, np.integer, np.floating)):
        raise TypeError(f"{function}: base must be a number; got {base!r}.")
    if not 0 < base < np.inf:
        raise ValueError(f"{function}: base must be positive and finite; got {base}.")
    exponents = np.arange(0, width, 2, dtype=np.float64) / width
    return np.float64(base) ** -exponents
