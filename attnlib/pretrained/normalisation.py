"""Layer norm: bring the features of every token to mean 0 and variance 1, then scale and shift each feature."""

import numpy as np

from attnlib.checks.arrays import as_float, quiet


@quiet
def layer_norm(x, gain, bias, epsilon=1e-12):
    r"""Subtract from each token the mean of its features, and divide by their standard deviation.

    .. math:: out_m = gain_m \frac{x_m - \mu}{\sqrt{\sigma^2 + \varepsilon}} + bias_m, \qquad
              \mu = \tfrac{1}{M} \sum_m x_m, \quad \sigma^2 = \tfrac{1}{M} \sum_m (x_m - \mu)^2

    RMS norm (`attnlib.training.rms_norm`) leaves out the mean and the bias.

    Parameters
    ----------
    x : array_like of shape (..., n, m)
    gain : array_like of shape (m,)
    bias : array_like of shape (m,)
    epsilon : float, default 1e-12
        Added to the variance, under the root, so that a token of equal features gives the bias and not 0 / 0.

    Returns
    -------
    out : ndarray of shape (..., n, m)

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If `gain` and `bias` do not have one number for each feature of `x`.

    References
    ----------
    .. [1] Ba, Kiros and Hinton (2016), "Layer Normalization", eq. 4.

    Examples
    --------
    >>> layer_norm([[3.0, 5.0]], [1.0, 2.0], [0.0, 1.0])
    array([[-1.,  3.]])
    """
    (x, gain, bias), dtype = as_float("layer_norm", x=x, gain=gain, bias=bias)
    if x.ndim < 1 or not x.shape[-1] or not gain.shape == bias.shape == x.shape[-1:]:
        raise ValueError(
            "layer_norm: x must have the shape (..., n, m), gain and bias (m,).\n"
            f"  x:    {x.shape}\n  gain: {gain.shape}\n  bias: {bias.shape}"
        )
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.vecdot(centred, centred)[..., np.newaxis] / x.shape[-1]
    return (gain * (centred / np.sqrt(variance + float(epsilon))) + bias).astype(dtype, copy=False)
