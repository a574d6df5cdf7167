"""Exercises of chapter 7: `backward`, `merge`, `derive`.

The known mistakes in `backward` are a file of their own, `backward_mistakes`.
"""
