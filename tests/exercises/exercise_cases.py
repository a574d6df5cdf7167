"""Every registered exercise, function and known mistake, to be a test's parameter.

A new exercise is tested by being registered; nothing is to be added here.
"""

import pytest

from attnlib.exercises.engine.registry import registry

EXERCISES = list(registry().values())
FUNCTIONS = [exercise for exercise in EXERCISES if not exercise.value]
MISTAKES = [(exercise, mistake) for exercise in EXERCISES for mistake in exercise.mistakes]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
every_function = pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
every_mistake = pytest.mark.parametrize("exercise, mistake", MISTAKES, ids=lambda x: x.id)


def bits(*ids):
    return frozenset(ids)
