"""What a wrong result has to do with the inputs: it is one of them, it is off by one, or an entry depends on the wrong ones.

`explain` is asked where nothing is known but which numbers are wrong. It runs the answer and the solution on changed
inputs and looks for a property that the right result has and the answer's has not. A property is said of the first
ordinary case that is wrong, a relation of all of them.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from attnexercises.engine.calls import argument_names, arguments, run
from attnexercises.engine.claims import Claim
from attnexercises.engine.diagnose import expected
from attnexercises.engine.relations import agree

FACTOR = 3.0  # by which an input is multiplied to see whether its size counts

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
    unused = _not_used(exercise, answer, outcomes, right, claims)
    return unused or _related(exercise, answer, outcomes, right, claims)


def _related(exercise, answer, outcomes, right, claims):
    if exercise.value or exercise.behaviour or len(claims) != 1 or claims[0].kind != "entries" or claims[0].where == "edge":
        return None
    output = exercise.outputs.index(claims[0].outputs[0]) if claims[0].outputs else 0
    wrong = [
        (probe, outcome.values[output], want[output])
        for probe, outcome, want, fine in zip(exercise.probes, outcomes, expected(exercise), right, strict=True)
        if not fine and probe.kind != "edge" and outcome.values is not None and _differ(outcome.values[output], want[output])
    ]
    if not wrong:
        return None
    others = any(fine and probe.kind != "edge" for fine, probe in zip(right, exercise.probes, strict=True))
    for look in (_input, _off_by_input, _sign):
        found = look(exercise, wrong)
        if found:
            return replace(found, outputs=claims[0].outputs, where="ordinary wrong" if others else "ordinary")
    seen = _Seen(exercise, answer, output, *wrong[0])
    for look in (_size_does_not_count, _mixed, _part_not_used, _not_proportional, _shifted):
        found = look(seen)
        if found:
            return replace(found, outputs=claims[0].outputs, where="case", case=wrong[0][0].label)
    return None


def _differ(got, want):
    return got.shape == want.shape and got.dtype.kind in "fiu" and not agree(got, want)


def _numbers(exercise, probe):
    """The arguments that are arrays of numbers, as (place, name, array)."""
    pairs = zip(argument_names(exercise), arguments(exercise, probe), strict=True)
    return [(i, name, a) for i, (name, a) in enumerate(pairs) if isinstance(a, np.ndarray) and a.dtype.kind == "f" and a.size]


# --- relations of the result to an input ----------------------------------------------------------


def _input(exercise, wrong):
    """The result is an argument as it was given."""
    for place, name, _ in _numbers(exercise, wrong[0][0]):
        given = [arguments(exercise, probe)[place] for probe, _, _ in wrong]
        if all(a.shape == got.shape and agree(got, a) for a, (_, got, _) in zip(given, wrong, strict=True)):
            return Claim("input", {"name": name})
    return None


def _off_by_input(exercise, wrong):
    """A multiple of the right result plus a multiple of an argument: a step of gradient descent, a residual connection."""
    for place, name, _ in _numbers(exercise, wrong[0][0]):
        parts = []
        for probe, got, want in wrong:
            given = arguments(exercise, probe)[place]
            if given.shape != got.shape or got.size < 4 or not np.isfinite([got, want, given]).all():
                break
            columns = np.stack([want.ravel(), given.ravel()], axis=1)
            found, _, rank, _ = np.linalg.lstsq(columns, got.ravel())
            if rank < 2 or not agree((columns @ found).reshape(got.shape), got) or np.abs(found).min() < 1e-3:
                break
            parts.append(found)
        if len(parts) == len(wrong) and np.allclose(parts, parts[0], rtol=1e-5):
            return Claim("off by input", {"name": name, "right": float(parts[0][0]), "n": float(parts[0][1])})
    return None


def _sign(exercise, wrong):
    """The wrong numbers are just those for which an argument of the same shape is negative, or positive."""
    for place, name, _ in _numbers(exercise, wrong[0][0]):
        for what, test in (("negative", np.less), ("positive", np.greater)):
            fits = []
            for probe, got, want in wrong:
                given = arguments(exercise, probe)[place]
                off = np.abs(got - want) > 1e-6 * max(float(np.abs(want).max(initial=0)), 1e-3)
                fits.append(given.shape == got.shape and off.any() and not off.all() and np.array_equal(off, test(given, 0)))
            if all(fits) and sum(got.size for _, got, _ in wrong) >= 8:
                return Claim("where sign", {"name": name, "what": what})
    return None


# --- properties that the right result has on one case ---------------------------------------------


class _Seen:
    """The answer and the solution on one case: each can be run again with some arguments changed."""

    def __init__(self, exercise, answer, output, probe, got, want):
        self.exercise, self.answer, self.output, self.probe, self.got, self.want = exercise, answer, output, probe, got, want
        self.numbers = _numbers(exercise, probe)

    def ours(self, changes):
        return self._again(self.answer, changes)

    def right(self, changes):
        return self._again(self.exercise.solution, changes)

    def _again(self, function, changes):
        """This output, if the arguments at these places are changed; None if the function fails, or has another shape."""

        def call(*args):
            return function(*(changes[i](arg) if i in changes else arg for i, arg in enumerate(args)))

        outcome = run(self.exercise, call, self.probe)
        if outcome.values is None or outcome.stopped or outcome.values[self.output].shape != self.want.shape:
            return None
        values = outcome.values[self.output]
        return values if np.isfinite(values).all() else None

    def compare(self, changes, holds):
        """Does `holds(before, after)` hold for the right result, and not for the answer's?"""
        right = self.right(changes)
        if right is None or not holds(self.want, right):
            return False
        ours = self.ours(changes)
        return ours is not None and not holds(self.got, ours)


def _longer(arg):
    return FACTOR * arg


def _size_does_not_count(seen):
    """The result stays the same if an argument is multiplied by a number, and the right one does not."""
    for place, name, _ in seen.numbers:
        if seen.compare({place: _longer}, lambda before, after: not agree(after, before)):
            return Claim("size does not count", {"name": name})
    return None


def _mixed(seen):
    """The first row or batch element changes if an argument changes in the last one only, and the right one does not."""
    axes = [0] * (seen.want.ndim > 2) + [-2] * (seen.want.ndim > 1)
    for axis in axes:
        if seen.want.shape[axis] < 2:
            continue
        for place, name, given in seen.numbers:
            if given.ndim < (3 if axis == 0 else 2) or given.shape[axis] != seen.want.shape[axis]:
                continue

            def first_stays(before, after, axis=axis):
                first = agree(np.take(after, 0, axis), np.take(before, 0, axis))
                return first and not agree(np.take(after, -1, axis), np.take(before, -1, axis))

            def last_changed(arg, axis=axis):
                return _changed_at(arg, axis, -1)

            if not seen.compare({place: last_changed}, first_stays):
                continue
            after = seen.ours({place: last_changed})
            if not agree(np.take(after, 0, axis), np.take(seen.got, 0, axis)):
                return Claim("mixed", {"name": name, "what": "batch element" if axis == 0 else "row"})
    return None


def _part_not_used(seen):
    """The result stays the same whatever the last row or column of an argument is, or the first, and the right one does not."""
    for place, name, given in seen.numbers:
        for axis, what in ((-2, "row"), (-1, "column")):
            if given.ndim < 2 or given.shape[axis] < 2:
                continue
            for which, at in (("last", -1), ("first", 0)):
                changes = [partial(_changed_at, axis=axis, at=at, change=change) for change in (_flipped, _far_away, _near_zero)]
                if not seen.compare({place: changes[0]}, lambda before, after: not agree(after, before)):
                    continue
                if all(np.array_equal(seen.ours({place: change}), seen.got) for change in changes):
                    return Claim("part not used", {"name": name, "which": which, "what": what})
    return None


def _not_proportional(seen):
    """Upstream gradients twice as large make the right gradient twice as large, and not the answer's."""
    upstream = {place: name for place, name, _ in seen.numbers if name.startswith("d_")}
    double = dict.fromkeys(upstream, lambda arg: 2.0 * arg)
    if upstream and seen.compare(double, lambda before, after: agree(after, 2 * before)):
        return Claim("not proportional", {"names": tuple(upstream.values())})
    return None


def _shifted(seen):
    """The result changes if the same number is added to a whole argument, and the right one does not."""
    for place, name, _ in seen.numbers:
        if seen.compare({place: lambda arg: arg + 0.75}, lambda before, after: agree(after, before)):
            return Claim("shift counts", {"name": name})
    return None


def _flipped(part):
    return 1.25 * np.flip(part).reshape(part.shape) + 0.1


def _far_away(part):
    """What was the largest is the smallest: without that, a maximum may stay where it was."""
    return -8.0 * part


def _near_zero(part):
    """A key that was too far from every query to count is far no longer."""
    return 0.1 * part


def _changed_at(arg, axis, at, change=_flipped):
    """A copy of an array with other numbers at one place of an axis."""
    arg = arg.copy()
    part = np.moveaxis(arg, axis, 0)
    part[at] = change(part[at])
    return arg


# --- an argument that is not used -----------------------------------------------------------------


def _not_used(exercise, answer, outcomes, right, claims):
    """The claim that the answer does not use an argument at all: it is run again with another array in its place."""
    if exercise.value or exercise.behaviour or len(claims) != 1 or claims[0].kind not in VAGUE:
        return None
    place = next(i for i, probe in enumerate(exercise.probes) if not right[i] and outcomes[i].values is not None)
    output = exercise.outputs.index(claims[0].outputs[0]) if claims[0].outputs else 0
    probe = exercise.probes[place]
    ours, right_one = outcomes[place].values[output], _with_other(exercise, exercise.solution, probe, None, output)
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
    for other in (_turned, _unlike, _far_apart):
        after = _with_other(exercise, function, probe, number, output, other)
        if after is None or after.shape != before.shape or not np.array_equal(after, before, equal_nan=before.dtype.kind == "f"):
            return False
    return True


def _with_other(exercise, function, probe, number, output, other=None):
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


def _far_apart(array):
    """The entries so far apart that an exponential of all but the largest is 0: 0/0 is then seen, too."""
    return ~array if array.dtype.kind == "b" else 1e4 * array
