"""Exercises of chapter 12: `losses`, `scores`, `ablation`, `adam`, `spot`."""
