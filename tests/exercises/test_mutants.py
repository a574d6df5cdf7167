"""How strong are the probes? Every small slip in a solution is rejected, unless a person found it to be right."""

import numpy as np
import pytest
from equivalents import EQUIVALENTS
from mutants import mutants

from attnlib.exercises import grade
from attnlib.exercises.engine import calls
from attnlib.exercises.engine.registry import registry
from attnlib.exercises.engine.source import solution_source

FUNCTIONS = [exercise for exercise in registry().values() if not exercise.value]


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
def test_every_slip_in_the_solution_is_rejected(exercise, monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.5)
    survivors, count = [], 0
    for description, source in mutants(solution_source(exercise)):
        namespace = {"np": np}
        exec(compile(source, description, "exec"), namespace)
        count += 1
        if grade(exercise, namespace[exercise.id]).status == "passed":
            survivors.append(description)
    reviewed = EQUIVALENTS.get(exercise.id, {})
    assert count >= 5
    assert set(survivors) - set(reviewed) == set(), "these slips pass: add a probe, or write them into equivalents.py"
    assert set(reviewed) - set(survivors) == set(), "these are rejected by now: take them out of equivalents.py"


def test_the_list_of_right_mutants_names_exercises_and_reasons():
    for id, reviewed in EQUIVALENTS.items():
        assert id in registry()
        assert all(len(reason) > 10 for reason in reviewed.values())


def test_the_mutation_finds_the_usual_slips():
    found = dict(mutants("def f(x, y):\n    z = x.sum(axis=-1, keepdims=True) - y\n    return z / 2\n"))
    for slip in (
        "x.sum(axis=-1, keepdims=True) - y -> x.sum(axis=-1, keepdims=True) + y",
        "x.sum(axis=-1, keepdims=True) - y -> y - x.sum(axis=-1, keepdims=True)",
        "x.sum(axis=-1, keepdims=True) -> x.sum(axis=-1)",
        "x.sum(axis=-1, keepdims=True) -> x.sum(keepdims=True)",
        "x.sum -> x.mean",
        "-1 -> 1",
        "True -> False",
        "2 -> 3",
        "z = x.sum(axis=-1, keepdims=True) - y -> pass",
        "def f(x, y) -> def f(y, x)",
    ):
        assert slip in found, slip
