"""What is claimed of arrays, measured anew: relations between two of them, sums, what is lost, digits."""

import numpy as np
from truth_seen import alike, claim, clear, near

# --- relations between two arrays -----------------------------------------------------------------


@claim("times")
def times(seen, pairs, n):
    several = sum(np.count_nonzero(w) for _, w, _ in pairs) > 1
    return clear(pairs) and several and n != 1 and all(alike(g, n * w) for g, w, _ in pairs)


@claim("parts")
def parts(seen, pairs, n):
    return times(seen, pairs, 1 / n)


@claim("size")
def times_a_size(seen, pairs, size, power, n):
    names = seen.exercise.solution.__code__.co_varnames
    factors = []
    for g, w, place in pairs:
        given = seen.arguments[place][names.index(size.argument)]
        length = float(given if size.axis is None else np.shape(given)[size.axis])
        length /= seen.arguments[place][names.index(size.over)] if size.over else 1
        factors.append(length ** abs(power))
        if not alike(g, w * length**power):
            return False
    return clear(pairs) and any(near(factor, n) for factor in factors)


@claim("minus")
def minus(seen, pairs):
    return clear(pairs) and all(alike(-g, w) for g, w, _ in pairs)


@claim("offset")
def offset(seen, pairs, n):
    return clear(pairs) and all(alike(g - w, np.full(w.shape, n)) for g, w, _ in pairs)


@claim("transposed")
def transposed(seen, pairs):
    turned = all(w.ndim > 1 and alike(np.moveaxis(g, -1, -2) * 1.0, w * 1.0) for g, w, _ in pairs)
    return turned and not all(np.array_equal(g, w) for g, w, _ in pairs)


@claim("one element")
def one_element(seen, pairs, which, what):
    for g, w, _ in pairs:
        place = 0 if which == "first" else len(w) - 1  # the others are wrong, be it by a hundred-thousandth
        others = [seen.equal(a, b) for n, (a, b) in enumerate(zip(g, w, strict=True)) if n != place]
        if any(others) or not alike(g[place], w[place]):
            return False
        if what == "row" and w.ndim != 2 or what == "batch element" and w.ndim < 3:
            return False
    return True


@claim("row factors")
def row_factors(seen, pairs, n):
    return _factors_along(pairs, -1, n)


@claim("column factors")
def column_factors(seen, pairs, n):
    return _factors_along(pairs, -2, n)


def _factors_along(pairs, axis, n):
    found = False
    for g, w, _ in pairs:
        g, w = np.moveaxis(g, axis, -1), np.moveaxis(w, axis, -1)
        top = np.abs(w).argmax(-1)[..., None]
        ratio = np.take_along_axis(g, top, -1) / np.take_along_axis(w, top, -1)
        found = found or any(near(r, n) for r in ratio.ravel())
        if not alike(g, ratio * w):
            return False
    return clear(pairs) and found


@claim("row offsets")
def row_offsets(seen, pairs):
    return clear(pairs) and all(alike(g - w, (g - w)[..., :1] * np.ones(w.shape)) or
        np.abs((g - w) - (g - w)[..., :1]).max() < 5e-6 * max(np.abs(g).max(), np.abs(w).max()) for g, w, _ in pairs)  # fmt: skip


@claim("permuted")
def permuted(seen, pairs):
    return clear(pairs) and all(alike(np.sort(g.ravel()), np.sort(w.ravel())) for g, w, _ in pairs)


@claim("entries")
def entries(seen, pairs, wrong, of, axis, at, first, got, want, side=""):
    """Counted in a loop; a number that is right to a millionth of the largest counts as right."""
    for g, w, _ in pairs:
        if g.shape != w.shape or w.size != of or not (near(g[first], got) and near(w[first], want)):
            continue
        large = max(np.abs(w[np.isfinite(w)]).max(initial=0), 1e-3)
        bad = [i for i in np.ndindex(w.shape) if g[i] != w[i] and not abs(g[i] - w[i]) <= 1e-6 * large]
        bad = bad or [i for i in np.ndindex(w.shape) if g[i] != w[i]]
        places = not at or {i[axis] for i in bad} == set(at)
        places = places and (not side or all(side == ("on", "below", "above")[np.sign(i[-2] - i[-1])] for i in bad))
        if len(bad) == wrong and bad[0] == tuple(first) and places and not seen.equal(g, w):
            return True
    return False


@claim("ignored")
def ignored(seen, pairs, name):
    """On every case the answer does the same if this argument is reversed, and the solution does not on one of them.

    The oracle would not do here: what the solution is given from the forward pass, it may compute anew.
    """
    at, differs = list(seen.exercise.solution.__code__.co_varnames).index(name), False
    for g, w, place in pairs:
        args = seen.made(seen.exercise.probes[place])
        args = [np.flip(arg).reshape(arg.shape) if i == at else arg for i, arg in enumerate(args)]
        with np.errstate(all="ignore"):
            again, right = seen.answer(*args), seen.exercise.solution(*args)
        output = next(i for i, part in enumerate(seen.got[place]) if part is g)
        if len(seen.exercise.outputs) > 1:
            again, right = again[output], right[output]
        differs = differs or not alike(right, w)
        if not np.array_equal(again, g, equal_nan=True):
            return False
    return differs


# --- properties, and relations to an input ---------------------------------------------------------


def _given(seen, place, name):
    return seen.made(seen.exercise.probes[place])[list(seen.exercise.solution.__code__.co_varnames).index(name)]


@claim("input")
def input_itself(seen, pairs, name):
    return clear(pairs) and all(alike(g, _given(seen, place, name)) for g, _, place in pairs)


@claim("off by input")
def off_by_input(seen, pairs, name, right, n):
    return clear(pairs) and all(alike(g, right * w + n * _given(seen, place, name)) for g, w, place in pairs)


@claim("where sign")
def where_sign(seen, pairs, name, what):
    for g, w, place in pairs:
        given = _given(seen, place, name)
        for i in np.ndindex(w.shape):
            if (abs(g[i] - w[i]) > 1e-5 * np.abs(w).max()) != (given[i] < 0 if what == "negative" else given[i] > 0):
                return False
    return clear(pairs)


def _with_changed(seen, pair, changes):
    """This output of the answer and of the solution, with other arrays for the arguments in `changes` (functions by name)."""
    g, _, place = pair
    names = list(seen.exercise.solution.__code__.co_varnames)
    args = list(seen.made(seen.exercise.probes[place]))
    for name, change in changes.items():
        args[names.index(name)] = change(np.array(args[names.index(name)]))
    with np.errstate(all="ignore"):
        copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
        results = seen.answer(*copies), seen.exercise.solution(*args)
    if len(seen.exercise.outputs) > 1:
        output = next(i for i, part in enumerate(seen.got[place]) if part is g)
        results = [result[output] for result in results]
    return tuple(map(np.asarray, results))


def _on_one(seen, pairs, changes, ours, right):
    """On one of these cases: does `ours(before, after)` hold for the answer, and `right(before, after)` for the oracle?"""
    for pair in pairs:
        got, want = _with_changed(seen, pair, changes)
        if ours(pair[0], got) and right(pair[1], want):
            return True
    return False


def _same(before, after):
    return alike(after, before)


def _other(before, after):
    return not alike(after, before)


@claim("size does not count")
def size_does_not_count(seen, pairs, name):
    return _on_one(seen, pairs, {name: lambda a: 1.7 * a}, _same, _other)


@claim("shift counts")
def shift_counts(seen, pairs, name):
    return _on_one(seen, pairs, {name: lambda a: a - 0.4}, _other, _same)


@claim("not proportional")
def not_proportional(seen, pairs, names):
    def grows(before, after):
        return alike(after, 3 * before)

    return _on_one(seen, pairs, dict.fromkeys(names, lambda a: 3 * a), lambda *both: not grows(*both), grows)


def _less_and_more(axis, at):
    """Two changes at one place of an axis, by another amount for each number: a softmax would not notice one amount for all."""

    def changed_by(most):
        def change(a):
            part = np.moveaxis(a, axis, 0)[at : at + 1 or None]
            part += np.linspace(most / 7, most, part.size).reshape(part.shape)
            return a

        return change

    return changed_by(-2.1), changed_by(2.1)


@claim("mixed")
def mixed(seen, pairs, name, what):
    axis = 0 if what == "batch element" else -2

    def first_stays(before, after):
        return alike(np.take(after, 0, axis), np.take(before, 0, axis))

    changes = _less_and_more(axis, -1)
    return any(_on_one(seen, pairs, {name: change}, lambda *both: not first_stays(*both), first_stays) for change in changes)


@claim("part not used")
def part_not_used(seen, pairs, name, which, what):
    changes = _less_and_more({"row": -2, "column": -1}[what], {"first": 0, "last": -1}[which])
    return all(_on_one(seen, pairs, {name: change}, np.array_equal, _other) for change in changes)


@claim("function")
def elementwise(seen, pairs, name):
    import math

    do = {"the logarithm of": math.log, "the exponential of": math.exp, "the square of": lambda x: x * x, "one over": lambda x: 1 / x,
          "the square root of": math.sqrt, "1 minus": lambda x: 1 - x, "the absolute value of": abs}[name]  # fmt: skip
    return clear(pairs) and all(alike(g, np.vectorize(do)(w)) for g, w, _ in pairs)


@claim("same rows")
def same_rows(seen, pairs):
    return clear(pairs) and all(alike(g, np.broadcast_to(g[..., :1, :], g.shape)) and np.ptp(w, -2).any() for g, w, _ in pairs)


@claim("same columns")
def same_columns(seen, pairs):
    return clear(pairs) and all(alike(g, np.broadcast_to(g[..., :1], g.shape)) and np.ptp(w, -1).any() for g, w, _ in pairs)


# --- sums -----------------------------------------------------------------------------------------


def _totals(pairs, axis):
    return np.concatenate([np.atleast_1d(g.sum(axis=axis)).ravel() for g, _, _ in pairs])


def _ones(pairs):
    """Do the right rows sum to 1?"""
    return clear(pairs) and all(w.ndim and np.allclose(w.sum(axis=-1), 1) for _, w, _ in pairs)


def _not_ones(pairs):
    """Do the right rows sum to 1, and not all of the answer's?"""
    return _ones(pairs) and not np.allclose(_totals(pairs, -1), 1)


@claim("row sums")
def row_sums(seen, pairs, n):
    return _ones(pairs) and any(near(total, n) and abs(total - 1) > 1e-7 for total in _totals(pairs, -1))


@claim("negative")
def negative(seen, pairs, n):
    sums = _ones(pairs) and np.allclose(_totals(pairs, -1), 1, rtol=1e-5)
    return sums and any(near(g.min(), n) and g.min() < 0 for g, _, _ in pairs)


@claim("sums along 0")
def sums_along_0(seen, pairs):
    return _not_ones(pairs) and np.allclose(_totals(pairs, 0), 1, rtol=1e-5)


@claim("sum of all")
def sum_of_all(seen, pairs):
    return _not_ones(pairs) and all(np.isclose(g.sum(), 1) for g, _, _ in pairs)


@claim("largest one")
def largest_one(seen, pairs):
    return _not_ones(pairs) and all(np.allclose(g.max(axis=-1), 1) for g, _, _ in pairs)


@claim("zero sums")
def zero_sums(seen, pairs, n):
    zero = clear(pairs) and all(np.allclose(w.sum(axis=-1), 0, atol=1e-6 * np.abs(w).max(initial=1)) for _, w, _ in pairs)
    return zero and any(near(total, n) for total in _totals(pairs, -1))


@claim("zero")
def zero(seen, pairs, one):
    return clear(pairs) and all(np.abs(g).max() <= 1e-8 * np.abs(w).max() for g, w, _ in pairs)


# --- what is lost, kinds, shapes, digits -----------------------------------------------------------


@claim("lost")
def lost(seen, pairs, what, count, of, right):
    for g, w, _ in pairs:
        bad = {
            "NaN": np.isnan(g) & ~np.isnan(w), "infinity": np.isinf(g) & (g != w), "finite": np.isfinite(g) & np.isinf(w),
        }[what]  # fmt: skip
        if (bad.sum(), g.size) == (count, of) and (right is None or (w[bad] == right).all()):
            return True
    return False


@claim("shape")
def shape(seen, pairs, got, want):
    return got != want and any((g.shape, w.shape) == (got, want) for g, w, _ in pairs)


@claim("whole numbers")
def whole_numbers(seen, pairs, dtype):
    return all(g.dtype == dtype and g.dtype.kind in "iu" and np.any(w % 1) for g, w, _ in pairs)


@claim("booleans")
def booleans(seen, pairs, of, extra, missing):
    counts = [(w.size, int((g & ~w).sum()), int((w & ~g).sum())) for g, w, _ in pairs if g.shape == w.shape]
    return (of, extra, missing) in counts


@claim("complement")
def complement(seen, pairs):
    return all(g.dtype == w.dtype == bool and (g ^ w).all() for g, w, _ in pairs)


@claim("kind")
def kind(seen, pairs, got, want, one):
    return got != want and any((g.dtype.kind, w.dtype.kind, w.ndim == 0) == (got, want, one) for g, w, _ in pairs)


@claim("rounded")
def rounded(seen, pairs, places):
    return clear(pairs) and all(np.allclose(g, np.round(w, places), atol=1e-12) for g, w, _ in pairs)


@claim("digits")
def digits(seen, pairs, digits, single, rounded):
    alike_infinite = [np.isinf(w) & (g == w) if g.shape == w.shape else np.zeros(w.shape, bool) for g, w, _ in pairs]
    pairs = [(g[~i], w[~i], p) if i.any() else (g, w, p) for i, (g, w, p) in zip(alike_infinite, pairs, strict=True)]
    error = max(np.abs(g - w).max(initial=0) / np.abs(w).max(initial=0) for g, w, _ in pairs if np.any(w))
    decimals = all(np.allclose(g, np.round(g.astype(float), 8), rtol=0, atol=1e-13) for g, _, _ in pairs)
    fits = abs(-np.log10(max(error, 1e-15)) - digits - 0.5) <= 1.6
    return clear(pairs) and fits and not (single and decimals)
