"""Softmax: scores in, weights out. Its gradients, and how to take it one block at a time."""

from typing import NamedTuple

import numpy as np

from attnlib._arrays import as_axis, as_float, same_shape


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
    exponentials = np.exp(_shift(x, _finite_maximum(x, axis)))
    total = exponentials.sum(axis=axis, keepdims=True)
    return (exponentials / _no_zero(total)).astype(dtype, copy=False)


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
        Sums to zero along `axis`. Zero wherever a weight is zero, so also in
        the whole of a row that may look at nothing.

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
    weighted_mean = (weights * d_weights).sum(axis=axis, keepdims=True)
    return (weights * (d_weights - weighted_mean)).astype(dtype, copy=False)


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


def logsumexp(x, axis=-1):
    r"""The logarithm of the softmax's denominator, without overflow.

    .. math:: \ell = \log \sum_j e^{x_j} = m + \log \sum_j e^{x_j - m}, \qquad m = \max_j x_j

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
    maximum = _finite_maximum(x, axis)
    total = np.exp(_shift(x, maximum)).sum(axis=axis)
    return (maximum.squeeze(axis) + _log(total)).astype(dtype, copy=False)


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
    weights = np.exp(_shift(x, _finite(np.expand_dims(logsumexp, axis))))
    return (np.expand_dims(d_logsumexp, axis) * weights).astype(dtype, copy=False)


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
    shifted = _shift(x, _finite_maximum(x, axis))
    total = np.exp(shifted).sum(axis=axis, keepdims=True)
    # An all -inf row has total 0: it stays -inf, since log(0) is replaced by 0 here.
    with np.errstate(over="ignore"):  # scores further apart than float16 can say
        return (shifted - _log(_no_zero(total))).astype(dtype, copy=False)


def log_softmax_backward(d_log_weights, log_weights, axis=-1):
    r"""Gradient of `log_softmax` with respect to its scores.

    .. math:: dx_j = dy_j - p_j \sum_i dy_i, \qquad y = \log p

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


class OnlineSoftmax(NamedTuple):
    r"""Running maximum and running sum: a softmax denominator that never sees the whole row.

    After any number of blocks, `maximum` is the largest score so far and `total`
    the sum of ``exp(score - maximum)`` over all of them. A new block may raise the
    maximum; then the old sum, measured against the old maximum, is rescaled:

    .. math:: m' = \max(m, \max_j x_j), \qquad s' = s\, e^{m - m'} + \sum_j e^{x_j - m'}

    An `OnlineSoftmax` is a value: `update` and `merge` return a new one.

    Attributes
    ----------
    maximum : ndarray of shape (...)
        Largest score so far, ``-inf`` before the first.
    total : ndarray of shape (...)
        Sum of ``exp(score - maximum)`` so far, 0 before the first.

    References
    ----------
    .. [1] Milakov and Gimelshein (2018), "Online normalizer calculation for
       softmax", arXiv:1805.02867, algorithm 3 (`update`) and eq. 4 (`merge`).

    Examples
    --------
    >>> x = np.array([1.0, 3.0, 2.0, 5.0])
    >>> running = OnlineSoftmax.start().update(x[:3]).update(x[3:])
    >>> bool(np.isclose(running.logsumexp, logsumexp(x)))
    True
    """

    maximum: np.ndarray
    total: np.ndarray

    @classmethod
    def start(cls, shape=(), dtype=np.float64):
        """Before the first score: maximum ``-inf``, sum 0.

        Parameters
        ----------
        shape : tuple of int, default ()
            The shape (...) of the rows: that of the scores without their last axis.
        dtype : dtype, default float64
            float32 or float64; float16 becomes float32.

        Returns
        -------
        state : OnlineSoftmax

        Raises
        ------
        TypeError
            If `dtype` is not a float dtype.
        """
        if np.dtype(dtype).kind != "f":
            raise TypeError(f"OnlineSoftmax.start: dtype must be float32 or float64; got {np.dtype(dtype)}.")
        dtype = np.result_type(dtype, np.float32)
        return cls(np.full(shape, -np.inf, dtype), np.zeros(shape, dtype))

    def update(self, scores):
        """Take in a block of scores and return the new state.

        Parameters
        ----------
        scores : array_like of shape (..., k)
            The next scores of every row; k may change from block to block and be 0.

        Returns
        -------
        state : OnlineSoftmax
            In the wider dtype of state and scores.

        Raises
        ------
        TypeError
            If `scores` does not hold real numbers.
        ValueError
            If the leading axes of `scores` are not those of the state.
        """
        (scores,), _ = as_float("OnlineSoftmax.update", scores=scores)
        if scores.ndim == 0 or scores.shape[:-1] != self.maximum.shape:
            raise ValueError(
                "OnlineSoftmax.update: scores must have the state's axes and one more, k: "
                f"expected {(*self.maximum.shape, 'k')}, got {scores.shape}."
            )
        maximum = _finite_maximum(scores, -1)
        total = np.exp(_shift(scores, maximum)).sum(axis=-1)
        maximum = np.where(total == 0, -np.inf, maximum.squeeze(-1))
        return self.merge(OnlineSoftmax(maximum, total))

    def merge(self, other):
        """Combine with the state of other scores, in any order, and return the new state.

        Parameters
        ----------
        other : OnlineSoftmax
            The state of other scores of the same rows.

        Returns
        -------
        state : OnlineSoftmax

        Raises
        ------
        TypeError
            If `other` is not an `OnlineSoftmax`.
        ValueError
            If the two states have different shapes.
        """
        if not isinstance(other, OnlineSoftmax):
            raise TypeError(f"OnlineSoftmax.merge: other must be an OnlineSoftmax; got {type(other).__name__}.")
        if other.maximum.shape != self.maximum.shape:
            raise ValueError(
                "OnlineSoftmax.merge: both states must have one shape (...); "
                f"got {self.maximum.shape} and {other.maximum.shape}."
            )
        maximum = np.maximum(self.maximum, other.maximum)
        safe = _finite(maximum)  # both empty: -inf - (-inf) would be NaN
        total = self.total * np.exp(_shift(self.maximum, safe)) + other.total * np.exp(_shift(other.maximum, safe))
        return OnlineSoftmax(maximum, total)

    @property
    def logsumexp(self):
        """The logsumexp of all scores so far, of shape (...): ``-inf`` before the first."""
        return self.maximum + _log(self.total)


def _finite(maximum):
    # A row of nothing but -inf has no finite maximum; -inf - (-inf) would be NaN.
    return np.where(np.isneginf(maximum), maximum.dtype.type(0), maximum)


def _finite_maximum(x, axis):
    return _finite(x.max(axis=axis, keepdims=True, initial=-np.inf))


def _shift(x, maximum):
    # inf - inf is NaN, and that NaN is the answer. So is the -inf of two scores that
    # are further apart than the dtype can say. No warning on top.
    with np.errstate(invalid="ignore", over="ignore"):
        return x - maximum


def _no_zero(total):
    return np.where(total == 0, total.dtype.type(1), total)


def _log(total):
    with np.errstate(divide="ignore"):
        return np.log(total)
