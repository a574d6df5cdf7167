"""Exercises of chapter 6: `numbers`, `causal_tiles`, `by_hand`, `forward`, the bug to `spot`, `traffic`.

`family` holds the known mistakes, `accepts` other right ways.
What is said to the known mistakes: `forward_mistakes`.
"""

from attnexercises.flash.forward import suspect

__all__ = [
    "suspect",
]
