"""All parameters of a model in one flat dict, and the part of the dict that belongs to one layer.

Adam, a file of weights and a count of parameters are simplest with a flat dict, while a layer needs `MultiHeadParams`.
The names of layer i begin with ``"i."``.
"""

import numpy as np

from attnlib.checks.arrays import as_integer
from attnlib.multihead import MultiHeadParams
from attnlib.training.arguments import as_params

# The names of the arrays in a layer: the attention is always there, the feed-forward part may be left out.
ATTENTION = ("query_weight", "key_weight", "value_weight", "out_weight")
MLP = ("up_weight", "up_bias", "down_weight", "down_bias")

POSITIONS = ("learned", "rotary", None)


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
    return MultiHeadParams(heads=heads, **{name: arrays[name] for name in ATTENTION})


def as_position_kind(function, positions):
    """Return `positions` if it is one of the ways in which a model can be told the order of its tokens.

    Examples
    --------
    >>> as_position_kind("transformer", "rotary")
    'rotary'
    """
    if not (positions is None or isinstance(positions, str)) or positions not in POSITIONS:
        raise ValueError(f"{function}: positions must be 'learned', 'rotary' or None; got {positions!r}.")
    return positions


def as_model(function, params, heads, positions):
    """The parameters of a model, checked and in one dtype; the dtype to return; the number of layers.

    The norm and the feed-forward part are in the model if any of their arrays is; then all of them have to be there.

    Parameters
    ----------
    function : str
        Name of the public function, for the error message.
    params : dict from str to array_like
    heads : int
    positions : {"learned", "rotary", None}

    Examples
    --------
    >>> params = {f"0.{which}_weight": np.ones((4, 4)) for which in ("query", "key", "value", "out")}
    >>> params |= {"tokens": np.ones((3, 4)), "unembedding": np.ones((4, 3))}
    >>> as_model("transformer", params, 2, "rotary")[2]
    1
    """
    params, dtype = as_params(function, params)
    heads = as_integer(function, "heads", heads, minimum=1)
    layers = len({name.partition(".")[0] for name in params if name.partition(".")[0].isdigit()})
    found = {name.rpartition(".")[2] for name in params}
    norm, mlp = not found.isdisjoint({"gain", "attention_gain", "mlp_gain"}), not found.isdisjoint(MLP)
    outside = ["tokens", *["positions"] * (positions == "learned"), *["gain"] * norm, "unembedding"]
    inside = [*ATTENTION, *["attention_gain"] * norm, *["mlp_gain"] * (norm and mlp), *MLP * mlp]
    expected = {*outside, *(f"{layer}.{name}" for layer in range(layers) for name in inside)}
    if layers == 0 or params.keys() != expected:
        missing, unknown = sorted(expected - params.keys()), sorted(params.keys() - expected)
        raise ValueError(
            f"{function}: params must hold {', '.join(outside)} and the arrays of at least one layer.\n"
            f"  missing: {', '.join(missing) or 'none'}\n  unknown: {', '.join(unknown) or 'none'}"
        )
    m, k = params["unembedding"].shape if params["unembedding"].ndim == 2 else (0, 0)
    fitting = {"tokens": (k, m), "positions": (*params.get("positions", np.empty(0)).shape[:1], m), "gain": (m,)}
    if m == 0 or any(params[name].shape != fitting.get(name, params[name].shape) for name in outside):
        shapes = "\n".join(f"  {name + ':':<12} {params[name].shape}" for name in outside)
        axes = "tokens (k, m), positions (n, m), gain (m,), unembedding (m, k)"
        raise ValueError(f"{function}: the shapes in params must be {axes}.\n{shapes}")
    for layer in range(layers):
        width = as_multihead(of_layer(params, layer), heads).m  # raises if the layer's own shapes do not fit together
        if width != m:
            raise ValueError(f"{function}: layer {layer} is made for tokens of width {width}, the unembedding for {m}.")
    return params, dtype, layers
