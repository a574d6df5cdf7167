"""What multi-head attention asks of its arguments, and what its forward saves for its backward."""

from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_float
from attnlib.multihead.params import MultiHeadParams


class MultiHeadSaved(NamedTuple):
    """What `multihead_attention` keeps for its backward.

    Attributes
    ----------
    x : ndarray of shape (..., q, m)
    context : None, ndarray, or tuple of two
        As given to `multihead_attention`.
    query : ndarray of shape (..., h, q, d)
    key : ndarray of shape (..., h, k, d)
    value : ndarray of shape (..., h, k, v)
        Here h may be smaller, if heads share their keys and values.
    weights : ndarray of shape (..., h, q, k)
        The attention weights of every head: the ones to look at.
    merged : ndarray of shape (..., q, h·v)
        The outputs of all heads side by side, before the last projection.
    """

    x: np.ndarray
    context: np.ndarray | tuple | None
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    weights: np.ndarray
    merged: np.ndarray


def prepare(function, x, params, context):
    """x, context and params, checked and in one dtype to compute in; and the dtype to return."""
    if not isinstance(params, MultiHeadParams):
        raise TypeError(f"{function}: params must be a MultiHeadParams; got {type(params).__name__}.")
    inputs = {"x": x}
    if isinstance(context, tuple):
        if len(context) != 2:
            raise ValueError(f"{function}: a tuple context must be (for_keys, for_values); got {len(context)} items.")
        inputs |= {"context[0]": context[0], "context[1]": context[1]}
    elif context is not None:
        inputs["context"] = context
    converted, dtype = as_float(function, **inputs, **params.arrays())
    inputs = dict(zip(inputs, converted, strict=False))
    params = params.map(lambda array: array.astype(inputs["x"].dtype, copy=False))
    names = list(inputs)  # keys come from x, from the one context, or from the first of two
    for_keys, for_values = names[-2:] if len(names) == 3 else names[-1:] * 2
    _check_input(function, "x", "(..., q, m)", inputs, params.query_weight)
    _check_input(function, for_keys, "(..., k, key_width)", inputs, params.key_weight)
    _check_input(function, for_values, "(..., k, value_width)", inputs, params.value_weight)
    if inputs[for_keys].shape[-2] != inputs[for_values].shape[-2]:
        raise ValueError(
            f"{function}: {for_keys} and {for_values} must have the same number of positions k, because each key "
            f"stands for one value; got {inputs[for_keys].shape} and {inputs[for_values].shape}."
        )
    x, *context = inputs.values()
    return x, tuple(context) if len(context) == 2 else context[0] if context else None, params, dtype


def _check_input(function, name, axes, inputs, weight):
    x, array = inputs["x"], inputs[name]
    if array.ndim < 2 or array.shape[-1] != weight.shape[0]:
        raise ValueError(
            f"{function}: {name} must have the shape {axes} with a last axis of {weight.shape[0]}, "
            f"one feature for each row of its weight; got {array.shape}."
        )
    if array.shape[:-2] != x.shape[:-2]:
        raise ValueError(
            f"{function}: x and {name} must have the same leading axes; they are not broadcast against each other.\n"
            f"  x:          {x.shape}\n  {name + ':':<11} {array.shape}"
        )


def prepare_backward(function, d_out, params, saved):
    for name, value, kind in (("params", params, MultiHeadParams), ("saved", saved, MultiHeadSaved)):
        if not isinstance(value, kind):
            raise TypeError(f"{function}: {name} must be a {kind.__name__}; got {type(value).__name__}.")
    (d_out, *_), dtype = as_float(function, d_out=d_out, **params.arrays())
    if d_out.shape != saved.x.shape:
        raise ValueError(
            f"{function}: d_out must have the shape (..., q, m) of x and out; got {d_out.shape}, x is {saved.x.shape}."
        )
    return d_out, params.map(lambda array: array.astype(d_out.dtype, copy=False)), dtype
