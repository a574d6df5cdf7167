"""Exercises of chapter 8: `waves`, `rotation`, `scores`, `backward`, `slopes`."""
