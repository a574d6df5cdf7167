"""Exercises of chapter 10: `losses`, `adam`, `spot`, `ablation`."""
