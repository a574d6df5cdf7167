"""`grade` judges an answer. It prints nothing, stores nothing and leaves the session as it was."""

import inspect
import threading
from dataclasses import replace

import numpy as np

from attnexercises.engine import beside_inputs, diagnose, transposes
from attnexercises.engine.blanks import blanks_left, holds_blank
from attnexercises.engine.calls import (
    MEETS_A_TODO, CheckInside, Outcome, Unreadable, argument_names, compared, read, run, with_article,
)  # fmt: skip
from attnexercises.engine.model import Exercise, Mistake, Probe, Result, value_exercise
from attnexercises.engine.partial_answers import what_stands
from attnexercises.engine.registry import find
from attnexercises.engine.session import session_restored
from attnexercises.failing_case.smallest import with_details
from attnexercises.engine.output import below_the_cell, hints_are_off

__all__ = ["Exercise", "Mistake", "Probe", "Result", "grade", "value_exercise"]


def grade(exercise, answer, *, details=False, seen=None):
    """Judge an answer and say what is wrong with it.

    Parameters
    ----------
    exercise : str or Exercise
        The exercise or its id.
    answer : object
        The reader's function or value.
    details : bool, default False
        Whether to look for the smallest failing case, too.
    seen : list, optional
        A list to which the `Outcome` of every case is added.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> print(grade("softmax", lambda x: 2 * x).lines[0])
    [!] softmax: not every row sums to 1: one sums to -6.43.
    """
    with session_restored():  # the session may have replaced a NumPy function that the judge itself needs
        exercise = exercise if isinstance(exercise, Exercise) else find(exercise)
        if exercise.id in _judged():
            raise CheckInside(exercise.id)
        _judged().append(exercise.id)
        try:
            result = _grade(exercise, answer, [] if seen is None else seen)
            return with_details(exercise, answer, result) if details else result
        finally:
            _judged().pop()


_of_this_thread = threading.local()


def _judged():
    """The ids of the exercises that this thread is judging, the innermost last: an answer may itself call a check."""
    if not hasattr(_of_this_thread, "ids"):
        _of_this_thread.ids = []
    return _of_this_thread.ids


def is_judging():
    """Is an answer being judged in this thread? If so, the caller is code that the answer has called."""
    return bool(_judged())


def _grade(exercise, answer, outcomes):
    if answer is None or holds_blank(answer):
        return _unattempted(exercise, answer)
    if exercise.value and not callable(answer):
        value = answer
        answer = lambda: value  # noqa: E731
    unsuitable = _unsuitable(exercise, answer)
    if unsuitable:
        return _wrong(exercise, "crashed", unsuitable)
    for probe in exercise.probes:
        outcomes.append(run(exercise, answer, probe))
        if outcomes[-1].stopped:
            return stopped(exercise, probe.label, outcomes[-1].stopped)
        if outcomes[-1].left:
            return _wrong(exercise, "crashed", f"your function {outcomes[-1].left}.")
        if len(outcomes) == 1 and (outcomes[0].problem == MEETS_A_TODO or _is_empty(answer, outcomes[0])):
            return _unattempted(exercise, answer)
    if all(outcome.blank for outcome in outcomes):  # a `raise NotImplementedError` for some shapes only is an attempt
        return _unattempted(exercise, answer)
    return _judge(exercise, answer, outcomes)


def returned(exercise, outcomes):
    """Return what the answer returned in each case, as arrays, or as any object where the exercise asks for that."""
    if exercise.behaviour:
        return tuple(read(exercise, outcome.raw)[0] for outcome in outcomes)
    return tuple(outcome.values for outcome in outcomes)


def outputs_are_right(exercise, outputs):
    """Are these the right outputs in every case? `outputs` is what `returned` has returned, perhaps in another process."""
    wanted = diagnose.expected(exercise)
    if not isinstance(outputs, tuple) or len(outputs) != len(wanted) or not all(isinstance(each, tuple) for each in outputs):
        return False
    for probe, values, want in zip(exercise.probes, outputs, wanted, strict=True):
        try:
            outcome = Outcome(*compared(exercise, probe, values, ""))
            if len(outcome.values) != len(want) or not diagnose.is_right(exercise, outcome, want):
                return False
        except (Unreadable, AttributeError, TypeError, ValueError):  # no arrays
            return False
    return True


def stopped(exercise, label, limit):
    """The `Result` for an answer that a time limit stopped on the case named `label`; `limit` is the `TimeUp`."""
    where = f' on the case "{label}"' if label else ""
    if limit.given_up:
        why = "either it waits for something, or the machine is too busy. Check again later"
        return not_judged(exercise, f"your function was still running after {limit.seconds:g} seconds{where}: {why}")
    if limit.waited:
        return _wrong(exercise, "crashed", f"your function has slept for {limit.seconds:g} seconds{where}: what does it wait for?")
    computing = f"your function is still running after {limit.seconds:g} seconds of computing{where}"
    return _wrong(exercise, "crashed", f"{computing}: which loop in it never ends?")


def not_judged(exercise, why):
    """The `Result` for an answer that could not be judged, because of the machine: it is no verdict, and no try."""
    return Result("unattempted", (f"[ ] {exercise.id}: not judged: {why}.",))


def forged(exercise):
    """The `Result` for an answer that has written into the pipe of the check."""
    return _wrong(exercise, "crashed", "your function writes into the pipe through which the check gets its result.")


def judge_failed(exercise, error):
    """The `Result` for an answer on which the judge itself raised an exception, which `error` describes."""
    last = str(error.get("traceback", "")).strip().splitlines()[-3:-1]
    what = f"{error.get('exception')}: {error.get('message')}"
    lines = f"[ ] {exercise.id}: not judged: the check itself stops with {what}. That is a fault of the course.", *last
    return Result("unattempted", (*lines, f'    To report it: report("{exercise.id}")'))


def ends_python(exercise, label, how):
    """The `Result` for an answer that ended the Python process on the case named `label`; `how` says in what way."""
    where = f' on the case "{label}"' if label else ""
    return _wrong(exercise, "crashed", f"your {'value' if exercise.value else 'function'} ends Python itself{where} ({how}).")


def _judge(exercise, answer, outcomes):
    pairs = zip(outcomes, diagnose.expected(exercise), strict=True)
    right = [diagnose.is_right(exercise, outcome, want) for outcome, want in pairs]
    unstable = _unstable(exercise, answer, outcomes)
    if unstable:
        return _wrong(exercise, "wrong", unstable)
    cause = _cause(exercise, outcomes)
    if all(right) and not cause:
        objection = exercise.method(answer) if exercise.method else ""
        return _wrong(exercise, "wrong", objection, right) if objection else _passed(exercise)
    crashed = any(not ok and outcome.values is None for ok, outcome in zip(right, outcomes, strict=True))
    status = "crashed" if crashed else "wrong"
    explanations = [(cause,)] if cause else diagnose.recognise(exercise, outcomes, right)
    causes, found = diagnose.named(exercise, explanations) if explanations else ("", ())
    turned = None if causes else transposes.explain(exercise, answer, right, crashed)
    if causes:
        sentence, claims = diagnose.symptom(exercise, outcomes, {id for ids in explanations for id in ids})
        if cause and all(right):
            sentence, claims = "right for the sizes that the check tries, but not for all sizes.", ()
        sentence = f"{sentence} {causes}" if sentence else causes
    elif turned:
        sentence, claims = turned.sentence, (turned,)
    else:
        sentence, claims = diagnose.explain(exercise, outcomes, right)
        better = beside_inputs.explain(exercise, answer, outcomes, right, claims)
        sentence, claims = (better.sentence, (better,)) if better else (sentence, claims)
    changed = next((outcome.changed[0] for outcome in outcomes if outcome.changed), "")
    if changed and not causes and "changes its input" not in sentence:
        sentence = f"{sentence} Your function also changes its input {changed}."
    hint = next((mistake.hint for mistake in exercise.mistakes if mistake.id in found[:1]), None)
    counted = not diagnose.values_right(exercise, outcomes)  # "0 of 9 cases right" would contradict it
    result = _wrong(exercise, status, sentence, right, found, hint, _which_outputs(exercise, outcomes), counted)
    return replace(result, claims=claims)


def _cause(exercise, outcomes):
    """The id of the mistake that the comparison of several probes shows (see `Behaviour.cause`), or ""."""
    if not exercise.behaviour or not exercise.behaviour.cause or any(outcome.values is None for outcome in outcomes):
        return ""
    tried = zip(exercise.probes, outcomes, strict=True)
    return exercise.behaviour.cause([(diagnose.arguments(exercise, probe), outcome.raw) for probe, outcome in tried])


def _unsuitable(exercise, answer):
    """Why `answer` cannot even be called with the exercise's arguments, or ""."""
    if exercise.value:
        return ""
    if not callable(answer):
        call = f'check("{exercise.id}", {exercise.id})'
        return f"the check wants your function itself, {call}; it got {_what(answer)}."
    if inspect.isclass(answer):
        return f"a function is expected, not the class {answer.__name__}."
    names = argument_names(exercise)
    try:
        signature = inspect.signature(answer)
    except (ValueError, TypeError):  # some compiled functions have no readable signature
        return ""
    expected = f"{exercise.id}({', '.join(names)})"
    try:
        signature.bind(*names)
    except TypeError:
        return f"your function does not take the arguments {expected}."
    mine = [name for name in signature.parameters if name in names]
    if sorted(mine) == sorted(names) and tuple(mine) != tuple(names):
        return f"the arguments of your function are in another order; expected {expected}."
    return ""


def _what(answer):
    return f"an array of shape {answer.shape}" if isinstance(answer, np.ndarray) else with_article(type(answer).__name__)


def _is_empty(answer, outcome):
    """Does the function do nothing at all, because its body is only ``pass`` or a docstring?"""
    code = getattr(answer, "__code__", None)
    return outcome.raw is None and code is not None and not code.co_names and len(code.co_code) < 12


def _unstable(exercise, answer, outcomes):
    """A sentence if one call of the answer influences another, because the answer keeps something; otherwise ""."""
    if exercise.value or outcomes[0].values is None:
        return ""
    for outcome in outcomes if not exercise.behaviour else ():
        raw = outcome.raw if isinstance(outcome.raw, tuple) else (outcome.raw,)
        if outcome.values and not all(map(_is_unchanged, raw, outcome.values)):
            return "your function returns the same array each time: the next call overwrites what it returned before."
    # Some answers forget what they kept when the shape of the input changes. The last probe had another shape than the
    # first, so the first of these two calls makes such an answer forget, and only the second shows what it keeps.
    for _ in range(2):
        again = run(exercise, answer, exercise.probes[0])
        if again.values is None or not _equal(outcomes[0].values, again.values):
            return "called twice with the same input, your function gives two answers: it keeps something between calls."
    return ""


def _is_unchanged(raw, value):
    """Does the returned object `raw` still hold the values that it held right after the call?"""
    if not isinstance(raw, np.ndarray):
        return True
    plain = np.ndarray.view(raw, np.ndarray)  # a subclass by the reader may redefine comparison
    return np.array_equal(plain, value, equal_nan=value.dtype.kind == "f")


def _equal(some, others):
    if len(some) != len(others):
        return False
    return all(a.shape == b.shape and np.allclose(a, b, equal_nan=True) for a, b in zip(some, others, strict=True))


def _which_outputs(exercise, outcomes):
    """If some of several outputs are right, which ones are, as in "maximum right; total wrong"; otherwise ""."""
    if len(exercise.outputs) == 1 or any(outcome.values is None for outcome in outcomes):
        return ""
    right, wrong = [], []
    for place, name in enumerate(exercise.outputs):
        pairs = zip(outcomes, diagnose.expected(exercise), strict=True)
        good = all(diagnose.right_output(exercise, got.values[place], want[place]) for got, want in pairs)
        (right if good else wrong).append(name)
    return f"{', '.join(right)} right; {', '.join(wrong)} wrong. " if right and wrong else ""


def _unattempted(exercise, answer):
    left = blanks_left(answer)
    begun = 0 < left < (len(answer) if isinstance(answer, (tuple, list)) else exercise.blanks)
    what = "not attempted yet" if not begun else "a TODO is left" if left == 1 else f"{left} TODOs are left"
    stands, claims = what_stands(exercise, answer) if begun and callable(answer) else ((), ())
    summary, below = "; ".join((what, *stands[:1])), [f"    {line}" for line in stands[1:]]
    return Result("unattempted", (f"[ ] {exercise.id}: {summary}", *below), claims=claims)


def _passed(exercise):
    labels = tuple(probe.label for probe in exercise.probes)
    all_right = "right" if exercise.value else f"all {len(labels)} cases right"
    book = "open Solution below." if below_the_cell(exercise.id) else f'solution("{exercise.id}")'
    compare = "" if hints_are_off() else f" Compare with the book's: {book}"
    lines = (f"[x] {exercise.id}: {all_right}", f"    {exercise.insight}{compare}")
    return Result("passed", lines, passed=labels)


def _wrong(exercise, status, sentence, right=None, mistakes=(), hint=None, outputs="", counted=True):
    lines = [f"[!] {exercise.id}: {sentence}"]
    passed, failed = (
        tuple(probe.label for probe, ok in zip(exercise.probes, right or (), strict=bool(right)) if ok is wanted)
        for wanted in (True, False)
    )
    if len(exercise.probes) > 1 and right and counted:
        where = ", ".join(f'"{label}"' for label in failed[:2]) + (f" and {len(failed) - 2} more" if len(failed) > 2 else "")
        wrong = f"; wrong: {where}" if passed and failed else ""  # if no case failed, the method is wrong
        lines.append(f"    {outputs}{len(passed)} of {len(exercise.probes)} cases right{wrong}.")
    if not hints_are_off():
        near = hint and hint < len(exercise.hints)  # the last hint gives almost all away: readers see it last
        call = f'hint("{exercise.id}"' + (f", {hint})" if near else ")")
        lines.append("    For help: " + (f"open Hint {hint if near else 1} below." if below_the_cell(exercise.id) else call))
    return Result(status, tuple(lines), passed, failed, tuple(mistakes), hint)
