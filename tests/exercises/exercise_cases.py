"""Every registered exercise and every function among them, to be a test's parameter.

A new exercise is tested by being registered; nothing is to be added here.
"""

import pytest

from attnexercises.engine.registry import registry

EXERCISES = list(registry().values())
FUNCTIONS = [exercise for exercise in EXERCISES if not exercise.value]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
every_function = pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)


def bits(*ids):
    return frozenset(ids)
