"""A small language model: embedding, complete blocks, norm, unembedding; its gradients; text from it, with a cache."""

from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_float, as_float_dtype, as_integer, quiet
from attnlib.decoding import KVCache
from attnlib.softmax import softmax
from attnlib.training.arguments import as_generator, as_tokens
from attnlib.training.complete_block import BlockSaved, block, block_backward, block_decode, init_block
from attnlib.training.embedding import embed, embed_backward
from attnlib.training.layers import BLOCK, as_model, named, of_layer
from attnlib.training.normalisation import rms_norm, rms_norm_backward

_OUTSIDE = {"tokens", "gain", "unembedding"}


class LanguageModelSaved(NamedTuple):
    """What `language_model` keeps for its backward.

    Attributes
    ----------
    tokens : ndarray of shape (..., n)
    layers : tuple of BlockSaved
    x : ndarray of shape (..., n, m)
        The tokens after the last block, before the norm.
    """

    tokens: np.ndarray
    layers: tuple[BlockSaved, ...]
    x: np.ndarray

    @property
    def weights(self):
        """The attention weights of each layer, (..., h, n, n): a list."""
        return [layer.attention.weights for layer in self.layers]


def init_language_model(rng, *, vocabulary, m, heads, layers, hidden=None, dtype=np.float64):
    """Random parameters for `language_model`, in a flat dict of arrays.

    Parameters
    ----------
    rng : numpy.random.Generator
    vocabulary : int
        Number k of different tokens.
    m : int
        Width of a token; m / heads is even.
    heads, layers : int
    hidden : int, optional
        Hidden units of each MLP; 4·m if left out.
    dtype : dtype, default float64

    Returns
    -------
    params : dict from str to ndarray of any shape
        ``"tokens"`` (k, m), ``"gain"`` (m,), ``"unembedding"`` (m, k), and those of `init_block` with ``"i."``
        before the name for layer i.

    Raises
    ------
    TypeError
        If a size is not an integer, `rng` is not a generator, or `dtype` is not a float dtype.
    ValueError
        If a size is less than 1, or m / heads is not an even number.

    Examples
    --------
    >>> params = init_language_model(np.random.default_rng(0), vocabulary=5, m=8, heads=2, layers=2)
    >>> sum(array.size for array in params.values())
    1736
    """
    name = "init_language_model"
    as_generator(name, rng)
    vocabulary = as_integer(name, "vocabulary", vocabulary, minimum=1)
    m, layers = as_integer(name, "m", m, minimum=1), as_integer(name, "layers", layers, minimum=1)
    dtype = as_float_dtype(name, dtype)
    params = {
        "tokens": rng.standard_normal((vocabulary, m)),
        "gain": np.ones(m),
        "unembedding": rng.standard_normal((m, vocabulary)) / np.sqrt(m),
    }
    for layer in range(layers):
        params |= named(layer, init_block(rng, m=m, heads=heads, hidden=hidden))
    return {key: array.astype(dtype) for key, array in params.items()}


@quiet
def language_model(tokens, params, *, heads):
    """Scores for the next token at every position.

    There are no learned positions: each block turns its queries and keys, so a sequence may be of any length.

    Parameters
    ----------
    tokens : array_like of shape (..., n)
        Integers.
    params : dict from str to array_like of any shape
        As `init_language_model` makes them.
    heads : int

    Returns
    -------
    logits : ndarray of shape (..., n, k)
        Row i speaks of the token after token i, and depends on the tokens 0 to i.
    saved : LanguageModelSaved

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit or a token is unknown.

    Examples
    --------
    >>> params = init_language_model(np.random.default_rng(0), vocabulary=5, m=8, heads=2, layers=2)
    >>> logits, saved = language_model([[1, 2, 3]], params, heads=2)
    >>> logits.shape, len(saved.weights)
    ((1, 3, 5), 2)
    """
    name = "language_model"
    params, dtype, layers = as_model(name, params, heads, _OUTSIDE, BLOCK)
    tokens = as_tokens(name, "tokens", tokens, len(params["tokens"]))
    x, saved = embed(params["tokens"], tokens), []
    for layer in range(layers):
        x, inside = block(x, of_layer(params, layer), heads=heads)
        saved.append(inside)
    logits = rms_norm(x, params["gain"]) @ params["unembedding"]
    return logits.astype(dtype, copy=False), LanguageModelSaved(tokens, tuple(saved), x)


@quiet
def language_model_backward(d_logits, params, saved):
    """Gradients of `language_model` with respect to all parameters.

    Parameters
    ----------
    d_logits : array_like of shape (..., n, k)
        Gradient of the loss with respect to the logits.
    params : dict from str to array_like of any shape
        As given to `language_model`.
    saved : LanguageModelSaved
        What `language_model` returned.

    Returns
    -------
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
    >>> params = init_language_model(rng, vocabulary=5, m=8, heads=2, layers=2)
    >>> logits, saved = language_model([[1, 2, 3]], params, heads=2)
    >>> language_model_backward(rng.normal(size=logits.shape), params, saved)["1.up_bias"].shape
    (32,)
    """
    name = "language_model_backward"
    if not isinstance(saved, LanguageModelSaved):
        raise TypeError(f"{name}: saved must be a LanguageModelSaved; got {type(saved).__name__}.")
    heads = saved.weights[0].shape[-3]
    params, dtype, layers = as_model(name, params, heads, _OUTSIDE, BLOCK)
    (d_logits,), _ = as_float(name, d_logits=d_logits)
    expected = (*saved.tokens.shape, params["unembedding"].shape[1])
    if d_logits.shape != expected:
        raise ValueError(f"{name}: d_logits must have the shape (..., n, k) = {expected}; got {d_logits.shape}.")
    d_logits, d_params = d_logits.astype(saved.x.dtype, copy=False), {}
    # forward: logits = normal @ unembedding
    normal = rms_norm(saved.x, params["gain"])
    d_params["unembedding"] = _rows(normal).mT @ _rows(d_logits)
    d_normal = d_logits @ params["unembedding"].mT
    # forward: normal = rms_norm(x)
    d_x, d_params["gain"] = rms_norm_backward(d_normal, saved.x, params["gain"])
    for layer in reversed(range(layers)):
        # forward: x = block(x)
        d_x, d_layer = block_backward(d_x, of_layer(params, layer), saved.layers[layer])
        d_params |= named(layer, d_layer)
    # forward: x = embed(tokens)
    d_params["tokens"] = embed_backward(d_x, params["tokens"], saved.tokens)
    return {key: d_params[key].astype(dtype, copy=False) for key in params}


def generate(prompt, params, *, heads, steps, rng=None, temperature=1.0):
    r"""Continue a prompt token by token, with a cache for each block.

    The prompt goes through the model once (the prefill), then each new token alone. A token is drawn with the
    probabilities :math:`\operatorname{softmax}(logits / temperature)`; at temperature 0 it is the likeliest one.

    Parameters
    ----------
    prompt : array_like of shape (..., n)
        At least one token.
    params : dict from str to array_like of any shape
        As given to `language_model`.
    heads : int
    steps : int
        How many tokens to add.
    rng : numpy.random.Generator, optional
        Where the draws come from; not needed at temperature 0.
    temperature : float, default 1.0
        Below 1 the likely tokens become likelier.

    Returns
    -------
    tokens : ndarray of shape (..., n + steps)
        The prompt and what follows.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or `rng` is left out where it is needed.
    ValueError
        If the prompt is empty, a token is unknown, or `temperature` is negative or not finite.

    Examples
    --------
    >>> params = init_language_model(np.random.default_rng(0), vocabulary=5, m=8, heads=2, layers=2)
    >>> generate([1, 2], params, heads=2, steps=4, temperature=0).shape
    (6,)
    """
    name = "generate"
    params, dtype, layers = as_model(name, params, heads, _OUTSIDE, BLOCK)
    steps = as_integer(name, "steps", steps, minimum=0)
    tokens = as_tokens(name, "prompt", prompt, len(params["tokens"]))
    if tokens.ndim < 1 or tokens.shape[-1] == 0:
        raise ValueError(f"{name}: prompt must have the shape (..., n) with at least one token; got {tokens.shape}.")
    (temperature,), _ = as_float(name, temperature=temperature)
    if temperature.ndim or not 0 <= temperature < np.inf:
        raise ValueError(f"{name}: temperature must be one finite number, at least 0; got {temperature}.")
    if temperature > 0:
        as_generator(name, rng)
    *leading, n = tokens.shape
    d = params["0.query_weight"].shape[1] // heads
    caches = [KVCache(n + steps, leading=(*leading, heads), d=d, dtype=params["tokens"].dtype) for _ in range(layers)]
    new = tokens
    for _ in range(steps):
        logits = _next_logits(new, params, caches, heads)
        new = _draw(logits, temperature, rng)[..., np.newaxis]
        tokens = np.concatenate([tokens, new], axis=-1)
    return tokens


@quiet
def _next_logits(tokens, params, caches, heads):
    # The logits after the last of some new tokens; the caches hold the blocks' past.
    x = embed(params["tokens"], tokens)
    for layer, cache in enumerate(caches):
        x, _ = block_decode(x, of_layer(params, layer), cache, heads=heads)
    return rms_norm(x[..., -1:, :], params["gain"])[..., 0, :] @ params["unembedding"]


def _draw(logits, temperature, rng):
    if temperature == 0:
        return logits.argmax(axis=-1)
    below = softmax(logits.astype(np.float64) / temperature).cumsum(axis=-1)
    # A dart between 0 and 1: the first token whose cumulative probability is above it.
    dart = rng.random(logits.shape[:-1])[..., np.newaxis] * below[..., -1:]
    return (below <= dart).sum(axis=-1).astype(np.int64)


def _rows(x):
    return x.reshape(-1, x.shape[-1])
