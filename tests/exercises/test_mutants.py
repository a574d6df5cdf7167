"""How strong are the probes? Every small slip in a solution is rejected, unless a person found it to be right."""

import numpy as np
from equivalents import EQUIVALENTS
from exercise_cases import every_function
from mutants import mutants

from attnlib.exercises import grade
from attnlib.exercises.engine import calls
from attnlib.exercises.engine.registry import registry
from attnlib.exercises.engine.source import solution_source


@every_function
def test_every_slip_in_the_solution_is_rejected(exercise, monkeypatch):
    reviewed, full = EQUIVALENTS.get(exercise.id, {}), calls.TIME_LIMIT
    survivors, count = [], 0
    for description, source in mutants(solution_source(exercise)):
        namespace = {"np": np}
        exec(compile(source, description, "exec"), namespace)
        count += 1
        # A slip may run for ever, so it has half a second; what is known to be right has all the time of a reader.
        monkeypatch.setattr(calls, "TIME_LIMIT", full if description in reviewed else 0.5)
        if grade(exercise, namespace[exercise.id]).status == "passed":
            survivors.append(description)
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
