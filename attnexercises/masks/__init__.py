"""Exercises of chapter 4: `causal`, `masked_softmax`, `padding`, `distance_bias`, and the bug to `spot`.

`accepts` holds other right ways.
What is said to the known mistakes: `distance_bias_mistakes`, `masked_softmax_mistakes`, `padding_mistakes`.
"""

from attnexercises.masks.masked_softmax import suspect

__all__ = [
    "suspect",
]
