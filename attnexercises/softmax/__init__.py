"""Exercises of chapter 1: `forward`, `backward`, `temperature`.

`stable` is the softmax of other exercises.
"""
