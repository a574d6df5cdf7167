"""Exercises of chapter 3: `backward`, `additive`, `numbers`, and the bug to `spot`; the chapter shows its `suspect`.

`accepts` holds other right ways.
What is said to the known mistakes: `additive_mistakes`, `backward_mistakes`.
"""

from attnexercises.gradients.backward import suspect

__all__ = [
    "suspect",
]
