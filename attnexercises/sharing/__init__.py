"""Exercises of chapter 8: `traffic` (what a ring sends), then `ring` (who computes how much under a causal mask)."""
