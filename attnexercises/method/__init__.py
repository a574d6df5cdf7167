"""Observe how an answer computes its result.

Some exercises ask for a method and not only for the right numbers: to read a row only once, or never to hold all scores
at the same time. `trace` records which numbers of its arguments a call uses, and for what. `access` reads from such
a record how many numbers were used at once, and in which order. `memory` measures how many bytes a call holds for each
pair of tokens.
"""
