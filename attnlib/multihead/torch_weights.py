"""Parameters from and to the state dict of a `torch.nn.MultiheadAttention`, without PyTorch."""

from collections.abc import Mapping

import numpy as np

from attnlib.checks.arrays import as_float, as_integer
from attnlib.multihead.params import MultiHeadParams


def from_torch(state_dict, heads):
    """Parameters from the state dict of a `torch.nn.MultiheadAttention`. Needs no PyTorch.

    PyTorch computes ``x @ weight.T``, so every weight is transposed here; and it stacks the weights of
    query, key and value on top of each other in one array (3 m, m), unless keys or values have a width
    of their own (``kdim``, ``vdim``). Which columns belong to which head is the same.

    Parameters
    ----------
    state_dict : mapping from str to array_like of any shape
        For example ``module.state_dict()`` or an opened ``.npz`` file.
    heads : int
        The module's ``num_heads``, which the state dict does not hold.

    Returns
    -------
    params : MultiHeadParams

    Raises
    ------
    TypeError
        If `state_dict` is not a mapping, `heads` is not an integer or an entry does not hold real numbers.
    ValueError
        If an entry is missing, unknown or of a wrong shape, or the module was made with
        ``add_bias_kv=True``: additional keys and values that are learned are not supported.

    Examples
    --------
    >>> state = {"in_proj_weight": np.ones((12, 4)), "out_proj.weight": np.ones((4, 4))}
    >>> from_torch(state, heads=2).query_weight.shape
    (4, 4)
    """
    name = "from_torch"
    if not isinstance(state_dict, Mapping):
        raise TypeError(
            f"{name}: state_dict must be a mapping from names to arrays, such as module.state_dict(); "
            f"got {type(state_dict).__name__}."
        )
    heads = as_integer(name, "heads", heads, minimum=1)
    given = set(state_dict)
    if given & {"bias_k", "bias_v"}:
        raise ValueError(f"{name}: bias_k and bias_v (add_bias_kv=True) are not supported.")
    packed = "in_proj_weight" in given
    weights = {"in_proj_weight"} if packed else {f"{which}_proj_weight" for which in "qkv"}
    required, optional = weights | {"out_proj.weight"}, {"in_proj_bias", "out_proj.bias"}
    if not required <= given <= required | optional:
        raise ValueError(
            f"{name}: state_dict must hold {', '.join(sorted(required))} and may hold {', '.join(sorted(optional))}; "
            f"got {', '.join(sorted(given))}."
        )
    arrays, dtype = as_float(name, **{key: state_dict[key] for key in state_dict})
    # Copies, or a later training step of the module would change what was taken from it.
    arrays = {key: array.astype(dtype) for key, array in zip(state_dict, arrays, strict=True)}
    for key, axes in {key: 2 if key.endswith("weight") else 1 for key in arrays}.items():
        if arrays[key].ndim != axes or key.startswith("in_proj") and len(arrays[key]) % 3:
            expected = "a first axis of 3 m" if key.startswith("in_proj") else "two axes"
            raise ValueError(f"{name}: {key} has the wrong shape {arrays[key].shape}; expected {expected}.")
    width = len(arrays["in_proj_weight"]) // 3 if packed else len(arrays["q_proj_weight"])
    if width % heads:
        raise ValueError(f"{name}: heads must divide the {width} rows of the query's weight; got {heads}.")
    stacked = np.split(arrays["in_proj_weight"], 3) if packed else [arrays[f"{which}_proj_weight"] for which in "qkv"]
    biases = np.split(arrays["in_proj_bias"], 3) if "in_proj_bias" in given else [None] * 3
    names = ("query", "key", "value", "out")
    transposed = (weight.T for weight in (*stacked, arrays["out_proj.weight"]))
    fields = {f"{which}_weight": weight for which, weight in zip(names, transposed, strict=True)}
    fields |= {f"{which}_bias": bias for which, bias in zip(names, (*biases, arrays.get("out_proj.bias")), strict=True)}
    try:
        return MultiHeadParams(heads=heads, **fields)
    except ValueError as error:
        reason = str(error).replace("MultiHeadParams:", f"{name}: transposed, the arrays do not fit:")
        raise ValueError(reason) from error


def to_torch(params):
    """The state dict of a `torch.nn.MultiheadAttention` with these parameters, as NumPy arrays.

    Turn each into a tensor for ``load_state_dict``. The weights of query, key and value are packed into one
    array unless keys or values have a width of their own. PyTorch has all biases or none: if some are
    missing here, they become zeros there, which computes the same.

    Parameters
    ----------
    params : MultiHeadParams

    Returns
    -------
    state_dict : dict from str to ndarray of the shapes above
        Weights (3·m, m), or three of (m, m), (m, key_width), (m, value_width); biases (3·m,); and the output's.

    Raises
    ------
    TypeError
        If `params` is not a `MultiHeadParams`.
    ValueError
        If PyTorch's module cannot hold them: it has as many key heads as query heads, and d and v are
        both m / heads.

    Examples
    --------
    >>> from attnlib.multihead import init_multihead
    >>> params = init_multihead(np.random.default_rng(0), m=4, heads=2, bias=True)
    >>> {name: array.shape for name, array in to_torch(params).items()}
    {'in_proj_weight': (12, 4), 'in_proj_bias': (12,), 'out_proj.weight': (4, 4), 'out_proj.bias': (4,)}
    """
    if not isinstance(params, MultiHeadParams):
        raise TypeError(f"to_torch: params must be a MultiHeadParams; got {type(params).__name__}.")
    m, heads = params.m, params.heads
    if params.kv_heads != heads or not params.d * heads == params.v * heads == m:
        raise ValueError(
            "to_torch: torch.nn.MultiheadAttention needs kv_heads = heads and d = v = m / heads; "
            f"got m {m}, heads {heads}, kv_heads {params.kv_heads}, d {params.d}, v {params.v}."
        )
    arrays = params.arrays()
    weights = [arrays[f"{which}_weight"].T for which in ("query", "key", "value")]
    if all(weight.shape == (m, m) for weight in weights):
        state_dict = {"in_proj_weight": np.concatenate(weights)}
    else:
        state_dict = {f"{which}_proj_weight": weight.copy() for which, weight in zip("qkv", weights, strict=True)}
    if any(name.endswith("bias") for name in arrays):
        zeros = np.zeros(m, params.query_weight.dtype)
        biases = [arrays.get(f"{which}_bias", zeros) for which in ("query", "key", "value", "out")]
        state_dict["in_proj_bias"] = np.concatenate(biases[:3])
    state_dict["out_proj.weight"] = arrays["out_weight"].T.copy()
    if "in_proj_bias" in state_dict:
        state_dict["out_proj.bias"] = biases[3].copy()
    return state_dict
