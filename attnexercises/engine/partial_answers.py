"""Judge those outputs of an unfinished answer that do not depend on a blank.

Which outputs these are is found out by running the answer twice, with a different number for the blanks each time. An
output that is the same in both runs does not depend on them.
"""

from dataclasses import replace

import numpy as np

from attnexercises.engine import diagnose
from attnexercises.engine.blanks import TODO, imagined
from attnexercises.engine.calls import run

NUMBERS = (0.71, 1.37)


def what_stands(exercise, answer):
    """Say which outputs are right, which are wrong and how, and which are still to do.

    Parameters
    ----------
    exercise : Exercise
    answer : callable
        A function that has used a blank.

    Returns
    -------
    lines : tuple of str
        A summary such as "d_value right; d_query, d_key still TODO", then a sentence on the first wrong output, if
        there is one. Empty if every output depends on a blank, or if that cannot be found out.
    claims : tuple of Claim
        The claims that the sentence makes.
    """
    if len(exercise.outputs) < 2 or exercise.value or exercise.behaviour:
        return (), ()
    done = [place for place in range(len(exercise.outputs)) if _is_done(exercise, answer, place)]
    if not done:
        return (), ()
    right, wrong, sentence, claims = [], [], "", ()
    for place in done:
        alone, part = _only(exercise, place), _part(answer, place)
        with imagined(NUMBERS[0]):
            outcomes = [run(alone, part, probe) for probe in alone.probes]
        pairs = zip(outcomes, diagnose.expected(alone), strict=True)
        fits = [diagnose.is_right(alone, outcome, want) for outcome, want in pairs]
        (right if all(fits) else wrong).append(exercise.outputs[place])
        if not all(fits) and not sentence:
            said, claims = diagnose.explain(alone, outcomes, fits)
            sentence = f"{exercise.outputs[place]}: {said}"
            claims = tuple(replace(claim, outputs=(exercise.outputs[place],)) for claim in claims)
    open_ = [name for name in exercise.outputs if name not in right + wrong]
    verdicts = ((right, "right"), (wrong, "wrong"), (open_, "still TODO"))
    summary = "; ".join(f"{', '.join(names)} {verdict}" for names, verdict in verdicts if names)
    return ((summary, sentence) if sentence else (summary,)), claims


def _is_done(exercise, answer, place):
    """Is this output the same for both numbers in place of the blanks?"""
    alone, part = _only(exercise, place), _part(answer, place)
    for probe in alone.probes:
        seen = []
        for number in NUMBERS:
            with imagined(number):
                outcome = run(alone, part, probe)
            if outcome.values is None or outcome.stopped:
                return False
            seen.append(outcome.values[0])
        if seen[0].shape != seen[1].shape or not np.array_equal(*seen, equal_nan=seen[0].dtype.kind == "f"):
            return False
    return True


def _only(exercise, place):
    """The same exercise, but asking for one of its outputs only."""
    key = exercise.id, place
    if key not in _alone:
        _alone[key] = replace(
            exercise,
            outputs=(exercise.outputs[place],),
            oracle=lambda *args: exercise.oracle(*args)[place],
            method=None,
        )
    return _alone[key]


_alone = {}  # keeps these exercises, so that `diagnose.expected` computes the right outputs of each only once


def _part(answer, place):
    def part(*args):
        returned = answer(*args)
        if not isinstance(returned, (tuple, list)) or place >= len(returned):
            return TODO
        return returned[place]

    return part
