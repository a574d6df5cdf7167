"""Exercises of chapter 12: `losses`, `adam`, `spot`, `ablation`."""
