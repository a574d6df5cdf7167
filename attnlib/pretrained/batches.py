"""From several texts to one array, and from the states of a batch to one vector for each text.

The bodies of `Pretrained.pad` and `Pretrained.pool`.
"""

import numpy as np

from attnlib.checks.arrays import as_float
from attnlib.masks import padding_mask
from attnlib.training.arguments import as_tokens


def padded(texts, filler):
    """The ids of all texts in one array (b, n), filled up on the right, and the length of each."""
    if not texts or any(text.ndim != 1 for text in texts):
        raise ValueError("pad: texts must hold at least one text, each an array of ids of shape (n,).")
    lengths = np.array([len(text) for text in texts])
    ids = np.full((len(texts), lengths.max()), filler)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = text
    return ids, lengths


def pooled(states, lengths=None):
    """The mean of the states (..., n, m) over the first `lengths` tokens of each text, scaled to length one."""
    (states,), dtype = as_float("pool", states=states)
    if states.ndim < 2:
        raise ValueError(f"pool: states must have the shape (..., n, m); got {states.shape}.")
    n = states.shape[-2]
    lengths = as_tokens("pool", "lengths", n if lengths is None else lengths, n + 1)
    if (lengths < 1).any():
        raise ValueError("pool: every length must be at least 1.")
    if lengths.ndim and lengths.shape != states.shape[:-2]:
        raise ValueError(f"pool: lengths must have the shape {states.shape[:-2]}, one for each text; got {lengths.shape}.")
    real = padding_mask(np.broadcast_to(lengths, states.shape[:-2]), n)  # (..., 1, n)
    mean = (real.astype(states.dtype) @ states)[..., 0, :] / lengths[..., np.newaxis]
    return (mean / np.linalg.norm(mean, axis=-1, keepdims=True)).astype(dtype, copy=False)
