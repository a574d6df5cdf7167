"""Exercises of chapter 7: `backward`, `merge`, `derive`, `ring`.

`accepts` holds other right ways.
What is said to the known mistakes: `backward_mistakes`, `merge_mistakes`.
"""
