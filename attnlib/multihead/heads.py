"""The head axis: features cut into heads, and put together again."""

from attnlib.checks.arrays import as_float, as_integer


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
