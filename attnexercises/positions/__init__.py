"""Exercises of chapter 8: `waves`, `rotation`, `scores`, `backward`, `slopes`.

`turning` holds what three of them share: pairs of features that turn, right and wrong. `accepts` holds other right ways.
"""
