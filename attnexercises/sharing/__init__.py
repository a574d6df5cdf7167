"""Exercises of chapter 8: `traffic` (what a ring sends), `backward` (its gradients), then `ring` (who computes how much under a causal mask)."""
