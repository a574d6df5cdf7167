"""What every attention function asks of its arguments, checked before any work is done.

Plain attention, Flash attention and decoding take the same arrays and refuse the
same mistakes in the same words. Query, key and value promote together by NumPy's
rules; a mask or a scale never widens the result.
"""

import math
import numbers
from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_float, as_truth
from attnlib.checks.masks import as_mask

# The axes of each array beyond query, key and value that a backward takes, after the leading ones.
_AXES = {"out": "qv", "d_out": "qv", "weights": "qk", "logsumexp": "q"}


class AttentionInputs(NamedTuple):
    """The checked arguments of an attention function, all in the dtype to compute in.

    Attributes
    ----------
    query : ndarray of shape (..., q, d)
    key : ndarray of shape (..., k, d)
    value : ndarray of shape (..., k, v)
        The third axis from the end, if there is one, is the head axis. `key` and `value`
        may have fewer heads than `query`: see `fold_heads`.
    mask : ndarray or None
        Boolean (True = may look at), or additive and without ``+inf``. Broadcasts to
        `scores_shape`, and keeps the axes it came with.
    scale : float
        A Python float, which leaves the dtype of the arrays alone.
    dtype : dtype
        The dtype that the results should have.
    saved : tuple of ndarray
        The further arrays (d_out, weights, …), in the order they were given; `logsumexp` last.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    mask: np.ndarray | None
    scale: float
    dtype: np.dtype
    saved: tuple

    @property
    def scores_shape(self):
        """The shape (..., q, k) of the scores."""
        return (*self.query.shape[:-1], self.key.shape[-2])


def attention_inputs(
    function, query, key, value, *, mask=None, causal=False, scale=None, axes="(..., q, k)", **saved
):  # fmt: skip
    """Check the arguments of an attention function and return them as `AttentionInputs`.

    Parameters
    ----------
    function : str
        Name of the public function, for the error messages.
    query : array_like of shape (..., q, d)
    key : array_like of shape (..., k, d)
    value : array_like of shape (..., k, v)
        The leading axes must be equal; nothing is broadcast. The one exception is the head
        axis, third from the end: there the heads of key and value may divide those of query.
    mask : array_like, optional
        Boolean or float, broadcasting to (..., q, k).
    causal : bool
        Only its type is checked.
    scale : float, optional
        By default ``1 / sqrt(d)``. Zero and negative numbers are values like any other.
    axes : {"(..., q, k)", "(..., heads, q, k)"}
        How an error calls the axes of the scores.
    **saved : array_like
        `d_out` and `out` of shape (..., q, v), `weights` of shape (..., q, k) and
        `logsumexp` of shape (..., q), for a backward. `logsumexp` comes last, in its own dtype.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If the shapes do not fit, there is no feature d, `scale` is not finite, or an
        additive mask holds ``+inf``.
    """
    row_statistics = {name: saved.pop(name) for name in ("logsumexp",) if name in saved}
    arrays, dtype = as_float(function, query=query, key=key, value=value, **saved)
    query, key, value, *saved_arrays = arrays
    for name, array in row_statistics.items():  # one number a row, which keeps its digits and widens nothing else
        (array,), _ = as_float(function, **{name: array})
        saved[name] = array
        saved_arrays.append(array)
    _check_shapes(function, query, key, value)
    as_truth(function, "causal", causal)
    scale = _as_scale(function, scale, query)
    inputs = AttentionInputs(query, key, value, None, scale, dtype, tuple(saved_arrays))
    sizes = {"q": query.shape[-2], "k": key.shape[-2], "v": value.shape[-1]}
    for name, array in zip(saved, saved_arrays, strict=True):
        expected = (*query.shape[:-2], *(sizes[axis] for axis in _AXES[name]))
        if array.shape != expected:
            raise ValueError(
                f"{function}: {name} must have the shape (..., {', '.join(_AXES[name])}) = {expected}, "
                f"which follows from query, key and value; got {array.shape}."
            )
    if mask is None:
        return inputs
    return inputs._replace(mask=as_mask(function, mask, inputs.scores_shape, query.dtype, axes))


def _check_shapes(function, query, key, value):
    arrays = {"query": query, "key": key, "value": value}
    if len({array.ndim for array in arrays.values()}) > 1 or query.ndim < 2:
        _refuse(function, "query, key and value must have the same number of axes, at least two", arrays)
    if query.shape[-1] != key.shape[-1]:
        reason = "query and key must have the same number of features d (their last axis), "
        _refuse(function, reason + "because the score is a dot product over d", {"query": query, "key": key})
    if query.shape[-1] == 0:
        reason = "query and key must have at least one feature d (their last axis)"
        _refuse(function, reason, {"query": query, "key": key})
    if key.shape[:-1] != value.shape[:-1]:
        reason = "key and value must have the same leading axes and the same number of positions k, "
        _refuse(function, reason + "because each key stands for one value", {"key": key, "value": value})
    if query.shape[:-3] != key.shape[:-3]:
        reason = "query and key must have the same leading axes; they are not broadcast against each other"
        _refuse(function, reason, {"query": query, "key": key})
    if not heads_fit(query, key):
        reason = "the heads of query (its third axis from the end) must be a multiple of those of key and value: "
        _refuse(function, reason + f"{query.shape[-3]} is not a multiple of {key.shape[-3]}", arrays)


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


def _refuse(function, reason, arrays):
    axes = {"query": "(..., q, d)", "key": "(..., k, d)", "value": "(..., k, v)"}
    width = max(map(len, arrays))
    shapes = "\n".join(f"  {name:<{width}} {axes[name]}: {array.shape}" for name, array in arrays.items())
    raise ValueError(f"{function}: {reason}.\n{shapes}")


def _as_scale(function, scale, query):
    if scale is None:
        return 1 / math.sqrt(query.shape[-1])
    if isinstance(scale, (bool, np.bool_)) or not isinstance(scale, numbers.Real):
        raise TypeError(f"{function}: scale must be one real number, or None for 1/sqrt(d); got {scale!r}.")
    try:
        number = float(scale)
    except OverflowError:  # an integer of more than 308 digits
        number = math.inf
    if not abs(number) <= float(np.finfo(query.dtype).max):  # NaN fails this too
        raise ValueError(f"{function}: scale must be a finite number in {query.dtype}; got {number}.")
    return number
