"""Exercises of chapter 11: `paged`, `numbers`, `linear`."""
