"""The head axis: features cut into heads and put together again, and key heads that several query heads share."""

from attnlib._arrays import as_float, as_integer


def split_heads(x, heads):
    """Cut the features into `heads` blocks and give each head its own axis, before the positions.

    The reshape alone would put the head axis after the positions: attention works on the last two
    axes, so heads and positions change places.

    Parameters
    ----------
    x : array_like of shape (..., n, heads · d)
    heads : int

    Returns
    -------
    ndarray of shape (..., heads, n, d)

    Raises
    ------
    TypeError
        If `x` does not hold real numbers or `heads` is not an integer.
    ValueError
        If `heads` does not divide the last axis.

    Examples
    --------
    >>> split_heads([[1, 2, 3, 4], [5, 6, 7, 8]], 2)
    array([[[1., 2.],
            [5., 6.]],
    <BLANKLINE>
           [[3., 4.],
            [7., 8.]]])
    """
    (x,), dtype = as_float("split_heads", x=x)
    heads = as_integer("split_heads", "heads", heads, minimum=1)
    if x.ndim < 2 or x.shape[-1] % heads:
        raise ValueError(
            f"split_heads: x must have the shape (..., n, heads · d), its last axis a multiple of heads = {heads}; "
            f"got {x.shape}."
        )
    *leading, n, width = x.shape
    return x.reshape(*leading, n, heads, width // heads).swapaxes(-3, -2).astype(dtype, copy=False)


def merge_heads(x):
    """Put the features of all heads side by side again: undo `split_heads`. Also its gradient.

    Parameters
    ----------
    x : array_like of shape (..., h, n, d)

    Returns
    -------
    ndarray of shape (..., n, h·d)

    Raises
    ------
    TypeError
        If `x` does not hold real numbers.
    ValueError
        If `x` has fewer than three axes.

    Examples
    --------
    >>> merge_heads([[[1, 2], [5, 6]], [[3, 4], [7, 8]]])
    array([[1., 2., 3., 4.],
           [5., 6., 7., 8.]])
    """
    (x,), dtype = as_float("merge_heads", x=x)
    if x.ndim < 3:
        raise ValueError(f"merge_heads: x must have the shape (..., h, n, d); got {x.shape}.")
    *leading, heads, n, d = x.shape
    return x.swapaxes(-3, -2).reshape(*leading, n, heads * d).astype(dtype, copy=False)


def heads_fit(query_like, key_like):
    """Whether the leading axes are equal, or the heads of the first a multiple of those of the second.

    Examples
    --------
    >>> heads_fit(np.ones((2, 6, 3, 5)), np.ones((2, 3, 4, 5)))
    True
    """
    leading, key_leading = query_like.shape[:-2], key_like.shape[:-2]
    if leading == key_leading:
        return True
    same_before = len(leading) == len(key_leading) and leading[:-1] == key_leading[:-1]
    return same_before and key_leading[-1] > 0 and leading[-1] % key_leading[-1] == 0


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
