"""Exercises on what the book needs: `products` of arrays, `sums`, the `chain_rule`, an array used `twice`."""
