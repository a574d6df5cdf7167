"""The logarithm of a softmax and of its denominator, with their gradients."""

import numpy as np

from attnlib.checks.arrays import as_axis, as_float, quiet, same_shape
from attnlib.softmax.shift import finite, finite_maximum, no_zero, shift


@quiet
def logsumexp(x, axis=-1):
    r"""The logarithm of the softmax's denominator, without overflow.

    .. math:: \ell = \log \sum_j e^{x_j} = \mu + \log \sum_j e^{x_j - \mu}, \qquad \mu = \max_j x_j

    Parameters
    ----------
    x : array_like of shape (..., k)
        Scores.
    axis : int, default -1
        The axis to sum over; it disappears.

    Returns
    -------
    logsumexp : ndarray of shape (...)
        ``-inf`` where every score is ``-inf``, or where there is no score. NaN
        for a row with a NaN or with ``+inf``.

    Raises
    ------
    TypeError
        If `x` does not hold real numbers or `axis` is not an integer.
    ValueError
        If `x` has no axis `axis`.

    References
    ----------
    .. [1] Blanchard, Higham and Higham (2021), "Accurately computing the
       log-sum-exp and softmax functions", IMA J. Numer. Anal. 41(4), eq. 3.8.

    Examples
    --------
    >>> float(logsumexp([1000.0, 1000.0]).round(4))
    1000.6931
    """
    (x,), dtype = as_float("logsumexp", x=x)
    axis = as_axis("logsumexp", x, axis)
    maximum = finite_maximum(x, axis)
    total = np.exp(shift(x, maximum)).sum(axis=axis)
    return (maximum.squeeze(axis) + np.log(total)).astype(dtype, copy=False)


@quiet
def logsumexp_backward(d_logsumexp, x, logsumexp, axis=-1):
    r"""Gradient of `logsumexp` with respect to its scores: the softmax, scaled.

    .. math:: dx_j = d\ell \cdot e^{x_j - \ell}

    Parameters
    ----------
    d_logsumexp : array_like of shape (...)
        Gradient of the loss with respect to the result of `logsumexp`.
    x : array_like of shape (..., k)
        The scores.
    logsumexp : array_like of shape (...)
        What `logsumexp` returned.
    axis : int, default -1
        The axis that was summed over.

    Returns
    -------
    d_x : ndarray of shape (..., k)

    Raises
    ------
    TypeError
        If an argument does not hold real numbers or `axis` is not an integer.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> x = np.array([0.0, np.log(3.0)])
    >>> logsumexp_backward(1.0, x, logsumexp(x)).round(12)
    array([0.25, 0.75])
    """
    (d_logsumexp, x, logsumexp), dtype = as_float(
        "logsumexp_backward", d_logsumexp=d_logsumexp, x=x, logsumexp=logsumexp
    )
    axis = as_axis("logsumexp_backward", x, axis)
    expected = x.shape[:axis] + x.shape[axis + 1 :]
    for name, array in (("d_logsumexp", d_logsumexp), ("logsumexp", logsumexp)):
        if array.shape != expected:
            raise ValueError(
                f"logsumexp_backward: {name} must have the shape of x without axis {axis}: "
                f"expected {expected}, got {array.shape}."
            )
    # forward: logsumexp = log(exp(x).sum())
    weights = np.exp(shift(x, finite(np.expand_dims(logsumexp, axis))))
    return (np.expand_dims(d_logsumexp, axis) * weights).astype(dtype, copy=False)


@quiet
def log_softmax(x, axis=-1):
    r"""The logarithm of the softmax, exact where the softmax itself underflows to 0.

    .. math:: \log p_i = x_i - \ell, \qquad \ell = \operatorname{logsumexp}(x)

    Parameters
    ----------
    x : array_like of shape (..., k)
        Scores.
    axis : int, default -1
        The axis along which the weights sum to one.

    Returns
    -------
    log_weights : ndarray of shape (..., k)
        ``-inf`` wherever the score is ``-inf``. A row with a NaN or with ``+inf``
        becomes NaN.

    Raises
    ------
    TypeError
        If `x` does not hold real numbers or `axis` is not an integer.
    ValueError
        If `x` has no axis `axis`.

    References
    ----------
    .. [1] Blanchard, Higham and Higham (2021), "Accurately computing the
       log-sum-exp and softmax functions", IMA J. Numer. Anal. 41(4).

    Examples
    --------
    >>> log_softmax([0.0, -2000.0])
    array([    0., -2000.])
    """
    (x,), dtype = as_float("log_softmax", x=x)
    axis = as_axis("log_softmax", x, axis)
    shifted = shift(x, finite_maximum(x, axis))
    total = np.exp(shifted).sum(axis=axis, keepdims=True)
    # An all -inf row has total 0: it stays -inf, since log(0) is replaced by 0 here.
    return (shifted - np.log(no_zero(total))).astype(dtype, copy=False)


@quiet
def log_softmax_backward(d_log_weights, log_weights, axis=-1):
    r"""Gradient of `log_softmax` with respect to its scores.

    .. math:: dx_j = dy_j - p_j \sum_{i:\, y_i > -\infty} dy_i, \qquad y = \log p, \qquad
              dx_j = 0 \text{ where } y_j = -\infty

    A log-weight of ``-inf`` stays what it is, whatever its score does: its :math:`dy` goes nowhere.

    Parameters
    ----------
    d_log_weights : array_like of shape (..., k)
        Gradient of the loss with respect to the log-weights.
    log_weights : array_like of shape (..., k)
        What `log_softmax` returned.
    axis : int, default -1
        The axis that was given to `log_softmax`.

    Returns
    -------
    d_x : ndarray of shape (..., k)
        Zero where the log-weight is ``-inf``: such a score is a constant.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers or `axis` is not an integer.
    ValueError
        If the two shapes differ, or there is no axis `axis`.

    Examples
    --------
    Minus the log-weight of the right class is the cross-entropy; its gradient is
    the weights minus the one-hot target:

    >>> log_weights = np.log([0.25, 0.75])
    >>> log_softmax_backward([0.0, -1.0], log_weights).round(12)
    array([ 0.25, -0.25])
    """
    (d_log_weights, log_weights), dtype = as_float(
        "log_softmax_backward", d_log_weights=d_log_weights, log_weights=log_weights
    )
    same_shape("log_softmax_backward", d_log_weights=d_log_weights, log_weights=log_weights)
    axis = as_axis("log_softmax_backward", log_weights, axis, "log_weights")
    # forward: log_weights = x - logsumexp(x)
    live = np.where(np.isneginf(log_weights), 0, d_log_weights)
    d_x = live - np.exp(log_weights) * live.sum(axis=axis, keepdims=True)
    return d_x.astype(dtype, copy=False)
