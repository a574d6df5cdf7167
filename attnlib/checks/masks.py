"""What a mask may be: boolean or additive, without +inf, and of a shape that fits the scores."""

import numbers
import sys
import warnings

import numpy as np

from attnlib.checks.arrays import broadcasts_to, quiet

# What is most often forgotten about a mask: an axis for the queries, or, where the scores have heads, one for the heads.
_QUERY_AXIS = "A mask over the keys of each batch element needs a query axis: mask[:, np.newaxis, :]."
_HEAD_AXIS = "A mask for each batch element, (b, q, k) or (b, 1, k), needs a head axis: mask[:, np.newaxis]."


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
