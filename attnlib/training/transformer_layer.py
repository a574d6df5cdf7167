"""One layer of the transformer: attention, then the feed-forward part, each with a norm before and a residual around.

Whether a layer has a norm and a feed-forward part is read off the names of its arrays.
"""

from typing import NamedTuple

import numpy as np

from attnlib.attention import attention, attention_backward
from attnlib.decoding import attend_with_cache
from attnlib.multihead import MultiHeadSaved, merge_heads, split_heads
from attnlib.multihead.projections import project, project_backward, project_heads
from attnlib.positions import rotary, rotary_backward
from attnlib.training.feed_forward import mlp, mlp_backward
from attnlib.training.normalisation import rms_norm, rms_norm_backward
from attnlib.training.parameters import MLP, as_multihead


class LayerSaved(NamedTuple):
    """What a layer keeps for its backward.

    Attributes
    ----------
    x : ndarray of shape (..., n, m)
    attention : MultiHeadSaved
        Of the normalised tokens. With rotary positions, its query and key are the rotated ones.
    middle : ndarray of shape (..., n, m)
        The tokens between the attention and the feed-forward part.
    before : ndarray of shape (..., n, k) or None
        The hidden units of the feed-forward part, before the activation; None without that part.
    """

    x: np.ndarray
    attention: MultiHeadSaved
    middle: np.ndarray
    before: np.ndarray | None


class TransformerSaved(NamedTuple):
    """What `transformer` keeps for its backward, and for a look inside.

    Attributes
    ----------
    tokens : ndarray of shape (..., n)
    layers : tuple of LayerSaved
        ``layers[0].attention`` holds what the heads of the first layer computed.
    x : ndarray of shape (..., n, m)
        The tokens after the last layer, before the last norm.
    positions : {"learned", "rotary", None}
    residual : bool
    without : frozenset
        The heads that were taken out, as pairs (layer, head).
    """

    tokens: np.ndarray
    layers: tuple[LayerSaved, ...]
    x: np.ndarray
    positions: str | None
    residual: bool
    without: frozenset

    @property
    def weights(self):
        """The attention weights of each layer, (..., h, n, n): a list."""
        return [layer.attention.weights for layer in self.layers]


def layer_forward(x, arrays, *, heads, rotate, residual, causal, window=None, cache=None, ablate=None):
    """Run a layer; with a cache, on new tokens only, whose keys and values are appended to it.

    Examples
    --------
    >>> arrays = {f"{which}_weight": np.eye(4) for which in ("query", "key", "value", "out")}
    >>> options = dict(heads=2, rotate=False, residual=True, causal=True)
    >>> layer_forward(np.ones((1, 4)), arrays, **options)[0]
    array([[2., 2., 2., 2.]])
    """
    normal = rms_norm(x, arrays["attention_gain"]) if "attention_gain" in arrays else x
    query, key, value = project_heads(normal, as_multihead(arrays, heads))
    if rotate:
        positions = _positions(x, 0 if cache is None else len(cache))
        query, key = rotary(query, positions), rotary(key, positions)
    if cache is None:
        attended, weights = attention(query, key, value, causal=causal, window=window)
    else:
        attended, weights = attend_with_cache(query, key, value, cache)
    merged = merge_heads(attended)
    if ablate is not None:
        merged = ablate(merged)
    added = project(merged, arrays["out_weight"], None)
    middle, before = x + added if residual else added, None
    inside = MultiHeadSaved(normal, None, query, key, value, weights, merged)
    if "up_weight" not in arrays:
        return middle, LayerSaved(x, inside, middle, before)
    normal = rms_norm(middle, arrays["mlp_gain"]) if "mlp_gain" in arrays else middle
    added, before = mlp(normal, *(arrays[name] for name in MLP))
    return middle + added if residual else added, LayerSaved(x, inside, middle, before)


def layer_backward(d_out, arrays, saved, *, rotate, residual):
    """The gradients of `layer_forward` with respect to its tokens and its arrays.

    A residual adds to the tokens and leaves them as they are, so the gradient passes the layer unchanged, and what
    comes back through the layer is added to it.

    Examples
    --------
    >>> arrays = {f"{which}_weight": np.eye(4) for which in ("query", "key", "value", "out")}
    >>> out, saved = layer_forward(np.ones((1, 4)), arrays, heads=2, rotate=False, residual=True, causal=True)
    >>> layer_backward(np.ones((1, 4)), arrays, saved, rotate=False, residual=True)[0]
    array([[2., 2., 2., 2.]])
    """
    x, inside, middle, before = saved
    d_arrays, d_middle = {}, d_out
    if before is not None:
        # forward: out = middle + mlp(normal)
        normal = rms_norm(middle, arrays["mlp_gain"]) if "mlp_gain" in arrays else middle
        d_through, *d_mlp = mlp_backward(d_out, normal, *(arrays[name] for name in MLP), before)
        d_arrays |= dict(zip(MLP, d_mlp, strict=True))
        # forward: normal = rms_norm(middle)
        if "mlp_gain" in arrays:
            d_through, d_arrays["mlp_gain"] = rms_norm_backward(d_through, middle, arrays["mlp_gain"])
        d_middle = d_out + d_through if residual else d_through
    # forward: middle = x + merged @ out_weight
    d_merged, d_arrays["out_weight"], _ = project_backward(d_middle, inside.merged, arrays["out_weight"])
    # forward: merged = merge_heads(attention(query, key, value))
    d_attended = split_heads(d_merged, inside.weights.shape[-3])
    d_query, d_key, d_value = attention_backward(d_attended, inside.query, inside.key, inside.value, inside.weights)
    if rotate:
        # forward: query, key = rotary(query, positions), rotary(key, positions)
        positions = _positions(x, 0)
        d_query, d_key = rotary_backward(d_query, positions), rotary_backward(d_key, positions)
    # forward: query, key, value = the heads of normal @ query_weight, normal @ key_weight, normal @ value_weight
    d_through = np.zeros_like(d_middle)
    for which, d_heads in (("query", d_query), ("key", d_key), ("value", d_value)):
        d_part, d_weight, _ = project_backward(merge_heads(d_heads), inside.x, arrays[f"{which}_weight"])
        d_through, d_arrays[f"{which}_weight"] = d_through + d_part, d_weight
    # forward: normal = rms_norm(x)
    if "attention_gain" in arrays:
        d_through, d_arrays["attention_gain"] = rms_norm_backward(d_through, x, arrays["attention_gain"])
    return d_middle + d_through if residual else d_through, d_arrays


def _positions(x, first):
    return np.arange(first, first + x.shape[-2], dtype=np.int64)
