"""Is what a message says true of the answer it is shown for? Every clause is read and measured anew.

Nothing of the engine is used but the exercise's data (cases, oracle, tolerance) and the grammar of its sentences:
a clause that no pattern here knows counts as false, so that a new sentence needs a new measurement.
"""

import re
import zlib

import numpy as np
import truth_of_runs

N = r"(?P<n>-?(?:\d[\d.]*(?:e[+-]?\d+)?|infinite|inf))"
RANGE = re.compile(
    r"(?P<edge>right on ordinary inputs; on the case \"(?P<only>[^\"]+)\": )?"
    r"(?:(?P<outs>[a-z_]+(?:, [a-z_]+)*): )?"
    r"(?P<range>on ordinary inputs where it is wrong, |on ordinary inputs, |where it is wrong, |on the case \"(?P<case>[^\"]+)\", )?"
)  # fmt: skip
CLAIMS = []


class Seen:
    """What an answer did on every case."""

    def __init__(self, exercise, answer):
        self.exercise, self.answer = exercise, answer
        self.arguments, self.want, self.got, self.error, self.changed, self.raw = [], [], [], [], [], []
        for probe in exercise.probes:
            self.arguments.append(self.made(probe))
            right = exercise.oracle(*self.made(probe))
            self.want.append([np.asarray(part) for part in (right if len(exercise.outputs) > 1 else (right,))])
            self._call(probe)
        self.labels = [probe.label for probe in exercise.probes]
        self.edge = [probe.kind == "edge" for probe in exercise.probes]

    def made(self, probe):
        seed = [zlib.crc32(self.exercise.id.encode()), self.exercise.probes.index(probe)]
        return probe.make(np.random.default_rng(seed))

    def _call(self, probe):
        args, before, raw, error, got = self.made(probe), self.made(probe), None, None, None
        with np.errstate(all="ignore"):
            try:
                raw = self.answer(*args) if callable(self.answer) else self.answer
                parts = raw
                if self.exercise.behaviour:
                    parts = self.exercise.behaviour.of(before, tuple(np.asarray(part, dtype=float) for part in raw))
                elif len(self.exercise.outputs) == 1:
                    parts = raw if isinstance(raw, tuple) and len(raw) == 1 and not self.exercise.value else (raw,)
                several = len(self.exercise.outputs) == 1 and isinstance(raw, tuple) and len(raw) > 1
                several = several and not self.exercise.value and not self.exercise.behaviour
                if isinstance(parts, (tuple, list)) and len(parts) == len(self.exercise.outputs) and not several:
                    got = [np.array(part) for part in parts]
                    unread = any(part.dtype.kind in "Oc" for part in got) or any(map(np.ma.is_masked, parts))
                    got = None if unread else got
            except Exception as caught:
                error = caught
        self.raw.append(raw), self.error.append(error), self.got.append(got)
        arrays = [(a, b) for a, b in zip(args, before, strict=True) if isinstance(b, np.ndarray)]
        self.changed.append(any(not np.array_equal(a, b, equal_nan=b.dtype.kind == "f") for a, b in arrays))

    def equal(self, got, want):
        """Right up to the exercise's tolerance."""
        if got.shape != want.shape or "U" in (got.dtype.kind, want.dtype.kind):
            return got.shape == want.shape and str(got).strip().lower() == str(want).strip().lower()
        if (got.dtype.kind == "b") != (want.dtype.kind == "b") or (got.dtype.itemsize < 8 and got.dtype.kind == "f"):
            return False
        return np.allclose(got, want, rtol=self.exercise.rtol, atol=self.exercise.atol, equal_nan=True)

    def right(self, place, output=None):
        """Are the values of one case right, of all outputs or of one?"""
        if self.got[place] is None:
            return False
        pairs = list(zip(self.got[place], self.want[place], strict=True))
        return all(self.equal(*pair) for pair in (pairs if output is None else [pairs[output]]))

    def passes(self, place):
        one = len(self.exercise.outputs) == 1 and not self.exercise.value
        return self.right(place) and not self.changed[place] and not (one and isinstance(self.raw[place], tuple))

    def cases(self, output, where, case):
        """The pairs of arrays that a range means, for one output."""
        places = [i for i in range(len(self.labels)) if self.got[i] is not None]
        wrong = [i for i in places if not self.right(i, output)]
        if case:
            places = [self.labels.index(case)]
        elif where.startswith("on ordinary"):
            places = [i for i in (wrong if "wrong" in where else places) if not self.edge[i]]
        elif where:
            places = wrong
        return [(self.got[i][output], self.want[i][output], i) for i in places if self.got[i] is not None]


def claim(pattern, *, whole=False):
    """Register a measurement: of the pairs of one output in a range, or of the whole answer."""

    def add(function):
        CLAIMS.append((re.compile(pattern.replace("{N}", N)), function, whole))
        return function

    return add


def near(a, b, digits=3):
    """Is b the number a, printed with so many digits?"""
    a, b = float(a), float(str(b).replace("infinite", "inf"))
    return bool(np.isclose(a, b, rtol=0.6 * 10.0 ** (1 - digits), atol=1e-12))


def alike(a, b, rtol=5e-6):
    scale = max(float(np.abs(b).max(initial=0)), 1e-3)
    return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=rtol, atol=rtol * scale))


def clear(pairs):
    """Numbers of the right shape, none of them lost, and not all of them right."""
    fits = all(g.shape == w.shape and np.isfinite(g).all() and np.isfinite(w).all() for g, w, _ in pairs)
    return bool(pairs) and fits and not all(alike(g, w, 1e-12) for g, w, _ in pairs)


# --- relations between two arrays -----------------------------------------------------------------


@claim(r"every number is {N} times the right one")
def times(seen, pairs, m):
    return clear(pairs) and sum(np.count_nonzero(w) for _, w, _ in pairs) > 1 and float(m["n"]) != 1 and all(alike(g, _ratio(pairs) * w) for g, w, _ in pairs) and near(
        _ratio(pairs), m["n"], len(m["n"].partition("e")[0].replace(".", "").lstrip("-0")) if "." in m["n"] else 3)  # fmt: skip


@claim(r"every number is {N} times too small")
def times_too_small(seen, pairs, m):
    return clear(pairs) and all(alike(g, _ratio(pairs) * w) for g, w, _ in pairs) and near(1 / _ratio(pairs), m["n"])


def _ratio(pairs):
    largest = max(((np.abs(w).max(initial=0), i) for i, (_, w, _) in enumerate(pairs)))[1]
    got, want, _ = pairs[largest]
    at = np.abs(want).argmax()
    return float(got.ravel()[at] / want.ravel()[at])


@claim(
    r"every number is too (?P<much>large|small) by a factor of (?P<root>the square root of )?"
    r"(?:the size of axis (?P<axis>-\d) of )?(?P<name>\w+)(?: / (?P<by>\w+))?, here {N}"
)
def times_a_size(seen, pairs, m):
    names = seen.exercise.solution.__code__.co_varnames
    factors = []
    for g, w, place in pairs:
        given = seen.arguments[place][names.index(m["name"])]
        size = float(np.shape(given)[int(m["axis"])] if m["axis"] else given)
        size /= seen.arguments[place][names.index(m["by"])] if m["by"] else 1
        factor = size**0.5 if m["root"] else size
        factors.append(factor)
        if not alike(g, w * (factor if m["much"] == "large" else 1 / factor)):
            return False
    return clear(pairs) and any(near(factor, m["n"]) for factor in factors)


@claim(r"exactly minus the right answer")
def minus(seen, pairs, m):
    return clear(pairs) and all(alike(-g, w) for g, w, _ in pairs)


@claim(r"every number is off by the same amount, {N}")
def offset(seen, pairs, m):
    return clear(pairs) and all(alike(g - w, np.full(w.shape, (g - w).mean())) for g, w, _ in pairs) and all(
        near((g - w).mean(), m["n"]) for g, w, _ in pairs)  # fmt: skip


@claim(r"the last two axes are swapped \(transposed\)")
def transposed(seen, pairs, m):
    turned = all(w.ndim > 1 and alike(np.moveaxis(g, -1, -2) * 1.0, w * 1.0) for g, w, _ in pairs)
    return turned and not all(np.array_equal(g, w) for g, w, _ in pairs)


@claim(r"only the (?P<which>first|last) (?P<what>batch element|row|element) \(along axis 0\) is right")
def one_element(seen, pairs, m):
    for g, w, _ in pairs:
        good = [alike(a, b) for a, b in zip(g, w, strict=True)]
        if sum(good) != 1 or not good[0 if m["which"] == "first" else -1]:
            return False
        if m["what"] == "row" and w.ndim != 2 or m["what"] == "batch element" and w.ndim < 3:
            return False
    return bool(pairs)


@claim(r"right up to one factor for each (?P<what>row|column) \([a-z ]+\); one of them is {N}")
def factors_along(seen, pairs, m):
    axis, found = (-1 if m["what"] == "row" else -2), False
    for g, w, _ in pairs:
        g, w = np.moveaxis(g, axis, -1), np.moveaxis(w, axis, -1)
        top = np.abs(w).argmax(-1)[..., None]
        ratio = np.take_along_axis(g, top, -1) / np.take_along_axis(w, top, -1)
        found = found or any(near(r, m["n"], 3) for r in ratio.ravel())
        if not alike(g, ratio * w):
            return False
    return clear(pairs) and found


@claim(r"right up to one constant added to each row \(the last axis\)")
def offset_along(seen, pairs, m):
    return clear(pairs) and all(alike(g - w, (g - w)[..., :1] * np.ones(w.shape)) or
        np.abs((g - w) - (g - w)[..., :1]).max() < 5e-6 * max(np.abs(g).max(), np.abs(w).max()) for g, w, _ in pairs)  # fmt: skip


@claim(r"the right numbers, in other places")
def permuted(seen, pairs, m):
    return clear(pairs) and all(alike(np.sort(g.ravel()), np.sort(w.ravel())) for g, w, _ in pairs)


# --- sums -----------------------------------------------------------------------------------------


@claim(r"not every row sums to 1: one sums to {N}")
def row_sums(seen, pairs, m):
    return _ones(pairs, -1) and any(near(total, m["n"]) and abs(total - 1) > 1e-7 for total in _totals(pairs, -1))


def _totals(pairs, axis):
    return np.concatenate([np.atleast_1d(g.sum(axis=axis)).ravel() for g, _, _ in pairs])


def _ones(pairs, axis):
    """Do the right rows sum to 1?"""
    return clear(pairs) and all(w.ndim and np.allclose(w.sum(axis=axis), 1) for _, w, _ in pairs)


@claim(r"rows sum to 1, but some numbers are negative, for instance {N}")
def negative(seen, pairs, m):
    sums = _ones(pairs, -1) and np.allclose(_totals(pairs, -1), 1, rtol=1e-5)
    return sums and any(near(g.min(), m["n"]) and g.min() < 0 for g, _, _ in pairs)


@claim(r"the numbers sum to 1 along axis 0, and not along each row")
def sums_along_0(seen, pairs, m):
    return _ones(pairs, -1) and np.allclose(_totals(pairs, 0), 1, rtol=1e-5) and not np.allclose(_totals(pairs, -1), 1)


@claim(r"all numbers together sum to 1, and not each row")
def all_sum(seen, pairs, m):
    return _ones(pairs, -1) and all(np.isclose(g.sum(), 1) for g, _, _ in pairs) and not np.allclose(
        _totals(pairs, -1), 1)  # fmt: skip


@claim(r"the largest number of each row is 1, not the sum of the row")
def largest_is_one(seen, pairs, m):
    return _ones(pairs, -1) and all(np.allclose(g.max(axis=-1), 1) for g, _, _ in pairs) and not np.allclose(
        _totals(pairs, -1), 1)  # fmt: skip


@claim(r"each row of the right answer sums to 0; one of yours sums to {N}")
def sums_to_zero(seen, pairs, m):
    zero = clear(pairs) and all(np.allclose(w.sum(axis=-1), 0, atol=1e-6 * np.abs(w).max(initial=1)) for _, w, _ in pairs)
    return zero and any(near(total, m["n"]) for total in _totals(pairs, -1))


@claim(r"(?:every number|your number) is 0")
def zero(seen, pairs, m):
    return clear(pairs) and all(np.abs(g).max() <= 1e-8 * np.abs(w).max() for g, w, _ in pairs)


# --- what is lost, shapes, digits ------------------------------------------------------------------


@claim(r"(?P<what>NaN|infinity)(?: in (?P<k>\d+) of (?P<of>\d+) numbers)?(?: where (?P<right>-?inf) is right)?")
def lost(seen, pairs, m):
    for g, w, _ in pairs:
        bad = np.isnan(g) & ~np.isnan(w) if m["what"] == "NaN" else np.isinf(g) & (g != w)
        count = (int(m["k"]), int(m["of"])) if m["k"] else (1, 1)
        if (bad.sum(), g.size) == count and (not m["right"] or (w[bad] == float(m["right"])).all()):
            return True
    return False


@claim(r"finite where (?P<right>-?inf) is right(?:, in (?P<k>\d+) of (?P<of>\d+) numbers)?")
def not_infinite(seen, pairs, m):
    count = (int(m["k"]), int(m["of"])) if m["k"] else (1, 1)
    return any((int((np.isfinite(g) & np.isinf(w)).sum()), g.size) == count for g, w, _ in pairs) and all(
        (w[np.isinf(w) & np.isfinite(g)] == float(m["right"])).all() for g, w, _ in pairs if g.shape == w.shape
    )


@claim(r"the shape is (?P<got>\([\d, ]*\)); (?P<want>\([\d, ]*\)) is expected(?: \(an axis of size 1 is (?P<axis>[a-z ]+)\))?")
def shape(seen, pairs, m):
    for g, w, _ in pairs:
        if str(g.shape) == m["got"] and str(w.shape) == m["want"]:
            more = {"missing": -1, "too many": 1, None: g.ndim - w.ndim}[m["axis"]]
            return g.shape != w.shape and (g.ndim - w.ndim) * more >= 0 and (not m["axis"] or g.size == w.size)
    return False


@claim(r"of (?P<of>\d+) entries, (?P<a>\d+) are True that should be False, and (?P<b>\d+) False that should be True")
def booleans(seen, pairs, m):
    counts = [(w.size, int((g & ~w).sum()), int((w & ~g).sum())) for g, w, _ in pairs if g.shape == w.shape]
    return (int(m["of"]), int(m["a"]), int(m["b"])) in counts


@claim(r"every entry is the opposite of the right one")
def opposite(seen, pairs, m):
    return bool(pairs) and all(g.dtype == w.dtype == bool and (g ^ w).all() for g, w, _ in pairs)


@claim(r"rounded to (?P<places>\d) decimals?")
def rounded(seen, pairs, m):
    places = int(m["places"])
    return clear(pairs) and all(np.allclose(g, np.round(w, places), atol=1e-12) for g, w, _ in pairs)


@claim(
    r"right to about (?P<digits>\d+) digits only; (?:(?P<single>computed in float32\?)(?: Or is an epsilon in it\?)?|"
    r"rounded, or an epsilon in it\?)"
)
def digits(seen, pairs, m):
    alike_infinite = [np.isinf(w) & (g == w) if g.shape == w.shape else np.zeros(w.shape, bool) for g, w, _ in pairs]
    pairs = [(g[~i], w[~i], p) if i.any() else (g, w, p) for i, (g, w, p) in zip(alike_infinite, pairs, strict=True)]
    error = max(np.abs(g - w).max(initial=0) / np.abs(w).max(initial=0) for g, w, _ in pairs if np.any(w))
    decimals = all(np.allclose(g, np.round(g.astype(float), 8), rtol=0, atol=1e-13) for g, _, _ in pairs)
    return clear(pairs) and abs(-np.log10(max(error, 1e-9)) - int(m["digits"]) - 0.5) <= 1.6 and not (
        m["single"] and decimals)  # fmt: skip


@claim(r"the largest difference from the right answer is {N}")
def difference(seen, pairs, m):
    gaps = [np.abs(g - w)[np.isfinite(g) & np.isfinite(w)].max(initial=0) for g, w, _ in pairs if g.shape == w.shape]
    return bool(gaps) and near(gaps[0], m["n"]) and gaps[0] > 0


@claim(r"(?:numbers are expected|True or False is expected, not numbers)")
def kinds(seen, pairs, m):
    return any((g.dtype.kind == "b") != (w.dtype.kind == "b") for g, w, _ in pairs)


# --- the whole answer ------------------------------------------------------------------------------


@claim(r"the values are right(?:, but your (?:function|value) .+)?", whole=True)
def values(seen, m):
    return all(seen.right(place) for place in range(len(seen.labels)))


@claim(r"the (?:values|gradients) are right, but (?P<how>.+: .+)", whole=True)
def another_method(seen, m):
    """How it was computed is measured by tests/exercises/test_method.py; here: all is right, and the numbers fit."""
    names, pair = seen.exercise.solution.__code__.co_varnames, re.search(r"\((\d+) queries, (\d+) keys\)", m["how"])
    pairs = re.search(r"all (\d+) scores", m["how"])
    product = not pair or int(pair[1]) * int(pair[2]) == int(pairs[1])
    larger = re.search(r"(?:at )?(\d+) (?:keys|scores|queries) at once.* where a (?:block|tile) has (\d+)", m["how"])
    tiles = "tile" not in m["how"] or "block_q" in names
    fits = not larger or int(larger[1]) > int(larger[2])
    return bool(seen.exercise.method) and values(seen, m) and product and fits and tiles


@claim(r"what you return as (?P<a>\w+) is the right (?P<b>\w+): is the order of the outputs right\?", whole=True)
def order(seen, m):
    a, b = seen.exercise.outputs.index(m["a"]), seen.exercise.outputs.index(m["b"])
    return all(got is None or seen.equal(got[a], want[b]) for got, want in zip(seen.got, seen.want, strict=True))


@claim(r"your function changes its input \w+", whole=True)
def changes(seen, m):
    return any(seen.changed)


@claim(r"your function stops with (?P<error>\w+)(?:: .*)?", whole=True)
def stops(seen, m):
    return any(type(error).__name__ == m["error"] for error in seen.error)


@claim(r"your function calls itself without end .*", whole=True)
def recursion(seen, m):
    return any(isinstance(error, RecursionError) for error in seen.error)


@claim(r"your function returns None(?:: did you forget `return`\?| in one place)?(?: \(.*\))?", whole=True)
def none(seen, m):
    return any(raw is None or (isinstance(raw, tuple) and None in [r if r is None else 0 for r in raw]) for raw in seen.raw)


@claim(
    r"your function returns (?:one (?P<kind>\w+)|(?P<k>\d+) things?), but (?:one is|\d things are) expected: (?P<names>[\w, ]+)(?: \(case .*\))?",
    whole=True,
)
def other_number_of_things(seen, m):
    counts = {len(raw) if isinstance(raw, (tuple, list)) else type(raw).__name__ for raw in seen.raw}
    fits = {"array" if seen.raw[0] is None else "ndarray"} if m["kind"] == "array" else {m["kind"] or int(m["k"])}
    wanted = ", ".join(seen.exercise.behaviour.returns if seen.exercise.behaviour else seen.exercise.outputs)
    return bool(counts & fits) and m["names"] == wanted and m["k"] != str(len(wanted.split(", ")))


@claim(r"your function returns (?P<what>.+)", whole=True)
def returns(seen, m):
    """Something that cannot be read, or has too many or too few parts: so in one case nothing was compared."""
    unread = any(got is None and error is None or isinstance(error, ValueError)
                 for got, error in zip(seen.got, seen.error, strict=True))  # fmt: skip
    return unread or ("tuple of one" in m["what"] and any(isinstance(raw, tuple) and len(raw) == 1 for raw in seen.raw))


@claim(r"(?:right without leading axes; with them it (?P<how>stops|is wrong): )`\.T` turns all axes round", whole=True)
def turned(seen, m):
    plain = [max(map(np.ndim, args)) <= 2 for args in seen.arguments]
    ordinary = [i for i in range(len(plain)) if not seen.edge[i]]
    return all(seen.right(i) == plain[i] for i in ordinary) and (m["how"] == "stops") == any(seen.error)


@claim(r"`\.T` turns all axes round; with leading axes, only the last two may change places", whole=True)
def turns(seen, m):
    return any(not seen.passes(i) and max(map(np.ndim, seen.arguments[i])) > 2 for i in range(len(seen.labels)))


@claim(r"the arguments of your function are in another order; expected \w+\((?P<names>[\w, ]+)\)", whole=True)
def arguments_in_another_order(seen, m):
    code, wanted = seen.answer.__code__, m["names"].split(", ")
    mine = list(code.co_varnames[: code.co_argcount])
    return mine != wanted and sorted(mine) == sorted(wanted)


@claim(r"your function does not take the arguments \w+\((?P<names>[\w, ]+)\)", whole=True)
def other_arguments(seen, m):
    return seen.answer.__code__.co_argcount != len(m["names"].split(", "))


@claim(r"called twice with the same input, your function gives two answers: it keeps something between calls", whole=True)
def keeps(seen, m):
    again = Seen(seen.exercise, seen.answer)
    return any(
        a is None or b is None or any(not np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a, b, strict=True))
        for a, b in zip(seen.got, again.got, strict=True)
    )


@claim(r"your function returns the same array each time: the next call overwrites what it returned before", whole=True)
def same_array(seen, m):
    arrays = [raw for raw in seen.raw if isinstance(raw, np.ndarray)]
    return any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


@claim(r"in the text (?P<text>\w+)(?:\.\.\., (?P<long>\d+) letters)?, token (?P<i>\d+) (?P<rest>.+)", whole=True)
def looks(seen, m):
    for (letters, places), raw in zip(seen.arguments, seen.raw, strict=True):
        if raw is None or int(m["long"] or len(m["text"])) > places or m["long"]:
            continue
        one_hot = [[float(ord(c) - 97 == k) for k in range(letters)] + [float(i == k) for k in range(places)]
                   for i, c in enumerate(m["text"])]  # fmt: skip
        query, key = (np.asarray(part, dtype=float) for part in raw)
        if len(query) != letters + places or max(map(ord, m["text"])) - 97 >= letters:
            continue
        scores = (np.array(one_hot) @ query @ (np.array(one_hot) @ key).T)[int(m["i"])] / query.shape[1] ** 0.5
        if "no numbers" in m["rest"]:
            if not np.isfinite(scores).all():
                return True
            continue
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        most = re.fullmatch(r"looks most at token (\d+),.*?(?:should look at token (\d+)|weight ([\d.]+): .*)", m["rest"])
        even = re.fullmatch(r"gives token (\d+), where it should look, no more weight than another", m["rest"])
        if most and weights[int(most[1])] > weights.max() - 1e-9 and most[1] != most[2]:
            if not most[3] or abs(weights.max() - float(most[3])) < 0.006:
                return True
        if even and (weights > weights[int(even[1])] - 1e-9).sum() > 1:
            return True
    return bool(m["long"])  # the letters of a long text are not all there


# --- values that are answered ----------------------------------------------------------------------


@claim(r"your number is (?P<n>\d+) times (?P<how>the right one|too small)")
def value_times(seen, pairs, m):
    (got, want, _), n = pairs[0], int(m["n"])
    return np.isclose(got, want * n if m["how"] == "the right one" else want / n, rtol=1e-3)


@claim(r"your number is too (?P<much>large|small)(?:: the right number lies (?P<where>below|above) it)?")
def value_side(seen, pairs, m):
    above = bool(pairs[0][0] > pairs[0][1])
    return above == (m["much"] == "large") and (not m["where"] or above == (m["where"] == "below"))


@claim(r"the sign is wrong")
def value_sign(seen, pairs, m):
    return np.isclose(-pairs[0][0], pairs[0][1], rtol=1e-3)


@claim(r"that is the right number rounded to (?P<digits>\d) digits?; give it in full")
def value_rounded(seen, pairs, m):
    return float(pairs[0][0]) == float(f"%.{int(m['digits']) - 1}e" % float(pairs[0][1]))


@claim(r"(?P<k>\d+) of (?P<of>\d+) numbers (?:are|is) wrong")
def value_counts(seen, pairs, m):
    got, want, _ = pairs[0]
    return (int((got != want).sum()), want.size) == (int(m["k"]), int(m["of"]))


@claim(r"the right numbers, in another order")
def value_order(seen, pairs, m):
    return sorted(pairs[0][0].ravel()) == sorted(pairs[0][1].ravel()) and (pairs[0][0] != pairs[0][1]).any()


@claim(r"your tuple has (?P<k>\d+) numbers?; (?P<of>\d+) are expected")
def value_length(seen, pairs, m):
    return (pairs[0][0].size, pairs[0][1].size) == (int(m["k"]), int(m["of"])) and m["k"] != m["of"]


@claim(r"'(?P<word>.*)' is not one of the words (?P<words>[\w, ]+)")
def value_word(seen, pairs, m):
    words = m["words"].split(", ")
    return m["word"] == str(pairs[0][0]) and m["word"] not in words and str(pairs[0][1]) in words


@claim(r"a bare number is expected, not a list, a tuple or an array")
def value_bare(seen, pairs, m):
    return pairs[0][0].shape == (1,) and pairs[0][1].ndim == 0


@claim(r"one number is expected, not (?P<k>\d+)")
def value_one(seen, pairs, m):
    return pairs[0][0].size == int(m["k"]) != 1 and pairs[0][1].ndim == 0


@claim(r"a tuple of numbers is expected, not (?P<what>one number|a word)")
def value_tuple(seen, pairs, m):
    return pairs[0][1].ndim == 1 and (pairs[0][0].dtype.kind == "U" if m["what"] == "a word" else pairs[0][0].ndim == 0)


@claim(r"a (?P<wanted>word|number) is expected, not a (?P<given>word|number)")
def value_kind(seen, pairs, m):
    return m["wanted"] != m["given"] and [a.dtype.kind == "U" for a in pairs[0][:2]] == [
        m["given"] == "word", m["wanted"] == "word"]  # fmt: skip


# --- reading ---------------------------------------------------------------------------------------


def false_clauses(exercise, answer, lines):
    """Every clause of a message that is not true of this answer, or that nothing here can measure."""
    seen = Seen(exercise, answer)
    text = lines[0].partition(": ")[2]
    for mistake in sorted(exercise.mistakes, key=lambda mistake: -len(mistake.say)):
        text = text.replace(mistake.say, "§")  # causes are neutral: tests/exercises/test_truth.py looks at them once
    text = re.sub(r"(two mistakes\. )?(\(1\) § \(2\) |One of them: )?(?:[Ee]ither: § Or: )?§$", "", text).strip()
    found = [] if not text or _holds(seen, text.removesuffix(".")) else [text]
    counts = [line for line in lines[1:] if "For help" not in line]
    return found + [line for line in counts if not _counts(seen, line.strip(), text)]


def _holds(seen, text):
    """Is this sentence true? Several outputs are told apart by semicolons."""
    if seen.exercise.behaviour and seen.exercise.behaviour.as_is:
        return truth_of_runs.holds(seen.exercise, seen.answer, text)
    several = [text]
    if len(seen.exercise.outputs) > 1:
        names = "|".join(seen.exercise.outputs)
        several = re.split(rf"; (?=(?:{names})(?:, (?:{names}))*: )", text)
    return all(_one_holds(seen, sentence) for sentence in several)


def _one_holds(seen, sentence):
    m = RANGE.match(sentence)
    rest, case = sentence[m.end() :], m["only"] or m["case"]
    if m["edge"] and not all(seen.passes(i) or seen.edge[i] for i in range(len(seen.labels))):
        return False
    for pattern, measure, whole in CLAIMS:
        fits = pattern.fullmatch(rest) or (whole and pattern.fullmatch(sentence))
        if fits and whole and measure(seen, fits):
            return True
        if fits and not whole:
            names = (m["outs"] or ",".join(seen.exercise.outputs)).replace(" ", "").split(",")
            ranges = [seen.cases(seen.exercise.outputs.index(name), m["range"] or "", case) for name in names]
            return all(bool(pairs) and bool(measure(seen, pairs, fits)) for pairs in ranges)
    return False


def _counts(seen, line, sentence):
    """ "d_key right; d_query wrong. 3 of 7 cases right; wrong: a; b and 2 more." """
    m = re.fullmatch(
        r"(?:(?P<good>[a-z_, ]+) right; (?P<bad>[a-z_, ]+) wrong\. )?"
        r"(?P<k>\d+) of (?P<of>\d+) cases right(?:; wrong: (?P<wrong>.+?)(?: and (?P<more>\d+) more)?)?\.",
        line,
    )
    if not m or ("the values are right" in sentence and m["k"] != m["of"]):
        return False
    passing = [seen.passes(place) for place in range(len(seen.labels))]
    if (sum(passing), len(passing)) != (int(m["k"]), int(m["of"])):
        return False
    failed = [label for label, ok in zip(seen.labels, passing, strict=True) if not ok]
    if m["wrong"] and "; ".join(failed[: len(failed) - int(m["more"] or 0)]) != m["wrong"]:
        return False
    outputs = seen.exercise.outputs
    good = [name for place, name in enumerate(outputs) if all(seen.right(i, place) for i in range(len(passing)))]
    told = [m["good"].split(", "), m["bad"].split(", ")] if m["good"] else None
    return told is None or told == [good, [name for name in outputs if name not in good]]
