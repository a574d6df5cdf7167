"""Exercises of chapter 1: `forward`, `backward`, `temperature`, `training`.

`stable` is the softmax of other exercises.
"""
