"""A transformer of attention alone: embedding, positions, layers that add to the tokens, unembedding; its gradients."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_float, as_float_dtype, as_integer, as_truth, quiet
from attnlib.multihead import (
    MultiHeadSaved,
    init_multihead,
    merge_heads,
    multihead_attention,
    multihead_attention_backward,
    split_heads,
)
from attnlib.training.arguments import as_generator, as_tokens
from attnlib.training.embedding import add_positions, add_positions_backward, embed, embed_backward
from attnlib.training.layers import as_model, as_multihead, named, of_layer


class ModelSaved(NamedTuple):
    """What `attention_only` keeps for its backward, and for a look inside.

    Attributes
    ----------
    tokens : ndarray of shape (..., n)
    layers : tuple of MultiHeadSaved
        ``layers[0].weights`` of shape (..., h, n, n) are the weights of every head of the first layer.
    x : ndarray of shape (..., n, m)
        The tokens after the last layer.
    without : frozenset
        The heads that were taken out, as pairs (layer, head).
    """

    tokens: np.ndarray
    layers: tuple[MultiHeadSaved, ...]
    x: np.ndarray
    without: frozenset

    @property
    def weights(self):
        """The attention weights of each layer, (..., h, n, n): a list."""
        return [layer.weights for layer in self.layers]


def init_attention_only(rng, *, vocabulary, n, m, heads, layers, scale=1.0, dtype=np.float64):
    """Random parameters for `attention_only`, in a flat dict of arrays.

    Parameters
    ----------
    rng : numpy.random.Generator
    vocabulary : int
        Number k of different tokens.
    n : int
        Number of positions.
    m : int
        Width of a token.
    heads : int
        Heads of each layer, a divisor of m.
    layers : int
    scale : float, default 1.0
        Standard deviation of the rows of tokens and positions at the start.
    dtype : dtype, default float64

    Returns
    -------
    params : dict from str to ndarray of any shape
        ``"tokens"`` (k, m), ``"positions"`` (n, m), ``"unembedding"`` (m, k), and for layer i
        ``"i.query_weight"``, ``"i.key_weight"``, ``"i.value_weight"``, ``"i.out_weight"``.

    Raises
    ------
    TypeError
        If a size is not an integer, `rng` is not a generator, or `dtype` is not a float dtype.
    ValueError
        If a size is less than 1, `heads` does not divide `m`, or `scale` is not a positive number.

    Examples
    --------
    >>> params = init_attention_only(np.random.default_rng(0), vocabulary=5, n=7, m=6, heads=2, layers=1)
    >>> [(name, array.shape) for name, array in params.items()][:4]
    [('tokens', (5, 6)), ('positions', (7, 6)), ('unembedding', (6, 5)), ('0.query_weight', (6, 6))]
    """
    name = "init_attention_only"
    as_generator(name, rng)
    vocabulary = as_integer(name, "vocabulary", vocabulary, minimum=1)
    n, m = as_integer(name, "n", n, minimum=1), as_integer(name, "m", m, minimum=1)
    layers = as_integer(name, "layers", layers, minimum=1)
    dtype = as_float_dtype(name, dtype)
    (scale,), _ = as_float(name, scale=scale)
    if scale.ndim or not 0 < scale < np.inf:
        raise ValueError(f"{name}: scale must be a positive, finite number; got {scale}.")
    params = {
        "tokens": scale * rng.standard_normal((vocabulary, m)),
        "positions": scale * rng.standard_normal((n, m)),
        "unembedding": rng.standard_normal((m, vocabulary)) / np.sqrt(m),
    }
    for layer in range(layers):
        params |= named(layer, init_multihead(rng, m=m, heads=heads).arrays())
    return {key: array.astype(dtype) for key, array in params.items()}


@quiet
def attention_only(tokens, params, *, heads, causal=True, without=()):
    r"""Scores for the token that belongs at each position, from attention layers alone.

    .. math:: x^0 = tokens + positions, \qquad x^{i+1} = x^i + \operatorname{attention}_i(x^i), \qquad
              logits = x^L\, unembedding

    Each layer adds to what is there, so heads of a later layer read what an earlier one wrote, and the
    whole is a sum over the paths from token to logit.

    Parameters
    ----------
    tokens : array_like of shape (..., n)
        Integers.
    params : dict from str to array_like of any shape
        As `init_attention_only` makes them.
    heads : int
        Heads of each layer.
    causal : bool, default True
        Let a position look at itself and earlier ones only. The last logits then speak of the next token.
    without : set of (layer, head), or dict from (layer, head) to array_like of any shape, optional
        Heads to take out (ablation): the output of a head, (..., n, v), is replaced by zero, or by the array
        under its name, which broadcasts to that shape. See `head_means`.

    Returns
    -------
    logits : ndarray of shape (..., n, k)
    saved : ModelSaved
        For `attention_only_backward`; ``saved.weights`` to look at. The weights of a head that is taken
        out are still there: nobody listens to what it found.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit, a token is unknown, or a head in `without` does not exist.

    References
    ----------
    .. [1] Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits": attention-only models.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> params = init_attention_only(rng, vocabulary=5, n=7, m=6, heads=2, layers=1)
    >>> logits, saved = attention_only([[1, 2, 3]], params, heads=2)
    >>> logits.shape, saved.weights[0].shape
    ((1, 3, 5), (1, 2, 3, 3))
    """
    name = "attention_only"
    params, dtype, layers = as_model(name, params, heads, {"tokens", "positions", "unembedding"})
    causal = as_truth(name, "causal", causal)
    tokens = as_tokens(name, "tokens", tokens, len(params["tokens"]))
    without = _as_ablation(name, without, layers, heads)
    x = add_positions(embed(params["tokens"], tokens), params["positions"])
    saved = []
    for layer in range(layers):
        weights_of_layer = as_multihead(of_layer(params, layer), heads)
        out, inside = multihead_attention(x, weights_of_layer, causal=causal)
        if any(place[0] == layer for place in without):
            inside = inside._replace(merged=_taken_out(name, inside.merged, layer, heads, without))
            out = inside.merged @ weights_of_layer.out_weight
        x = x + out
        saved.append(inside)
    logits = x @ params["unembedding"]
    return logits.astype(dtype, copy=False), ModelSaved(tokens, tuple(saved), x, frozenset(without))


@quiet
def attention_only_backward(d_logits, params, saved):
    """Gradients of `attention_only` with respect to all parameters.

    What a layer adds to the tokens leaves them as they are beside it, so the gradient of x goes past every
    layer unchanged, and what comes back through the layer is added.

    Parameters
    ----------
    d_logits : array_like of shape (..., n, k)
        Gradient of the loss with respect to the logits.
    params : dict from str to array_like of any shape
        As given to `attention_only`.
    saved : ModelSaved
        What `attention_only` returned.

    Returns
    -------
    d_params : dict from str to ndarray of any shape
        Each gradient under the name of its parameter.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If `d_logits` does not have the shape of the logits, or heads were taken out in the forward:
        an ablation is for looking, not for training.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> params = init_attention_only(rng, vocabulary=5, n=7, m=6, heads=2, layers=1)
    >>> logits, saved = attention_only([[1, 2, 3]], params, heads=2)
    >>> d_params = attention_only_backward(rng.normal(size=logits.shape), params, saved)
    >>> d_params.keys() == params.keys(), d_params["tokens"].shape
    (True, (5, 6))
    """
    name = "attention_only_backward"
    if not isinstance(saved, ModelSaved):
        raise TypeError(f"{name}: saved must be a ModelSaved; got {type(saved).__name__}.")
    heads = saved.layers[0].weights.shape[-3]
    params, dtype, layers = as_model(name, params, heads, {"tokens", "positions", "unembedding"})
    if saved.without:
        raise ValueError(f"{name}: heads {sorted(saved.without)} were taken out in the forward; run it without that.")
    (d_logits,), _ = as_float(name, d_logits=d_logits)
    expected = (*saved.tokens.shape, params["unembedding"].shape[1])
    if d_logits.shape != expected:
        raise ValueError(f"{name}: d_logits must have the shape (..., n, k) = {expected}; got {d_logits.shape}.")
    d_logits = d_logits.astype(saved.x.dtype, copy=False)
    # forward: logits = x @ unembedding
    d_params = {"unembedding": _rows(saved.x).mT @ _rows(d_logits)}
    d_x = d_logits @ params["unembedding"].mT
    for layer in reversed(range(layers)):
        # forward: x = x + multihead_attention(x)
        weights_of_layer = as_multihead(of_layer(params, layer), heads)
        d_through, _, d_layer = multihead_attention_backward(d_x, weights_of_layer, saved.layers[layer])
        d_x = d_x + d_through
        d_params |= named(layer, d_layer.arrays())
    # forward: x = add_positions(embed(tokens), positions)
    d_embedded, d_params["positions"] = add_positions_backward(d_x, params["positions"])
    d_params["tokens"] = embed_backward(d_embedded, params["tokens"], saved.tokens)
    return {key: d_params[key].astype(dtype, copy=False) for key in params}


def head_means(saved):
    """The mean output of every head at every position: what to put in its place instead of zero.

    A head that always says about the same is heard as a constant by what comes after it. Zero takes that away
    too and can do more harm than the loss of what the head found; its mean takes away only what it found.

    Parameters
    ----------
    saved : ModelSaved
        What `attention_only` returned for many sequences.

    Returns
    -------
    means : dict from (layer, head) to ndarray of shape (n, v)
        Choose those to be replaced: ``without={place: means[place]}``.

    Raises
    ------
    TypeError
        If `saved` is not a `ModelSaved`.

    References
    ----------
    .. [1] Wang et al. (2023), "Interpretability in the Wild", section 2: mean ablation.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> params = init_attention_only(rng, vocabulary=5, n=7, m=6, heads=2, layers=1)
    >>> _, saved = attention_only(rng.integers(5, size=(9, 4)), params, heads=2)
    >>> means = head_means(saved)
    >>> sorted(means), means[0, 1].shape
    ([(0, 0), (0, 1)], (4, 3))
    """
    if not isinstance(saved, ModelSaved):
        raise TypeError(f"head_means: saved must be a ModelSaved; got {type(saved).__name__}.")
    means = {}
    for layer, inside in enumerate(saved.layers):
        heads = inside.weights.shape[-3]
        outputs = split_heads(inside.merged, heads)  # (..., h, n, v)
        of_layer = outputs.mean(axis=tuple(range(outputs.ndim - 3)))
        means |= {(layer, head): of_layer[head] for head in range(heads)}
    return means


def _as_ablation(function, without, layers, heads):
    # From head to what stands in its place.
    if isinstance(without, (str, bytes)) or not hasattr(without, "__iter__"):
        raise TypeError(f"{function}: without must be a set of pairs (layer, head); got {without!r}.")
    replaced = dict(without) if isinstance(without, Mapping) else {}
    for place in without:
        if not isinstance(place, tuple) or len(place) != 2:
            raise TypeError(f"{function}: without must hold pairs (layer, head); got {place!r}.")
        layer = as_integer(function, "a layer in without", place[0], minimum=0)
        head = as_integer(function, "a head in without", place[1], minimum=0)
        if layer >= layers or head >= heads:
            raise ValueError(f"{function}: without names {place}; there are {layers} layers of {heads} heads, from 0.")
        replaced.setdefault(place, 0.0)
    return replaced


def _taken_out(function, merged, layer, heads, without):
    outputs = split_heads(merged, heads)  # a view; `merged` was made by this very call
    for (of_layer, head), array in without.items():
        if of_layer == layer:
            (array,), _ = as_float(function, **{f"without[{of_layer}, {head}]": array})
            place = outputs[..., head, :, :]
            try:
                place[...] = array
            except ValueError:
                raise ValueError(
                    f"{function}: without[{of_layer}, {head}] must broadcast to the output of a head, "
                    f"(..., n, v) = {place.shape}; got {array.shape}."
                ) from None
    return merge_heads(outputs)


def _rows(x):
    return x.reshape(-1, x.shape[-1])
