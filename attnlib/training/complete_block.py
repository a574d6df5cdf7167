"""The block that today's models repeat: norm, attention with rotary positions, norm, MLP; each adds to the tokens."""

from typing import NamedTuple

import numpy as np

from attnlib.attention import attention, attention_backward
from attnlib.checks.arrays import as_float, as_float_dtype, as_integer, quiet, same_shape
from attnlib.decoding import KVCache, attend_with_cache
from attnlib.multihead import MultiHeadSaved, init_multihead, merge_heads, split_heads
from attnlib.multihead.projections import project, project_backward, project_heads
from attnlib.positions import rotary, rotary_backward
from attnlib.training.arguments import as_generator
from attnlib.training.feed_forward import mlp, mlp_backward
from attnlib.training.layers import as_block, as_multihead
from attnlib.training.normalisation import rms_norm, rms_norm_backward

_MLP = ("up_weight", "up_bias", "down_weight", "down_bias")


class BlockSaved(NamedTuple):
    """What `block` keeps for its backward.

    Attributes
    ----------
    x : ndarray of shape (..., n, m)
    attention : MultiHeadSaved
        Of the normalised tokens. Its query and key are turned by their positions.
    middle : ndarray of shape (..., n, m)
        The tokens between the attention and the MLP.
    before : ndarray of shape (..., n, k)
        The hidden units of the MLP before the bend.
    """

    x: np.ndarray
    attention: MultiHeadSaved
    middle: np.ndarray
    before: np.ndarray


def init_block(rng, *, m, heads, hidden=None, dtype=np.float64):
    """Random parameters for `block`.

    Parameters
    ----------
    rng : numpy.random.Generator
    m : int
        Width of a token; m / heads is even, because rotary positions turn pairs.
    heads : int
    hidden : int, optional
        Hidden units of the MLP; 4·m if left out.
    dtype : dtype, default float64

    Returns
    -------
    params : dict from str to ndarray of any shape
        The four weights of `init_multihead`; ``"attention_gain"`` and ``"mlp_gain"`` (m,), ones at the start; and
        the four arrays of `mlp`, the biases zero.

    Raises
    ------
    TypeError
        If a size is not an integer, `rng` is not a generator, or `dtype` is not a float dtype.
    ValueError
        If a size is less than 1, or m / heads is not an even number.

    Examples
    --------
    >>> params = init_block(np.random.default_rng(0), m=8, heads=2)
    >>> params["up_weight"].shape, params["mlp_gain"].shape
    ((8, 32), (8,))
    """
    name = "init_block"
    as_generator(name, rng)
    params = init_multihead(rng, m=m, heads=heads).arrays()
    hidden = as_integer(name, "hidden", 4 * m if hidden is None else hidden, minimum=1)
    if m // heads % 2:
        raise ValueError(f"{name}: m / heads must be even, because features are rotated in pairs; got {m} / {heads}.")
    params |= {
        "attention_gain": np.ones(m),
        "mlp_gain": np.ones(m),
        "up_weight": rng.standard_normal((m, hidden)) / np.sqrt(m),
        "up_bias": np.zeros(hidden),
        "down_weight": rng.standard_normal((hidden, m)) / np.sqrt(hidden),
        "down_bias": np.zeros(m),
    }
    return {key: array.astype(as_float_dtype(name, dtype)) for key, array in params.items()}


@quiet
def block(x, params, *, heads):
    r"""One block: the tokens look at each other, then each thinks for itself.

    .. math:: y = x + \operatorname{attention}(\operatorname{norm}(x)), \qquad
              out = y + \operatorname{mlp}(\operatorname{norm}(y))

    Parameters
    ----------
    x : array_like of shape (..., n, m)
    params : dict from str to array_like of any shape
        As `init_block` makes them.
    heads : int

    Returns
    -------
    out : ndarray of shape (..., n, m)
        The attention is causal: token i depends on the tokens 0 to i.
    saved : BlockSaved

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit.

    References
    ----------
    .. [1] Xiong et al. (2020), "On Layer Normalization in the Transformer Architecture", ICML: the norm before.
    .. [2] Su et al. (2021), "RoFormer: Enhanced Transformer with Rotary Position Embedding".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> out, saved = block(rng.normal(size=(3, 5, 8)), init_block(rng, m=8, heads=2), heads=2)
    >>> out.shape, saved.attention.weights.shape
    ((3, 5, 8), (3, 2, 5, 5))
    """
    x, params, dtype = as_block("block", x, params, heads)
    normal = rms_norm(x, params["attention_gain"])
    query, key, value = _rotated_heads(normal, as_multihead(params, heads), first=0)
    attended, weights = attention(query, key, value, causal=True)
    merged = merge_heads(attended)
    middle = x + project(merged, params["out_weight"], None)
    added, before = mlp(rms_norm(middle, params["mlp_gain"]), *(params[name] for name in _MLP))
    out = middle + added
    inside = MultiHeadSaved(normal, None, query, key, value, weights, merged)
    return out.astype(dtype, copy=False), BlockSaved(x, inside, middle, before)


@quiet
def block_backward(d_out, params, saved):
    """Gradients of `block` with respect to its tokens and parameters.

    Parameters
    ----------
    d_out : array_like of shape (..., n, m)
        Gradient of the loss with respect to the `out` of `block`.
    params : dict from str to array_like of any shape
        As given to `block`.
    saved : BlockSaved
        What `block` returned.

    Returns
    -------
    d_x : ndarray of shape (..., n, m)
    d_params : dict from str to ndarray of any shape
        Each gradient under the name of its parameter.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, params = rng.normal(size=(3, 5, 8)), init_block(rng, m=8, heads=2)
    >>> out, saved = block(x, params, heads=2)
    >>> d_x, d_params = block_backward(rng.normal(size=out.shape), params, saved)
    >>> d_x.shape, d_params["up_weight"].shape
    ((3, 5, 8), (8, 32))
    """
    name = "block_backward"
    if not isinstance(saved, BlockSaved):
        raise TypeError(f"{name}: saved must be a BlockSaved; got {type(saved).__name__}.")
    x, inside, middle, before = saved
    heads = inside.weights.shape[-3]
    _, params, _ = as_block(name, x, params, heads)
    (d_out, _), dtype = as_float(name, d_out=d_out, params=params["query_weight"])
    same_shape(name, d_out=d_out, x=x)
    d_params, positions = {}, np.arange(x.shape[-2], dtype=np.int64)
    # forward: out = middle + mlp(rms_norm(middle))
    arrays = [params[key] for key in _MLP]
    d_normal, *d_arrays = mlp_backward(d_out, rms_norm(middle, params["mlp_gain"]), *arrays, before)
    d_params |= dict(zip(_MLP, d_arrays, strict=True))
    d_through, d_params["mlp_gain"] = rms_norm_backward(d_normal, middle, params["mlp_gain"])
    d_middle = d_out + d_through
    # forward: middle = x + merged @ out_weight
    d_merged, d_params["out_weight"], _ = project_backward(d_middle, inside.merged, params["out_weight"])
    # forward: merged = merge_heads(attention(query, key, value))
    d_attended = split_heads(d_merged, heads)
    d_query, d_key, d_value = attention_backward(d_attended, inside.query, inside.key, inside.value, inside.weights)
    # forward: query, key = rotary(query, positions), rotary(key, positions)
    d_query, d_key = rotary_backward(d_query, positions), rotary_backward(d_key, positions)
    # forward: query, key, value = the heads of normal @ query_weight, normal @ key_weight, normal @ value_weight
    d_normal = np.zeros_like(d_middle)
    for which, d_heads in (("query", d_query), ("key", d_key), ("value", d_value)):
        d_part, d_weight, _ = project_backward(merge_heads(d_heads), inside.x, params[f"{which}_weight"])
        d_normal, d_params[f"{which}_weight"] = d_normal + d_part, d_weight
    # forward: normal = rms_norm(x)
    d_through, d_params["attention_gain"] = rms_norm_backward(d_normal, x, params["attention_gain"])
    d_x = d_middle + d_through
    return d_x.astype(dtype, copy=False), {key: d_params[key].astype(dtype, copy=False) for key in params}


@quiet
def block_decode(x, params, cache, *, heads):
    """Run `block` on new tokens only; the cache holds the turned keys and the values of the past.

    Parameters
    ----------
    x : array_like of shape (..., n, m)
        The new tokens.
    params : dict from str to array_like of any shape
        As given to `block`.
    cache : KVCache
        With the axes ``leading=(..., heads)``. It is changed. The first new token stands at position ``len(cache)``.
    heads : int

    Returns
    -------
    out : ndarray of shape (..., n, m)
        What `block` on the whole sequence returns for these tokens.
    weights : ndarray of shape (..., h, n, k)

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit or the cache is full.

    Examples
    --------
    >>> from attnlib.decoding import KVCache
    >>> rng = np.random.default_rng(0)
    >>> x, params = rng.normal(size=(5, 8)), init_block(rng, m=8, heads=2)
    >>> expected, _ = block(x, params, heads=2)
    >>> cache = KVCache(5, leading=(2,), d=4)
    >>> out = [block_decode(row, params, cache, heads=2)[0] for row in np.split(x, 5)]
    >>> bool(np.allclose(np.concatenate(out), expected))
    True
    """
    name = "block_decode"
    x, params, dtype = as_block(name, x, params, heads)
    if not isinstance(cache, KVCache):
        raise TypeError(f"{name}: cache must be a KVCache; got {type(cache).__name__}.")
    normal = rms_norm(x, params["attention_gain"])
    query, key, value = _rotated_heads(normal, as_multihead(params, heads), first=len(cache))
    attended, weights = attend_with_cache(query, key.astype(dtype, copy=False), value.astype(dtype, copy=False), cache)
    middle = x + project(merge_heads(attended), params["out_weight"], None)
    added, _ = mlp(rms_norm(middle, params["mlp_gain"]), *(params[name] for name in _MLP))
    return (middle + added).astype(dtype, copy=False), weights.astype(dtype, copy=False)


def _rotated_heads(normal, params, first):
    query, key, value = project_heads(normal, params)
    positions = np.arange(first, first + normal.shape[-2], dtype=np.int64)
    return rotary(query, positions), rotary(key, positions), value
