"""The mask for texts of several lengths in one array, padded to one length."""

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

    For scores with heads, (b, h, q, k), the lengths get a head axis:

    >>> padding_mask(np.array([3, 1])[:, np.newaxis], 3).shape
    (2, 1, 1, 3)
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


def _as_integers(function, name, array):
    try:
        array = np.asarray(array)
    except ValueError as error:  # ragged nested lists
        raise TypeError(f"{function}: {name} must hold integers; got nested sequences of unequal length.") from error
    if array.dtype.kind not in "iu" and array.size > 0:  # an empty list has no dtype of its own
        raise TypeError(f"{function}: {name} must hold integers; got {array.dtype}.")
    return array.astype(np.int64)
