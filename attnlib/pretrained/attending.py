"""Which functions do the work: the book's, or the reader's in their place, each through the same door.

A door is a function ``attend(query, key, value, mask, look)`` that returns the outputs of the heads, and their weights
if `look` is true (otherwise it may return None in their place).
"""

import numpy as np

from attnlib.attention import attention
from attnlib.checks.arrays import quiet


def through_attention(query, key, value, mask, look):
    """The book's own attention.

    Examples
    --------
    >>> through_attention(np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]]), None, True)
    (array([[2.]]), array([[0.5, 0.5]]))
    """
    return attention(query, key, value, mask=mask)


def through_softmax(softmax):
    """Attention written around a softmax: ``softmax(scores)``, along the last axis, where a hidden score is ``-inf``.

    Examples
    --------
    >>> from attnlib.softmax import softmax
    >>> attend = through_softmax(softmax)
    >>> attend(np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]]), np.array([True, False]), True)
    (array([[0.]]), array([[1., 0.]]))
    """

    @quiet
    def attend(query, key, value, mask, look):
        scores = query @ key.mT / query.dtype.type(np.sqrt(query.shape[-1]))
        if mask is not None:
            scores = np.where(mask, scores, -np.inf) if mask.dtype.kind == "b" else scores + mask
        weights = returned("softmax", softmax(scores), scores.shape, query.dtype)
        return weights @ value, weights

    return attend


def through_sdpa(sdpa):
    """Attention by ``sdpa(query, key, value)``, which knows no mask and returns no weights.

    A key that is hidden is left out instead. The weights come from the function itself: if the values are the rows of
    the identity, the weighted mean of the values *is* the row of weights.

    Examples
    --------
    >>> attend = through_sdpa(lambda query, key, value: attention(query, key, value)[0])
    >>> attend(np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]]), None, True)
    (array([[2.]]), array([[0.5, 0.5]]))
    """

    def call(query, key, value):
        return returned("sdpa", sdpa(query, key, value), (*query.shape[:-1], value.shape[-1]), query.dtype)

    def attend(query, key, value, mask, look):
        k, v = value.shape[-2:]
        if look:  # further features of the values: one for each key
            identity = np.broadcast_to(np.eye(k, dtype=value.dtype), (*value.shape[:-1], k))
            value = np.concatenate([value, identity], axis=-1)
        if mask is None:
            out = call(query, key, value)
        else:
            out = np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
            for place, keep in _kept_keys(mask, (*query.shape[:-1], k)):
                if keep.any():
                    out[place] = call(query[place], key[place][..., keep, :], value[place][..., keep, :])
        return out[..., :v], out[..., v:] if look else None

    return attend


def through_mha(mha, x, params, replaced_rows):
    """A whole layer by ``mha(x, query_weight, key_weight, value_weight, out_weight, heads)``, which has no biases.

    A bias is the weight of a feature that is always 1. So x gets such a feature, and the bias becomes one more row of
    the weight. The output gets one column of zeros, to be as wide as x, which is cut off again.

    Parameters
    ----------
    mha : callable
    x : ndarray of shape (..., n, m)
    params : MultiHeadParams
    replaced_rows : array_like of int
        The rows of the last weight that belong to heads that are taken out; they become zero.

    Examples
    --------
    >>> from attnlib.multihead import MultiHeadParams, init_multihead, multihead_attention
    >>> def mha(x, query_weight, key_weight, value_weight, out_weight, heads):
    ...     params = MultiHeadParams(query_weight, key_weight, value_weight, out_weight, heads)
    ...     return multihead_attention(x, params)[0]
    >>> params = init_multihead(np.random.default_rng(0), m=6, heads=2, bias=True)
    >>> x = np.ones((1, 4, 6))
    >>> bool(abs(through_mha(mha, x, params, []) - multihead_attention(x, params)[0]).max() < 1e-12)
    True
    """
    *leading, n, m = x.shape
    rows = np.concatenate([x, np.ones((*leading, n, 1), x.dtype)], axis=-1).reshape(-1, n, m + 1)
    weights = [
        np.concatenate([getattr(params, f"{which}_weight"), getattr(params, f"{which}_bias")[np.newaxis]])
        for which in ("query", "key", "value")
    ]
    out_weight = np.pad(params.out_weight, ((0, 0), (0, 1)))
    out_weight[replaced_rows] = 0
    out = returned("mha", mha(rows, *weights, out_weight, params.heads), rows.shape, x.dtype)
    return out[..., :m].reshape(x.shape) + params.out_bias


def returned(name, out, shape, dtype):
    """What a function of the reader returned, if it has the right shape, in the model's own dtype.

    Examples
    --------
    >>> returned("gelu", np.ones((2, 3)), (2, 4), np.float32)
    Traceback (most recent call last):
    ...
    ValueError: gelu must return an array of shape (2, 4); got (2, 3).
    """
    out = np.asarray(out)
    if out.shape != tuple(shape) or out.dtype.kind != "f":
        got = out.shape if out.dtype.kind == "f" else f"{out.dtype} {out.shape}"
        raise ValueError(f"{name} must return an array of shape {tuple(shape)}; got {got}.")
    return out.astype(dtype, copy=False)


def _kept_keys(mask, shape):
    # For each text: its place among the leading axes, and which keys every head and every query may look at.
    mask = np.broadcast_to(mask, shape)
    keep = mask[..., :1, :1, :]
    if mask.dtype.kind != "b" or (mask != keep).any():
        raise ValueError(
            "sdpa takes no mask, so hidden keys are left out. That needs a boolean mask which hides a key from every head "
            "and every query alike; for another mask, load the model with softmax=…."
        )
    for place in np.ndindex(shape[:-3]):
        yield place, keep[place][0, 0]
