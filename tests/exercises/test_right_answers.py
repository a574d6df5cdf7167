"""Right answers in other styles: each way of writing a function is accepted for every function exercise.

Every push tries each style on some exercises, with one of their accepted answers, always the same ones; the thorough run
tries each style on every accepted answer of every exercise.
"""

import ast
import zlib
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from accepted import accepted
from exercise_cases import FUNCTIONS, every_function
from mutants import function_tree
from styles import COMPUTED, NOT_POSSIBLE, STYLES, ways

from attnexercises import grade
from attnexercises.engine.calls import argument_names
from attnexercises.engine.registry import registry


def turn(exercise, style):
    """A number for each pair, always the same one: which answer is handed over, and whether on every push."""
    return zlib.crc32(f"{exercise.id}, {style}".encode())


def of_every_push():
    """Every sixth pair; of the exercises of Flash attention, whose method takes a second to judge, every eighteenth."""
    for exercise in FUNCTIONS:
        one_in = 18 if exercise.id in ("flash_forward", "flash_backward") else 6
        for style in STYLES:
            if turn(exercise, style) % one_in == 0:
                yield exercise, style


def passes(exercise, style, way):
    result = grade(exercise, STYLES[style](ways(exercise)[way], argument_names(exercise)))
    assert result.status == "passed", (way, result.lines)


@pytest.mark.parametrize(
    "exercise, style",
    list(of_every_push()),
    ids=lambda part: getattr(part, "id", part),
)
def test_a_right_answer_passes_in_this_style(exercise, style):
    names = list(ways(exercise))
    passes(exercise, style, names[turn(exercise, style) // 9 % len(names)])


def test_every_push_has_each_style_and_each_exercise():
    pairs = list(of_every_push())
    assert min(Counter(style for _, style in pairs).values()) >= 3
    assert {exercise.id for exercise, _ in pairs} == {exercise.id for exercise in FUNCTIONS}


@pytest.mark.thorough
@every_function
@pytest.mark.parametrize("style", STYLES)
def test_every_right_answer_passes_in_every_style(exercise, style):
    for way in ways(exercise):
        passes(exercise, style, way)


@every_function
def test_a_function_can_be_computed_in_every_way_that_its_formula_permits(exercise):
    for style in COMPUTED:
        if (exercise.id, style) in NOT_POSSIBLE:
            assert style not in accepted(exercise.id)
            continue
        function = accepted(exercise.id).get(style, exercise.solution)
        assert _USES[style](function_tree(function)), (
            f"{exercise.id} by {style}: no accepted answer does it; add one to tests/exercises/accepted/{exercise.chapter}.py, "
            "or a reason to NOT_POSSIBLE in tests/exercises/styles.py"
        )


def _calls(name):
    return lambda tree: any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(tree))


def _repeats(tree):
    return any(isinstance(node, (ast.For, ast.While, ast.comprehension)) for node in ast.walk(tree))


_USES = {"loops": _repeats, "einsum": _calls("einsum"), "tensordot": _calls("tensordot"), "where": _calls("where")}


def test_what_is_not_possible_concerns_exercises_and_has_a_reason():
    for (id, style), reason in NOT_POSSIBLE.items():
        assert id in {exercise.id for exercise in FUNCTIONS} and style in COMPUTED
        assert len(reason) > 20


VALUES = [exercise for exercise in registry().values() if exercise.value]
NUMBERS = [  # an input that exposes something is no number of its own kind
    exercise for exercise in VALUES if np.asarray(exercise.solution()).dtype.kind in "fi" and not exercise.behaviour
]


def _parts(change, value):
    return tuple(change(part) for part in value) if isinstance(value, tuple) else change(value)


KINDS = {
    "Fraction": lambda number: Fraction(str(number)),
    "Decimal": lambda number: Decimal(str(number)),
    "float": float,
    "float64": np.float64,
    "array": np.asarray,
    "longdouble": np.longdouble,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exercise", NUMBERS, ids=lambda exercise: exercise.id)
def test_a_right_number_passes_in_every_kind(exercise, kind):
    value = _parts(KINDS[kind], exercise.solution())
    for answer in (value, lambda: value):
        result = grade(exercise, answer)
        assert result.status == "passed", result.lines
