"""One flat dict for all parameters of a model, and the part of it that belongs to one layer.

Adam, a file of weights and a count of parameters want a flat dict; a layer wants `MultiHeadParams`. A name of layer i
begins with ``"i."``.
"""

import numpy as np

from attnlib.checks.arrays import as_float, as_integer
from attnlib.multihead import MultiHeadParams
from attnlib.training.arguments import as_params

# The names of the attention in a layer.
ATTENTION = {f"{which}_weight" for which in ("query", "key", "value", "out")}

# What a complete block has beside its attention.
BLOCK = {"attention_gain", "mlp_gain", "up_weight", "up_bias", "down_weight", "down_bias"}


def named(layer, arrays):
    """The arrays of a layer under their names in the flat dict.

    Examples
    --------
    >>> named(1, {"gain": 2.0})
    {'1.gain': 2.0}
    """
    return {f"{layer}.{name}": array for name, array in arrays.items()}


def of_layer(params, layer):
    """The arrays of one layer, under their names without its number.

    Examples
    --------
    >>> of_layer({"tokens": 0.0, "0.gain": 1.0, "1.gain": 2.0}, 1)
    {'gain': 2.0}
    """
    start = f"{layer}."
    return {name.removeprefix(start): array for name, array in params.items() if name.startswith(start)}


def as_multihead(arrays, heads):
    """The attention of one layer as `MultiHeadParams`.

    Examples
    --------
    >>> as_multihead({f"{which}_weight": np.ones((4, 4)) for which in ("query", "key", "value", "out")}, heads=2).d
    2
    """
    return MultiHeadParams(heads=heads, **{name: arrays[name] for name in sorted(ATTENTION)})


def as_model(function, params, heads, outside, inside=frozenset()):
    """The parameters of a model, checked and in one dtype; the dtype to return; the number of layers.

    Parameters
    ----------
    function : str
        Name of the public function, for the error message.
    params : dict from str to array_like
    heads : int
    outside, inside : set of str
        The names of the arrays outside of the layers, and those in each layer beside its attention.

    Examples
    --------
    >>> params = {f"0.{which}_weight": np.ones((4, 4)) for which in ("query", "key", "value", "out")}
    >>> params |= {"tokens": np.ones((3, 4)), "unembedding": np.ones((4, 3))}
    >>> as_model("attention_only", params, 2, {"tokens", "unembedding"})[2]
    1
    """
    params, dtype = as_params(function, params)
    heads = as_integer(function, "heads", heads, minimum=1)
    layers = len({name.partition(".")[0] for name in params} - set(outside))
    expected = set(outside) | {f"{layer}.{name}" for layer in range(layers) for name in ATTENTION | set(inside)}
    if layers == 0 or params.keys() != expected:
        missing, unknown = sorted(expected - params.keys()), sorted(params.keys() - expected)
        raise ValueError(
            f"{function}: params must hold {', '.join(sorted(outside))} and the arrays of at least one layer.\n"
            f"  missing: {', '.join(missing) or 'none'}\n  unknown: {', '.join(unknown) or 'none'}"
        )
    _check_outside(function, {name: params[name] for name in sorted(outside)})
    m = params["unembedding"].shape[0]
    for layer in range(layers):
        width = as_multihead(of_layer(params, layer), heads).m  # says what is wrong with the layer's own shapes
        if width != m:
            raise ValueError(f"{function}: layer {layer} is made for tokens of width {width}, the unembedding for {m}.")
    return params, dtype, layers


def _check_outside(function, arrays):
    m, k = arrays["unembedding"].shape if arrays["unembedding"].ndim == 2 else (0, 0)
    expected = {"tokens": (k, m), "positions": (*arrays.get("positions", np.empty(0)).shape[:1], m), "gain": (m,)}
    if m == 0 or any(array.shape != expected.get(name, array.shape) for name, array in arrays.items()):
        shapes = "\n".join(f"  {name + ':':<12} {array.shape}" for name, array in arrays.items())
        axes = "tokens (k, m), positions (n, m), gain (m,), unembedding (m, k)"
        raise ValueError(f"{function}: the shapes in params must be {axes}.\n{shapes}")


def as_block(function, x, params, heads):
    """The tokens and the parameters of one complete block, checked and in one dtype; and the dtype to return.

    Examples
    --------
    >>> as_block("block", [[1.0]], {"gain": [1.0]}, 1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: block: params must hold attention_gain, ..., value_weight; got gain.
    """
    params, _ = as_params(function, params)
    heads = as_integer(function, "heads", heads, minimum=1)
    if params.keys() != ATTENTION | BLOCK:
        expected = ", ".join(sorted(ATTENTION | BLOCK))
        raise ValueError(f"{function}: params must hold {expected}; got {', '.join(sorted(params))}.")
    (x, *arrays), dtype = as_float(function, x=x, **params)
    params = dict(zip(params, arrays, strict=True))
    m = as_multihead(params, heads).m
    if x.ndim < 2 or x.shape[-1] != m:
        raise ValueError(f"{function}: x must have the shape (..., n, m) with m = {m}; got {x.shape}.")
    return x, params, dtype
