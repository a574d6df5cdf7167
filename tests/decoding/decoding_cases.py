"""Sizes, a cache of that size, and a sequence that comes in chunks."""

import numpy as np
from array_tools import query_key_value

from attnlib.decoding import KVCache, attend_with_cache

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, H, G, N, D, V = 2, 6, 3, 7, 5, 4


def make_inputs(rng, h=H, g=G, n=N, dtype=np.float64):
    return query_key_value(rng, (B, h), g, n, n, D, V, dtype)


def make_cache(capacity=N, g=G, dtype=np.float64, kind=KVCache):
    return kind(capacity, leading=(B, g), d=D, v=V, dtype=dtype)


def in_chunks(query, key, value, cache, sizes, mask=None, **options):
    """Attend chunk by chunk; the outputs side by side."""
    outs, start = [], 0
    for n in sizes:
        part = slice(start, start + n)
        seen = None if mask is None else mask[..., part, : start + n]
        out, weights = attend_with_cache(
            *(array[..., part, :] for array in (query, key, value)), cache, mask=seen, **options
        )
        assert weights.shape == (*query.shape[:-2], n, len(cache))
        outs.append(out)
        start += n
    return np.concatenate(outs, axis=-2)
