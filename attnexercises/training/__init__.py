"""Exercises of chapter 10: `losses`, `adam`, `spot`, `ablation`.

`accepts` holds other right ways.
"""
