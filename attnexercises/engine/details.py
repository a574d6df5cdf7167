"""What a check shows beside its sentence: the smallest failing case, the reader's own line, what the function printed.

All of it is plain data in the `Result`, so that it can come from another process.
"""

from dataclasses import replace

import numpy as np

from attnexercises.engine import diagnose
from attnexercises.engine.calls import argument_names, run
from attnexercises.engine.case import Case
from attnexercises.engine.crash import in_words
from attnexercises.engine.shrink import smallest

MOST_LINES = 3  # of what was printed


def with_details(exercise, answer, result):
    """Return the `Result` with its case, line and prints, if the answer failed on a case.

    Parameters
    ----------
    exercise : Exercise
    answer : callable
    result : Result
        What was found without them.
    """
    if exercise.value or not result.failed:
        return result
    failed = [probe for probe in exercise.probes if probe.label in result.failed]
    probe = min(failed, key=lambda probe: probe.kind == "edge")  # the one that the sentence is about
    found = smallest(exercise, answer, probe, result.mistakes)
    if not found and result.mistakes:  # either of them, not all together
        found = smallest(exercise, answer, probe)
    outcome = found[1] if found else run(exercise, answer, probe)
    stopped = outcome
    if found and outcome.values is None and not result.mistakes:  # the sizes that the sentence has, not the small ones
        stopped = run(exercise, answer, probe)
    lines = outcome.printed.splitlines()
    return replace(
        result,
        case=_case(exercise, probe, *found) if found else None,
        stopped=_stopped(stopped),
        printed=(*lines[:MOST_LINES], *(["…"] if len(lines) > MOST_LINES else [])),
    )


def _case(exercise, probe, args, outcome, want):
    got = outcome.values
    pairs = list(zip(got, want, strict=True)) if got is not None else []
    wrong = tuple(not diagnose.right_output(exercise, *pair) for pair in pairs) or (True,) * len(want)
    problem = outcome.problem
    if outcome.changed and not problem:
        problem = f"changes its input {outcome.changed[0]}"
    marks = tuple(_marks(exercise, *pair) for pair in pairs)
    names = argument_names(exercise)
    return Case(exercise.id, probe.label, names, args, exercise.outputs, wrong, marks, want, got, problem)


def _marks(exercise, got, want):
    """Which numbers of an output are wrong; None if its shape is."""
    if got.shape != want.shape:
        return None
    if "U" in got.dtype.kind + want.dtype.kind or "b" in got.dtype.kind + want.dtype.kind:
        return got != want
    return ~np.isclose(got, want, rtol=exercise.rtol, atol=exercise.atol, equal_nan=True)


def _stopped(outcome):
    """A sentence on where and why it stopped, or ""."""
    if outcome.values is not None or outcome.line is None:
        return ""
    line = f"line {outcome.line.number}" + (f", `{outcome.line.text}`" if outcome.line.text else "")
    words = in_words(outcome.problem)
    return f"It stops in your {line}." + (f" {words}" if words else "")
