"""The backward of Flash attention: every tile of weights computed again, from one saved number per query.

Comments in brackets give the letters of the formulas.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import quiet
from attnlib.checks.inputs import attention_inputs
from attnlib.flash.tiles import BLOCK_K, BLOCK_Q, MOST_HEADS_BACKWARD, longest, pick, plan_for, shared_heads


@quiet
def flash_attention_backward(
    d_out, query, key, value, out, logsumexp, *,
    mask=None, causal=False, window=None, offset=0, scale=None, block_q=BLOCK_Q, block_k=BLOCK_K,
):  # fmt: skip
    r"""Gradient of `flash_attention` with respect to query, key and value.

    .. math:: weights_{qk} = e^{S_{qk} - logsumexp_q}, \qquad
              dscores_{qk} = weights_{qk} \Bigl(\sum_v dout_{qv}\, value_{kv} - \sum_v dout_{qv}\, out_{qv}\Bigr)

    The last sum is the row's weighted mean of the weights' gradient, which plain attention takes over
    the keys. Written with `out` it needs no second pass over them. All else is as in
    `attnlib.attention.attention_backward`, tile by tile.

    Parameters
    ----------
    d_out : array_like of shape (..., q, v)
        Gradient of the loss with respect to `out`.
    query, key, value : array_like
        As given to `flash_attention`.
    out, logsumexp : array_like
        What `flash_attention` returned; or, where these keys are a part of all keys, what
        `merge_partials` returned for all. The gradients are then this part's share, as exact as `logsumexp`
        is: see the notes of `flash_attention`.
    mask, causal, window, offset, scale
        As given to `flash_attention`.
    block_q, block_k : int
        How many queries and keys a tile has, at most; not necessarily as in the forward.

    Returns
    -------
    d_query : ndarray of shape (..., q, d)
    d_key : ndarray of shape (..., k, d)
    d_value : ndarray of shape (..., k, v)
        Where heads are shared, `d_key` and `d_value` are sums over the query heads that use them.

    Raises
    ------
    TypeError, ValueError
        As `flash_attention`; ValueError also if `d_out`, `out` or `logsumexp` does not fit.

    References
    ----------
    .. [1] Dao (2023), "FlashAttention-2", arXiv:2307.08691, algorithm 2. There the keys are the
       outer loop, which suits a GPU; here the order makes no measurable difference.

    Examples
    --------
    >>> from attnlib.flash import flash_attention
    >>> query, key, value = np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]])
    >>> out, logsumexp = flash_attention(query, key, value)
    >>> d_query, d_key, d_value = flash_attention_backward(np.ones((1, 1)), query, key, value, out, logsumexp)
    >>> d_value.round(12)
    array([[0.5],
           [0.5]])

    A batch of 2 texts, 6 query heads that share 3 key heads, a causal mask:

    >>> rng = np.random.default_rng(0)
    >>> query, key, value = (rng.normal(size=(2, heads, 5, 4)) for heads in (6, 3, 3))
    >>> saved = flash_attention(query, key, value, causal=True)
    >>> [each.shape for each in flash_attention_backward(saved[0], query, key, value, *saved, causal=True)]
    [(2, 6, 5, 4), (2, 3, 5, 4), (2, 3, 5, 4)]
    """
    function = "flash_attention_backward"
    saved = {"d_out": d_out, "out": out, "logsumexp": logsumexp}
    inputs = attention_inputs(function, query, key, value, **saved, mask=mask, scale=scale)
    query, key, value, _, scale, dtype, _ = inputs
    tiles = plan_for(function, inputs, causal, window, offset, block_q, block_k)
    gradients = [np.zeros(array.shape, array.dtype) for array in (query, key, value)]
    d_query, d_key, d_value = (pick(gradient, slice(None)) for gradient in gradients)  # views: (heads, n, x)
    for part in _recompute(tiles, inputs):
        # forward: out = weights @ value
        d_value[part.key_heads, part.columns] += part.weights.mT @ part.d_out
        # forward: scores = (scale * query) @ key.mT
        d_key[part.key_heads, part.columns] += part.d_scores.mT @ part.scaled_query
        d_query[part.heads, part.rows] += part.d_scores @ part.key
    d_query *= scale
    return tuple(gradient.astype(dtype, copy=False) for gradient in gradients)


@quiet
def flash_attention_mask_backward(
    d_out, query, key, value, out, logsumexp, mask, *,
    causal=False, window=None, offset=0, scale=None, block_q=BLOCK_Q, block_k=BLOCK_K,
):  # fmt: skip
    r"""Gradient of `flash_attention` with respect to an additive mask (a learned bias, for example).

    .. math:: dmask = dscores, \quad\text{summed over the axes along which the mask was broadcast}

    Separate from `flash_attention_backward`, because few masks are learned. It holds one array of
    the shape of `mask`: a bias of shape (1, k) costs k numbers, not q × k.

    Parameters
    ----------
    d_out, query, key, value, out, logsumexp
        As for `flash_attention_backward`.
    mask : array_like
        The additive mask, as given to `flash_attention`.
    causal, window, offset, scale, block_q, block_k
        As for `flash_attention_backward`.

    Returns
    -------
    d_mask : ndarray of the shape of `mask`
        Zero where `mask` is ``-inf``: such an entry is a constant.

    Raises
    ------
    TypeError, ValueError
        As `flash_attention_backward`; TypeError also if `mask` is boolean: it has no gradient.

    Examples
    --------
    >>> from attnlib.flash import flash_attention
    >>> query, key, value, mask = np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]]), np.zeros(2)
    >>> saved = flash_attention(query, key, value, mask=mask)
    >>> flash_attention_mask_backward([[1.0]], query, key, value, *saved, mask).round(12)
    array([-1.,  1.])

    A bias for each of 6 query heads that share 3 key heads; its gradient is summed over 2 texts and their queries:

    >>> rng = np.random.default_rng(0)
    >>> query, key, value = (rng.normal(size=(2, heads, 5, 4)) for heads in (6, 3, 3))
    >>> bias = rng.normal(size=(6, 1, 5))
    >>> saved = flash_attention(query, key, value, mask=bias)
    >>> flash_attention_mask_backward(saved[0], query, key, value, *saved, bias).shape
    (6, 1, 5)
    """
    function = "flash_attention_mask_backward"
    saved = {"d_out": d_out, "out": out, "logsumexp": logsumexp}
    inputs = attention_inputs(function, query, key, value, **saved, mask=mask, scale=scale)
    if inputs.mask is None or inputs.mask.dtype.kind == "b":
        raise TypeError(f"{function}: mask must be additive (float); a boolean mask, or None, has no gradient.")
    tiles = plan_for(function, inputs, causal, window, offset, block_q, block_k)
    d_mask = np.zeros(inputs.mask.shape, inputs.query.dtype)
    sizes = (1,) * (inputs.query.ndim - d_mask.ndim) + d_mask.shape
    d_mask_all_axes = d_mask.reshape(sizes)  # a view
    leading = inputs.query.shape[:-2]
    for part in _recompute(tiles, inputs):
        # forward: the mask is broadcast to the shape of the scores
        repeated = tuple(axis for axis in (1, 2) if sizes[axis - 3] == 1)
        for head, d_scores in zip(range(part.heads.stop)[part.heads], part.d_scores.sum(axis=repeated), strict=True):
            # forward: scores = scores + mask
            place = (*np.unravel_index(head, leading), part.rows, part.columns)
            place = tuple(0 if size == 1 else index for size, index in zip(sizes, place, strict=True))
            d_mask_all_axes[place] += d_scores
    return d_mask.astype(inputs.dtype, copy=False)


class _Part(NamedTuple):
    """One tile of the backward: the recomputed weights and all that meets them in a product.

    Each row of `weights` is short of one factor near 1, which the same row of `d_out` (and with it `d_scores`)
    carries instead: see `_split`.
    """

    heads: slice
    key_heads: slice
    rows: slice
    columns: slice
    scaled_query: np.ndarray
    key: np.ndarray
    d_out: np.ndarray
    weights: np.ndarray
    d_scores: np.ndarray


def _recompute(tiles, inputs):
    """Yield a `_Part` for every tile. The next tile overwrites its arrays."""
    query, key, value, _, scale, _, (d_out, out, logsumexp) = inputs
    tiles = tiles._replace(most_heads=MOST_HEADS_BACKWARD)
    denominators, factors, blurs = _split(logsumexp, query.dtype)  # [ℓ]
    weights_space, d_scores_space = (tiles.workspace(query.dtype, math.prod(query.shape[:-2])) for _ in range(2))
    for key_heads, parts in shared_heads(tiles, query, key):
        keys, values = np.ascontiguousarray(pick(key, key_heads)), np.ascontiguousarray(pick(value, key_heads))
        longest_value = longest(values)
        for heads in parts:
            scaled_query, denominator = scale * pick(query, heads), pick(denominators, heads)
            for rows in tiles.query_blocks():
                queries = scaled_query[:, rows]
                again = partial(_weights_again, tiles, heads, queries, keys, denominator[:, rows], weights_space)
                factor, blur = pick(factors, heads, rows), pick(blurs, heads, rows)
                factor = _without_blur(factor, blur, map(again, tiles.along(rows)))
                d_outs = factor * pick(d_out, heads, rows)
                row_mean = np.vecdot(d_outs, pick(out, heads, rows))[..., np.newaxis]  # [D]
                product_may_overflow = not math.isfinite(longest(d_outs) * longest_value)
                for tile in tiles.along(rows):
                    weights = again(tile)  # [P]
                    # forward: out = weights @ value
                    d_scores = tile.view(d_scores_space, len(d_outs))
                    np.matmul(d_outs, values[:, tile.columns].mT, out=d_scores)  # [dP]
                    if product_may_overflow:
                        np.copyto(d_scores, 0, where=weights == 0)  # a hidden value may be huge, and 0 · inf is NaN
                    # forward: weights = softmax(scores)
                    d_scores -= row_mean
                    d_scores *= weights  # [dS]
                    products = queries, keys[:, tile.columns], d_outs, weights, d_scores
                    yield _Part(heads, key_heads, rows, tile.columns, *products)


def _weights_again(tiles, heads, queries, keys, denominator, workspace, tile):
    # forward: weights = softmax(scores) = exp(scores - logsumexp)
    weights = tile.view(workspace, len(queries))
    np.matmul(queries, keys[:, tile.columns].mT, out=weights)  # [S]
    tiles.hide(weights, heads, tile)
    weights -= denominator
    return np.exp(weights, out=weights)  # [P]


def _split(logsumexp, dtype):
    """Columns (rounded, factor, blur) such that ``exp(score - logsumexp)`` is ``exp(score - rounded) * factor``.

    `rounded` is the logsumexp in the dtype of the scores, so that no tile is computed in float64. What rounding
    lost, up to 32 beside a score of 1e9, is one factor for the whole row. `blur` is what float64 itself may have
    lost, twice over: nothing of the sum is left beside a maximum of -1e30.
    """
    # A query that saw nothing: exp(score - inf) is 0, whatever its scores.
    logsumexp = np.where(np.isneginf(logsumexp), np.inf, logsumexp)[..., np.newaxis]
    rounded = logsumexp.astype(dtype)
    finite = np.where(np.isfinite(logsumexp), logsumexp, 0)
    lost = np.where(finite == logsumexp, rounded - logsumexp, 0)
    return rounded, np.exp(lost).astype(dtype), np.finfo(np.float64).eps * abs(finite)


def _without_blur(factor, blur, all_weights):
    """The factors of a block of rows; where they are blurred, from its tiles of weights, since a row sums to one.

    A sum that is smaller than the blur explains belongs to a part of all keys: there the factor is left as it is.
    """
    blurred = blur > 2e-6  # logsumexp beyond 1e10
    if not blurred.any():
        return factor
    total = sum((weights.sum(axis=-1, keepdims=True) for weights in all_weights), np.zeros_like(factor))
    return np.where(blurred & (total * factor > np.exp(-blur)), 1 / total, factor)
