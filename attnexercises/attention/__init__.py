"""Exercises of chapter 2: `distance`, `forward`, `numbers`, and the bug to `spot`, whose `suspect` the chapter shows."""

from attnexercises.attention.forward import suspect

__all__ = [
    "suspect",
]
