"""From what an answer did to one message: is it right, which mistake is it, and if none, what can be said."""

from functools import lru_cache, partial
from itertools import combinations

import numpy as np

from attnexercises.engine import explanations, relations
from attnexercises.engine.calls import argument_names, arguments, run_trusted
from attnexercises.engine.edits import fit_together
from attnexercises.engine.relations import Compared

SAME = 1e-6  # how close, at least, an answer must be to a known wrong one to be called by its name


@lru_cache(maxsize=None)
def expected(exercise):
    """The oracle's outputs on every probe: a list of tuples of arrays."""
    return [as_outputs(exercise, exercise.oracle(*arguments(exercise, probe))) for probe in exercise.probes]


@lru_cache(maxsize=20_000)
def variant(exercise, bugs, place):
    """What the exercise's own wrong answer with these mistakes does on the probe at `place`."""
    return run_trusted(exercise, exercise.family(bugs), exercise.probes[place])


def as_outputs(exercise, raw):
    """What an oracle returns, as a tuple of arrays, one for each output."""
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
    if a.size and a.dtype.kind == b.dtype.kind == "f":  # most arrays differ in their first number already
        x, y = float(a.flat[0]), float(b.flat[0])
        if abs(x - y) > atol + rtol * abs(y):
            return False
        with np.errstate(all="ignore"):  # and most of the others in a number that is not infinite
            if np.any(~(np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b)):
                return False
    return bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


def recognise(exercise, outcomes, right):
    """Return the explanations that fit best: a list of tuples of one or two ids of known mistakes.

    Mostly there is one, or none; where there are more, nothing on these cases tells them apart.
    Cases on which everybody can see a mistake come first; the edge cases count
    only when those are right, because an overflow there would hide the rest.
    """
    visible = [i for i, probe in enumerate(exercise.probes) if probe.kind != "edge"]
    everywhere = range(len(outcomes))
    stage = visible if not all(right[i] for i in visible) else list(everywhere)
    telling = [i for i in stage if not right[i] and outcomes[i].values is not None]
    if not telling:  # nothing but crashes: anything could be behind them
        return []
    if all(_says_nothing(part) for i in telling for part in outcomes[i].values):
        stage = list(everywhere)  # NaN or 0 alone fits whatever loses all numbers, unless the other cases agree, too
    for size in (1,) if exercise.value else (1, 2):
        alike = {}
        for mistakes in combinations(exercise.mistakes, size):
            if size == 2 and (_same_quantity(*mistakes) or not fit_together(exercise, *mistakes)):
                continue
            bugs = tuple(mistake.id for mistake in mistakes)
            theirs = partial(variant, exercise, frozenset(bugs))
            if not all(same(exercise, outcomes[i], theirs(i)) for i in stage):
                continue
            if all(is_right(exercise, theirs(i), expected(exercise)[i]) for i in telling):
                continue  # nearly right (in float32, say) is not this mistake
            alike[bugs] = sum(same(exercise, outcomes[i], theirs(i)) for i in everywhere)
        if alike:
            return [bugs for bugs, count in alike.items() if count == max(alike.values())]
    return []


def _same_quantity(one, other):
    """Do both set the same thing, so that only one of them can be what was done?"""
    return bool(set(one.sets.split()) & set(other.sets.split()))


def _says_nothing(values):
    return values.dtype.kind == "f" and bool(np.isnan(values).all() or (np.abs(values) < 1e-12).all())


def same(exercise, ours, theirs):
    """Do two outcomes agree as closely as a known wrong answer has to?"""
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
    else:  # every value of this case is right, and still not everything is well
        kept = "the values are right, but your" if values_right(exercise, outcomes) else "your"
        if outcome.changed:
            return prefix + f"{kept} function changes its input {outcome.changed[0]}."
        return prefix + f"{kept} {_noun(exercise)} {outcome.problem}."
    if exercise.behaviour:
        return prefix + exercise.behaviour.differs(arguments(exercise, probe), outcome.raw)
    if len(exercise.outputs) > 1:
        other = _in_the_place_of(exercise, outcomes, name)
        if other:
            return prefix + f"what you return as {name} is the right {other}: is the order of the outputs right?"
        prefix += f"{name}: "
    problem = kind_problem(got, right_one)
    if problem:
        return prefix + problem + "."
    arrays = cases(exercise, outcomes)[name]
    if probe.kind == "edge":  # the sentence names this case
        arrays = [case for case in arrays if case.label == probe.label]
    if exercise.value:
        words = _words(exercise) if got.dtype.kind == "U" else ()
        sentence = prefix + explanations.describe_value(got, right_one, exercise.rtol, words)
    else:
        sentence = prefix + explanations.describe(arrays)
    return sentence if sentence.endswith("?") else sentence + "."


def _in_the_place_of(exercise, outcomes, name):
    """The output whose right values are returned as `name`, on every case that returns anything; or ""."""
    place = exercise.outputs.index(name)
    for other, theirs in enumerate(exercise.outputs):
        pairs = zip(outcomes, expected(exercise), strict=True)
        if all(got.values is None or right_output(exercise, got.values[place], want[other]) for got, want in pairs):
            return theirs
    return ""


def named(exercise, candidates):
    """The causes in words, and the ids of the mistakes that are certain, from what `recognise` found."""
    known = {mistake.id: mistake for mistake in exercise.mistakes}
    if len(candidates) == 1:
        says = [known[id].say for id in candidates[0]]
        return (says[0] if len(says) == 1 else f"two mistakes. (1) {says[0]} (2) {says[1]}"), candidates[0]
    certain = tuple(id for id in candidates[0] if all(id in others for others in candidates))
    rest = list(dict.fromkeys(id for ids in candidates for id in ids if id not in certain))
    either = f"either: {known[rest[0]].say} Or: {known[rest[1]].say}" if len(rest) == 2 else ""
    if certain and either:
        return f"two mistakes. (1) {known[certain[0]].say} (2) E{either[1:]}", certain
    if certain:
        return f"two mistakes. One of them: {known[certain[0]].say}", certain
    return (either if len(candidates[0]) == 1 else ""), ()


def symptom(exercise, outcomes, found):
    """What is seen on this answer of that which the mistakes found usually show: sentences, or ""."""
    if values_right(exercise, outcomes):
        return "" if exercise.value else "the values are right."
    if exercise.behaviour and exercise.behaviour.as_is:
        return exercise.behaviour.differs((), outcomes[0].raw)
    shown = [mistake.shows for mistake in exercise.mistakes if mistake.id in found]
    claims = dict.fromkeys(claim for claims in shown for claim in claims.split())
    words = relations.seen(claims, cases(exercise, outcomes)) if claims else ""
    return f"{words}." if words else ""


def values_right(exercise, outcomes):
    """Is every number of every case right, whatever else is wrong?"""
    return all(
        outcome.values is not None
        and all(right_output(exercise, got, right) for got, right in zip(outcome.values, want, strict=True))
        for outcome, want in zip(outcomes, expected(exercise), strict=True)
    )


def cases(exercise, outcomes):
    """For each output its arrays, the right ones and the inputs' sizes: a dict of name to list of `Compared`."""
    found = {name: [] for name in exercise.outputs}
    for probe, outcome, want in zip(exercise.probes, outcomes, expected(exercise), strict=True):
        for name, got, right in zip(exercise.outputs, outcome.values or (), want, strict=False):
            good = right_output(exercise, got, right)
            found[name].append(Compared(got, right, _sizes(exercise, probe), probe.label, good, probe.kind == "edge"))
    return found


def _words(exercise):
    """The words that may be answered: the right one and those of the mistakes."""
    sets = [frozenset(), *(frozenset((mistake.id,)) for mistake in exercise.mistakes)]
    return {str(exercise.family(bugs)()) for bugs in sets}


def _sizes(exercise, probe):
    """The numbers by which a result may be too large: sizes of axes, and whole numbers that were handed over."""
    sizes = {}
    for name, arg in zip(argument_names(exercise), arguments(exercise, probe), strict=True):
        for axis, size in zip(range(-np.ndim(arg), 0), np.shape(arg), strict=True):
            sizes[f"the size of axis {axis} of {name}"] = size
        if type(arg) is int:
            sizes[name] = arg
    for name in [name for name in sizes if name == "heads"]:  # the width of one head
        widths = {axis: size for axis, size in sizes.items() if "_weight" in axis and " -1 " in axis}
        sizes |= {f"{axis} / heads": size // sizes[name] for axis, size in widths.items()}
    return sizes


def _noun(exercise):
    return "value" if exercise.value else "function"


def _where(exercise, probe, named):
    shapes = [
        f"{name} {np.shape(arg)}" if np.ndim(arg) else f"{name} = {arg}"
        for name, arg in zip(argument_names(exercise), arguments(exercise, probe), strict=True)
    ]
    case = "" if named else f'case "{probe.label}": '
    return f" ({case}{', '.join(shapes)})" if shapes else ""
