"""Find out whether a wrong answer does not use one of its arguments at all: it is run again with another array in its place."""

from dataclasses import replace

import numpy as np

from attnexercises.engine.calls import argument_names, arguments, run

#: Kinds of claims that say less than that an argument is not used.
VAGUE = ("entries", "same rows", "same columns", "row sums", "zero sums", "negative")


def explain(exercise, answer, outcomes, right, claims):
    """Return a claim that says more than that some numbers are wrong, or None.

    Parameters
    ----------
    exercise : Exercise
    answer : callable
    outcomes : list of Outcome
    right : list of bool
        For each probe whether the answer is right.
    claims : tuple of Claim
        What else is known about the answer. Only if this is one of `VAGUE`, a better claim is looked for.
    """
    if exercise.value or exercise.behaviour or len(claims) != 1 or claims[0].kind not in VAGUE:
        return None
    place = next(i for i, probe in enumerate(exercise.probes) if not right[i] and outcomes[i].values is not None)
    output = exercise.outputs.index(claims[0].outputs[0]) if claims[0].outputs else 0
    probe = exercise.probes[place]
    ours, right_one = outcomes[place].values[output], _with(exercise, exercise.solution, probe, None, output)
    for number, (name, given) in enumerate(zip(argument_names(exercise), arguments(exercise, probe), strict=True)):
        if not isinstance(given, np.ndarray) or given.dtype.kind not in "fb" or not given.size:
            continue
        if right_one is None or _stays(exercise, exercise.solution, probe, number, output, right_one):
            continue
        if _stays(exercise, answer, probe, number, output, ours) and _stays_on_all(exercise, answer, outcomes, number, output):
            return replace(claims[0], kind="ignored", values={"name": name}, where="", case="")
    return None


def _stays_on_all(exercise, answer, outcomes, number, output):
    """Does it stay the same on every ordinary case? On an edge case an answer may fail to use what it uses elsewhere."""
    return all(
        _stays(exercise, answer, probe, number, output, outcome.values[output])
        for probe, outcome in zip(exercise.probes, outcomes, strict=True)
        if probe.kind != "edge" and outcome.values is not None
    )


def _stays(exercise, function, probe, number, output, before):
    """Does this output stay the same, whichever other array is given?"""
    for other in (_turned, _unlike):
        after = _with(exercise, function, probe, number, output, other)
        if after is None or after.shape != before.shape or not np.array_equal(after, before, equal_nan=before.dtype.kind == "f"):
            return False
    return True


def _with(exercise, function, probe, number, output, other=None):
    """This output of a function, if the argument with this number is another array; None if the function fails."""

    def call(*args):
        changed = [other(arg) if place == number else arg for place, arg in enumerate(args)]
        return function(*changed)

    outcome = run(exercise, call, probe)
    return None if outcome.values is None or outcome.stopped else outcome.values[output]


def _turned(array):
    """The array with the opposite of its entries."""
    return ~array if array.dtype.kind == "b" else -1.25 * array


def _unlike(array):
    """The entries in the opposite order, and a little further apart."""
    turned = np.flip(array).reshape(array.shape)
    return turned if array.dtype.kind == "b" else 1.25 * turned + np.linspace(0.1, 0.7, array.size).reshape(array.shape)

