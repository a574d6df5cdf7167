"""Decode token by token: keep the keys and values of the past instead of computing them again."""

import numpy as np

from attnlib.attention import attention
from attnlib.checks.arrays import quiet
from attnlib.checks.inputs import attention_inputs
from attnlib.checks.masks import as_mask
from attnlib.decoding.kv_cache import KVCache, SlidingKVCache
from attnlib.masks import causal_mask, combine_masks
from attnlib.multihead.heads import merge_heads
from attnlib.multihead.inputs import prepare
from attnlib.multihead.projections import project, project_heads


def attend_with_cache(query, key, value, cache, *, mask=None, scale=None):
    """Append the keys and values of new tokens, then let these tokens look at everything so far.

    Token by token, in chunks of any size, or all at once, the outputs are those of causal
    attention over the whole sequence. One new token costs k scores, not k², because the outputs of the
    past tokens would come out as before and are not needed again.

    Parameters
    ----------
    query : array_like of shape (..., n, d)
        Queries of the n new tokens; may have more heads than the cache, as in `attention`.
    key : array_like of shape (..., n, d)
    value : array_like of shape (..., n, v)
        Keys and values of the new tokens. A token sees itself.
    cache : KVCache
        Holds the past. It is changed: afterwards it holds the new tokens too.
    mask : array_like, optional
        As for `attention`, broadcasting to (..., n, k) with k the length of the cache *afterwards*; for
        example to hide padding. Its columns are in the order of the cache's rows. The future is hidden
        without it.
    scale : float, optional
        By default ``1 / sqrt(d)``.

    Returns
    -------
    out : ndarray of shape (..., n, v)
    weights : ndarray of shape (..., n, k)

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit or the cache is full. After an error the cache is as it was before.

    References
    ----------
    .. [1] Shazeer (2019), "Fast Transformer Decoding: One Write-Head is All You Need", section 2.4.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(5, 3))
    >>> expected, _ = attention(x, x, x, causal=True)
    >>> cache = KVCache(5, d=3)
    >>> one_by_one = [attend_with_cache(row, row, row, cache)[0] for row in np.split(x, 5)]
    >>> bool(np.allclose(np.concatenate(one_by_one), expected))
    True

    A batch of 2 texts, 6 query heads that share 3 key heads, in chunks of 4 tokens and of 1:

    >>> rng = np.random.default_rng(0)
    >>> query, key, value = (rng.normal(size=(2, heads, 5, 4)) for heads in (6, 3, 3))
    >>> cache = KVCache(5, leading=(2, 3), d=4)
    >>> chunks = np.s_[:4, 4:]
    >>> outs = [attend_with_cache(*(x[..., n, :] for x in (query, key, value)), cache)[0] for n in chunks]
    >>> bool(np.allclose(np.concatenate(outs, axis=-2), attention(query, key, value, causal=True)[0]))
    True
    """
    return _attend("attend_with_cache", query, key, value, cache, mask, scale)


@quiet
def multihead_decode(x, params, cache, *, mask=None):
    """Run `multihead_attention` on new tokens only; the cache holds what is needed of the past.

    Parameters
    ----------
    x : array_like of shape (..., n, m)
        The new tokens.
    params : MultiHeadParams
    cache : KVCache
        With the axes ``leading=(..., params.kv_heads)``. It is changed.
    mask : array_like, optional
        As for `attend_with_cache`; broadcasts to (..., h, n, k).

    Returns
    -------
    out : ndarray of shape (..., n, m)
        What ``multihead_attention(..., causal=True)`` on the whole sequence returns for these tokens.
    weights : ndarray of shape (..., h, n, k)

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit or the cache is full. After an error the cache is as it was before.

    Examples
    --------
    >>> from attnlib.multihead import init_multihead
    >>> params = init_multihead(np.random.default_rng(0), m=8, heads=4, kv_heads=2)
    >>> cache = KVCache(10, leading=(params.kv_heads,), d=params.d)
    >>> out, weights = multihead_decode(np.ones((3, 8)), params, cache)
    >>> out.shape, weights.shape, len(cache)
    ((3, 8), (4, 3, 3), 3)

    A batch of 2 texts, token by token; the outputs are those of the layer on all tokens:

    >>> from attnlib.multihead import multihead_attention
    >>> x, cache = np.random.default_rng(1).normal(size=(2, 5, 8)), KVCache(5, leading=(2, params.kv_heads), d=params.d)
    >>> outs = [multihead_decode(x[:, i : i + 1], params, cache)[0] for i in range(5)]
    >>> bool(np.allclose(np.concatenate(outs, axis=1), multihead_attention(x, params, causal=True)[0]))
    True
    """
    x, _, params, dtype = prepare("multihead_decode", x, params, None)
    query, key, value = project_heads(x, params)
    # A float16 layer computes in float32; its cache is float16 like its result.
    key, value = key.astype(dtype, copy=False), value.astype(dtype, copy=False)
    attended, weights = _attend("multihead_decode", query, key, value, cache, mask, None)
    out = project(merge_heads(attended), params.out_weight, params.out_bias)
    return out.astype(dtype, copy=False), weights.astype(dtype, copy=False)


def _attend(function, query, key, value, cache, mask, scale):
    if not isinstance(cache, KVCache):
        raise TypeError(f"{function}: cache must be a KVCache; got {type(cache).__name__}.")
    # Everything is checked before the cache is touched.
    inputs = attention_inputs(function, query, key, value, scale=scale)
    cache._as_new_rows(function, key, value)
    q, n = inputs.scores_shape[-2:]
    if q != n:
        raise ValueError(f"{function}: query and key must belong to the same new tokens; got {q} queries and {n} keys.")
    k = min(len(cache) + n, cache.capacity)
    if mask is not None:
        mask = as_mask(function, mask, (*inputs.scores_shape[:-1], k), inputs.query.dtype)
    cache.append(key, value)
    if n > 1:  # a single new token stands at the end: all keys are in its past
        # New token i stands at position k - n + i.
        mask = combine_masks(mask, causal_mask(n, k, offset=k - n))
    return attention(query, cache.keys, cache.values, mask=mask, scale=scale)
