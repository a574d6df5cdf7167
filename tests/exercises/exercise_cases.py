"""Every registered exercise and every function among them, to be a test's parameter.

A new exercise is tested by being registered; nothing is to be added here.
"""

import itertools

import pytest

from attnexercises.engine.edits import fit_together
from attnexercises.engine.registry import registry

EXERCISES = list(registry().values())
FUNCTIONS = [exercise for exercise in EXERCISES if not exercise.value]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
every_function = pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)


def bits(*ids):
    return frozenset(ids)


def pairs(exercise):
    """The ids of every two mistakes that one answer can make."""
    both = itertools.combinations(exercise.mistakes, 2)
    return [(one.id, other.id) for one, other in both if fit_together(exercise, one, other)]
