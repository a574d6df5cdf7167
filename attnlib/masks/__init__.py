"""Masks: which query may look at which key.

A mask is a boolean array, True = this query may look at this key, that broadcasts to the
shape (..., q, k) of the scores. (`torch.nn.MultiheadAttention` means the opposite by True.)
A float array is a mask too: it is added to the scores, and ``-inf`` in it hides a key.

Read in this order:

1. `patterns`: causal, sliding-window and prefix masks, and how masks combine.
2. `padding`: texts of several lengths in one array, padded to one length.
"""

from attnlib.masks.padding import padding_mask
from attnlib.masks.patterns import causal_mask, combine_masks, prefix_mask, sliding_window_mask

__all__ = [
    "causal_mask",
    "sliding_window_mask",
    "prefix_mask",
    "combine_masks",
    "padding_mask",
]
