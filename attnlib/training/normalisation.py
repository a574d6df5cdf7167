"""RMS norm: bring every token to the same length, then scale each feature."""

import numpy as np

from attnlib.checks.arrays import as_float, quiet

# This is added to the mean square, so that a token of zeros stays zero instead of dividing by zero.
EPSILON = 1e-5


@quiet
def rms_norm(x, gain):
    r"""Divide each token by the root of the mean square of its features.

    .. math:: out_m = gain_m \frac{x_m}{r}, \qquad r = \sqrt{\tfrac{1}{M} \sum_m x_m^2 + 10^{-5}}

    Parameters
    ----------
    x : array_like of shape (..., n, m)
    gain : array_like of shape (m,)
        Learned; it starts at ones.

    Returns
    -------
    out : ndarray of shape (..., n, m)

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If `gain` does not have one number for each feature of `x`.

    References
    ----------
    .. [1] Zhang and Sennrich (2019), "Root Mean Square Layer Normalization", eq. 4, which has no
       constant under the root; here it prevents 0 / 0 for a token of zeros.

    Examples
    --------
    >>> rms_norm([[3.0, -3.0]], [1.0, 2.0]).round(4)
    array([[ 1., -2.]])
    """
    (x, gain), dtype = as_float("rms_norm", x=x, gain=gain)
    _check("rms_norm", gain, x=x)
    return (gain * (x / _root(x))).astype(dtype, copy=False)


@quiet
def rms_norm_backward(d_out, x, gain):
    r"""Gradients of `rms_norm`.

    With the normalised token :math:`\hat x = x / r` and :math:`d\hat x = gain \odot dout`,

    .. math:: dx = \frac{1}{r} \Bigl(d\hat x - \hat x\, \tfrac{1}{M} \sum_m \hat x_m\, d\hat x_m\Bigr)

    The subtracted part points along the token, because making a token longer changes nothing, except through the small
    constant.

    Parameters
    ----------
    d_out : array_like of shape (..., n, m)
        Gradient of the loss with respect to the result of `rms_norm`.
    x : array_like of shape (..., n, m)
    gain : array_like of shape (m,)
        As given to `rms_norm`.

    Returns
    -------
    d_x : ndarray of shape (..., n, m)
    d_gain : ndarray of shape (m,)

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> d_x, d_gain = rms_norm_backward([[1.0, 1.0]], [[3.0, -3.0]], [1.0, 1.0])
    >>> d_gain.round(4)
    array([ 1., -1.])
    """
    name = "rms_norm_backward"
    (d_out, x, gain), dtype = as_float(name, d_out=d_out, x=x, gain=gain)
    _check(name, gain, d_out=d_out, x=x)
    root = _root(x)
    normal = x / root
    # forward: out = gain * normal
    d_gain = (d_out * normal).sum(axis=tuple(range(x.ndim - 1)))
    d_normal = gain * d_out
    # forward: normal = x / root, and root depends on x
    along = np.vecdot(normal, d_normal)[..., np.newaxis] / x.shape[-1]
    d_x = (d_normal - normal * along) / root
    return d_x.astype(dtype, copy=False), d_gain.astype(dtype, copy=False)


def _root(x):
    return np.sqrt(np.vecdot(x, x)[..., np.newaxis] / x.shape[-1] + EPSILON)


def _check(function, gain, **arrays):
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1 or any(not shape or gain.shape != shape[-1:] or not shape[-1] for shape in shapes):
        shown = "\n".join(f"  {name + ':':<6} {array.shape}" for name, array in (arrays | {"gain": gain}).items())
        raise ValueError(f"{function}: {' and '.join(arrays)} must have the shape (..., n, m), gain (m,).\n{shown}")
