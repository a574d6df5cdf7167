"""What is said of arrays, measured anew: relations between two of them, sums, what is lost, digits."""

import numpy as np
from truth_seen import alike, claim, clear, near

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
        place = 0 if m["which"] == "first" else len(w) - 1  # the others are wrong, be it by a hundred-thousandth
        others = [seen.equal(a, b) for n, (a, b) in enumerate(zip(g, w, strict=True)) if n != place]
        if any(others) or not alike(g[place], w[place]):
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
    return clear(pairs) and abs(-np.log10(max(error, 1e-15)) - int(m["digits"]) - 0.5) <= 1.6 and not (
        m["single"] and decimals)  # fmt: skip


@claim(r"the largest difference from the right answer is {N}")
def difference(seen, pairs, m):
    gaps = [np.abs(g - w)[np.isfinite(g) & np.isfinite(w)].max(initial=0) for g, w, _ in pairs if g.shape == w.shape]
    return bool(gaps) and near(gaps[0], m["n"]) and gaps[0] > 0


@claim(r"(?:numbers are expected|True or False is expected, not numbers)")
def kinds(seen, pairs, m):
    return any((g.dtype.kind == "b") != (w.dtype.kind == "b") for g, w, _ in pairs)
