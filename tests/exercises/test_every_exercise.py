"""Every registered exercise: right answers pass, each known mistake is called by its own name, messages are kind.

A new exercise is tested by being registered; nothing is to be added here.
"""

import ast
import inspect
import itertools
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest

from attnlib.exercises import grade
from attnlib.exercises.engine import diagnose
from attnlib.exercises.engine.registry import _BOOK_ORDER, registry
from attnlib.exercises.engine.calls import argument_names, arguments, run
from attnlib.exercises.engine.source import solution_source

EXERCISES = list(registry().values())
FUNCTIONS = [exercise for exercise in EXERCISES if not exercise.value]
MISTAKES = [(exercise, mistake) for exercise in EXERCISES for mistake in exercise.mistakes]
GOLDEN = Path(__file__).with_name("messages.txt")

every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
every_function = pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
every_mistake = pytest.mark.parametrize("exercise, mistake", MISTAKES, ids=lambda x: x.id)


def passes(exercise, answer):
    result = grade(exercise, answer)
    assert result.status == "passed", "\n".join(result.lines)


def bits(*ids):
    return frozenset(ids)


# --- right answers ----------------------------------------------------------------------------------------


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
    for name, answer in exercise.accepts.items():
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
def test_right_answers_pass_on_read_only_arrays_that_are_not_contiguous(exercise):
    for answer in (exercise.solution, *exercise.accepts.values()):
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
            assert not node.module.startswith("attnlib") or node.module.startswith("attnlib.exercises"), node.module
        elif isinstance(node, ast.Import):
            assert not any(name.name.startswith("attnlib") for name in node.names)

    def names(code):
        return set(code.co_names).union(*(names(c) for c in code.co_consts if inspect.iscode(c)))

    assert exercise.solution.__name__ not in names(exercise.oracle.__code__)
    assert not any("family" in name for name in names(exercise.oracle.__code__))


# --- wrong answers ----------------------------------------------------------------------------------------


@every_mistake
def test_a_known_mistake_is_called_by_its_own_name(exercise, mistake):
    result = grade(exercise, exercise.family(bits(mistake.id)))
    assert result.mistakes == (mistake.id,), result.lines
    assert mistake.say in result.lines[0]


@every_function
def test_two_mistakes_at_once_are_rejected_unless_they_cancel(exercise):
    for pair in itertools.combinations([mistake.id for mistake in exercise.mistakes], 2):
        outcomes = [diagnose.variant(exercise, bits(*pair), place) for place in range(len(exercise.probes))]
        right = map(diagnose.is_right, itertools.repeat(exercise), outcomes, diagnose.expected(exercise))
        assert all(right) == (bits(*pair) in exercise.cancelling), pair


@every_exercise
def test_no_two_mistakes_are_alike(exercise):
    places = range(len(exercise.probes))
    for one, other in itertools.combinations([mistake.id for mistake in exercise.mistakes], 2):
        alike = all(
            diagnose._same(
                exercise, diagnose.variant(exercise, bits(one), i), diagnose.variant(exercise, bits(other), i)
            )
            for i in places
        )
        assert not alike, (one, other)


@every_mistake
def test_a_mistake_can_be_told_from_a_crash(exercise, mistake):
    """On at least one case where it is wrong it returns something."""
    outcomes = [diagnose.variant(exercise, bits(mistake.id), place) for place in range(len(exercise.probes))]
    wrong = [
        outcome
        for outcome, want in zip(outcomes, diagnose.expected(exercise), strict=True)
        if not diagnose.is_right(exercise, outcome, want)
    ]
    assert any(outcome.values is not None for outcome in wrong)


@every_function
def test_every_case_is_needed_or_says_why_it_is_there(exercise):
    ids = [mistake.id for mistake in exercise.mistakes]
    places = range(len(exercise.probes))
    wrong = {
        id: [
            not diagnose.is_right(exercise, diagnose.variant(exercise, bits(id), i), diagnose.expected(exercise)[i])
            for i in places
        ]
        for id in ids
    }
    if len(exercise.probes) == 1:
        return
    idle = []
    for place in places:
        others = [i for i in places if i != place]
        unseen = [id for id in ids if not any(wrong[id][i] for i in others)]
        crash_only = [id for id in ids if all(_crashes(exercise, id, i) for i in _telling(exercise, wrong[id], others))]
        needed = unseen or crash_only or _merges(exercise, ids, others) or place == 0
        if not needed and not exercise.probes[place].why:
            idle.append(exercise.probes[place].label)
    assert idle == [], "no mistake needs these cases: drop them, or say in `why` what they are for"


def _telling(exercise, wrong, places):
    """The cases by which a mistake is recognised: not the edge cases, unless it shows nowhere else."""
    wrong_at = [i for i in places if wrong[i]]
    visible = [i for i in wrong_at if exercise.probes[i].kind != "edge"]
    return visible or wrong_at


def _crashes(exercise, id, place):
    return diagnose.variant(exercise, bits(id), place).values is None


def _merges(exercise, ids, places):
    """Would two mistakes look alike on these cases alone?"""
    return any(
        all(
            diagnose._same(exercise, diagnose.variant(exercise, bits(a), i), diagnose.variant(exercise, bits(b), i))
            for i in places
        )
        for a, b in itertools.combinations(ids, 2)
    )


WRONG = {
    "returns its first argument": lambda *args: args[0],
    "returns zeros": lambda *args: args[0] * 0.0,
    "returns None": lambda *args: print(),
    "stops": lambda *args: 1 / 0,
    "returns a word": lambda *args: "word",
}


@pytest.mark.parametrize("wrong", WRONG)
@every_function
def test_an_unknown_wrong_answer_is_rejected_with_a_sentence(exercise, wrong):
    result = grade(exercise, WRONG[wrong])
    assert result.status in ("wrong", "crashed")
    assert result.lines[0].startswith(f"[!] {exercise.id}: ") and result.lines[-1].startswith("    For help: hint(")


@every_function
def test_an_answer_in_float32_is_told_apart(exercise):
    def answer(*args):
        single = [a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == np.float64 else a for a in args]
        return exercise.solution(*single)

    out = exercise.solution(*arguments(exercise, exercise.probes[0]))
    if np.asarray(out[0] if isinstance(out, tuple) else out).dtype.kind != "f":
        pytest.skip("the answer is not made of floats")
    result = grade(exercise, answer)
    assert result.status == "wrong" and result.mistakes == ()
    assert "right to about 7 digits only; computed in float32?" in result.lines[0]


# --- stubs and purity -------------------------------------------------------------------------------------


@every_exercise
def test_an_unattempted_exercise_prints_one_line(exercise):
    from attnlib.exercises import TODO

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
def test_grading_leaves_the_random_numbers_alone(exercise):
    before = str(np.random.get_state())
    grade(exercise, exercise.family(bits(exercise.mistakes[0].id)))
    assert str(np.random.get_state()) == before


@every_exercise
def test_a_check_is_quick(exercise):
    """Processor time, and a generous limit: only a probe of absurd size can break it."""
    start = time.process_time()
    grade(exercise, exercise.solution)
    grade(exercise, lambda *args: 1.5)
    assert time.process_time() - start < 10


# --- what is said -----------------------------------------------------------------------------------------


@every_exercise
def test_the_exercise_is_described_in_full(exercise):
    assert exercise.id.isidentifier() and exercise.id == exercise.id.lower()
    assert exercise.value or exercise.solution.__name__ == exercise.id
    assert exercise.title and exercise.chapter in _BOOK_ORDER
    assert exercise.level in ("easy", "medium", "hard") and 1 <= exercise.minutes <= 60
    assert exercise.probes[0].kind == "ordinary"
    assert {probe.kind for probe in exercise.probes} <= {"ordinary", "equal", "edge"}
    assert len({probe.label for probe in exercise.probes}) == len(exercise.probes)
    assert len({mistake.id for mistake in exercise.mistakes}) == len(exercise.mistakes) >= 1
    assert len(exercise.hints) >= 2 and exercise.why and exercise.insight


@every_mistake
def test_the_sentence_is_short_and_does_not_give_the_answer_away(exercise, mistake):
    assert 10 <= len(mistake.say) <= 160, len(mistake.say)
    assert mistake.say.endswith(".") or mistake.say.endswith("?")
    assert "np." not in mistake.say
    assert mistake.hint is None or 1 <= mistake.hint <= len(exercise.hints)
    for line in solution_source(exercise).splitlines():
        code = line.strip().removeprefix("return ").partition("  #")[0]
        assert len(code) < 20 or code not in mistake.say


@every_exercise
def test_hints_are_plain_text_and_hold_no_line_of_the_solution(exercise):
    for text in (*exercise.hints, exercise.why, exercise.insight):
        assert "$" not in text and text.count("`") % 2 == 0 and "\n" not in text
        assert text.strip() == text and re.search(r"[.?!]$", text), text
    for line in solution_source(exercise).splitlines():
        code = line.strip().removeprefix("return ").partition("  #")[0]
        assert len(code) < 25 or not any(code in hint for hint in exercise.hints)
    assert len(exercise.insight) <= 160


def test_all_messages_are_the_reviewed_ones():
    """Read the difference; ``ATTNLIB_GOLDEN=write`` in the environment accepts it."""
    blocks = []
    for exercise in EXERCISES:
        answers = [exercise.solution] + [exercise.family(bits(mistake.id)) for mistake in exercise.mistakes]
        blocks += ["\n".join(grade(exercise, answer).lines) for answer in answers]
    text = "\n".join(blocks) + "\n"
    if os.environ.get("ATTNLIB_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
