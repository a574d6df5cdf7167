"""Exercises of chapter 5: the heads that are `built` by hand and how they are judged, `looks`; `forward`, `backward`,
`grouped`, `numbers`, the bug to `spot`; `heads` is what these share.
"""

from attnlib.exercises.multihead.forward import suspect

__all__ = [
    "suspect",
]
