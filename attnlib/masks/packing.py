"""Masks for texts of several lengths in one array: padded to one length, or packed one after another."""

import numpy as np

from attnlib.checks.arrays import as_integer


def padding_mask(lengths, k, *, side="right"):
    r"""Hide the keys that only fill a shorter sequence up to k positions.

    .. math:: mask_{k} = (k < length) \quad\text{or, padded on the left,}\quad (k \ge K - length)

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        How many real tokens each sequence has. Give it the leading axes of the scores: shape
        (b,) for scores (b, q, k), but (b, 1) for scores (b, h, q, k), so that the head axis is
        not mistaken for the batch: ``padding_mask(lengths[:, np.newaxis], k)``.
    k : int
        The common length after padding.
    side : {"right", "left"}
        Where the padding is.

    Returns
    -------
    mask : ndarray of bool, shape (..., 1, k)
        The 1 stands for the queries: which of them asks makes no difference.

    Raises
    ------
    TypeError
        If `lengths` or `k` does not hold integers.
    ValueError
        If a length is not between 0 and k, or `side` is something else.

    Examples
    --------
    >>> padding_mask([3, 1], 3).astype(int)
    array([[[1, 1, 1]],
    <BLANKLINE>
           [[1, 0, 0]]])
    >>> padding_mask(1, 3, side="left").astype(int)
    array([[0, 0, 1]])
    """
    k = as_integer("padding_mask", "k", k, minimum=0)
    lengths = _as_integers("padding_mask", "lengths", lengths)
    if side not in ("right", "left"):
        raise ValueError(f'padding_mask: side must be "right" or "left"; got {side!r}.')
    if ((lengths < 0) | (lengths > k)).any():
        raise ValueError(f"padding_mask: every length must lie between 0 and k = {k}; got {lengths.tolist()}.")
    lengths = lengths[..., np.newaxis, np.newaxis]
    key = np.arange(k)
    return key < lengths if side == "right" else key >= k - lengths


def block_diagonal_mask(query_segments, key_segments=None):
    r"""Let each query look at the keys of its own segment: several sequences packed into one.

    .. math:: mask_{qk} = (\mathit{segment}_q = \mathit{segment}_k)

    Parameters
    ----------
    query_segments : array_like of int, shape (..., q)
        To which segment each query belongs. From lengths: ``np.repeat(np.arange(b), lengths)``.
    key_segments : array_like of int, shape (..., k), optional
        The same for the keys; by default `query_segments`.

    Returns
    -------
    mask : ndarray of bool, shape (..., q, k)

    Raises
    ------
    TypeError
        If an argument does not hold integers.
    ValueError
        If an argument has no axis, or their leading axes differ.

    Examples
    --------
    >>> block_diagonal_mask([0, 0, 1]).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    queries = _as_integers("block_diagonal_mask", "query_segments", query_segments)
    keys = queries if key_segments is None else _as_integers("block_diagonal_mask", "key_segments", key_segments)
    if queries.ndim == 0 or keys.ndim == 0 or queries.shape[:-1] != keys.shape[:-1]:
        raise ValueError(
            "block_diagonal_mask: query_segments and key_segments must have the same leading axes "
            "and one more for the positions.\n"
            f"  query_segments (..., q): {queries.shape}\n"
            f"  key_segments   (..., k): {keys.shape}"
        )
    return queries[..., :, np.newaxis] == keys[..., np.newaxis, :]


def _as_integers(function, name, array):
    try:
        array = np.asarray(array)
    except ValueError as error:  # ragged nested lists
        raise TypeError(f"{function}: {name} must hold integers; got nested sequences of unequal length.") from error
    if array.dtype.kind not in "iu" and array.size > 0:  # an empty list has no dtype of its own
        raise TypeError(f"{function}: {name} must hold integers; got {array.dtype}.")
    return array.astype(np.int64)
