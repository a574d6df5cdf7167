"""Exercises of chapter 1: `forward`, `backward`, `temperature`, `online`.

`stable` is the softmax of other exercises, `accepts` holds other right ways.
What is said to the known mistakes: `backward_mistakes`, `forward_mistakes`, `online_mistakes`, `temperature_mistakes`.
"""
