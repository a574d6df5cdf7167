"""What a head does, as a number: does it look one token back, or after the last occurrence; how spread is it?"""

import numpy as np

from attnlib.checks.arrays import as_float, quiet
from attnlib.training.arguments import as_tokens
from attnlib.training.losses import as_positions


@quiet
def previous_token_score(weights, *, keep=None):
    r"""The mean weight that a query gives to the token before it.

    .. math:: \operatorname{mean}_{q \ge 1}\; weights_{q,\,q-1}

    A trained head may look back only where the model needs it. With `keep`, the mean is over those positions alone.

    Parameters
    ----------
    weights : array_like of shape (..., h, n, n)
        Causal attention weights; n is at least 2.
    keep : array_like of shape (..., n), optional
        Boolean, True = this query counts. All but the first, which has no token before it, if left out.

    Returns
    -------
    score : ndarray of shape (h,)
        1 for a head that looks at the previous token only. The mean is over positions and leading axes.

    Raises
    ------
    TypeError
        If `weights` does not hold real numbers or `keep` no booleans.
    ValueError
        If the shapes do not fit, or no query after the first is kept.

    References
    ----------
    .. [1] Olsson et al. (2022), "In-context Learning and Induction Heads".

    Examples
    --------
    >>> previous_token_score([[[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.2, 0.7, 0.1]]])
    array([0.8])
    """
    name = "previous_token_score"
    weights, dtype = _as_weights(name, weights)
    rows = (*weights.shape[:-3], weights.shape[-1])
    keep = np.ones(rows, bool) if keep is None else np.asarray(keep)
    if keep.dtype != bool:
        raise TypeError(f"{name}: keep must be boolean, True = this query counts; got {keep.dtype}.")
    if keep.shape != rows:
        raise ValueError(
            f"{name}: keep must have the shape (..., n) of weights (..., h, n, n); "
            f"got {keep.shape} and {weights.shape}."
        )
    keep = keep[..., 1:]
    if not keep.any():
        raise ValueError(f"{name}: a mean needs at least one kept query after the first; got none.")
    before = np.diagonal(weights, offset=-1, axis1=-2, axis2=-1)  # (..., h, n - 1)
    kept = np.where(keep[..., np.newaxis, :], before, 0)
    return (kept.sum(axis=(*range(kept.ndim - 2), -1)) / keep.sum()).astype(dtype, copy=False)


@quiet
def induction_score(weights, tokens):
    r"""The weight that a query gives to what came after earlier occurrences of its token.

    .. math:: \operatorname{mean}_{q:\ seen\ before} \; \sum_{k \le q:\ tokens_{k-1} = tokens_q} weights_{qk}

    Parameters
    ----------
    weights : array_like of shape (..., h, n, n)
        Causal attention weights.
    tokens : array_like of shape (..., n)
        The tokens that they belong to.

    Returns
    -------
    score : ndarray of shape (h,)
        1 for a head that looks at nothing else. Queries whose token is new do not count.

    Raises
    ------
    TypeError
        If `weights` does not hold real numbers or `tokens` no integers.
    ValueError
        If the shapes do not fit, or no token occurs twice.

    References
    ----------
    .. [1] Olsson et al. (2022), "In-context Learning and Induction Heads": the prefix-matching score.

    Examples
    --------
    The third token is the first one again; what came after it stands at place 1:

    >>> induction_score([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.1, 0.8, 0.1]]], [7, 4, 7])
    array([0.8])
    """
    name = "induction_score"
    weights, dtype = _as_weights(name, weights)
    tokens = as_tokens(name, "tokens", tokens)
    if tokens.shape != (*weights.shape[:-3], weights.shape[-1]):
        raise ValueError(
            f"{name}: tokens must have the shape (..., n) of weights (..., h, n, n); "
            f"got {tokens.shape} and {weights.shape}."
        )
    n = tokens.shape[-1]
    earlier = np.arange(n) < np.arange(n)[:, np.newaxis]
    same = (tokens[..., :, np.newaxis] == tokens[..., np.newaxis, :]) & earlier
    after = np.zeros_like(same)
    after[..., 1:] = same[..., :-1]  # one place to the right of an earlier occurrence
    seen = same.any(axis=-1)
    if not seen.any():
        raise ValueError(f"{name}: no token occurs twice, so there is nothing to look for.")
    found = (weights * after[..., np.newaxis, :, :]).sum(axis=-1)  # (..., h, n); zero where the token is new
    leading = tuple(range(found.ndim - 2))
    return (found.sum(axis=(*leading, -1)) / seen.sum()).astype(dtype, copy=False)


@quiet
def attention_entropy(weights):
    r"""How spread the weights of a query are: the mean entropy of a row, in nats.

    .. math:: \operatorname{mean}_q\; -\sum_k weights_{qk} \log weights_{qk}

    Parameters
    ----------
    weights : array_like of shape (..., h, n, n)
        Attention weights.

    Returns
    -------
    entropy : ndarray of shape (h,)
        0 for one key alone; log n for an even spread over n keys. The first rows of causal attention have few
        keys to spread over, and lower the mean.

    Raises
    ------
    TypeError
        If `weights` does not hold real numbers.
    ValueError
        If the shape is another one.

    Examples
    --------
    >>> attention_entropy([[[1.0, 0.0], [0.5, 0.5]]]).round(4)
    array([0.3466])
    """
    weights, dtype = _as_weights("attention_entropy", weights)
    logarithms = np.log(np.where(weights > 0, weights, 1))  # 0 · log 0 counts as 0
    return _mean_per_head(-(weights * logarithms).sum(axis=-1)).astype(dtype, copy=False)


def accuracy(logits, targets, *, keep=None):
    """The share of positions at which the highest score is that of the target.

    Parameters
    ----------
    logits : array_like of shape (..., n, k)
    targets : array_like of shape (..., n)
        Integers.
    keep : array_like of shape (..., n), optional
        Boolean, True = this position counts. All of them, if left out.

    Returns
    -------
    share : float

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit, or no position is kept.

    Examples
    --------
    >>> accuracy([[0.1, 0.9], [0.8, 0.2]], [1, 1])
    0.5
    """
    (logits,), _ = as_float("accuracy", logits=logits)
    targets, keep, count = as_positions("accuracy", logits.shape, "logits", targets, keep)
    return float(((logits.argmax(axis=-1) == targets) & keep).sum() / count)


def _as_weights(function, weights):
    (weights,), dtype = as_float(function, weights=weights)
    if weights.ndim < 3 or weights.shape[-1] != weights.shape[-2] or weights.shape[-1] < 2 or weights.size == 0:
        raise ValueError(
            f"{function}: weights must have the shape (..., h, n, n) with at least two positions; got {weights.shape}."
        )
    return weights, dtype


def _mean_per_head(array):
    # Over everything but the head axis, the second from the end.
    return array.mean(axis=(*range(array.ndim - 2), -1))
