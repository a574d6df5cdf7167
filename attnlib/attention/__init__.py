"""Attention and its gradients, written out: every score and every weight is an array you can look at.

Read in this order:

1. `plain`: attention, its backward, the gradient of an additive mask.
2. `grouped`: how query heads that share a key head become more rows of one head.
"""

from attnlib.attention.plain import attention, attention_backward, attention_mask_backward

__all__ = [
    "attention",
    "attention_backward",
    "attention_mask_backward",
]
