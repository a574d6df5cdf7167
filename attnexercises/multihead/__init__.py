"""Exercises of chapter 5.

Read in this order: `looks`, where a head looks and how that is judged; `built`, the heads that are built by hand; `heads`,
what the others share; `forward`, `backward`, `grouped`, `numbers`; the bug to `spot`.
`accepts` holds other right ways.
What is said to the known mistakes: `backward_mistakes`, `forward_mistakes`, `grouped_mistakes`.
"""

from attnexercises.multihead.forward import suspect

__all__ = [
    "suspect",
]
