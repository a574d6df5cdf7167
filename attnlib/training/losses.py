"""Cross-entropy: how surprised the model is by the token that came."""

import numpy as np

from attnlib.checks.arrays import as_float, quiet
from attnlib.softmax import logsumexp, softmax
from attnlib.training.arguments import as_tokens


@quiet
def cross_entropy(logits, targets, *, keep=None):
    r"""The mean of -log of the probability that softmax gives to the target.

    .. math:: loss = \frac{1}{N} \sum_{n} \Bigl(\log \sum_k e^{logits_{nk}} - logits_{n,\,targets_n}\Bigr)

    The sum and N run over the positions that `keep` keeps. The loss is written with the logarithm of the sum and not
    as the logarithm of a weight, so it stays finite where the weight of the target is too small for a float.

    Parameters
    ----------
    logits : array_like of shape (..., n, k)
        One score for each of the k tokens of the vocabulary.
    targets : array_like of shape (..., n)
        The token that came: an integer from 0 to k - 1.
    keep : array_like of shape (..., n), optional
        Boolean, True = this position counts. All of them, if left out.

    Returns
    -------
    loss : float
        In the dtype of `logits`. The natural logarithm: guessing evenly among k tokens costs log k.
    weights : ndarray of shape (..., n, k)
        The probabilities, ``softmax(logits)``, for `cross_entropy_backward`.

    Raises
    ------
    TypeError
        If `logits` does not hold real numbers, `targets` no integers, or `keep` no booleans.
    ValueError
        If the shapes do not fit, a target is not among the k tokens, or no position is kept.

    References
    ----------
    .. [1] Goodfellow, Bengio and Courville (2016), "Deep Learning", section 6.2.2.3.

    Examples
    --------
    Two tokens that are equally likely cost log 2:

    >>> loss, weights = cross_entropy([[0.0, 0.0]], [1])
    >>> print(f"{loss:.4f}", weights)
    0.6931 [[0.5 0.5]]
    """
    name = "cross_entropy"
    (logits,), dtype = as_float(name, logits=logits)
    targets, keep, count = as_positions(name, logits.shape, "logits", targets, keep)
    of_target = np.take_along_axis(logits, targets[..., np.newaxis], axis=-1)[..., 0]
    surprise = logsumexp(logits) - of_target
    loss = np.where(keep, surprise, 0).sum() / count
    return loss.astype(dtype), softmax(logits).astype(dtype, copy=False)


@quiet
def cross_entropy_backward(d_loss, targets, weights, *, keep=None):
    r"""Gradient of `cross_entropy` with respect to the logits: probability minus truth.

    .. math:: dlogits_{nk} = \frac{dloss}{N} \bigl(weights_{nk} - [k = targets_n]\bigr)

    It is zero at positions that are not kept, and the entries of every position sum to zero.

    Parameters
    ----------
    d_loss : float
        Gradient of what is minimised with respect to the loss: 1, if it is the loss itself.
    targets : array_like of shape (..., n)
        As given to `cross_entropy`.
    weights : array_like of shape (..., n, k)
        What `cross_entropy` returned.
    keep : array_like of shape (..., n), optional
        As given to `cross_entropy`.

    Returns
    -------
    d_logits : ndarray of shape (..., n, k)

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        As for `cross_entropy`, or if `d_loss` is not a single number.

    Examples
    --------
    >>> loss, weights = cross_entropy([[0.0, 0.0]], [1])
    >>> cross_entropy_backward(1.0, [1], weights)
    array([[ 0.5, -0.5]])
    """
    name = "cross_entropy_backward"
    (weights,), dtype = as_float(name, weights=weights)
    (d_loss,), _ = as_float(name, d_loss=d_loss)
    if d_loss.ndim:
        raise ValueError(f"{name}: d_loss must be one number; got an array of shape {d_loss.shape}.")
    targets, keep, count = as_positions(name, weights.shape, "weights", targets, keep)
    # forward: surprise = logsumexp(logits) - logits[target]
    d_logits = weights.copy()
    place = targets[..., np.newaxis]
    np.put_along_axis(d_logits, place, np.take_along_axis(d_logits, place, axis=-1) - 1, axis=-1)
    # forward: loss = mean of the surprise over the kept positions
    d_logits *= d_loss.astype(d_logits.dtype) / count
    d_logits[~keep] = 0
    return d_logits.astype(dtype, copy=False)


def as_positions(function, shape, name, targets, keep):
    # The targets and the kept positions, one for each row of an array of this shape, and how many are kept.
    if not shape or shape[-1] == 0:
        raise ValueError(f"{function}: {name} must have the shape (..., n, k) with at least one token k; got {shape}.")
    targets = as_tokens(function, "targets", targets, shape[-1])
    keep = np.ones(targets.shape, bool) if keep is None else np.asarray(keep)
    if keep.dtype != bool:
        raise TypeError(f"{function}: keep must be boolean, True = this position counts; got {keep.dtype}.")
    if not targets.shape == keep.shape == shape[:-1]:
        raise ValueError(
            f"{function}: targets and keep must have the shape (..., n) of {name} without its last axis.\n"
            f"  {name + ':':<9} {shape}\n  targets:  {targets.shape}\n  keep:     {keep.shape}"
        )
    count = int(keep.sum())
    if count == 0:
        raise ValueError(f"{function}: a mean needs at least one kept position; got none.")
    return targets, keep, count
