"""Exercises of chapter 4: `causal`, `masked_softmax`, `padding`, `distance_bias`, and the bug to `spot`.

`accepts` holds other right ways.
"""

from attnlib.exercises.masks.masked_softmax import suspect

__all__ = [
    "suspect",
]
