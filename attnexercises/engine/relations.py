"""Find out which claims hold about a wrong answer.

Each function in `CLAIMS` takes a list of `Compared`, one for each case. It returns the `Claim` if it holds in all of
these cases, otherwise None. `said` finds the widest range of cases in which one claim holds, and `seen` picks the first
of several claims that holds. `describe` finds out what is wrong with arrays that no known mistake explains.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from attnexercises.engine.claims import Claim

CLOSE = 1e-6  # the relative tolerance of this module, too large to tell float32 from float64


def minus(cases):
    """The answer has the wrong sign."""
    holds = any(np.any(case.want) for case in cases) and all(agree(-case.got, case.want) for case in cases)
    return Claim("minus") if holds else None


def factor(cases):
    """The answer is the right one times a factor, which is the same in all cases or the size of an axis."""
    usable = [case for case in cases if np.any(case.want)]
    factors = [_one_factor(case) for case in usable]
    if sum(np.count_nonzero(case.want) for case in usable) < 2:  # a single number is always a multiple of another
        return None
    if None in factors or not all(agree(case.got, 0.0) for case in cases if not np.any(case.want)):
        return None
    same, first = np.allclose(factors, factors[0], rtol=CLOSE), factors[0]
    if same and np.isclose(first, 1, rtol=CLOSE):
        return None
    if same and np.isclose(first, -1, rtol=CLOSE):
        return Claim("minus")
    times = Claim("parts", {"n": 1 / first}) if 0 < first <= 2 / 3 else Claim("times", {"n": first})
    return _size(factors, usable) or (times if same else None)


def _one_factor(case):
    """The factor by which the answer is too large on this case; None if there is no such factor."""
    at = np.abs(case.want).argmax()
    ratio = case.got.ravel()[at] / case.want.ravel()[at]
    return float(ratio) if ratio != 0 and agree(case.got, ratio * case.want) else None


def _size(factors, cases):
    """The claim that the factors are, in every case, the size of the same axis, its square root or a reciprocal.

    If the size is the same whole number in all cases, the agreement may be a coincidence and proves nothing.
    """
    for power in (1, -1, 0.5, -0.5):
        for size in cases[0].sizes:
            sizes = [case.sizes.get(size, np.nan) for case in cases]
            if np.allclose(factors, np.power(sizes, power, dtype=float), rtol=CLOSE):
                here = float(sizes[0] ** abs(power))
                if (len(set(sizes)) > 1 or not here.is_integer()) and max(sizes) > 1:
                    return Claim("size", {"size": size, "power": power, "n": here})
    return None


def offset(cases):
    """Every number is off by the same amount."""
    differences = [case.got - case.want for case in cases]
    if all(d.size > 1 and agree(d, d.ravel()[0]) for d in differences):
        amounts = [float(d.ravel()[0]) for d in differences]
        if np.allclose(amounts, amounts[0], rtol=CLOSE) and amounts[0]:
            return Claim("offset", {"n": amounts[0]})
    return None


def transposed(cases):
    """The last two axes are swapped. (If their sizes differed, the shape would be wrong, which is said elsewhere.)"""
    square = all(case.want.ndim >= 2 and case.want.shape[-1] == case.want.shape[-2] for case in cases)
    holds = square and all(agree(case.got.swapaxes(-1, -2), case.want) for case in cases) and not _right(cases)
    return Claim("transposed") if holds else None


def one_element(cases):
    """Only the first, or only the last, element along axis 0 is right."""
    found = set()
    for case in cases:
        if case.want.ndim < 2 or case.want.shape[0] < 2:
            return None
        right = [agree(a, b) for a, b in zip(case.got, case.want, strict=True)]
        if sum(right) != 1 or not (right[0] or right[-1]):
            return None
        found.add(("first" if right[0] else "last", "batch element" if case.want.ndim > 2 else "row"))
    if len({which for which, _ in found}) > 1:
        return None
    which, what = found.pop()
    return Claim("one element", {"which": which, "what": "element" if found else what})


def row_factor(cases):
    return _factor_along(cases, -1, "row factors")


def column_factor(cases):
    return _factor_along(cases, -2, "column factors")


def _factor_along(cases, axis, kind):
    """The answer is right up to one factor for each row, or each column."""
    first = None
    for got, want, *_ in cases:
        if want.ndim < -axis or want.ndim < 2 or want.shape[axis] < 2:
            return None
        at = np.abs(want).argmax(axis=axis, keepdims=True)
        top, bottom = np.take_along_axis(got, at, axis), np.take_along_axis(want, at, axis)
        factors = top / np.where(bottom == 0, np.nan, bottom)
        usable = np.isfinite(factors) & (factors != 0)  # a zero is 0 times any right number
        if not usable.all() or not agree(got, factors * want):
            return None
        if first is None and not np.allclose(factors, 1):
            first = float(factors.ravel()[~np.isclose(factors.ravel(), 1)][0])
    return Claim(kind, {"n": first}) if first else None


def row_offset(cases):
    """The answer is right up to a constant added to each row, which a softmax would cancel."""
    for got, want, *_ in cases:
        difference = got - want
        if want.ndim < 1 or want.shape[-1] < 2 or not agree(difference, difference[..., :1]):
            return None
    return None if _right(cases) else Claim("row offsets")


def permuted(cases):
    """The right numbers stand in other places."""
    for got, want, *_ in cases:
        if want.size < 2 or not agree(np.sort(got, axis=None), np.sort(want, axis=None)):
            return None
    return None if _right(cases) else Claim("permuted")


def whole_numbers(cases):
    """The answer's array is of an integer dtype, as `np.empty_like` of an integer input is, and the right one is not."""
    kinds = {case.got.dtype.kind for case in cases}
    if kinds - {"i", "u"} or not all(np.any(case.want != np.round(case.want)) for case in cases):
        return None
    return Claim("whole numbers", {"dtype": str(cases[0].got.dtype)})


def rows_sum(cases):
    """The right rows sum to 1, and one of the answer's does not."""
    if not _rows_of_ones(cases, "want"):
        return None
    sums = np.concatenate([np.atleast_1d(case.got.sum(axis=-1)).ravel() for case in cases])
    off = sums[~np.isclose(sums, 1, rtol=CLOSE)]
    return Claim("row sums", {"n": float(off[0])}) if off.size else None


def _rows_of_ones(cases, which):
    """Does every row of the right arrays ("want"), or of the answer's ("got"), sum to 1?"""
    arrays = [getattr(case, which) for case in cases]
    return all(array.ndim and array.size and agree(array.sum(axis=-1), 1.0) for array in arrays)


def negative_rows(cases):
    """Some numbers are negative, although each row sums to 1."""
    if rows_sum(cases) or not _rows_of_ones(cases, "want") or not _rows_of_ones(cases, "got"):
        return None
    lowest = next((float(case.got.min()) for case in cases if (case.got < 0).any()), None)
    return None if lowest is None else Claim("negative", {"n": lowest})


def axis_0_sum(cases):
    """The answer sums to 1 along axis 0, and the right one along the last axis."""
    matrices = rows_sum(cases) and all(case.want.ndim >= 2 for case in cases)
    return Claim("sums along 0") if matrices and all(agree(case.got.sum(axis=0), 1.0) for case in cases) else None


def total_sum(cases):
    """All numbers together sum to 1, where each row should."""
    return Claim("sum of all") if rows_sum(cases) and all(agree(case.got.sum(), 1.0) for case in cases) else None


def largest_one(cases):
    """The largest number of each row is 1, as in a softmax without the division."""
    holds = rows_sum(cases) and all(agree(case.got.max(axis=-1), 1.0) for case in cases)
    return Claim("largest one") if holds else None


def rows_sum_to_zero(cases):
    """The right rows sum to 0, and one of the answer's does not."""
    for _, want, *_ in cases:
        if not want.ndim or want.shape[-1] < 2 or not agree(want.sum(axis=-1), 0.0):
            return None
    sums = np.concatenate([np.atleast_1d(case.got.sum(axis=-1)).ravel() for case in cases])
    return None if agree(sums, 0.0) else Claim("zero sums", {"n": float(sums[np.abs(sums).argmax()])})


def zero(cases):
    """Every number is 0, up to rounding."""
    if _right(cases) or any(np.abs(case.got).max(initial=0) > 1e-9 * np.abs(case.want).max(initial=0) for case in cases):
        return None
    return Claim("zero", {"one": not any(case.got.size > 1 for case in cases)})


def complement(cases):
    """Every boolean is the opposite of the right one."""
    fits = all(case.want.dtype.kind == case.got.dtype.kind == "b" and case.got.shape == case.want.shape for case in cases)
    return Claim("complement") if fits and all((case.got != case.want).all() for case in cases) else None


def lost(cases):
    """NaN or infinities in wrong places, or infinities that are missing. The numbers are counted on a single case."""
    if len(cases) > 1:
        return None
    got, want, *_ = cases[0]
    if got.shape != want.shape or "b" in (got.dtype.kind, want.dtype.kind):
        return None
    nan, inf = np.isnan(got) & ~np.isnan(want), np.isinf(got) & (got != want)
    finite = np.isinf(want) & np.isfinite(got)
    for what, places in (("NaN", nan), ("infinity", inf), ("finite", finite)):
        if places.any():
            right = want[places].ravel()
            told = what == "finite" or (what == "NaN" and np.isinf(right).all() and (right == right[0]).all())
            values = {"count": int(places.sum()), "of": got.size, "right": float(right[0]) if told else None}
            return Claim("lost", {"what": what} | values)
    return None


CLAIMS = {
    claim.__name__: claim
    for claim in (
        minus, factor, offset, transposed, one_element, row_factor, column_factor, row_offset, permuted, zero,
        axis_0_sum, total_sum, largest_one, rows_sum, negative_rows, rows_sum_to_zero, complement, lost,
    )
}  # fmt: skip


def agree(a, b):
    """Are both equal up to a millionth of the largest number?"""
    scale = float(np.abs(b).max(initial=0)) if np.ndim(b) else abs(float(b))
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE * max(scale, 1e-3)))


def _right(cases):
    return all(agree(case.got, case.want) for case in cases)


LONGEST = 159  # characters that all sentences before the cause may have together


class Compared(NamedTuple):
    """One output of an answer on one probe, together with the right output.

    Parameters
    ----------
    got, want : ndarray
        The answer's array and the right one.
    sizes : dict of Size to int
        The sizes of the inputs' axes.
    label : str
        The label of the probe.
    right : bool
        Whether the output is right.
    edge : bool
        Whether the probe has the kind "edge".
    """

    got: object
    want: object
    sizes: dict = {}
    label: str = ""
    right: bool = False
    edge: bool = False


def seen(claims, outputs):
    """Return those claims that hold, each with the widest range of cases in which it holds.

    Parameters
    ----------
    claims : iterable of str
        Names in `CLAIMS`. For each output, only the first claim that holds is said.
    outputs : dict of str to list of Compared
        The cases of each output.

    Examples
    --------
    >>> right = np.array([[0.5, 0.5], [0.2, 0.8]])
    >>> print(*seen(["total_sum", "rows_sum"], {"weights": [Compared(0.6 * right, right)]}))
    not every row sums to 1: one sums to 0.6
    """
    found = {}
    for name, cases in outputs.items():
        claim = next(filter(None, (said(CLAIMS[claim], cases) for claim in claims)), None)
        if claim:
            found.setdefault(str(claim), (claim, []))[1].append(name)
    told = [replace(claim, outputs=tuple(names) if len(outputs) > 1 else ()) for claim, names in found.values()]
    while len("; ".join(map(str, told))) > LONGEST:
        told.pop()
    return told


def said(claim, cases):
    """The claim with the widest range in which it holds, or None.

    The ranges are all cases, the wrong ones, the wrong ordinary ones, and one case.
    """
    wrong = [case for case in cases if not case.right]
    ordinary = [case for case in wrong if not case.edge]
    others = any(case.right and not case.edge for case in cases)
    ranges = [("", cases), ("wrong", wrong), ("ordinary wrong" if others else "ordinary", ordinary)]
    if claim is lost:  # it counts numbers, so it is about one case
        ranges = []
    first = (ordinary or wrong)[:1]
    for where, some in [*ranges, ("case", first)]:
        found = claim(some) if some and (claim in (lost, complement) or _comparable(some)) else None
        if found:
            return _on(found, first[0], cases) if where == "case" else replace(found, where=where)
    return None


def _comparable(cases):
    """Do all arrays hold finite numbers, in the right shape?"""
    return all(
        case.got.shape == case.want.shape and case.want.dtype.kind in "fiu" and case.got.dtype.kind in "fiu"
        and np.isfinite(case.want).all() and np.isfinite(case.got).all()
        for case in cases
    )  # fmt: skip


def function(cases):
    """Every number is a simple function of the right one, such as its logarithm."""
    if sum(case.want.size for case in cases) < 4 or _right(cases):
        return None
    with np.errstate(all="ignore"):
        for name, f in FUNCTIONS.items():
            wanted = [f(case.want) for case in cases]
            if all(np.isfinite(w).all() and agree(case.got, w) for case, w in zip(cases, wanted, strict=True)):
                return Claim("function", {"name": name})
    return None


#: What an answer may have done to every number, in words that stand before "the right one".
FUNCTIONS = {
    "the logarithm of": np.log, "the exponential of": np.exp, "the square of": np.square, "the square root of": np.sqrt,
    "one over": np.reciprocal, "1 minus": lambda x: 1 - x, "the absolute value of": np.abs,
}  # fmt: skip


def same_rows(cases):
    """All rows are equal, where those of the right answer differ."""
    holds = all(_same_along(case.got, -2) and not _same_along(case.want, -2) for case in cases)
    return Claim("same rows") if holds else None


def same_columns(cases):
    """Each row holds one number only, where those of the right answer differ."""
    holds = all(_same_along(case.got, -1) and not _same_along(case.want, -1) for case in cases)
    return Claim("same columns") if holds else None


def _same_along(array, axis):
    return array.ndim >= 2 and array.shape[axis] > 1 and agree(array, np.take(array, [0], axis=axis) + 0 * array)


UNFORESEEN = (
    zero, factor, offset, transposed, one_element, function, row_factor, column_factor, row_offset, permuted, same_rows,
    same_columns, rows_sum, negative_rows, rows_sum_to_zero,
)  # fmt: skip


def describe(cases):
    """Return the claim to make about wrong arrays.

    Parameters
    ----------
    cases : list of Compared
        The cases of one output, of which at least one is wrong.

    Returns
    -------
    Claim
        A wrong shape or NaN, or else the first relation that holds, or else which numbers are wrong.

    Examples
    --------
    >>> want = np.array([[1.0, 2.0], [4.0, 3.0]])
    >>> print(describe([Compared(2 * want, want)]))
    every number is 2 times the right one
    >>> print(describe([Compared(want.T, want)]))
    the last two axes are swapped (transposed)
    """
    wrong = [case for case in cases if not case.right]
    stage = [case for case in wrong if not case.edge] or wrong
    for case in stage:
        plain = _shape(case.got, case.want) if case.got.shape != case.want.shape else lost([case])
        if plain:
            return _on(plain, case, cases)
    if stage[0].want.dtype.kind == "b":
        return said(complement, cases) or _on(_booleans(*stage[0][:2]), stage[0], cases)
    found = said(whole_numbers, cases) or _digits(cases)
    for claim in UNFORESEEN:
        found = found or said(claim, cases)
    return found or _on(_entries(*stage[0][:2]), stage[0], cases)


def _digits(cases):
    """The claim that the answer is right to some digits only, or None.

    Ordinary inputs decide how many digits, because large scores lose more. Infinities that are right are left out.
    """
    cases = [_infinities_aside(case) for case in cases]
    wrong = [case for case in cases if not case.right]
    largest = max(float(np.abs(case.want).max(initial=0)) for case in cases) if _comparable(wrong) else np.nan
    near = all(_relative_error(case.got, case.want) <= 1e-2 or agree(case.got - case.want + largest, largest) for case in wrong)
    if not near and sum(case.got.size for case in wrong if not case.edge) < 12:
        return None  # a few wrong numbers can lie near the right ones by chance
    everywhere, ordinary = said(_precision, cases), said(_precision, [case for case in cases if not case.edge])
    found = ordinary or everywhere
    if found and found.where == "case" and len(wrong) > 1:
        return None
    return found if not ordinary or ordinary == everywhere or ordinary.where else replace(ordinary, where="ordinary")


def _on(claim, case, cases):
    """The claim, about this case alone. Its words name the case if there are several."""
    return replace(claim, where="case", case=case.label) if case.label and len(cases) > 1 else claim


def describe_value(got, want, rtol=1e-9, words=()):
    """Return the claim to make about a wrong value, less exact than `describe`, so as not to give the answer away.

    Parameters
    ----------
    got, want : ndarray
        The reader's value and the right one.
    rtol : float
        The relative tolerance of a right value.
    words : iterable of str
        If the exercise asks for a word, the possible answers.

    Examples
    --------
    >>> print(describe_value(np.array(20), np.array(10)))
    your number is 2 times the right one
    """
    if got.dtype.kind == "U":
        return Claim("word", {"word": got.tolist(), "words": sorted(words)})
    if got.shape != want.shape:
        if want.ndim == 0:
            return Claim("bare number") if got.size == 1 else Claim("one number", {"count": got.size})
        if got.ndim == 0:
            return Claim("tuple")
        return Claim("length", {"count": got.size, "of": want.size}) if got.ndim == want.ndim == 1 else _shape(got, want)
    if not np.isfinite(got).all():
        return Claim("not finite")
    if want.ndim:
        if np.array_equal(np.sort(got, axis=None), np.sort(want, axis=None)):
            return Claim("order")
        return Claim("wrong numbers", {"count": int((~np.isclose(got, want, rtol=rtol, atol=0)).sum()), "of": got.size})
    return _number_value(float(got), float(want), max(rtol, 1e-6))


def _number_value(got, want, rtol):
    if np.isclose(got, -want, rtol=rtol, atol=0):
        return Claim("sign")
    for digits in range(6, 1, -1):  # a number further away may be near by chance
        if got == float(f"{want:.{digits - 1}e}") and abs(got - want) < 0.02 * abs(want):
            return Claim("rounded value", {"digits": digits})
    for n in (2, 10, 100, 1000, 1024):
        for kind, bottom, top in (("multiple", want, got), ("part", got, want)):
            if np.isclose(top, n * bottom, rtol=rtol, atol=0):
                return Claim(kind, {"n": n})
    return Claim("side", {"much": "large" if got > want else "small", "told": min(got, want) < 0})


def _booleans(got, want):
    if want.ndim >= 2 and np.array_equal(got.swapaxes(-1, -2), want):
        return Claim("transposed")
    return Claim("booleans", {"of": want.size, "extra": int((got & ~want).sum()), "missing": int((want & ~got).sum())})


def _shape(got, want):
    return Claim("shape", {"got": got.shape, "want": want.shape})


def _precision(cases):
    """A claim on a nearly right answer: how many digits are right, and the likely cause; otherwise None."""
    error = max((_relative_error(case.got, case.want) for case in cases), default=0)
    narrow = any(_is_narrow(case.got) for case in cases)
    if error >= 1e-3 or (error == 0 and not narrow) or (error > 5e-6 and factor(cases)):
        return None
    places = _rounded(cases)
    if places:
        return Claim("rounded", {"places": places})
    digits = int(-np.log10(max(error, 1e-8 if narrow else 1e-16)))
    single = 5 <= digits <= 8 and (narrow or not _one_sided(cases))
    exact = single and all(np.array_equal(case.got, case.got.astype(np.float32)) for case in cases)
    return Claim("digits", {"digits": 7 if digits in (6, 7, 8) else digits, "single": single, "rounded": not exact})


def _is_narrow(array):
    return array.dtype.kind == "f" and array.dtype.itemsize < 8


def _rounded(cases):
    """The number of decimals to which all numbers are the rounded right ones, or 0."""
    for places in range(1, 10):
        if all(_equal_rounded(case.got, case.got, places) for case in cases):
            return places if all(_equal_rounded(case.got, case.want, places) for case in cases) else 0
    return 0


def _equal_rounded(got, want, places):
    return np.allclose(got, np.round(want, places), rtol=1e-14, atol=10.0 ** -(places + 5))


def _one_sided(cases):
    """Are all numbers too small, or all too large? Rounding errors of float32 would have both signs."""
    errors = np.concatenate([((got - want) * np.sign(want)).ravel() for got, want, *_ in cases])
    return errors.size >= 12 and bool((errors <= 0).all() or (errors >= 0).all())


def _infinities_aside(case):
    """The case with 0 in place of every infinity that is right."""
    got, want = case.got, case.want
    if got.shape != want.shape or got.dtype.kind != "f" or want.dtype.kind != "f":
        return case
    both = np.isinf(want) & (got == want)
    return case._replace(got=np.where(both, 0, got).astype(got.dtype), want=np.where(both, 0, want)) if both.any() else case


def _relative_error(got, want):
    return float(np.abs(got - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-300))


def _entries(got, want):
    """The claim on how many numbers are wrong, along which axis they lie in a few places, and which is the first of them."""
    scale = np.abs(want[np.isfinite(want)]).max(initial=0) if want.size else 0
    wrong = ~((got == want) | (np.abs(got - want) <= CLOSE * max(float(scale), 1e-3)))
    if not wrong.any():  # a difference that is smaller still
        wrong = got != want
    first = tuple(map(int, np.argwhere(wrong)[0]))
    axis, at = _few_places(wrong)
    values = {"wrong": int(wrong.sum()), "of": want.size, "axis": axis, "at": at, "first": first}
    return Claim("entries", values | {"got": float(got[first]), "want": float(want[first])})


def _few_places(wrong):
    """The axis, counted from the end, along which the wrong numbers lie in fewest places, and these places; or (None, ())."""
    found = []
    for axis in range(-wrong.ndim, 0):
        bad = np.moveaxis(wrong, axis, 0).reshape(wrong.shape[axis], -1).any(axis=1)
        if not bad.all() and wrong.shape[axis] > 1:
            found.append((bad.mean(), axis, tuple(map(int, np.flatnonzero(bad)))))
    found = [(axis, at) for _, axis, at in sorted(found) if len(at) <= 4 or at[-1] - at[0] == len(at) - 1]
    return found[0] if found else (None, ())
