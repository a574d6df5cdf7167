"""Exercises of chapter 8: `sinusoidal_encoding`, `rotary_embedding`, `rotary_scores`, `rotary_backward`, `alibi`.

`rotated_pairs` holds what three of them share: pairs of features that are rotated, right and wrong. `accepts` holds
other right ways.
"""
