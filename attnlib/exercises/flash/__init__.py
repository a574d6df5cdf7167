"""Exercises of chapter 6: `numbers`, `by_hand`, `forward`, the bug to `spot`, `traffic`.

`family` holds the known mistakes, `accepts` other right ways.
"""

from attnlib.exercises.flash.forward import suspect

__all__ = [
    "suspect",
]
