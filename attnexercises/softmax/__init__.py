"""Exercises of chapter 1: `forward`, `backward`, `temperature`, `online`.

`stable` is the softmax of other exercises.
"""
