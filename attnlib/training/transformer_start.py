"""Random parameters for the transformer: every array that a model of this shape has."""

import numpy as np

from attnlib.checks.arrays import as_float, as_float_dtype, as_integer, as_truth
from attnlib.multihead import init_multihead
from attnlib.training.arguments import as_generator
from attnlib.training.parameters import as_position_kind, named


def init_transformer(
    rng, *, vocabulary, m, heads, layers, positions="learned", n=None, norm=False, hidden=0, scale=1.0, dtype=np.float64
):
    """Random parameters for `transformer`, in a flat dict of arrays.

    Left alone, the options make a transformer of attention and nothing else. ``positions="rotary"``, ``norm=True`` and
    ``hidden=4 * m`` make the layer that many of today's models repeat.

    Parameters
    ----------
    rng : numpy.random.Generator
    vocabulary : int
        Number k of different tokens.
    m : int
        Width of a token.
    heads : int
        Heads of each layer, a divisor of m. With rotary positions, m / heads is even.
    layers : int
    positions : {"learned", "rotary", None}, default "learned"
        How the model is told the order of its tokens: by a learned row for each position, by rotating queries and
        keys, or not at all.
    n : int, optional
        Number of learned positions; needed for those and for nothing else.
    norm : bool, default False
        Normalise the tokens before each part and before the unembedding.
    hidden : int, default 0
        Hidden units of the feed-forward part of each layer; without any, that part is left out.
    scale : float, default 1.0
        Standard deviation of the rows of tokens and positions at the start.
    dtype : dtype, default float64

    Returns
    -------
    params : dict from str to ndarray of any shape
        ``"tokens"`` (k, m), ``"positions"`` (n, m) if they are learned, ``"gain"`` (m,) with a norm, ``"unembedding"``
        (m, k). For layer i, with ``"i."`` before the name: the four weights of `init_multihead`, ``"attention_gain"``
        and ``"mlp_gain"`` (m,) with a norm, and the four arrays of `mlp` if there are hidden units. Gains start at one,
        biases at zero.

    Raises
    ------
    TypeError
        If a size is not an integer, `rng` is not a generator, `norm` is not a truth value, or `dtype` is not a float
        dtype.
    ValueError
        If a size is less than 1, `n` is given without learned positions or missing with them, `heads` does not divide
        `m`, m / heads is odd with rotary positions, or `scale` is not a positive number.

    Examples
    --------
    >>> params = init_transformer(np.random.default_rng(0), vocabulary=5, n=7, m=6, heads=2, layers=1)
    >>> [(name, array.shape) for name, array in params.items()][:4]
    [('tokens', (5, 6)), ('positions', (7, 6)), ('unembedding', (6, 5)), ('0.query_weight', (6, 6))]
    >>> parts = dict(positions="rotary", norm=True, hidden=32)
    >>> params = init_transformer(np.random.default_rng(0), vocabulary=5, m=8, heads=2, layers=2, **parts)
    >>> sum(array.size for array in params.values())
    1736
    """
    name = "init_transformer"
    as_generator(name, rng)
    vocabulary = as_integer(name, "vocabulary", vocabulary, minimum=1)
    m, layers = as_integer(name, "m", m, minimum=1), as_integer(name, "layers", layers, minimum=1)
    heads, hidden = as_integer(name, "heads", heads, minimum=1), as_integer(name, "hidden", hidden, minimum=0)
    learned, norm = as_position_kind(name, positions) == "learned", as_truth(name, "norm", norm)
    if learned == (n is None):
        raise ValueError(f"{name}: n is the number of learned positions; got n {n} and positions {positions!r}.")
    if positions == "rotary" and m // heads % 2:
        raise ValueError(f"{name}: m / heads must be even, because features are rotated in pairs; got {m} / {heads}.")
    dtype = as_float_dtype(name, dtype)
    (scale,), _ = as_float(name, scale=scale)
    if scale.ndim or not 0 < scale < np.inf:
        raise ValueError(f"{name}: scale must be a positive, finite number; got {scale}.")
    params = {"tokens": scale * rng.standard_normal((vocabulary, m))}
    if learned:
        params["positions"] = scale * rng.standard_normal((as_integer(name, "n", n, minimum=1), m))
    if norm:
        params["gain"] = np.ones(m)
    params["unembedding"] = rng.standard_normal((m, vocabulary)) / np.sqrt(m)
    for layer in range(layers):
        arrays = init_multihead(rng, m=m, heads=heads).arrays()
        if norm:
            arrays["attention_gain"] = np.ones(m)
        if norm and hidden:
            arrays["mlp_gain"] = np.ones(m)
        if hidden:
            up, down = rng.standard_normal((m, hidden)) / np.sqrt(m), rng.standard_normal((hidden, m)) / np.sqrt(hidden)
            arrays |= {"up_weight": up, "up_bias": np.zeros(hidden), "down_weight": down, "down_bias": np.zeros(m)}
        params |= named(layer, arrays)
    return {key: array.astype(dtype) for key, array in params.items()}
