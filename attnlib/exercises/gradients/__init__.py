"""Exercises of chapter 3: `backward`, `additive`, `numbers`, and the bug to `spot`, whose `suspect` the chapter shows."""

from attnlib.exercises.gradients.backward import suspect

__all__ = [
    "suspect",
]
