"""Masks: which query may look at which key.

A mask is a boolean array, True = this query may look at this key, that broadcasts to the
shape (..., q, k) of the scores. (`torch.nn.MultiheadAttention` means the opposite by True.)
A float array is a mask too: it is added to the scores, and ``-inf`` in it hides a key.
"""

from functools import reduce

import numpy as np

from attnlib.checks.arrays import as_integer
from attnlib.checks.masks import as_mask_array


def causal_mask(q, k, *, offset=0):
    r"""Let each query look at the keys up to its own position, none after.

    .. math:: mask_{qk} = (k \le q + \mathit{offset})

    Parameters
    ----------
    q, k : int
        How many queries and keys.
    offset : int, default 0
        The position of the first query among the keys. With 0 the first query sees the first
        key only (aligned top-left, as in PyTorch and JAX). With ``offset=k-q`` the last query
        sees every key (bottom-right): what decoding with a cache needs, where the queries are
        the last of k tokens.

    Returns
    -------
    mask : ndarray of bool, shape (q, k)

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If `q` or `k` is negative.

    Examples
    --------
    >>> causal_mask(3, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])

    With a cache, the queries are the last 2 of 3 tokens:

    >>> causal_mask(2, 3, offset=1).astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    query, key = _positions("causal_mask", q, k, offset)
    return key <= query


def sliding_window_mask(q, k, window, *, offset=0):
    r"""Let each query look at the last `window` keys up to its own position.

    .. math:: mask_{qk} = (q + \mathit{offset} - window < k \le q + \mathit{offset})

    Parameters
    ----------
    q, k : int
        How many queries and keys.
    window : int
        How many keys a query sees at most, its own position included; at least 1.
    offset : int, default 0
        The position of the first query among the keys, as in `causal_mask`. A window of
        2·r + 1 with offset r is symmetric: r keys to either side.

    Returns
    -------
    mask : ndarray of bool, shape (q, k)

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If `q` or `k` is negative, or `window` is less than 1.

    References
    ----------
    .. [1] Beltagy, Peters and Cohan (2020), "Longformer: The Long-Document Transformer",
       arXiv:2004.05150, section 3.1: the symmetric window.

    Examples
    --------
    >>> sliding_window_mask(4, 4, 2).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])

    With a cache, the newest of 4 tokens:

    >>> sliding_window_mask(1, 4, 2, offset=3).astype(int)
    array([[0, 0, 1, 1]])
    """
    window = as_integer("sliding_window_mask", "window", window, minimum=1)
    query, key = _positions("sliding_window_mask", q, k, offset)
    return (query - window < key) & (key <= query)


def prefix_mask(q, k, prefix, *, offset=0):
    r"""Let every query look at the first `prefix` keys, and at later keys only causally.

    .. math:: mask_{qk} = (k < \mathit{prefix}) \lor (k \le q + \mathit{offset})

    Parameters
    ----------
    q, k : int
        How many queries and keys.
    prefix : int
        How many keys everyone sees.
    offset : int, default 0
        The position of the first query among the keys, as in `causal_mask`.

    Returns
    -------
    mask : ndarray of bool, shape (q, k)

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If `q`, `k` or `prefix` is negative.

    References
    ----------
    .. [1] Raffel et al. (2020), "Exploring the Limits of Transfer Learning with a Unified
       Text-to-Text Transformer", JMLR 21(140), section 3.2.1.

    Examples
    --------
    >>> prefix_mask(3, 3, 2).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [1, 1, 1]])

    With a cache, the newest of 3 tokens:

    >>> prefix_mask(1, 3, 2, offset=2).astype(int)
    array([[1, 1, 1]])
    """
    prefix = as_integer("prefix_mask", "prefix", prefix, minimum=0)
    query, key = _positions("prefix_mask", q, k, offset)
    return (key < prefix) | (key <= query)


def combine_masks(*masks):
    """Join masks: a query may look at a key only if every mask lets it.

    Parameters
    ----------
    *masks : array_like of shape (..., q, k), or None
        Boolean or additive masks whose shapes broadcast together. None hides nothing.

    Returns
    -------
    mask : ndarray of shape (..., q, k), or None
        If all are boolean, their AND. If there is an additive one, the sum of the additive
        ones, with ``-inf`` wherever a boolean one is False. None if there is no mask.

    Raises
    ------
    TypeError
        If a mask is neither boolean nor float.
    ValueError
        If the shapes do not broadcast together, or an additive mask holds ``+inf``.

    Examples
    --------
    A batch of 2 texts with any number of heads, the second text padded:

    >>> from attnlib.masks import padding_mask
    >>> mask = combine_masks(causal_mask(2, 2), padding_mask([[2], [1]], 2))
    >>> mask.shape, mask[1, 0].astype(int)
    ((2, 1, 2, 2), array([[1, 0],
           [1, 0]]))

    A boolean mask hides what an additive one only weights:

    >>> combine_masks([[0.5, 0.25]], causal_mask(2, 2))
    array([[0.5 , -inf],
           [0.5 , 0.25]])
    """
    masks = [as_mask_array("combine_masks", mask) for mask in masks if mask is not None]
    try:
        np.broadcast_shapes(*(mask.shape for mask in masks))
    except ValueError as error:
        shapes = "\n".join(f"  {mask.dtype.name}: {mask.shape}" for mask in masks)
        raise ValueError(f"combine_masks: the masks must have shapes that broadcast together.\n{shapes}") from error
    booleans = [mask for mask in masks if mask.dtype.kind == "b"]
    biases = [mask for mask in masks if mask.dtype.kind == "f"]
    allowed = reduce(np.logical_and, booleans) if booleans else None
    with np.errstate(over="ignore"):  # two very low numbers may add up to -inf
        bias = reduce(np.add, biases) if biases else None
    if bias is None or allowed is None:
        return allowed if bias is None else bias
    return np.where(allowed, bias, -np.inf)


def _positions(function, q, k, offset):
    # The positions among the keys: of the queries, shape (q, 1), and of the keys, shape (k,).
    q, k = as_integer(function, "q", q, minimum=0), as_integer(function, "k", k, minimum=0)
    offset = as_integer(function, "offset", offset)
    return np.arange(q)[:, np.newaxis] + offset, np.arange(k)
