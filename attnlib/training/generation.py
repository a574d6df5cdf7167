"""Text from the transformer, token by token, with a cache for each layer."""

import numpy as np

from attnlib.checks.arrays import as_float, as_integer, quiet
from attnlib.decoding import KVCache
from attnlib.softmax import softmax
from attnlib.training.arguments import as_generator, as_tokens
from attnlib.training.parameters import as_model, as_position_kind
from attnlib.training.transformer_model import run_layers, unembed


@quiet
def generate(prompt, params, *, heads, steps, positions="learned", rng=None, temperature=1.0):
    r"""Continue a prompt token by token, with a cache for each layer.

    The model reads the prompt once (the prefill), then each new token alone. A token is drawn with the
    probabilities :math:`\operatorname{softmax}(logits / temperature)`; at temperature 0 it is the likeliest one.

    Parameters
    ----------
    prompt : array_like of shape (..., n)
        At least one token.
    params : dict from str to array_like of any shape
        As given to `transformer`, whose residual and causal mask the model has.
    heads : int
    steps : int
        How many tokens to add.
    positions : {"learned", "rotary", None}, default "learned"
        As for `transformer`.
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
        If the prompt is empty, a token is unknown, `temperature` is negative or not finite, or the text needs more
        learned positions than there are.

    Examples
    --------
    >>> from attnlib.training import init_transformer
    >>> parts = dict(positions="rotary", norm=True, hidden=32)
    >>> params = init_transformer(np.random.default_rng(0), vocabulary=5, m=8, heads=2, layers=2, **parts)
    >>> generate([1, 2], params, heads=2, steps=4, positions="rotary", temperature=0).shape
    (6,)
    """
    name = "generate"
    as_position_kind(name, positions)
    params, _, layers = as_model(name, params, heads, positions)
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
    new, options = tokens, dict(heads=heads, positions=positions, residual=True, causal=True)
    for _ in range(steps):
        x, _ = run_layers(new, params, caches, **options)
        new = _draw(unembed(x[..., -1, :], params), temperature, rng)[..., np.newaxis]
        tokens = np.concatenate([tokens, new], axis=-1)
    return tokens


def _draw(logits, temperature, rng):
    if temperature == 0:
        return logits.argmax(axis=-1)
    below = softmax(logits.astype(np.float64) / temperature).cumsum(axis=-1)
    # A dart between 0 and 1 hits the first token whose cumulative probability is above it.
    dart = rng.random(logits.shape[:-1])[..., np.newaxis] * below[..., -1:]
    return (below <= dart).sum(axis=-1).astype(np.int64)
