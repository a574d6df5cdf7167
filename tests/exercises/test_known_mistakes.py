"""Every known mistake of every exercise, graded once: its name, its message, whether that is true, and its smallest case."""

import os
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import unreadable
from exercise_cases import EXERCISES, FUNCTIONS, every_exercise, every_function
from graded import graded, wrong_answer
from notebook_tools import unwrapped
from truth import false_clauses

from attnexercises import check, grade
from attnexercises.engine.calls import arguments, run
from attnexercises.engine.diagnose import is_right
from attnexercises.engine.model import Probe
from attnexercises.reader import commands

GOLDEN = Path(__file__).with_name("messages.txt")
VALUES = [exercise for exercise in EXERCISES if exercise.value]
every_value = pytest.mark.parametrize("exercise", VALUES, ids=lambda exercise: exercise.id)


def results(exercise):
    """Return (mistake, result) for each known mistake."""
    return [(mistake, graded(exercise, mistake)) for mistake in exercise.mistakes]


# --- what is said ---------------------------------------------------------------------------------


@every_exercise
def test_each_is_called_by_its_own_name(exercise):
    misnamed = {
        mistake.id: result.lines
        for mistake, result in results(exercise)
        if result.mistakes != (mistake.id,) or mistake.say not in result.lines[0]
    }
    assert misnamed == {}


@every_exercise
def test_what_is_said_to_it_is_true(exercise):
    false = {}
    for mistake, result in results(exercise):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = false_clauses(exercise, wrong_answer(exercise, mistake), result)
        false |= {mistake.id: (found, result.lines)} if found else {}
    assert false == {}


def reviewed():
    """The reviewed messages of each exercise, by its id. Those of an exercise begin with what is said to its solution."""
    blocks = re.split(r"^(?=\[x\] )", GOLDEN.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {block[4 : block.index(":")]: block for block in blocks if block}


@every_exercise
def test_all_messages_are_the_reviewed_ones(exercise):
    """Read the difference; ``ATTNLIB_GOLDEN=write`` in the environment accepts it."""
    all_results = [grade(exercise, exercise.solution), *(result for _, result in results(exercise))]
    said = "".join("\n".join(result.lines) + "\n" for result in all_results)
    if os.environ.get("ATTNLIB_GOLDEN") == "write":
        blocks = reviewed() | {exercise.id: said}
        GOLDEN.write_text("".join(blocks.get(each.id, "") for each in EXERCISES), encoding="utf-8")
    assert said == reviewed().get(exercise.id, "")


def test_the_reviewed_messages_are_of_these_exercises_in_this_order():
    assert list(reviewed()) == [exercise.id for exercise in EXERCISES]


@every_exercise
def test_no_message_offers_the_last_hint(exercise):
    last = f'hint("{exercise.id}", {len(exercise.hints)})'
    assert [mistake.id for mistake, result in results(exercise) if last in result.lines[-1]] == []


@every_exercise
def test_a_cell_prints_what_the_judge_says(exercise, monkeypatch, capsys):
    """Which judge a cell of a notebook asks, `test_exercise_notebooks.py` sees."""
    for mistake, result in results(exercise):
        monkeypatch.setattr(commands, "grade_apart", lambda *args, result=result, **options: result)
        check(exercise.id, wrong_answer(exercise, mistake))
        printed = capsys.readouterr().out
        assert unreadable(printed.splitlines()) == []
        assert mistake.say in unwrapped(printed)
        assert bool(result.case) == (f'case("{exercise.id}")' in unwrapped(printed))


# --- the smallest case ----------------------------------------------------------------------------


@every_function
def test_it_fails_on_its_smallest_case_and_the_solution_does_not(exercise):
    for mistake, result in results(exercise):
        found = result.case
        original = arguments(exercise, next(probe for probe in exercise.probes if probe.label == found.label))
        assert sum(map(np.size, found)) <= sum(map(np.size, original)), mistake.id
        one = replace(exercise, probes=(Probe("it", lambda rng, it=found: it.copy().arguments),))
        answer = wrong_answer(exercise, mistake)
        assert not is_right(one, run(one, answer, one.probes[0]), found.wanted), mistake.id
        assert is_right(one, run(one, exercise.solution, one.probes[0]), found.wanted), mistake.id


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
def test_the_same_answer_has_the_same_case(exercise):
    mistake = exercise.mistakes[0]
    found = graded(exercise, mistake).case
    again = grade(exercise, wrong_answer(exercise, mistake), details=True).case
    assert repr(found) == repr(again) and found._repr_html_() == again._repr_html_()


@every_value
def test_a_value_gives_nothing_away(exercise):
    for mistake, result in results(exercise):
        assert result == grade(exercise, wrong_answer(exercise, mistake)) and result.case is None
