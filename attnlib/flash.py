"""Flash attention: what `attnlib.attention` computes, without ever holding q·k scores.

The score matrix is cut into tiles of `block_q` queries times `block_k` keys. A tile is
computed, used up and overwritten by the next while it is still in the processor's cache. The
forward needs one pass over the keys, because it can correct what it has summed so far when
a larger score comes along; the backward computes each tile of weights again, from one
saved number a query. Comments in brackets give the names in the FlashAttention-2 paper.
"""

from typing import NamedTuple

import numpy as np

from attnlib._arrays import as_float
from attnlib._inputs import as_integer, attention_inputs
from attnlib._tiles import plan_tiles, shared_heads

# A tile of float32 scores takes 512 KB, about an L2 cache. Measured for d = 64 on one thread, relative to this size:
# 64 × 64 takes 1.7 times as long, 128 × 128 1.2 times, 512 × 512 the same; 2048 × 2048 gains nothing and, causal,
# takes 1.6 times as long, because large tiles skip less.
BLOCK_Q, BLOCK_K = 256, 512


def flash_attention(
    query,
    key,
    value,
    *,
    mask=None,
    causal=False,
    window=None,
    offset=0,
    scale=None,
    block_q=BLOCK_Q,
    block_k=BLOCK_K,
):
    r"""Attention in one pass over the keys, a tile at a time.

    .. math:: m' = \max(m, \max_k s_k), \qquad
              \ell' = e^{m - m'}\,\ell + \sum_k e^{s_k - m'}, \qquad
              o' = e^{m - m'}\, o + \sum_k e^{s_k - m'}\, value_k

    for every tile of scores :math:`s`, starting from :math:`m = -\infty` and zeros. In the end
    :math:`out = o / \ell` and :math:`logsumexp = m + \log \ell`.

    Parameters
    ----------
    query : array_like of shape (..., q, d)
    key : array_like of shape (..., k, d)
    value : array_like of shape (..., k, v)
        As for `attnlib.attention.attention`, with the same rule for shared heads.
    mask : array_like, optional
        Boolean, True = this query may look at this key; or float, added to the scores. It
        broadcasts to (..., q, k) and is never expanded.
    causal : bool, default False
        Let query i look at the keys up to ``i + offset`` only.
    window : int, optional
        Let query i look at the last `window` keys up to ``i + offset`` only (which is causal too).
        Whatever of mask, causal and window is given must all allow a key.
    offset : int, default 0
        The position of the first query among the keys, for `causal` and `window`; ``k - q`` aligns
        the last query with the last key.
    scale : float, optional
        By default ``1 / sqrt(d)``.
    block_q, block_k : int
        How many queries and keys a tile has, at most. Any size gives the same result up to rounding.

    Returns
    -------
    out : ndarray of shape (..., q, v)
        Zero for a query that may look at nothing. What a NaN in a hidden value does is not defined.
    logsumexp : ndarray of shape (..., q)
        Logarithm of the softmax's denominator: all that the backward needs to get the weights
        back. ``-inf`` for a query that may look at nothing. float32 if `out` is float16.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or `mask` is neither boolean nor float.
    ValueError
        If the shapes do not fit, `scale` is not finite, an additive `mask` holds ``+inf``, or
        `window` or a block size is less than 1.

    References
    ----------
    .. [1] Dao (2023), "FlashAttention-2: Faster Attention with Better Parallelism and Work
       Partitioning", arXiv:2307.08691, algorithm 1.
    .. [2] Milakov and Gimelshein (2018), "Online normalizer calculation for softmax",
       arXiv:1805.02867, algorithm 3.

    Examples
    --------
    >>> query, key, value = np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]])
    >>> out, logsumexp = flash_attention(query, key, value, block_k=1)
    >>> out, logsumexp.round(4)
    (array([[2.]]), array([2.1074]))
    """
    function = "flash_attention"
    inputs = attention_inputs(function, query, key, value, mask=mask, causal=causal, scale=scale)
    query, key, value, _, scale, dtype, _ = inputs
    tiles = _plan(function, inputs, causal, window, offset, block_q, block_k)
    out = np.empty((*query.shape[:-1], value.shape[-1]), dtype)
    logsumexp = np.empty(query.shape[:-1], query.dtype)
    workspace = tiles.workspace(query.dtype)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for key_head, query_heads in shared_heads(query, key):
            keys, values = np.ascontiguousarray(key[key_head]), np.ascontiguousarray(value[key_head])
            for head in query_heads:
                small = not tiles.hides and _scores_are_small(scale, query[head], keys)
                for rows in tiles.query_blocks():
                    queries = scale * query[head][rows]
                    accumulated, maximum, total = _one_pass(tiles, head, rows, queries, keys, values, small, workspace)
                    logsumexp[head][rows] = maximum + np.log(total)  # [L]
                    total[total == 0] = 1  # nothing seen: 0 / 1
                    out[head][rows] = accumulated / total[:, np.newaxis]
    return out, logsumexp


def flash_attention_backward(
    d_out,
    query,
    key,
    value,
    out,
    logsumexp,
    *,
    mask=None,
    causal=False,
    window=None,
    offset=0,
    scale=None,
    block_q=BLOCK_Q,
    block_k=BLOCK_K,
):
    r"""Gradient of `flash_attention` with respect to query, key and value.

    .. math:: weights_{qk} = e^{s_{qk} - logsumexp_q}, \qquad
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
        `merge_partials` returned for all. The gradients are then this part's share.
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
    >>> query, key, value = np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]])
    >>> out, logsumexp = flash_attention(query, key, value)
    >>> d_query, d_key, d_value = flash_attention_backward(np.ones((1, 1)), query, key, value, out, logsumexp)
    >>> d_value.round(12)
    array([[0.5],
           [0.5]])
    """
    function = "flash_attention_backward"
    arguments = {"query": query, "key": key, "value": value, "d_out": d_out}
    saved = {"out": out, "logsumexp": logsumexp}
    inputs = attention_inputs(function, **arguments, **saved, mask=mask, causal=causal, scale=scale)
    query, key, value, _, scale, *_ = inputs
    tiles = _plan(function, inputs, causal, window, offset, block_q, block_k)
    d_query, d_key, d_value = (np.zeros(array.shape, array.dtype) for array in (query, key, value))
    with np.errstate(over="ignore", invalid="ignore"):
        for part in _recompute(tiles, inputs):
            # forward: out = weights @ value
            d_value[part.key_head][part.columns] += part.weights.T @ part.d_out
            # forward: scores = (scale * query) @ key.mT
            d_key[part.key_head][part.columns] += part.d_scores.T @ part.scaled_query
            d_query[part.head][part.rows] += part.d_scores @ part.key
        d_query *= scale
    _, dtype = as_float(function, **arguments)  # without logsumexp, which is wider than float16
    return tuple(gradient.astype(dtype, copy=False) for gradient in (d_query, d_key, d_value))


def flash_attention_mask_backward(
    d_out,
    query,
    key,
    value,
    out,
    logsumexp,
    mask,
    *,
    causal=False,
    window=None,
    offset=0,
    scale=None,
    block_q=BLOCK_Q,
    block_k=BLOCK_K,
):
    r"""Gradient of `flash_attention` with respect to an additive mask (a learned bias, for example).

    .. math:: dmask = dscores, \quad\text{summed over the axes along which the mask was broadcast}

    Separate from `flash_attention_backward`, because few masks are learned. It holds one array of
    the shape of `mask`: a bias of shape (1, k) costs k numbers, not q·k.

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
    >>> query, key, value, mask = np.ones((1, 2)), np.ones((2, 2)), np.array([[0.0], [4.0]]), np.zeros(2)
    >>> saved = flash_attention(query, key, value, mask=mask)
    >>> flash_attention_mask_backward([[1.0]], query, key, value, *saved, mask).round(12)
    array([-1.,  1.])
    """
    function = "flash_attention_mask_backward"
    arguments = {"query": query, "key": key, "value": value, "d_out": d_out}
    saved = {"out": out, "logsumexp": logsumexp}
    inputs = attention_inputs(function, **arguments, **saved, mask=mask, causal=causal, scale=scale)
    if inputs.mask is None or inputs.mask.dtype.kind == "b":
        raise TypeError(f"{function}: mask must be additive (float); a boolean mask, or None, has no gradient.")
    tiles = _plan(function, inputs, causal, window, offset, block_q, block_k)
    d_mask = np.zeros(inputs.mask.shape, inputs.query.dtype)
    sizes = (1,) * (inputs.query.ndim - d_mask.ndim) + d_mask.shape
    d_mask_all_axes = d_mask.reshape(sizes)  # a view
    with np.errstate(over="ignore", invalid="ignore"):
        for part in _recompute(tiles, inputs):
            # forward: the mask is broadcast to the shape of the scores
            repeated = tuple(axis for axis in (0, 1) if sizes[axis - 2] == 1)
            d_scores = part.d_scores.sum(axis=repeated, keepdims=True)
            # forward: scores = scores + mask
            place = (*part.head, part.rows, part.columns)
            place = tuple(0 if size == 1 else index for size, index in zip(sizes, place, strict=True))
            d_mask_all_axes[place] += d_scores.reshape(d_mask_all_axes[place].shape)
    _, dtype = as_float(function, **arguments)
    return d_mask.astype(dtype, copy=False)


def merge_partials(out_a, logsumexp_a, out_b, logsumexp_b):
    r"""Attention over two sets of keys, from the results for each set.

    .. math:: L = \log\bigl(e^{L_a} + e^{L_b}\bigr), \qquad out = e^{L_a - L}\, out_a + e^{L_b - L}\, out_b

    Each part is weighted by its share of the softmax's denominator. That makes it possible to
    split the keys over several workers or in time, and to merge in any order.

    Parameters
    ----------
    out_a, out_b : array_like of shape (..., q, v)
    logsumexp_a, logsumexp_b : array_like of shape (..., q)
        What `flash_attention` returned for the same queries and different keys.

    Returns
    -------
    out : ndarray of shape (..., q, v)
    logsumexp : ndarray of shape (..., q)
        As if `flash_attention` had seen the keys of both parts at once. A part in which a query may
        look at nothing leaves that query's other part as it is.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the shapes do not fit.

    References
    ----------
    .. [1] Liu, Zaharia and Abbeel (2023), "Ring Attention with Blockwise Transformers for
       Near-Infinite Context", arXiv:2310.01889, section 3.

    Examples
    --------
    >>> query, key, value = np.ones((1, 2)), np.ones((3, 2)), np.array([[0.0], [3.0], [6.0]])
    >>> first, rest = flash_attention(query, key[:1], value[:1]), flash_attention(query, key[1:], value[1:])
    >>> merge_partials(*first, *rest)[0].round(12)
    array([[3.]])
    """
    function = "merge_partials"
    (out_a, out_b), dtype = as_float(function, out_a=out_a, out_b=out_b)
    (logsumexp_a, logsumexp_b), logsumexp_dtype = as_float(function, logsumexp_a=logsumexp_a, logsumexp_b=logsumexp_b)
    if out_a.shape != out_b.shape or out_a.ndim < 2 or {logsumexp_a.shape, logsumexp_b.shape} != {out_a.shape[:-1]}:
        raise ValueError(
            f"{function}: both parts must have the same shapes, and logsumexp the shape of out without its last axis.\n"
            f"  out_a       (..., q, v): {out_a.shape}\n  logsumexp_a (..., q):    {logsumexp_a.shape}\n"
            f"  out_b       (..., q, v): {out_b.shape}\n  logsumexp_b (..., q):    {logsumexp_b.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        logsumexp = np.logaddexp(logsumexp_a, logsumexp_b)
        finite = np.where(np.isneginf(logsumexp), 0, logsumexp)  # no keys in either part: both shares are 0
        share_a, share_b = (np.exp(part - finite)[..., np.newaxis] for part in (logsumexp_a, logsumexp_b))
        out = share_a * out_a + share_b * out_b
    return out.astype(dtype, copy=False), logsumexp.astype(logsumexp_dtype, copy=False)


def tiles_visited(q, k, *, causal=False, window=None, offset=0, block_q=BLOCK_Q, block_k=BLOCK_K):
    """How many tiles `flash_attention` computes for one head, and how many there are.

    It walks the same tiles as the computation does and counts.

    Parameters
    ----------
    q, k : int
        How many queries and keys.
    causal, window, offset, block_q, block_k
        As for `flash_attention`.

    Returns
    -------
    visited, total : int

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If `q` or `k` is negative, or `window` or a block size is less than 1.

    Examples
    --------
    >>> tiles_visited(8, 8, causal=True, block_q=2, block_k=2)
    (10, 16)
    """
    function = "tiles_visited"
    q, k = as_integer(function, "q", q, minimum=0), as_integer(function, "k", k, minimum=0)
    tiles = plan_tiles(function, q, k, causal=causal, window=window, offset=offset, block_q=block_q, block_k=block_k)
    visited = sum(1 for rows in tiles.query_blocks() for _ in tiles.along(rows))
    return visited, -(-q // tiles.block_q) * -(-k // tiles.block_k)


def _plan(function, inputs, causal, window, offset, block_q, block_k):
    q, k = inputs.scores_shape[-2:]
    mask = None if inputs.mask is None else np.broadcast_to(inputs.mask, inputs.scores_shape)  # a view
    bounds = {"causal": causal, "window": window, "offset": offset, "block_q": block_q, "block_k": block_k}
    return plan_tiles(function, q, k, mask=mask, **bounds)


def _one_pass(tiles, head, rows, queries, keys, values, small, workspace):
    """Let one block of queries see the keys tile by tile; return the sum of values [O], maximum [m] and total [ℓ]."""
    accumulated = np.zeros((len(queries), values.shape[-1]), queries.dtype)
    maximum = np.full(len(queries), 0 if small else -np.inf, queries.dtype)
    total = np.zeros(len(queries), queries.dtype)
    ones = np.ones(tiles.k, queries.dtype)
    for tile in tiles.along(rows):
        scores = np.matmul(queries, keys[tile.columns].T, out=tile.view(workspace))  # [S]
        tiles.hide(scores, head, tile)
        if not small:
            maximum, shrink = _raise_maximum(maximum, scores)
            total *= shrink
            accumulated *= shrink[:, np.newaxis]
        # In base 2, as on a GPU, this would take twice as long: without AVX-512, NumPy's exp2 is not vectorised.
        weights = np.exp(scores, out=scores)  # [P̃]
        total += weights @ ones[tile.columns]  # a product takes a third of the time of sum(axis=1)
        accumulated += weights @ values[tile.columns]
    return accumulated, maximum, total


def _raise_maximum(maximum, scores):
    """Subtract the new running maximum from the scores, in place; return it and exp(old - new)."""
    raised = np.maximum(maximum, scores.max(axis=1))
    finite = np.where(np.isneginf(raised), 0, raised)  # nothing seen yet: exp(-inf - 0) is 0
    scores -= finite[:, np.newaxis]
    return raised, np.exp(maximum - finite)


def _scores_are_small(scale, queries, keys):
    # |score| <= scale · |query| · |key| (Cauchy-Schwarz). Up to 20, exp neither overflows nor underflows and the
    # sums may be taken relative to 0 instead of the maximum: the same result, a tenth faster. Asked only where
    # nothing is hidden, so that a hidden key never decides how the visible ones are rounded.
    return abs(scale) * _longest(queries) * _longest(keys) <= 20


def _longest(vectors):
    return np.sqrt(np.vecdot(vectors, vectors).max(initial=0))


class _Part(NamedTuple):
    """One tile of the backward: the recomputed weights and all that meets them in a product."""

    head: tuple
    key_head: tuple
    rows: slice
    columns: slice
    scaled_query: np.ndarray
    key: np.ndarray
    d_out: np.ndarray
    weights: np.ndarray
    d_scores: np.ndarray


def _recompute(tiles, inputs):
    """Yield a `_Part` for every tile of every head. The next tile overwrites its arrays."""
    query, key, value, _, scale, _, (d_out, out, logsumexp) = inputs
    weights_space, d_scores_space = tiles.workspace(query.dtype), tiles.workspace(query.dtype)
    for key_head, query_heads in shared_heads(query, key):
        keys, values = np.ascontiguousarray(key[key_head]), np.ascontiguousarray(value[key_head])
        for head in query_heads:
            scaled_query, d_outs = scale * query[head], np.ascontiguousarray(d_out[head])
            # A query that saw nothing: exp(score - inf) is 0, whatever its scores.
            denominator = np.where(np.isneginf(logsumexp[head]), np.inf, logsumexp[head])[:, np.newaxis]  # [L]
            row_mean = np.vecdot(d_outs, out[head])[:, np.newaxis]  # [D]
            product_may_overflow = not np.isfinite(_longest(d_outs) * _longest(values))
            for rows in tiles.query_blocks():
                for tile in tiles.along(rows):
                    columns = tile.columns
                    # forward: weights = softmax(scores) = exp(scores - logsumexp)
                    weights = np.matmul(scaled_query[rows], keys[columns].T, out=tile.view(weights_space))  # [S]
                    tiles.hide(weights, head, tile)
                    weights -= denominator[rows]
                    np.exp(weights, out=weights)  # [P]
                    # forward: out = weights @ value
                    d_scores = np.matmul(d_outs[rows], values[columns].T, out=tile.view(d_scores_space))  # [dP]
                    if product_may_overflow:
                        np.copyto(d_scores, 0, where=weights == 0)  # a hidden value may be huge, and 0 · inf is NaN
                    # forward: weights = softmax(scores)
                    d_scores -= row_mean[rows]
                    d_scores *= weights  # [dS]
                    products = scaled_query[rows], keys[columns], d_outs[rows], weights, d_scores
                    yield _Part(head, key_head, rows, columns, *products)
