"""What every attention function asks of its arguments, checked before any work is done.

Plain attention, Flash attention and decoding take the same arrays and refuse the
same mistakes in the same words. Query, key and value promote together by NumPy's
rules; a mask or a scale never widens the result.
"""

import math
import numbers
import sys
import warnings
from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_float, as_truth, broadcasts_to, quiet

# What is most often forgotten about a mask: an axis for the queries, or, where the scores have heads, one for the heads.
_QUERY_AXIS = "A mask over the keys of each batch element needs a query axis: mask[:, np.newaxis, :]."
_HEAD_AXIS = "A mask for each batch element, (b, q, k) or (b, 1, k), needs a head axis: mask[:, np.newaxis]."

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


def as_mask(function, mask, scores_shape, dtype, axes="(..., q, k)"):
    """Return `mask` as a boolean array, or as an additive one in `dtype`, that fits the scores.

    An additive mask may hold ``-inf`` (the query may not look) and NaN, which stays
    visible. A number below the range of `dtype` becomes ``-inf``.

    Raises
    ------
    TypeError
        If it is not an array, or neither boolean nor float.
    ValueError
        If it does not broadcast to `scores_shape`, or holds ``+inf``.

    Examples
    --------
    >>> as_mask("attention", [True, False], (3, 2), np.float32)
    array([ True, False])
    """
    mask = as_mask_array(function, mask, dtype)
    has_heads = "heads" in axes or len(scores_shape) == 4
    if has_heads and mask.dtype.kind == "b" and mask.ndim == 3 and mask.shape[0] > 1 and mask.shape[1] == 1:
        # What `padding_mask` returns. Where there are as many heads as texts it would fit, and hide the wrong keys.
        raise ValueError(
            f"{function}: a mask of shape {mask.shape} would hide other keys from each head, and the same from each text. "
            f"{_HEAD_AXIS} If you do mean the heads: mask[np.newaxis]."
        )
    if not broadcasts_to(mask.shape, scores_shape):
        raise ValueError(
            f"{function}: mask must broadcast to the shape {axes} of the scores, by NumPy's rules and without "
            f"enlarging it. {_HEAD_AXIS if has_heads and mask.ndim > 2 else _QUERY_AXIS}\n"
            f"  {'mask:':<{len(axes) + 8}} {mask.shape}\n"
            f"  scores {axes}: {scores_shape}"
        )
    return mask


def as_mask_array(function, mask, dtype=None):
    """Return `mask` as a boolean or additive array of any shape; see `as_mask`.

    Examples
    --------
    >>> as_mask_array("combine_masks", [0.0, -np.inf])
    array([  0., -inf])
    """
    meaning = "True = this query may look at this key, or float = added to the scores"
    if isinstance(mask, (numbers.Number, np.bool_, str)):
        raise TypeError(
            f"{function}: mask must be a boolean or float array ({meaning}); got {mask!r}. "
            "To hide the keys after each query: causal=True, or attnlib.masks.causal_mask."
        )
    if isinstance(mask, np.ma.MaskedArray):
        raise TypeError(f"{function}: mask must be a plain array; got a masked array, whose own mask would be lost.")
    try:
        mask = np.asarray(mask)
    except ValueError as error:  # ragged nested lists
        raise TypeError(f"{function}: mask must be an array; got nested sequences of unequal length.") from error
    if mask.dtype.kind == "b":
        return mask
    if mask.dtype.kind != "f":
        raise TypeError(f"{function}: mask must be boolean or float ({meaning}); got {mask.dtype}.")
    stored = _without_repeats(mask)  # converting what is repeated would expand it
    stored = quiet(stored.astype)(dtype or mask.dtype, copy=False)  # the lowest float64 is -inf in float32
    largest = np.fmax.reduce(stored, axis=None, initial=-np.inf)
    if largest == 1 and _holds_zeros_and_ones(stored):
        warnings.warn(
            f"{function}: this mask is float and holds only 0 and 1, which are added to the scores and hide nothing. "
            "If 0 stands for 'may not look', use mask.astype(bool).",
            stacklevel=_outside(),
        )
    if largest == np.inf:
        raise ValueError(
            f"{function}: an additive mask must not hold +inf (in {stored.dtype}), which would make the weights NaN. "
            "To leave a query only one key, hide the others with -inf."
        )
    return mask if stored.dtype == mask.dtype else np.broadcast_to(stored, mask.shape)


def _holds_zeros_and_ones(array):
    return bool(((array == 0) | (array == 1)).all() and (array == 0).any())


def _outside():
    """How many calls back the line stands that called the library: that is where a warning belongs."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("attnlib", "numpy"):
        level, frame = level + 1, frame.f_back
    return level


def _without_repeats(array):
    """One entry of every axis along which the array repeats the same memory, as `numpy.broadcast_to` makes it."""
    return array[tuple(slice(1) if stride == 0 else slice(None) for stride in array.strides)]


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
