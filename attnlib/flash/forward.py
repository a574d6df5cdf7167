"""Flash attention: what `attnlib.attention` computes, without ever holding q × k scores.

The score matrix is cut into tiles of `block_q` queries times `block_k` keys. A tile is
computed, used up and overwritten by the next while it is still in the processor's cache. The
forward needs one pass over the keys, because it can correct what it has summed so far when
a larger score comes along; the backward computes each tile of weights again, from one
saved number per query. Comments in brackets give the letters of the formulas.
"""

import math

import numpy as np

from attnlib.checks.arrays import quiet
from attnlib.checks.inputs import attention_inputs
from attnlib.flash.tiles import BLOCK_K, BLOCK_Q, longest, pick, plan_for, shared_heads


@quiet
def flash_attention(
    query, key, value, *,
    mask=None, causal=False, window=None, offset=0, scale=None, block_q=BLOCK_Q, block_k=BLOCK_K,
):  # fmt: skip
    r"""Attention in one pass over the keys, a tile at a time.

    .. math:: \mu' = \max(\mu, \max_k S_k), \qquad
              s' = e^{\mu - \mu'}\, s + \sum_k e^{S_k - \mu'}, \qquad
              a' = e^{\mu - \mu'}\, a + \sum_k e^{S_k - \mu'}\, value_k

    for every tile of scores :math:`S`, starting from :math:`\mu = -\infty` and zeros. In the end
    :math:`out = a / s` and :math:`logsumexp = \mu + \log s`.

    Parameters
    ----------
    query : array_like of shape (..., q, d)
    key : array_like of shape (..., k, d)
    value : array_like of shape (..., k, v)
        As for `attnlib.attention.attention`, with the same rule for shared heads.
    mask : array_like, optional
        Boolean, True = this query may look at this key; or float, added to the scores. It
        broadcasts to (..., q, k) and is never expanded: what repeats is stored once.
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
        back. ``-inf`` for a query that may look at nothing. float64 for every dtype of the inputs.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or `mask` is neither boolean nor float.
    ValueError
        If the shapes do not fit, `scale` is not finite, an additive `mask` holds ``+inf``, or
        `window` or a block size is less than 1.

    Notes
    -----
    Why `logsumexp` is float64: the weights come back as ``exp(score - logsumexp)``, and an absolute error there is a
    relative one in the weight. float32 keeps 24 bits: beside a maximum of -1e9 (a row that is all masked with that
    number) the logarithm of the sum is lost altogether, and four keys get the weight 1 each instead of 1/4; beside
    1e4 the weights are off by 1e-4. float64 leaves them off by ``1e-16 * abs(logsumexp)``, less than what float32
    scores lose themselves, for 4 bytes more a query. Beyond 1e18 nothing of the sum is left in float64 either: for
    a row that is all masked with -1e38 or ``finfo(dtype).min``, say. From 1e10 on the backward therefore takes the sum
    of such a row again, in one more pass over its tiles. That needs all keys. Of several parts of the keys, each gets
    weights that sum to one by themselves beyond 1e18, and `merge_partials` gives parts with the same maximum the same
    share.

    While all scores lie within 20 of zero, nothing is hidden and all values lie between 1e-20 and 1e20 in size, or
    are 0, the sums are taken relative to 0 instead of the running maximum. No number can then leave the range of
    the dtype, so the result is the same up to rounding, and two passes over the scores are saved. To find out costs
    a pass over the arrays, so it is asked only where q and k are above ``2 * (d + v)``.

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

    A batch of 2 texts, 6 query heads that share 3 key heads, a causal mask:

    >>> rng = np.random.default_rng(0)
    >>> query, key, value = (rng.normal(size=(2, heads, 5, 4)) for heads in (6, 3, 3))
    >>> out, logsumexp = flash_attention(query, key, value, causal=True)
    >>> out.shape, logsumexp.shape
    ((2, 6, 5, 4), (2, 6, 5))

    The newest token, when the keys of all 5 are in a cache; it sees all of them:

    >>> newest, _ = flash_attention(query[..., -1:, :], key, value, causal=True, offset=4)
    >>> np.allclose(newest, out[..., -1:, :])
    True
    """
    function = "flash_attention"
    inputs = attention_inputs(function, query, key, value, mask=mask, scale=scale)
    query, key, value, _, scale, dtype, _ = inputs
    tiles = plan_for(function, inputs, causal, window, offset, block_q, block_k)
    heads, q, v = math.prod(query.shape[:-2]), query.shape[-2], value.shape[-1]
    out = np.empty((heads, q, v), query.dtype)
    logsumexp = np.empty((heads, q, 1), np.result_type(query.dtype, np.float64))
    workspace = tiles.workspace(query.dtype, heads)
    # Looking at every number of the arrays has to cost less than what it saves, two looks at the scores.
    worth_asking = not tiles.hides and min(q, tiles.k) > 2 * (query.shape[-1] + v)
    for key_heads, parts in shared_heads(tiles, query, key):
        keys, values = np.ascontiguousarray(pick(key, key_heads)), np.ascontiguousarray(pick(value, key_heads))
        for part in parts:
            small = worth_asking and _all_is_small(scale, pick(query, part), keys, values)
            for rows in tiles.query_blocks():
                queries = scale * pick(query, part, rows)
                accumulated = out[part, rows]  # a view: what is summed up there needs no copy in the end
                maximum, total = _one_pass(tiles, part, rows, queries, keys, values, small, workspace, accumulated)
                logsumexp[part, rows] = np.log(total)  # [ℓ]
                logsumexp[part, rows] += maximum  # float64 from here on: see the notes
                total[total == 0] = 1  # nothing seen: 0 / 1
                accumulated /= total
    return out.reshape(*query.shape[:-1], v).astype(dtype, copy=False), logsumexp.reshape(query.shape[:-1])


def _one_pass(tiles, heads, rows, queries, keys, values, small, workspace, accumulated):
    """Let one block of queries see the keys tile by tile; return maximum [μ] and total [s].

    The sum of values [a] is written to `accumulated`, whatever stood there.
    """
    lowest = np.finfo(queries.dtype).min  # instead of -inf, where nothing is seen yet: exp(-inf - lowest) is 0
    maximum = 0  # stays so where all is small, or nothing is seen
    total = np.zeros((1, 1, 1), queries.dtype)  # as if of (heads, rows, 1)
    ones = np.ones((tiles.k, 1), queries.dtype)
    seen = False
    for tile in tiles.along(rows):
        scores = np.matmul(queries, keys[:, tile.columns].mT, out=tile.view(workspace, len(queries)))  # [S]
        tiles.hide(scores, heads, tile)
        if not small:
            raised = scores.max(axis=-1, keepdims=True, initial=lowest)
            if seen:
                raised = np.maximum(maximum, raised)
                shrink = np.exp(maximum - raised)
                total *= shrink
                accumulated *= shrink
            maximum = raised
            scores -= maximum
        # In base 2, as on a GPU, this would take twice as long: without AVX-512, NumPy's exp2 is not vectorised.
        weights = np.exp(scores, out=scores)
        found = weights @ ones[tile.columns]  # a product takes a third of the time of a sum
        if seen:
            total += found
            accumulated += weights @ values[:, tile.columns]
        else:
            total = found
            np.matmul(weights, values[:, tile.columns], out=accumulated)
        seen = True
    if not seen:
        accumulated[:] = 0
    return maximum, total


def _all_is_small(scale, queries, keys, values):
    # |score| <= |scale| × |query| × |key| (Cauchy-Schwarz). Up to 20, exp lies between 2e-9 and 5e8, and its products
    # with moderate values stay in the range of float32: the sums may be taken relative to 0 instead of the maximum.
    # Asked only where nothing is hidden, so that a hidden key never decides how the visible ones are rounded.
    if not abs(scale) * longest(queries) * longest(keys) <= 20:
        return False
    return all(_are_moderate(values[:, start : start + BLOCK_Q]) for start in range(0, values.shape[1], BLOCK_Q))


def _are_moderate(values):
    sizes = np.abs(values)
    sizes[sizes == 0] = 1  # a product with 0 is 0
    return sizes.max(initial=1) <= 1e20 and sizes.min(initial=1) >= 1e-20
