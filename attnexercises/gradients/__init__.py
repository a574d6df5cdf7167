"""Exercises of chapter 3: `backward`, `additive`, `numbers`, and the bug to `spot`; the chapter shows its `suspect`."""

from attnexercises.gradients.backward import suspect

__all__ = [
    "suspect",
]
