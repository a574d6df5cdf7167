"""Exercises of chapter 4: `causal`, `masked_softmax`, `padding`, and the bug to `spot`, whose `suspect` the chapter shows."""

from attnlib.exercises.masks.masked_softmax import suspect

__all__ = [
    "suspect",
]
