"""Parameters with biases, and the layer as one head after the other."""

import numpy as np
import oracles

from attnlib.multihead import init_multihead

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, Q, K, M, D, V = 2, 4, 3, 6, 5, 7
SIZES = dict(m=M, d=D, v=V, bias=True)
NAMES = [f"{which}_{kind}" for which in ("query", "key", "value", "out") for kind in ("weight", "bias")]


def make_params(rng, heads=3, kv_heads=None, **sizes):
    params = init_multihead(rng, heads=heads, kv_heads=kv_heads, **(SIZES | sizes))
    # Biases start at zero; a test needs them to be something.
    return params.map(lambda array: array if array.ndim == 2 else rng.normal(size=array.shape))


def by_oracle(x, params, context=None, **options):
    for_keys, for_values = context if isinstance(context, tuple) else (x if context is None else context,) * 2
    arrays = params.arrays()
    weights = [arrays[f"{which}_weight"] for which in ("query", "key", "value", "out")]
    biases = [arrays.get(f"{which}_bias", np.zeros(w.shape[1])) for which, w in zip(("query", "key", "value", "out"), weights, strict=True)]
    return oracles.multihead_attention(x, for_keys, for_values, weights, biases, params.heads, params.kv_heads, **options)
