"""How strong are the cases? Small slips in accepted answers are rejected, unless a person found them to be right.

Every push tries each slip in the solution of each exercise and in one more accepted answer; the thorough run tries those
in all the others.
"""

import ast
import functools
import zlib
from collections import Counter

import pytest
from accepted import accepted
from equivalent_ways import EQUIVALENT_WAYS
from equivalents import EQUIVALENTS
from exercise_cases import every_function
from mutants import function_tree, mutants
from styles import ways

from attnexercises import grade
from attnexercises.engine import calls, diagnose
from attnexercises.engine.registry import registry
from attnexercises.engine.timelimit import TimeUp, call_within


def of_every_push(exercise):
    """The solution, and one of the accepted ways, always the same."""
    others = list(accepted(exercise.id))
    return "solution", *others[zlib.crc32(exercise.id.encode()) % max(len(others), 1) :][:1]


@every_function
def test_every_slip_is_rejected(exercise, record_property):
    record_property("checked slips", sum(slips_rejected(exercise, way) for way in of_every_push(exercise)))


@pytest.mark.thorough
@every_function
def test_every_slip_in_every_other_way_is_rejected(exercise, record_property):
    others = set(ways(exercise)) - set(of_every_push(exercise))
    record_property("checked slips", sum(slips_rejected(exercise, way) for way in sorted(others)))


def slips_rejected(exercise, way):
    """Try every slip in one accepted answer; return how many there are."""
    reviewed, survivors, wrong, count = _reviewed(exercise.id, way), Counter(), 0, 0
    for description, slip in mutants(ways(exercise)[way]):
        count += 1
        # A slip may run for ever, so it may compute for half a second, a thousand times what it needs. One that is
        # known to be right gets more: to stop it would look like a rejection.
        right, returned = _on_the_cases(exercise, slip, 5.0 if description in reviewed else 0.5)
        if right and (description in reviewed or grade(exercise, slip).status == "passed"):
            survivors[description] += 1
        wrong += returned and not right
    assert wrong >= 3, f"{way}: {wrong} slips return wrong values; three should"
    unknown, stale = set(survivors) - set(reviewed), set(reviewed) - set(survivors)
    file = "equivalents.py" if way == "solution" else "one of equivalent_ways_*.py"
    assert not unknown, f"{way}: these slips pass: add a probe, or write them into {file}"
    assert not stale, f"{way}: these are rejected by now: take them out of {file}"
    return count


def _reviewed(id, way):
    if way == "solution":
        return EQUIVALENTS.get(id, {})
    return {slip: reason for reason, slips in EQUIVALENT_WAYS.get(id, {}).get(way, {}).items() for slip in slips}


def _on_the_cases(exercise, answer, seconds):
    """Is it right on all cases? And did it return numbers on the one where it is not? `seconds` are of the processor."""
    returned = False

    def first_wrong():
        nonlocal returned
        for probe, want in zip(exercise.probes, diagnose.expected(exercise), strict=True):
            outcome = calls.run_trusted(exercise, answer, probe)
            if not diagnose.is_right(exercise, outcome, want):
                returned = outcome.values is not None
                return True

    try:
        return not call_within(seconds, first_wrong), returned
    except TimeUp:
        return False, False


def test_the_lists_of_right_slips_name_exercises_ways_and_reasons():
    for id, reviewed in EQUIVALENTS.items():
        assert id in registry()
        assert all(len(reason) > 10 for reason in reviewed.values())
    for id, of_ways in EQUIVALENT_WAYS.items():
        assert set(of_ways) <= set(accepted(id))
        for reviewed in of_ways.values():
            assert all(len(reason) > 10 and slips for reason, slips in reviewed.items())


def test_a_right_slip_is_in_the_answer_that_it_changes():
    """An accepted answer may change and leave a slip behind, which the thorough run alone would find."""
    listed = [(id, "solution", slip) for id, reviewed in EQUIVALENTS.items() for slip in reviewed]
    listed += [(id, way, slip) for id, of_ways in EQUIVALENT_WAYS.items() for way in of_ways for slip in _reviewed(id, way)]
    written = functools.cache(lambda id, way: ast.unparse(function_tree(ways(registry()[id])[way])))
    # Places in brackets, as in x[i, j], are a tuple there and have no parentheses.
    lost = [(*place, slip) for *place, slip in listed if slip.partition(" -> ")[0].strip("()") not in written(*place)]
    assert lost == []


def slipped(x, y):
    z = x.sum(axis=-1, keepdims=True) - y
    return z[range(len(z))] / 2


def test_the_mutation_finds_the_usual_slips():
    found = dict(mutants(slipped))
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
        "range(len(z)) -> range(len(z) - 1)",
        "def slipped(x, y) -> def slipped(y, x)",
    ):
        assert slip in found, slip
    assert found["def slipped(x, y) -> def slipped(y, x)"] is not slipped


def test_the_mutation_finds_slips_in_a_lambda_and_in_subscripts():
    found = dict(mutants(lambda q, k, np: np.einsum("qd,kd->qk", q, k)))
    assert "'qd,kd->qk' -> 'qd,dk->qk'" in found
    assert "'qd,kd->qk' -> 'qd,kd->kq'" in found
    assert "np.einsum('qd,kd->qk', q, k) -> np.einsum(q, 'qd,kd->qk', k)" in found
