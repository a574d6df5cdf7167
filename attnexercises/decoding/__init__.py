"""Exercises of chapter 9: `cache`, `numbers`, `paged`, `linear`."""
