"""Find the smallest case on which an answer goes wrong in the same way, with fewer rows, keys and features.

A smaller case is accepted only if the oracle and the book's solution agree on it. So it satisfies all that the exercise
demands of its input: that the heads divide the width, for example, or that a logsumexp belongs to the scores.

`with_details` adds to a `Result` what a check shows after its sentence: the smallest failing case, the reader's line at
which an exception was raised, and the text that the function printed there. All of this is plain data, so that
a `Result` can be sent from another process.
"""

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from attnexercises.engine import diagnose
from attnexercises.engine.calls import argument_names, arguments, run, run_trusted
from attnexercises.engine.crash import error_in_words
from attnexercises.engine.model import Probe
from attnexercises.engine.timelimit import computed
from attnexercises.failing_case.case import Case

MOST_TRIES = 90  # a number of calls and not a time, so that the same answer always gets the same case
# Seconds of computing for all tries. An ordinary answer needs a tenth of a second, so only a very slow answer reaches
# this limit, and gets a larger case.
SECONDS = 5.0


def smallest(exercise, answer, probe, mistakes=()):
    """Search for the smallest failing case; return its arguments, the answer's outcome and the right outputs.

    Parameters
    ----------
    exercise : Exercise
    answer : callable
    probe : Probe
        A probe of the exercise on which the answer fails.
    mistakes : tuple of str
        The ids of the known mistakes that explain the answer. They have to explain it on the small case, too.

    Returns
    -------
    tuple of (arguments, Outcome, tuple of ndarray), or None
        None if the answer does not fail on this probe.
    """
    search = _Search(exercise, answer, mistakes, arguments(exercise, probe))
    if search.found is None:
        return None
    moves = _moves(exercise)
    while search.may_go_on() and any([search.follow(move) for move in moves]):
        pass
    for decimals in (0, 1, 2):
        round_numbers = _rounded(search.found[0], decimals)
        if not _vanishes(round_numbers, search.found[0]) and search.keeps(round_numbers):
            break
    return search.found


class _Search:
    """Tries cases, and keeps the last one that fails in the same way as the first."""

    def __init__(self, exercise, answer, mistakes, args):
        self.exercise, self.answer, self.mistakes = exercise, answer, frozenset(mistakes)
        self.left, self.deadline = MOST_TRIES, computed() + SECONDS
        self.kind = self.found = None
        self.keeps(args)

    def may_go_on(self):
        return self.left > 0 and computed() < self.deadline

    def follow(self, move):
        """Try the smaller cases of a move until one fails in the same way. Return whether there was one."""
        before = self.found
        for args in move(self.found[0]):
            if not self.may_go_on() or self.keeps(args):
                break
        return self.found is not before

    def keeps(self, args):
        """Try one case. Keep it and return True if it fails in the same way as the first one."""
        self.left -= 1
        if self.exercise.consistent:
            try:
                args = self.exercise.consistent(args)
            except ValueError:  # no arguments of these sizes are consistent
                return False
        probe = Probe("a smaller one", lambda rng: args)
        exercise = replace(self.exercise, probes=(probe,))
        want = _right_answer(exercise, probe)
        if want is None:
            return False
        outcome = run(exercise, self.answer, probe)
        if outcome.stopped:
            self.left = 0
        kind = _kind(exercise, outcome, want)
        if kind is None or outcome.blank or outcome.stopped or kind != (self.kind or kind):
            return False
        if self.mistakes:
            known = run_trusted(exercise, exercise.family(self.mistakes), probe)
            if not diagnose.same(exercise, outcome, known):
                return False
        self.kind, self.found = kind, (tuple(args), outcome, want)
        return True


def _right_answer(exercise, probe):
    """The oracle's outputs; None if the oracle refuses this case, or if the solution disagrees."""
    with np.errstate(all="ignore"):
        try:
            want = diagnose.as_outputs(exercise, exercise.oracle(*arguments(exercise, probe)))
        except Exception:  # the arguments do not fit together
            return None
    if any(array.size == 0 for array in want):
        return None
    return want if diagnose.is_right(exercise, run_trusted(exercise, exercise.solution, probe), want) else None


def _kind(exercise, outcome, want):
    """The way in which a case fails, as an object to compare with others; None if it does not fail."""
    if diagnose.is_right(exercise, outcome, want):
        return None
    if outcome.values is None:
        return outcome.problem.partition(":")[0]
    each = tuple(_kind_of_array(exercise, *pair) for pair in zip(outcome.values, want, strict=True))
    return each, outcome.changed, bool(outcome.problem)


def _kind_of_array(exercise, got, want):
    if diagnose.right_output(exercise, got, want):
        return "right"
    if diagnose.kind_problem(got, want):
        return "kind"
    if got.shape != want.shape:
        return "shape", got.ndim - want.ndim
    finite = np.isfinite(got) if got.dtype.kind == "f" else np.array(True)
    return "numbers" if finite.all() or not np.isfinite(want[~finite]).any() else "not finite"


@lru_cache(maxsize=None)
def _moves(exercise):
    """All ways to make a case of this exercise smaller. A move is a function: it yields smaller arguments, the smallest first."""
    groups, places = _groups(exercise), range(len(argument_names(exercise)))
    return [*_without_leading_axis(exercise, groups), *_with_fewer(groups), *map(_smaller_number, places)]


def _groups(exercise):
    """Group the axes of the arguments that must keep equal sizes. Return lists of (index of the argument, axis).

    Two axes belong together if they have the same size in every probe of the exercise. Axes are counted from the end.
    """
    probes, groups = [arguments(exercise, probe) for probe in exercise.probes], {}
    axes = {(place, axis) for args in probes for place, arg in enumerate(args) for axis in range(-np.ndim(arg), 0)}
    for place, axis in sorted(axes):
        sizes = tuple(np.shape(args[place])[axis] if np.ndim(args[place]) >= -axis else None for args in probes)
        groups.setdefault(sizes, []).append((place, axis))
    return sorted(map(sorted, groups.values()), key=lambda group: (-len(group), group))


def _without_leading_axis(exercise, groups):
    """Return moves that remove a leading axis, keeping its first or its last element.

    The axis has to be the first one of every argument in its group, and some probe has to do without it.
    """
    fewest = [min(np.ndim(args[place]) for args in map(partial(arguments, exercise), exercise.probes))
              for place in range(len(argument_names(exercise)))]  # fmt: skip

    def move_of(group):
        def move(args):
            if all(-axis == np.ndim(args[place]) > fewest[place] for place, axis in group):
                for element in (0, -1):
                    yield _changed(args, {place: args[place][element] for place, _ in group})

        return move

    return [move_of(group) for group in groups]


def _with_fewer(groups):
    """Return moves that keep only the first, or only the last, elements of an axis: one, two, three, ..."""

    def move_of(group):
        def move(args):
            sizes = [args[place].shape[axis] for place, axis in group if np.ndim(args[place]) >= -axis]
            for kept in range(1, sizes[0]) if len(sizes) == len(group) else ():
                for part in (slice(0, kept), slice(-kept, None)):
                    yield _sliced(args, group, part)

        return move

    return [move_of(group) for group in groups]


def _smaller_number(place):
    """Return a move that makes an integer argument smaller."""

    def move(args):
        if isinstance(args[place], (int, np.integer)) and not isinstance(args[place], (bool, np.bool_)):
            for number in range(1, int(args[place])):
                yield _changed(args, {place: type(args[place])(number)})

    return move


def _sliced(args, group, part):
    """Slice every axis of a group. Rows that sum to 1 are divided by their new sum."""
    smaller = {}
    for place, axis in group:
        array = smaller.get(place, args[place])
        shares = _are_shares(args[place])
        array = array[(..., part, *[slice(None)] * (-axis - 1))]
        if shares and axis == -1:
            total = array.sum(axis=-1, keepdims=True)
            array = array / np.where(total == 0, 1, total)
        smaller[place] = array
    return _changed(args, smaller)


def _are_shares(array):
    """Does every row sum to 1 or to 0, like weights? Then the rows of the smaller case have to do so, too."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.ndim == 0 or (array < 0).any():
        return False
    sums = array.sum(axis=-1)
    return bool((np.isclose(sums, 1) | (sums == 0)).all() and sums.any())


def _rounded(args, decimals):
    """Round the numbers of a case, so that a reader can check the result by hand."""

    def rounded(arg):
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
            if _are_shares(arg):
                shares, largest = np.round(arg, max(decimals, 1)), arg.argmax(axis=-1)[..., np.newaxis]
                full = arg.sum(axis=-1, keepdims=True) > 0.5
                missing = np.where(full, 1 - shares.sum(axis=-1, keepdims=True), 0)
                np.put_along_axis(shares, largest, np.take_along_axis(shares, largest, -1) + missing, -1)
                return np.round(shares, max(decimals, 1))
            return np.round(arg, decimals) + 0.0  # adding 0 turns -0 into 0
        return arg

    return tuple(map(rounded, args))


def _vanishes(rounded, args):
    """Has rounding turned all numbers of an array into 0?"""
    pairs = [pair for pair in zip(rounded, args, strict=True) if isinstance(pair[1], np.ndarray)]
    return any(arg.any() and not new.any() for new, arg in pairs)


def _changed(args, new):
    """The arguments with some of them replaced; `new` maps their indices to the new values."""
    return tuple(new.get(place, arg) for place, arg in enumerate(args))


MOST_LINES = 3  # lines of the answer's own output that are shown


def with_details(exercise, answer, result):
    """Return the `Result` of an answer that failed on a case with the smallest case, the line and the printed text.

    Parameters
    ----------
    exercise : Exercise
    answer : callable
    result : Result
        The result without these details.
    """
    if exercise.value or not result.failed:
        return result
    failed = [probe for probe in exercise.probes if probe.label in result.failed]
    probe = min(failed, key=lambda probe: probe.kind == "edge")  # the probe that the sentence is about
    found = smallest(exercise, answer, probe, result.mistakes)
    if not found and result.mistakes:  # the mistakes may be alternatives, of which the answer makes only one
        found = smallest(exercise, answer, probe)
    outcome = found[1] if found else run(exercise, answer, probe)
    stopped = outcome
    if found and outcome.values is None and not result.mistakes:  # the sizes in the sentence, not the small ones
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
    """A boolean array of the wrong numbers of an output; None if its shape is wrong."""
    if got.shape != want.shape:
        return None
    if "U" in got.dtype.kind + want.dtype.kind or "b" in got.dtype.kind + want.dtype.kind:
        return got != want
    return ~np.isclose(got, want, rtol=exercise.rtol, atol=exercise.atol, equal_nan=True)


def _stopped(outcome):
    """If the call ended with an exception, a sentence on where and why; otherwise ""."""
    if outcome.values is not None or outcome.line is None:
        return ""
    line = f"line {outcome.line.number}" + (f", `{outcome.line.text}`" if outcome.line.text else "")
    words = error_in_words(outcome.problem)
    return f"It stops in your {line}." + (f" {words}" if words else "")
