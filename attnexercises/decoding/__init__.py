"""Exercises of chapter 10: `cache`, `numbers`."""
