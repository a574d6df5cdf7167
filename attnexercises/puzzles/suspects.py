"""Wrong functions that look right: the page shows them, and the reader finds an input that exposes each."""

import numpy as np


def mean_shift_softmax(x):
    powers = np.exp(x - x.mean())
    return powers / powers.sum()


def filled_softmax(scores, mask):
    filled = np.where(mask, scores, -10.0)
    powers = np.exp(filled - filled.max())
    return powers / powers.sum()


def corner_mask(q, k):
    return np.tril(np.ones((q, k), dtype=bool))


def tiled_heads(query_heads, kv_heads):
    return np.tile(np.arange(kv_heads), query_heads // kv_heads)


def hasty_attention(scores, mask, values, block=2):
    top, total, out = -np.inf, 0.0, 0.0
    for start in range(0, len(scores), block):
        part = slice(start, start + block)
        if not mask[part].any():
            break  # nothing to see in this block
        seen = np.where(mask[part], scores[part], -np.inf)
        old, top = top, max(top, seen.max())
        powers = np.exp(seen - top)
        total = total * np.exp(old - top) + powers.sum()
        out = out * np.exp(old - top) + powers @ values[part]
    return out / total if total > 0 else 0.0
