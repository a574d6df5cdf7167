"""Softmax: scores in, weights out. Its gradients, and how to take it one block at a time."""

import numpy as np

from attnlib.checks.arrays import as_axis, as_float, quiet, same_shape
from attnlib.softmax.shift import finite_maximum, no_zero, shift


@quiet
def softmax(x, axis=-1):
    r"""Turn scores into positive weights that sum to one along `axis`.

    .. math:: p_i = \frac{e^{x_i}}{\sum_j e^{x_j}}

    Each row is shifted by its own maximum first. That changes nothing in exact
    arithmetic and keeps every exponent at or below zero, so nothing overflows.

    Parameters
    ----------
    x : array_like of shape (..., k)
        Scores. A score of ``-inf`` gets the weight 0.
    axis : int, default -1
        The axis along which the weights sum to one.

    Returns
    -------
    weights : ndarray of shape (..., k)
        In the dtype of `x`. A row in which every score is ``-inf`` has nothing
        to look at: its weights are all zero, not NaN. A row with a NaN or with
        ``+inf`` becomes NaN.

    Raises
    ------
    TypeError
        If `x` does not hold real numbers or `axis` is not an integer.
    ValueError
        If `x` has no axis `axis`.

    References
    ----------
    .. [1] Blanchard, Higham and Higham (2021), "Accurately computing the
       log-sum-exp and softmax functions", IMA J. Numer. Anal. 41(4), eq. 1.3
       and algorithm 3.2.

    Examples
    --------
    >>> softmax([2.0, 1.0, 0.1]).round(3)
    array([0.659, 0.242, 0.099])
    >>> softmax([-np.inf, -np.inf])
    array([0., 0.])
    """
    (x,), dtype = as_float("softmax", x=x)
    axis = as_axis("softmax", x, axis)
    exponentials = np.exp(shift(x, finite_maximum(x, axis)))
    total = exponentials.sum(axis=axis, keepdims=True)
    return (exponentials / no_zero(total)).astype(dtype, copy=False)


@quiet
def softmax_backward(d_weights, weights, axis=-1):
    r"""Gradient of `softmax` with respect to its scores.

    .. math:: dx_j = p_j \Bigl(dp_j - \sum_i p_i\, dp_i\Bigr)

    The Jacobian is never formed: its product with `d_weights` needs k
    operations a row, not k squared. Only the weights are needed, not the scores.

    Parameters
    ----------
    d_weights : array_like of shape (..., k)
        Gradient of the loss with respect to the weights.
    weights : array_like of shape (..., k)
        What `softmax` returned.
    axis : int, default -1
        The axis that was given to `softmax`.

    Returns
    -------
    d_x : ndarray of shape (..., k)
        Sums to zero along `axis`. Zero wherever a weight is zero, whatever `d_weights`
        is there, so also in the whole of a row that may look at nothing.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers or `axis` is not an integer.
    ValueError
        If the two shapes differ, or there is no axis `axis`.

    References
    ----------
    .. [1] Bridle (1990), "Training stochastic model recognition algorithms as
       networks can lead to maximum mutual information estimation of
       parameters", NeurIPS 2: the derivative of softmax.

    Examples
    --------
    >>> weights = softmax([2.0, 1.0, 0.1])
    >>> softmax_backward([0.5, -0.3, 0.2], weights).round(4)
    array([ 0.1473, -0.1398, -0.0075])
    """
    (d_weights, weights), dtype = as_float("softmax_backward", d_weights=d_weights, weights=weights)
    same_shape("softmax_backward", d_weights=d_weights, weights=weights)
    axis = as_axis("softmax_backward", weights, axis, "weights")
    # forward: weights = exp(x) / exp(x).sum()
    d_weights = np.where(weights == 0, 0, d_weights)  # 0 · inf would be NaN
    weighted_mean = (weights * d_weights).sum(axis=axis, keepdims=True)
    return (weights * (d_weights - weighted_mean)).astype(dtype, copy=False)


@quiet
def softmax_jacobian(weights):
    r"""All partial derivatives of one softmax: row i, column j holds dp_i / dx_j.

    .. math:: J = \operatorname{diag}(p) - p\,p^\top

    For looking at and for checking `softmax_backward`, which does the same job
    without ever holding k × k numbers.

    Parameters
    ----------
    weights : array_like of shape (..., k)
        What `softmax` returned, softmax along the last axis.

    Returns
    -------
    jacobian : ndarray of shape (..., k, k)
        Symmetric; every row sums to zero.

    Raises
    ------
    TypeError
        If `weights` does not hold real numbers.
    ValueError
        If `weights` has no axis.

    Examples
    --------
    >>> softmax_jacobian([0.25, 0.75])
    array([[ 0.1875, -0.1875],
           [-0.1875,  0.1875]])
    """
    (weights,), dtype = as_float("softmax_jacobian", weights=weights)
    as_axis("softmax_jacobian", weights, -1, "weights")
    identity = np.eye(weights.shape[-1], dtype=weights.dtype)
    column, row = weights[..., :, np.newaxis], weights[..., np.newaxis, :]
    # p_i (δ_ij - p_j): one rounding less on the diagonal than p_i δ_ij - p_i p_j.
    return (column * (identity - row)).astype(dtype, copy=False)
