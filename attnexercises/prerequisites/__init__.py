"""Exercises on what the book needs: `products` of arrays, `sums`, the `chain_rule`, an array used `twice`.

`accepts` holds other right ways.
What is said to the known mistakes: `chain_rule_mistakes`.
"""
