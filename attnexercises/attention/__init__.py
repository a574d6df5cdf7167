"""Exercises of chapter 2: `distance`, `forward`, `numbers`, and the bug to `spot`, whose `suspect` the chapter shows.

`accepts` holds other right ways.
What is said to the known mistakes: `distance_mistakes`, `forward_mistakes`.
"""

from attnexercises.attention.forward import suspect

__all__ = [
    "suspect",
]
