"""Exercises of chapter 7: `backward`, `merge`.

`accepts` holds another right way.
"""
