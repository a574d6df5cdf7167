"""Attention and its gradients, written out: every score and every weight is an array you can look at."""

import numpy as np

from attnlib.attention.grouped import fold_heads
from attnlib.checks.arrays import as_integer, quiet
from attnlib.checks.inputs import attention_inputs
from attnlib.masks import causal_mask, sliding_window_mask


@quiet
def attention(query, key, value, *, mask=None, causal=False, window=None, offset=0, scale=None):
    r"""Average the values, weighted by how well each key matches the query.

    .. math:: out_{qv} = \sum_k weights_{qk}\, value_{kv}, \qquad
              weights_{qk} = \operatorname{softmax}_k\Bigl(scale \sum_d query_{qd}\, key_{kd}\Bigr)

    Parameters
    ----------
    query : array_like of shape (..., q, d)
    key : array_like of shape (..., k, d)
    value : array_like of shape (..., k, v)
        The leading axes of the three are equal. One exception: the head axis, third from the
        end, may be shorter in `key` and `value` if it divides the query's. Neighbouring query
        heads then share a key head (grouped-query attention).
    mask : array_like, optional
        Boolean, True = this query may look at this key; or float, added to the scores, with
        ``-inf`` for "may not". Broadcasts to (..., q, k) by NumPy's rules.
    causal : bool, default False
        Let query i look at the keys up to ``i + offset`` only, like ``mask=causal_mask(q, k, offset=offset)``.
    window : int, optional
        Let query i look at the last `window` keys up to ``i + offset`` only (which is causal too).
        Whatever of mask, causal and window is given must all allow a key.
    offset : int, default 0
        The position of the first query among the keys, for `causal` and `window`. With a cache, the
        queries are the last of k tokens: ``offset=k - q``. Without it a single new query would see
        the first key only.
    scale : float, optional
        By default ``1 / sqrt(d)``.

    Returns
    -------
    out : ndarray of shape (..., q, v)
        Zero for a query that may look at nothing. Finite numbers at hidden keys change nothing;
        a NaN in a hidden value does (0 · NaN is NaN), so clean the padding first.
    weights : ndarray of shape (..., q, k)
        Each row sums to one (to zero if the query may look at nothing). `attention_backward`
        needs it.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or `mask` is neither boolean nor float.
    ValueError
        If the shapes do not fit, `scale` is not finite, an additive `mask` holds ``+inf``, or
        `window` is less than 1.

    References
    ----------
    .. [1] Vaswani et al. (2017), "Attention Is All You Need", eq. 1. Their :math:`d_k` is our d.
    .. [2] Ainslie et al. (2023), "GQA: Training Generalized Multi-Query Transformer Models
       from Multi-Head Checkpoints", section 2.2: grouped heads.

    Examples
    --------
    A query that matches both keys equally gets the mean of their values:

    >>> out, weights = attention(np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]]))
    >>> out
    array([[2.]])

    A batch of 2 texts, 6 query heads that share 3 key heads, a causal mask:

    >>> rng = np.random.default_rng(0)
    >>> query, key = rng.standard_normal((2, 6, 5, 4)), rng.standard_normal((2, 3, 5, 4))
    >>> out, weights = attention(query, key, rng.standard_normal((2, 3, 5, 7)), causal=True)
    >>> out.shape, weights.shape
    ((2, 6, 5, 7), (2, 6, 5, 5))

    The newest token, when the keys of all 5 are in a cache; it sees all of them:

    >>> _, newest = attention(query[..., -1:, :], key, key, causal=True, offset=4)
    >>> np.allclose(newest, weights[..., -1:, :])
    True
    """
    inputs = attention_inputs("attention", query, key, value, mask=mask, causal=causal, scale=scale)
    offset = as_integer("attention", "offset", offset)
    if window is not None:
        window = as_integer("attention", "window", window, minimum=1)
    return attend(inputs, causal, window, offset)


def attend(inputs, causal=False, window=None, offset=0):
    """What `attention` computes, from checked arguments: `multihead_attention` comes here with its own."""
    query, key, value, mask, scale, dtype, _ = inputs
    scores = fold_heads(scale * query, like=key) @ key.mT
    scores = scores.reshape(inputs.scores_shape)
    _hide(scores, mask, causal, window, offset)
    weights = _softmax_in_place(scores)
    out = fold_heads(weights, like=value) @ value
    out = out.reshape(*query.shape[:-1], value.shape[-1])
    return out.astype(dtype, copy=False), weights.astype(dtype, copy=False)


@quiet
def attention_backward(d_out, query, key, value, weights, *, scale=None):
    r"""Gradient of `attention` with respect to query, key and value.

    .. math:: dvalue = weights^\top dout, \qquad
              dscores_{qk} = weights_{qk} \Bigl(dweights_{qk} - \sum_j weights_{qj}\, dweights_{qj}\Bigr), \\
              dquery = scale \cdot dscores \; key, \qquad dkey = scale \cdot dscores^\top query

    No mask is needed: a hidden key has the weight 0, and that makes its gradient 0.

    Parameters
    ----------
    d_out : array_like of shape (..., q, v)
        Gradient of the loss with respect to `out`.
    query, key, value : array_like
        As given to `attention`.
    weights : array_like of shape (..., q, k)
        What `attention` returned.
    scale : float, optional
        As given to `attention`.

    Returns
    -------
    d_query : ndarray of shape (..., q, d)
    d_key : ndarray of shape (..., k, d)
    d_value : ndarray of shape (..., k, v)
        Where heads are shared, `d_key` and `d_value` are sums over the query heads that use them.
        Finite numbers at hidden keys change nothing; a NaN in a hidden key reaches `d_query` (0 · NaN is
        NaN), so clean the padding first.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit or `scale` is not finite.

    Examples
    --------
    >>> query, key, value = np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]])
    >>> out, weights = attention(query, key, value)
    >>> d_query, d_key, d_value = attention_backward(np.ones((1, 1)), query, key, value, weights)
    >>> d_value
    array([[0.5],
           [0.5]])

    A batch of 2 texts, 6 query heads that share 3 key heads, a causal mask:

    >>> rng = np.random.default_rng(0)
    >>> query, key, value = (rng.normal(size=(2, heads, 5, 4)) for heads in (6, 3, 3))
    >>> out, weights = attention(query, key, value, causal=True)
    >>> [gradient.shape for gradient in attention_backward(out, query, key, value, weights)]
    [(2, 6, 5, 4), (2, 3, 5, 4), (2, 3, 5, 4)]
    """
    inputs = attention_inputs("attention_backward", query, key, value, scale=scale, d_out=d_out, weights=weights)
    query, key, value, _, scale, dtype, (d_out, weights) = inputs
    rows, d_out, weights = (fold_heads(array, like=key) for array in (query, d_out, weights))
    # forward: out = weights @ value
    d_value = weights.mT @ d_out
    # forward: weights = softmax(scores)
    d_scores = _d_scores(d_out, value, weights)
    # forward: scores = scale * query @ key.mT
    d_query = (scale * (d_scores @ key)).reshape(query.shape)
    d_key = scale * (d_scores.mT @ rows)
    return tuple(gradient.astype(dtype, copy=False) for gradient in (d_query, d_key, d_value))


def _hide(scores, mask, causal, window, offset):
    # In place: `np.copyto(scores, -np.inf, where=...)` is np.where without a second array of q × k scores.
    if mask is not None and mask.dtype.kind == "b":
        np.copyto(scores, -np.inf, where=~mask)
    elif mask is not None:
        scores += mask
        np.copyto(scores, -np.inf, where=mask == -np.inf)  # also where the score was inf or NaN
    if window is not None:
        np.copyto(scores, -np.inf, where=~sliding_window_mask(*scores.shape[-2:], window, offset=offset))
    elif causal:
        np.copyto(scores, -np.inf, where=~causal_mask(*scores.shape[-2:], offset=offset))


def _softmax_in_place(scores):
    # attnlib.softmax.softmax step by step, without its temporary arrays of q × k numbers.
    maximum = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    maximum[np.isneginf(maximum)] = 0  # a row with nothing to look at: exp(-inf - 0) is 0
    scores -= maximum
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    scores /= total
    return scores


def _d_scores(d_out, value, weights):
    # forward: out = weights @ value
    d_weights = d_out @ value.mT
    np.copyto(d_weights, 0, where=weights == 0)  # a hidden value may be so large that this is inf; 0 · inf is NaN
    # forward: weights = softmax(scores)
    row_mean = np.vecdot(weights, d_weights)[..., np.newaxis]  # the mean of d_weights, weighted by weights
    d_weights -= row_mean
    d_weights *= weights  # in place: this is d_scores now
    return d_weights
