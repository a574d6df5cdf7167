"""Exercises of chapter 5: `forward`, `backward`, `grouped`, `numbers`, the bug to `spot`; `heads` is what they share."""

from attnlib.exercises.multihead.forward import suspect

__all__ = [
    "suspect",
]
