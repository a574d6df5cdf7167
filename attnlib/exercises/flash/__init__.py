"""Exercises of chapter 6: `forward`, `backward`, `merge`, `numbers`, the bug to `spot`.

`family` holds the known mistakes, `accepts` other right ways.
"""

from attnlib.exercises.flash.forward import suspect

__all__ = [
    "suspect",
]
