"""Exercises of chapter 13: `norms`, `activations`."""
