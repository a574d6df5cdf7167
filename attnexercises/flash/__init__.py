"""Exercises of chapter 6: `online`, `numbers`, `causal_tiles`, `by_hand`, `forward`, the bug to `spot`, `traffic`.

The known mistakes in `forward` are a file of their own, `forward_mistakes`.
"""

from attnexercises.flash.forward import suspect

__all__ = [
    "suspect",
]
