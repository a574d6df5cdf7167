"""Exercises of chapter 4: `causal`, `masked_softmax`, `padding`, `rules`, `distance_bias`, and the bug to `spot`.

The known mistakes of `padding` are in `padding_mistakes`.
"""

from attnexercises.masks.masked_softmax import suspect

__all__ = [
    "suspect",
]
