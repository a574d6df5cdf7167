"""Decide from the outcomes of all probes whether an answer is right, and which known mistakes explain a wrong one.

`recognise` compares a wrong answer with the solution after each known mistake, and after each pair of them. `named` and
`symptom` put what was recognised into words; `explain` describes an answer that no known mistake explains.
"""

import re
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations

import numpy as np

from attnexercises.engine import compared, description
from attnexercises.engine.calls import argument_names, arguments, run_trusted
from attnexercises.engine.claims import RANGES, Claim, Size
from attnexercises.engine.compared import Compared
from attnexercises.engine.edits import fit_together

SAME = 1e-6  # relative tolerance within which an answer counts as equal to a known wrong answer


@lru_cache(maxsize=None)
def expected(exercise):
    """The oracle's outputs on every probe: a list of tuples of arrays."""
    return [as_outputs(exercise, exercise.oracle(*arguments(exercise, probe))) for probe in exercise.probes]


@lru_cache(maxsize=20_000)
def variant(exercise, bugs, place):
    """The `Outcome` of the solution with these mistakes in it, on the probe number `place`."""
    return run_trusted(exercise, exercise.family(bugs), exercise.probes[place])


def as_outputs(exercise, raw):
    """Convert the return value of an oracle to a tuple of arrays, one for each output."""
    return tuple(np.asarray(part) for part in (raw if len(exercise.outputs) > 1 else (raw,)))


def is_right(exercise, outcome, want):
    """Are all values and dtypes right, was the return value well-formed, and is every argument unchanged?"""
    if outcome.values is None or outcome.problem or outcome.changed:
        return False
    return all(right_output(exercise, got, right) for got, right in zip(outcome.values, want, strict=True))


def right_output(exercise, got, want):
    """Is this one array right?"""
    return kind_problem(got, want) is None and _close(got, want, exercise.rtol, exercise.atol)


def kind_problem(got, want):
    """A claim if the dtype is of a wrong kind (numbers, booleans or words), otherwise None."""
    kinds = got.dtype.kind, want.dtype.kind
    if kinds[0] == kinds[1] or not {"U", "b"} & {*kinds}:
        return None
    return Claim("kind", {"got": kinds[0], "want": kinds[1], "one": want.ndim == 0})


def _close(a, b, rtol, atol):
    if a.shape != b.shape:
        return False
    if "U" in (a.dtype.kind, b.dtype.kind):
        return a.dtype.kind == b.dtype.kind and str(a).strip().lower() == str(b).strip().lower()
    if a.dtype.kind == "f" and b.dtype.kind == "f" and a.dtype.itemsize < b.dtype.itemsize and rtol < 1e-8:
        return False  # float32 in place of float64 is refused, even where some numbers happen to be close enough
    if a.size and a.dtype.kind == b.dtype.kind == "f":  # cheap, and most wrong arrays differ here
        x, y = float(a.flat[0]), float(b.flat[0])
        if abs(x - y) > atol + rtol * abs(y):
            return False
        finite = np.isfinite(b)  # only NaN and infinity need `np.allclose`, which is slow
        with np.errstate(all="ignore"):
            if np.any(~(np.abs(a - b) <= atol + rtol * np.abs(b)) & finite):
                return False
        if finite.all():
            return True
    return bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


def recognise(exercise, outcomes, right):
    """Return the explanations that fit best: a list of tuples of one or two ids of known mistakes.

    Usually the list has one element or none. If it has several, the probes cannot tell them apart.
    The edge cases are considered only if all other cases are right, because an overflow
    there would hide other mistakes.

    Parameters
    ----------
    exercise : Exercise
    outcomes : list of Outcome
        What the answer did on each probe.
    right : list of bool
        Whether it is right on each probe.
    """
    visible = [i for i, probe in enumerate(exercise.probes) if probe.kind != "edge"]
    everywhere = range(len(outcomes))
    stage = visible if not all(right[i] for i in visible) else list(everywhere)
    telling = [i for i in stage if not right[i] and outcomes[i].values is not None]
    if not telling:  # the answer only crashes, and a crash can have any cause
        return []
    if all(_says_nothing(part) for i in telling for part in outcomes[i].values):
        stage = list(everywhere)
        # Many different mistakes give nothing but NaN or 0 on one case. So all cases have to agree, edge cases too.
    empty = all(
        _says_nothing(got) or right_output(exercise, got, want)
        for i in telling
        for got, want in zip(outcomes[i].values, expected(exercise)[i], strict=True)
    )
    for size in (1,) if exercise.value or empty else (1, 2):  # where nothing can be read, many pairs would fit
        alike = {}
        for mistakes in combinations(exercise.mistakes, size):
            if size == 2 and (_same_quantity(*mistakes) or not fit_together(exercise, *mistakes)):
                continue
            bugs = tuple(mistake.id for mistake in mistakes)
            if size == 2 and not all(_matters(exercise, id, telling) for id in bugs):
                continue
            theirs = partial(variant, exercise, frozenset(bugs))
            if not all(same(exercise, outcomes[i], theirs(i)) for i in stage):
                continue
            if all(is_right(exercise, theirs(i), expected(exercise)[i]) for i in telling):
                continue  # the mistake changes nothing here: the answer is merely inexact, such as float32
            alike[bugs] = sum(same(exercise, outcomes[i], theirs(i)) for i in everywhere)
        if alike:
            return [bugs for bugs, count in alike.items() if count == max(alike.values())]
    return []


def _same_quantity(one, other):
    """Do both mistakes change the same quantity, so that an answer can hold only one of them?"""
    return bool(set(one.sets.split()) & set(other.sets.split()))


def _says_nothing(values):
    """Are all numbers NaN, or infinite, or 0?"""
    return values.dtype.kind == "f" and bool((~np.isfinite(values)).all() or (np.abs(values) < 1e-12).all())


@lru_cache(maxsize=None)
def _wrong_alone(exercise, id, place):
    return not is_right(exercise, variant(exercise, frozenset((id,)), place), expected(exercise)[place])


def _matters(exercise, id, places):
    """Is this mistake alone wrong on one of these cases? One that is not cannot be seen there, so it is no part of a pair."""
    return any(_wrong_alone(exercise, id, place) for place in places)


def same(exercise, ours, theirs):
    """Do an answer's outcome and a known wrong one agree closely enough to count as the same mistake?"""
    if (ours.values is None) or (theirs.values is None):
        return ours.values is None and theirs.values is None
    if bool(ours.changed) != bool(theirs.changed):
        return False
    close = max(SAME, exercise.rtol)  # an exercise that accepts rounded numbers recognises rounded wrong ones, too
    return all(
        a.dtype.kind == b.dtype.kind or "b" not in (a.dtype.kind, b.dtype.kind)
        for a, b in zip(ours.values, theirs.values, strict=True)
    ) and all(_close(a, b, close, max(1e-3 * close, exercise.atol)) for a, b in zip(ours.values, theirs.values, strict=True))


def explain(exercise, outcomes, right):
    """Return a sentence for an answer that no known mistake explains, and a tuple of the claim that it makes, if any."""
    order = sorted((i for i in range(len(right)) if not right[i]), key=lambda i: exercise.probes[i].kind == "edge")
    first = order[0]
    outcome, want, probe = outcomes[first], expected(exercise)[first], exercise.probes[first]
    edge = {"where": "edge", "case": probe.label} if probe.kind == "edge" and not exercise.value else {}
    prefix = RANGES["edge"].format(case=probe.label) if edge else ""
    if outcome.values is None:
        return prefix + ended(f"your {_noun(exercise)} {_problem(exercise, outcome)}{_where(exercise, probe, prefix)}"), ()
    for name, got, right_one in zip(exercise.outputs, outcome.values, want, strict=True):
        if not right_output(exercise, got, right_one):
            break
    else:  # every value of this case is right, so the fault is a changed argument or the form of the return value
        kept = "the values are right, but your" if values_right(exercise, outcomes) else "your"
        fault = f"function changes its input {outcome.changed[0]}" if outcome.changed else f"{_noun(exercise)} {_problem(exercise, outcome)}"
        return prefix + ended(f"{kept} {fault}"), ()
    if exercise.behaviour:
        return prefix + exercise.behaviour.differs(arguments(exercise, probe), outcome.raw), ()
    claim = replace(_claim(exercise, outcomes, probe, name, got, right_one), **edge)
    return claim.sentence, (claim,)


def _claim(exercise, outcomes, probe, name, got, right_one):
    """The claim about the output `name`, which is `got` on this probe."""
    several = len(exercise.outputs) > 1
    other = _in_the_place_of(exercise, outcomes, name) if several else ""
    if other:
        return Claim("other output", {"name": name, "other": other})
    arrays = cases(exercise, outcomes)[name]
    if probe.kind == "edge":  # the sentence begins with the name of this case, so the rest of it is about the case alone
        arrays = [case for case in arrays if case.label == probe.label]
    claim = kind_problem(got, right_one)
    if not claim and exercise.value:
        words = _words(exercise) if got.dtype.kind == "U" else ()
        claim = description.describe_value(got, right_one, exercise.rtol, words, exercise.quantities)
    claim = claim or description.describe(arrays)
    return replace(claim, outputs=(name,)) if several else claim


def _in_the_place_of(exercise, outcomes, name):
    """The name of another output whose right values the answer returns as `name` on all cases with a result, or ""."""
    place = exercise.outputs.index(name)
    for other, theirs in enumerate(exercise.outputs):
        pairs = zip(outcomes, expected(exercise), strict=True)
        if all(got.values is None or right_output(exercise, got.values[place], want[other]) for got, want in pairs):
            return theirs
    return ""


def named(exercise, candidates):
    """Put the explanations from `recognise` into words. Also return the ids of the mistakes common to all of them."""
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
    """Those usual symptoms (`Mistake.shows`) of the mistakes found that this answer really shows: in words, and as claims."""
    if exercise.behaviour and exercise.behaviour.as_is and not values_right(exercise, outcomes):
        return exercise.behaviour.differs((), outcomes[0].raw), ()
    if values_right(exercise, outcomes):
        claims = () if exercise.value else (Claim("values right"),)
    else:
        shown = [mistake.shows for mistake in exercise.mistakes if mistake.id in found]
        names = dict.fromkeys(name for names in shown for name in names.split())
        claims = tuple(compared.seen(names, cases(exercise, outcomes))) if names else ()
    return "; ".join(map(str, claims)) + "." * bool(claims), claims


def values_right(exercise, outcomes):
    """Are the outputs right in every case, whatever else is wrong with the answer?"""
    return all(
        outcome.values is not None
        and all(right_output(exercise, got, right) for got, right in zip(outcome.values, want, strict=True))
        for outcome, want in zip(outcomes, expected(exercise), strict=True)
    )


def cases(exercise, outcomes):
    """Return a dict from the name of each output to a list of `Compared`, one for each probe with a result."""
    found = {name: [] for name in exercise.outputs}
    for probe, outcome, want in zip(exercise.probes, outcomes, expected(exercise), strict=True):
        for name, got, right in zip(exercise.outputs, outcome.values or (), want, strict=False):
            good = right_output(exercise, got, right)
            found[name].append(Compared(got, right, _sizes(exercise, probe), probe.label, good, probe.kind == "edge"))
    return found


def _words(exercise):
    """For an exercise that asks for a word: the right word, and the words of all known mistakes."""
    sets = [frozenset(), *(frozenset((mistake.id,)) for mistake in exercise.mistakes)]
    return {str(exercise.family(bugs)()) for bugs in sets}


def _sizes(exercise, probe):
    """The numbers by which a result is often too large, a dict from `Size`: sizes of axes, and integer arguments."""
    sizes = {}
    for name, arg in zip(argument_names(exercise), arguments(exercise, probe), strict=True):
        axes = _axes(exercise).get(name)
        pairs = zip(range(-np.ndim(arg), 0), np.shape(arg), strict=True)
        sizes |= {Size(name, axis, axes=axes): size for axis, size in pairs}
        if type(arg) is int:
            sizes[Size(name)] = arg
    if Size("heads") in sizes:  # a result may also be off by the width of one head
        widths = [size for size in sizes if "_weight" in size.argument and size.axis == -1]
        sizes |= {size._replace(over="heads"): sizes[size] // sizes[Size("heads")] for size in widths}
    if Size("kv_heads") in sizes:  # or by the number of heads that share one
        heads = [size for size in sizes if size.axis == -3]
        sizes |= {size._replace(over="kv_heads"): sizes[size] // sizes[Size("kv_heads")] for size in heads}
    return sizes


@lru_cache(maxsize=None)
def _axes(exercise):
    """How many axes each argument has, of those that have the same number of them in every case."""
    found = {}
    for probe in exercise.probes:
        for name, arg in zip(argument_names(exercise), arguments(exercise, probe), strict=True):
            found.setdefault(name, set()).add(np.ndim(arg))
    return {name: axes.pop() for name, axes in found.items() if len(axes) == 1}


def ended(sentence):
    """The sentence with a full stop, unless it is a question.

    Examples
    --------
    >>> ended("your value is 3"), ended("did you forget `return`?")
    ('your value is 3.', 'did you forget `return`?')
    """
    return sentence if sentence.endswith(("?", ".", "!")) else f"{sentence}."


def _problem(exercise, outcome):
    """What is wrong with the form of the answer. A value is something or holds something; it returns nothing."""
    if not exercise.value:
        return outcome.problem
    return re.sub(r"^returns (?=None:|an? )", "is ", outcome.problem).replace("returns ", "holds ", 1).replace(
        "is None: did you forget `return`?", "is None; give the value itself"
    )


def _noun(exercise):
    return "value" if exercise.value else "function"


def _where(exercise, probe, named):
    shapes = [
        f"{name} {np.shape(arg)}" if np.ndim(arg) else f"{name} = {arg}"
        for name, arg in zip(argument_names(exercise), arguments(exercise, probe), strict=True)
    ]
    case = "" if named else f'case "{probe.label}": '
    return f" ({case}{', '.join(shapes)})" if shapes else ""
