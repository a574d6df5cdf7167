"""From what an answer did to one message: is it right, which mistake is it, and if none, what can be said."""

from functools import lru_cache, partial
from itertools import combinations

import numpy as np

from attnlib.exercises.engine import relations
from attnlib.exercises.engine.calls import argument_names, arguments, run_trusted

SAME = 1e-6  # how close, at least, an answer must be to a known wrong one to be called by its name


@lru_cache(maxsize=None)
def expected(exercise):
    """The oracle's outputs on every probe: a list of tuples of arrays."""
    return [_tuple(exercise, exercise.oracle(*arguments(exercise, probe))) for probe in exercise.probes]


@lru_cache(maxsize=20_000)
def variant(exercise, bugs, place):
    """What the exercise's own wrong answer with these mistakes does on the probe at `place`."""
    return run_trusted(exercise, exercise.family(bugs), exercise.probes[place])


def _tuple(exercise, raw):
    return tuple(np.asarray(part) for part in (raw if len(exercise.outputs) > 1 else (raw,)))


def is_right(exercise, outcome, want):
    """Are all values right, of the right kind, and nothing else touched?"""
    if outcome.values is None or outcome.problem or outcome.changed:
        return False
    return all(right_output(exercise, got, right) for got, right in zip(outcome.values, want, strict=True))


def right_output(exercise, got, want):
    """Is this one array right?"""
    return kind_problem(got, want) == "" and _close(got, want, exercise.rtol, exercise.atol)


def kind_problem(got, want):
    """What is wrong with the dtype, or ""."""
    kinds = {got.dtype.kind, want.dtype.kind}
    if len(kinds) > 1 and "U" in kinds:
        if want.dtype.kind == "U":
            return "a word is expected, not a number"
        return "a tuple of numbers is expected, not a word" if want.ndim else "a number is expected, not a word"
    if len(kinds) > 1 and "b" in kinds:
        return "True or False is expected, not numbers" if want.dtype.kind == "b" else "numbers are expected"
    return ""


def _close(a, b, rtol, atol):
    if a.shape != b.shape:
        return False
    if "U" in (a.dtype.kind, b.dtype.kind):
        return a.dtype.kind == b.dtype.kind and str(a).strip().lower() == str(b).strip().lower()
    if a.dtype.kind == "f" and b.dtype.kind == "f" and a.dtype.itemsize < b.dtype.itemsize and rtol < 1e-8:
        return False  # float32 for float64: some of its numbers are right by luck
    return bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


def recognise(exercise, outcomes, right):
    """Return the ids of the known mistakes, one or two, that explain the outcomes; () if none do.

    Cases on which everybody can see a mistake come first; the edge cases count
    only when those are right, because an overflow there would hide the rest.
    """
    visible = [i for i, probe in enumerate(exercise.probes) if probe.kind != "edge"]
    everywhere = range(len(outcomes))
    stage = visible if not all(right[i] for i in visible) else list(everywhere)
    telling = [i for i in stage if not right[i] and outcomes[i].values is not None]
    if not telling:  # nothing but crashes: anything could be behind them
        return ()
    if all(_says_nothing(part) for i in telling for part in outcomes[i].values):
        stage = list(everywhere)  # NaN alone fits whatever loses all numbers, unless the other cases agree, too
    ids = [mistake.id for mistake in exercise.mistakes]
    for size in (1,) if exercise.value else (1, 2):
        alike = {}
        for bugs in combinations(ids, size):
            theirs = partial(variant, exercise, frozenset(bugs))
            if not all(_same(exercise, outcomes[i], theirs(i)) for i in stage):
                continue
            if all(is_right(exercise, theirs(i), expected(exercise)[i]) for i in telling):
                continue  # nearly right (in float32, say) is not this mistake
            alike[bugs] = sum(_same(exercise, outcomes[i], theirs(i)) for i in everywhere)
        if alike:
            return max(alike, key=alike.get)  # the first of the best
    return ()


def _says_nothing(values):
    return values.dtype.kind == "f" and bool(np.isnan(values).all())


def _same(exercise, ours, theirs):
    if (ours.values is None) or (theirs.values is None):
        return ours.values is None and theirs.values is None
    if bool(ours.changed) != bool(theirs.changed):
        return False
    close = max(SAME, exercise.rtol)  # where a rounded number is right, a rounded wrong one is recognised, too
    return all(
        a.dtype.kind == b.dtype.kind or "b" not in (a.dtype.kind, b.dtype.kind)
        for a, b in zip(ours.values, theirs.values, strict=True)
    ) and all(_close(a, b, close, max(1e-3 * close, exercise.atol)) for a, b in zip(ours.values, theirs.values, strict=True))


def explain(exercise, outcomes, right):
    """Return a sentence for an answer that no known mistake explains."""
    order = sorted((i for i in range(len(right)) if not right[i]), key=lambda i: exercise.probes[i].kind == "edge")
    first = order[0]
    outcome, want, probe = outcomes[first], expected(exercise)[first], exercise.probes[first]
    prefix = ""
    if probe.kind == "edge" and not exercise.value:
        prefix = f'right on ordinary inputs; on the case "{probe.label}": '
    if outcome.values is None:
        return prefix + f"your {_noun(exercise)} {outcome.problem}{_where(exercise, probe, prefix)}."
    for name, got, right_one in zip(exercise.outputs, outcome.values, want, strict=True):
        if not right_output(exercise, got, right_one):
            break
    else:  # every value is right, and still not everything is well
        if outcome.changed:
            return prefix + f"the values are right, but your function changes its input {outcome.changed[0]}."
        return prefix + f"the values are right, but your {_noun(exercise)} {outcome.problem}."
    if exercise.behaviour:
        return prefix + exercise.behaviour.differs(arguments(exercise, probe), outcome.raw)
    if len(exercise.outputs) > 1:
        place = [n for n, other in zip(exercise.outputs, want, strict=True) if right_output(exercise, got, other)]
        if place:
            return prefix + f"what you return as {name} is the right {place[0]}: is the order of the outputs right?"
        prefix += f"{name}: "
    problem = kind_problem(got, right_one)
    if problem:
        return prefix + problem + "."
    same_stage = [i for i in order if (exercise.probes[i].kind == "edge") == (probe.kind == "edge")]
    cases = _cases(exercise, outcomes, same_stage, name)
    sentence = prefix + (relations.describe_value(*cases[0][:2]) if exercise.value else relations.describe(cases))
    return sentence if sentence.endswith("?") else sentence + "."


def _cases(exercise, outcomes, stage, name):
    """The wrong arrays of one output, with the right ones and the inputs' sizes."""
    place, cases = exercise.outputs.index(name), []
    for i in stage:
        want = expected(exercise)[i][place]
        if outcomes[i].values is not None and not right_output(exercise, outcomes[i].values[place], want):
            cases.append((outcomes[i].values[place], want, _sizes(exercise, exercise.probes[i])))
    return cases


def _sizes(exercise, probe):
    return {
        f"the size of axis {axis} of {name}": size
        for name, arg in zip(argument_names(exercise), arguments(exercise, probe), strict=True)
        for axis, size in zip(range(-np.ndim(arg), 0), np.shape(arg), strict=True)
    }


def _noun(exercise):
    return "value" if exercise.value else "function"


def _where(exercise, probe, named):
    shapes = [
        f"{name} {np.shape(arg)}" if np.ndim(arg) else f"{name} = {arg}"
        for name, arg in zip(argument_names(exercise), arguments(exercise, probe), strict=True)
    ]
    case = "" if named else f'case "{probe.label}": '
    return f" ({case}{', '.join(shapes)})" if shapes else ""
