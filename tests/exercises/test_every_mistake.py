"""Every registered exercise: its mistakes and cases can be told apart, and what is unknown is rejected.

What is said to each known mistake, `test_known_mistakes.py` holds.
"""

import itertools

import numpy as np
import pytest
from exercise_cases import bits, every_exercise, every_function, pairs

from attnexercises import grade
from attnexercises.engine import diagnose
from attnexercises.engine.calls import arguments

# --- known mistakes -------------------------------------------------------------------------------


@every_function
def test_two_mistakes_at_once_are_rejected_unless_they_cancel(exercise):
    for pair in pairs(exercise):
        right = all(_is_right(exercise, pair, place) for place in range(len(exercise.probes)))  # up to the first that is not
        assert right == (bits(*pair) in exercise.cancelling), pair


def _is_right(exercise, ids, place):
    return diagnose.is_right(exercise, diagnose.variant(exercise, bits(*ids), place), diagnose.expected(exercise)[place])


@every_exercise
def test_no_two_mistakes_are_alike(exercise):
    places = range(len(exercise.probes))
    for one, other in itertools.combinations([mistake.id for mistake in exercise.mistakes], 2):
        alike = all(
            diagnose.same(
                exercise, diagnose.variant(exercise, bits(one), i), diagnose.variant(exercise, bits(other), i)
            )
            for i in places
        )
        assert not alike, (one, other)


@every_exercise
def test_each_mistake_can_be_told_from_a_crash(exercise):
    """On at least one case where it is wrong it returns something."""
    for mistake in exercise.mistakes:
        wrong = [place for place in range(len(exercise.probes)) if not _is_right(exercise, [mistake.id], place)]
        assert not all(_crashes(exercise, mistake.id, place) for place in wrong), mistake.id


# --- cases ----------------------------------------------------------------------------------------


@every_function
def test_every_case_is_needed_or_says_why_it_is_there(exercise):
    ids = [mistake.id for mistake in exercise.mistakes]
    places = range(len(exercise.probes))
    wrong = {id: [not _is_right(exercise, [id], place) for place in places] for id in ids}
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
            diagnose.same(exercise, diagnose.variant(exercise, bits(a), i), diagnose.variant(exercise, bits(b), i))
            for i in places
        )
        for a, b in itertools.combinations(ids, 2)
    )


# --- unknown mistakes -----------------------------------------------------------------------------

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
    if exercise.behaviour:
        pytest.skip("what is compared is what the answer does, not its digits")

    def answer(*args):
        floats = [isinstance(a, np.ndarray) and a.dtype == np.float64 for a in args]
        single = [a.astype(np.float32) if wide else a for a, wide in zip(args, floats, strict=True)]
        return exercise.solution(*single) if any(floats) else exercise.solution(*args).astype(np.float32)

    out = exercise.solution(*arguments(exercise, exercise.probes[0]))
    if np.asarray(out[0] if isinstance(out, tuple) else out).dtype.kind != "f":
        pytest.skip("the answer is not made of floats")
    result = grade(exercise, answer)
    assert result.status == "wrong"
    assert result.mistakes == (), "this mistake changes so little that a right answer in float32 gets its name"
    assert "right to about 7 digits only; computed in float32?" in result.lines[0]
