"""Exercises of chapter 7: `backward`, `merge`, `derive`, `ring`.

`accepts` holds other right ways.
"""
