"""Exercises of chapter 9: `sinusoidal_encoding`, `rotary_embedding`, `rotary_scores`, `rotary_backward`, `alibi`."""
