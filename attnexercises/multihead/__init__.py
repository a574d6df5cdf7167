"""Exercises of chapter 5.

Read in this order: `looks`, where a head looks and how that is judged; `built`, the heads that are built by hand; `heads`,
what the others share; `forward`, `backward`, `grouped`, `numbers`; the bug to `spot`.
"""

from attnexercises.multihead.forward import suspect

__all__ = [
    "suspect",
]
