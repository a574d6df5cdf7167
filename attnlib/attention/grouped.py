"""Query heads that share a key head, folded into the rows of one head."""


def fold_heads(array, like):
    """Turn the query heads that share a key head into more rows of one head.

    With 6 query heads over 2 key heads, query heads 0, 1, 2 use key head 0 and 3, 4, 5 use
    key head 1. For that key head it makes no difference which query head a row came from,
    so (..., h, q, x) is read as (..., heads, h / heads · q, x) and every product becomes an
    ordinary one: no copy of the keys, and the sum over the group that a gradient needs
    happens inside the product. To undo it, reshape to the shape before.

    Parameters
    ----------
    array : ndarray of shape (..., h, q, x)
    like : ndarray of shape (..., heads, k, x)
        The key or the value: its heads divide h.

    Returns
    -------
    ndarray of shape (..., heads, h / heads · q, x)
        `array` itself if no head is shared; a view if `array` is contiguous.

    Examples
    --------
    >>> fold_heads(np.ones((2, 6, 3, 5)), like=np.ones((2, 2, 4, 5))).shape
    (2, 2, 9, 5)
    """
    if array.shape[:-2] == like.shape[:-2]:
        return array
    *leading, h, q, x = array.shape
    heads = like.shape[-3]
    return array.reshape(*leading, heads, h // heads * q, x)
