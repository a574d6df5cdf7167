"""Exercises of chapter 8: `ring`."""
