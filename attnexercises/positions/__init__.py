"""Exercises of chapter 8: `sinusoidal_encoding`, `rotary_embedding`, `rotary_scores`, `rotary_backward`, `alibi`."""
