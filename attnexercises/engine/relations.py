"""What a wrong array has to do with the right one: its negative, twice its size, its columns in another order.

Each function takes a list of `Compared`, one for each case. It returns the `Claim` if it holds in all of these cases,
otherwise None. Those in `CLAIMS` can be named by a known mistake.
"""

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


def comparable(cases):
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


def infinities_aside(case):
    """The case with 0 in place of every infinity that is right."""
    got, want = case.got, case.want
    if got.shape != want.shape or got.dtype.kind != "f" or want.dtype.kind != "f":
        return case
    both = np.isinf(want) & (got == want)
    return case._replace(got=np.where(both, 0, got).astype(got.dtype), want=np.where(both, 0, want)) if both.any() else case


def relative_error(got, want):
    return float(np.abs(got - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-300))
