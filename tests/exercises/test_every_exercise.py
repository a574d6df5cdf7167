"""Every registered exercise: right answers pass, in every form, and the exercise itself is whole."""

import ast
import inspect

import numpy as np
import pytest
from accepted import accepted
from exercise_cases import bits, every_exercise, every_function

from attnexercises import TODO, grade
from attnexercises.engine import diagnose
from attnexercises.engine.calls import argument_names, arguments, run
from attnexercises.engine.registry import BOOK_ORDER
from attnexercises.reader.source import solution_source


def passes(exercise, answer):
    result = grade(exercise, answer)
    assert result.status == "passed", "\n".join(result.lines)


# --- right answers --------------------------------------------------------------------------------


@every_exercise
def test_the_solution_passes(exercise):
    passes(exercise, exercise.solution)


@every_exercise
def test_the_source_that_readers_see_passes_and_needs_numpy_alone(exercise):
    namespace = {"np": np}
    exec(solution_source(exercise), namespace)
    passes(exercise, namespace[exercise.id])


@every_exercise
def test_every_other_right_way_passes(exercise):
    for name, answer in accepted(exercise.id).items():
        result = grade(exercise, answer)
        assert result.status == "passed", (name, result.lines)


def awkward(array):
    """The same numbers, read-only and not contiguous."""
    if not isinstance(array, np.ndarray) or array.ndim == 0:
        return array
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
    view = wide[..., 1::2]
    view[...] = array
    view.flags.writeable = False
    return view


@every_function
def test_the_solution_passes_on_read_only_arrays_that_are_not_contiguous(exercise):
    passes(exercise, lambda *args: exercise.solution(*map(awkward, args)))


@pytest.mark.thorough
@every_function
def test_every_other_right_way_passes_on_read_only_arrays_that_are_not_contiguous(exercise):
    for answer in accepted(exercise.id).values():
        passes(exercise, lambda *args, answer=answer: answer(*map(awkward, args)))


@every_exercise
def test_oracle_solution_and_family_agree(exercise):
    for probe, want in zip(exercise.probes, diagnose.expected(exercise), strict=True):
        assert all(not np.isnan(part).any() for part in want if part.dtype.kind == "f")
        for function in (exercise.solution, exercise.family(bits())):
            outcome = run(exercise, function, probe)
            assert diagnose.is_right(exercise, outcome, want), (probe.label, outcome.problem)


@every_exercise
def test_the_oracle_owes_nothing_to_the_solution_or_the_library(exercise):
    """Neither by an import nor by a name."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(exercise.oracle)))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.module.startswith("attnlib"), node.module
        elif isinstance(node, ast.Import):
            assert not any(name.name.startswith("attnlib") for name in node.names)

    def names(code):
        return set(code.co_names).union(*(names(c) for c in code.co_consts if inspect.iscode(c)))

    assert exercise.solution.__name__ not in names(exercise.oracle.__code__)
    assert not any("family" in name for name in names(exercise.oracle.__code__))


# --- stubs and purity -----------------------------------------------------------------------------


@every_exercise
def test_an_unattempted_exercise_prints_one_line(exercise):
    for answer in (TODO, ..., eval(f"lambda *args: [{', '.join(['TODO'] * exercise.blanks)}]", {"TODO": TODO})):
        assert grade(exercise, answer).lines == (f"[ ] {exercise.id}: not attempted yet",)


@every_exercise
def test_the_cases_are_the_same_every_time_and_are_not_shared(exercise):
    for probe in exercise.probes:
        first, second = arguments(exercise, probe), arguments(exercise, probe)
        assert len(first) == len(argument_names(exercise))
        for a, b in zip(first, second, strict=True):
            np.testing.assert_array_equal(a, b)
            assert not isinstance(a, np.ndarray) or not np.shares_memory(a, b)


@every_exercise
def test_no_case_is_so_large_that_a_check_takes_long(exercise):
    """Held by the size of what is handed over, since a time would depend on the machine: a few thousand numbers at most."""
    for probe in exercise.probes:
        handed_over = arguments(exercise, probe)
        assert sum(map(np.size, handed_over)) <= 10_000, probe.label
        assert all(arg <= 10_000 for arg in handed_over if isinstance(arg, int)), probe.label


# --- the description ------------------------------------------------------------------------------


@every_exercise
def test_the_exercise_is_described_in_full(exercise):
    assert exercise.id.isidentifier() and exercise.id == exercise.id.lower()
    assert exercise.value or exercise.solution.__name__ == exercise.id
    assert exercise.title and exercise.chapter in BOOK_ORDER
    assert exercise.level in ("easy", "medium", "hard") and 1 <= exercise.minutes <= 60
    assert exercise.probes[0].kind == "ordinary"
    assert {probe.kind for probe in exercise.probes} <= {"ordinary", "equal", "edge"}
    assert len({probe.label for probe in exercise.probes}) == len(exercise.probes)
    assert len({mistake.id for mistake in exercise.mistakes}) == len(exercise.mistakes) >= 1
    assert len(exercise.hints) >= 2 and exercise.why and exercise.insight
