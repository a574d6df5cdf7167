"""Attention and its gradients, written out: every score and every weight is an array you can look at.

Read in this order:

1. `plain`: attention and its backward.
2. `grouped`: how query heads that share a key head become more rows of one head.
3. `mask_gradient`: the gradient of an additive mask.
"""

from attnlib.attention.mask_gradient import attention_mask_backward
from attnlib.attention.plain import attention, attention_backward

__all__ = [
    "attention",
    "attention_backward",
    "attention_mask_backward",
]
