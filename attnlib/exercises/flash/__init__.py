"""Exercises of chapter 6: `forward`, `numbers`, the bug to `spot`.

`family` holds the known mistakes, `accepts` other right ways.
"""

from attnlib.exercises.flash.forward import suspect

__all__ = [
    "suspect",
]
