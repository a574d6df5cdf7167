"""The gradient of an additive mask, such as a learned bias: what broadcasting repeated, its gradient sums."""

from attnlib.attention.grouped import fold_heads
from attnlib.attention.plain import _d_scores
from attnlib.checks.arrays import as_float, quiet
from attnlib.checks.inputs import heads_fit
from attnlib.checks.masks import as_mask


@quiet
def attention_mask_backward(d_out, value, weights, mask):
    r"""Gradient of `attention` with respect to an additive mask (a learned bias, for example).

    .. math:: dmask = dscores, \quad\text{summed over the axes along which the mask was broadcast}

    Parameters
    ----------
    d_out : array_like of shape (..., q, v)
        Gradient of the loss with respect to `out`.
    value : array_like of shape (..., k, v)
        As given to `attention`.
    weights : array_like of shape (..., q, k)
        What `attention` returned.
    mask : array_like
        The additive mask, as given to `attention`.

    Returns
    -------
    d_mask : ndarray of the shape of `mask`
        Zero where `mask` is ``-inf``: such an entry is a constant.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or `mask` is boolean: a boolean mask has no gradient.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> from attnlib.attention import attention
    >>> mask = np.zeros(2)
    >>> out, weights = attention(np.ones((1, 2)), np.ones((2, 2)), [[0.0], [4.0]], mask=mask)
    >>> attention_mask_backward([[1.0]], [[0.0], [4.0]], weights, mask)
    array([-1.,  1.])

    A bias for each of 6 query heads that share 3 key heads; its gradient is summed over 2 texts and their queries:

    >>> rng = np.random.default_rng(0)
    >>> query, key, value = (rng.normal(size=(2, heads, 5, 4)) for heads in (6, 3, 3))
    >>> bias = rng.normal(size=(6, 1, 5))
    >>> out, weights = attention(query, key, value, mask=bias)
    >>> attention_mask_backward(out, value, weights, bias).shape
    (6, 1, 5)
    """
    function = "attention_mask_backward"
    (d_out, value, weights), dtype = as_float(function, d_out=d_out, value=value, weights=weights)
    if (
        weights.ndim < 2
        or d_out.shape[:-1] != weights.shape[:-1]
        or (weights.shape[-1], d_out.shape[-1]) != value.shape[-2:]
        or not heads_fit(weights, value)
    ):
        raise ValueError(
            f"{function}: d_out, value and weights must have the shapes of one call of attention.\n"
            f"  d_out   (..., q, v): {d_out.shape}\n"
            f"  value   (..., k, v): {value.shape}\n"
            f"  weights (..., q, k): {weights.shape}"
        )
    mask = as_mask(function, mask, weights.shape, weights.dtype)
    if mask.dtype.kind == "b":
        raise TypeError(f"{function}: mask must be additive (float); a boolean mask has no gradient.")
    # forward: weights = softmax(scores + mask)
    d_scores = _d_scores(fold_heads(d_out, like=value), value, fold_heads(weights, like=value))
    # forward: mask is broadcast to the shape of the scores
    d_mask = _sum_to_shape(d_scores.reshape(weights.shape), mask.shape)
    return d_mask.astype(dtype, copy=False)


def _sum_to_shape(array, shape):
    # What broadcasting repeated, its gradient sums: first the axes it added, then those of size 1.
    array = array.sum(axis=tuple(range(array.ndim - len(shape))))
    return array.sum(axis=tuple(axis for axis, size in enumerate(shape) if size == 1), keepdims=True)
