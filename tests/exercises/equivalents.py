"""Mutants that a check lets pass because they are right answers: exercise id, mutant, reason. Read one by one."""

EQUIVALENTS = {}
