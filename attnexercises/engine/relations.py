"""Claims about a wrong answer ("every number is 2 times the right one"), and how to find out which of them hold.

Each function in `CLAIMS` takes a list of `Compared`, one for each case. It returns the claim in words if the claim
holds in all of these cases, otherwise "". `said` finds the widest range of cases in which one claim holds, and `seen`
picks the first of several claims that holds. `describe` says what is wrong with arrays that no known mistake explains.
"""

from typing import NamedTuple

import numpy as np

CLOSE = 1e-6  # the relative tolerance of this module, too large to tell float32 from float64


def minus(cases):
    """The answer has the wrong sign."""
    if _all_zero(cases) or not all(agree(-case.got, case.want) for case in cases):
        return ""
    return "exactly minus the right answer"


def factor(cases):
    """The answer is the right one times a factor, which is the same in all cases or the size of an axis."""
    usable = [case for case in cases if np.any(case.want)]
    factors = [_one_factor(case) for case in usable]
    if sum(np.count_nonzero(case.want) for case in usable) < 2:  # a single number is always a multiple of another
        return ""
    if None in factors or not all(agree(case.got, 0.0) for case in cases if not np.any(case.want)):
        return ""
    same = np.allclose(factors, factors[0], rtol=CLOSE)
    if same and np.isclose(factors[0], 1, rtol=CLOSE):
        return ""
    if same and np.isclose(factors[0], -1, rtol=CLOSE):
        return "exactly minus the right answer"
    by_size = _size(factors, usable)
    return by_size or (_times(factors[0]) if same else "")


def _one_factor(case):
    """The factor by which the answer is too large on this case; None if there is no such factor."""
    at = np.abs(case.want).argmax()
    ratio = case.got.ravel()[at] / case.want.ravel()[at]
    return float(ratio) if ratio != 0 and agree(case.got, ratio * case.want) else None


def _times(ratio):
    if 0 < ratio <= 2 / 3:
        return f"every number is {number(1 / ratio)} times too small"
    return f"every number is {number(ratio, told_from=1)} times the right one"


def _size(factors, cases):
    """The words for factors that are, in every case, the size of the same axis, its square root or a reciprocal.

    If the size is the same whole number in all cases, the agreement may be a coincidence and proves nothing.
    """
    for power, words in ((1, "{}"), (0.5, "the square root of {}")):
        for sign, much in ((1, "too large"), (-1, "too small")):
            for name in cases[0].sizes:
                sizes = [case.sizes.get(name, np.nan) for case in cases]
                if np.allclose(factors, np.power(sizes, sign * power, dtype=float), rtol=CLOSE):
                    size = f"{words.format(name)}, here {number(sizes[0] ** power)}"
                    telling = len(set(sizes)) > 1 or not float(sizes[0] ** power).is_integer()
                    if telling and max(sizes) > 1:
                        return f"every number is {much} by a factor of {size}"
    return ""


def offset(cases):
    differences = [case.got - case.want for case in cases]
    if all(d.size > 1 and agree(d, d.ravel()[0]) for d in differences):
        amounts = [float(d.ravel()[0]) for d in differences]
        if np.allclose(amounts, amounts[0], rtol=CLOSE) and amounts[0]:
            return f"every number is off by the same amount, {number(amounts[0])}"
    return ""


def transposed(cases):
    """The last two axes are swapped. (If their sizes differed, the shape would be wrong, which is said elsewhere.)"""
    square = all(case.want.ndim >= 2 and case.want.shape[-1] == case.want.shape[-2] for case in cases)
    if square and all(agree(case.got.swapaxes(-1, -2), case.want) for case in cases) and not _right(cases):
        return "the last two axes are swapped (transposed)"
    return ""


def one_element(cases):
    """Only the first, or only the last, element along axis 0 is right."""
    found = set()
    for case in cases:
        if case.want.ndim < 2 or case.want.shape[0] < 2:
            return ""
        right = [agree(a, b) for a, b in zip(case.got, case.want, strict=True)]
        what = "batch element" if case.want.ndim > 2 else "row"
        if sum(right) != 1 or not (right[0] or right[-1]):
            return ""
        found.add((f"only the {'first' if right[0] else 'last'}", what))
    if len({place for place, _ in found}) > 1:
        return ""
    place, what = found.pop()
    return f"{place} {'element' if found else what} (along axis 0) is right"


def row_factor(cases):
    return _factor_along(cases, -1, "row (the last axis)")


def column_factor(cases):
    return _factor_along(cases, -2, "column (the axis before the last)")


def _factor_along(cases, axis, name):
    """The words for an answer that is right up to one factor for each row, or each column."""
    first = None
    for got, want, *_ in cases:
        if want.ndim < -axis or want.ndim < 2 or want.shape[axis] < 2:
            return ""
        at = np.abs(want).argmax(axis=axis, keepdims=True)
        top, bottom = np.take_along_axis(got, at, axis), np.take_along_axis(want, at, axis)
        factors = top / np.where(bottom == 0, np.nan, bottom)
        usable = np.isfinite(factors) & (factors != 0)  # a zero is 0 times any right number
        if not usable.all() or not agree(got, factors * want):
            return ""
        if first is None and not np.allclose(factors, 1):
            first = factors.ravel()[~np.isclose(factors.ravel(), 1)][0]
    return f"right up to one factor for each {name}; one of them is {number(first, told_from=1)}" if first else ""


def row_offset(cases):
    """The answer is right up to a constant added to each row, which a softmax would cancel."""
    for got, want, *_ in cases:
        difference = got - want
        if want.ndim < 1 or want.shape[-1] < 2 or not agree(difference, difference[..., :1]):
            return ""
    return "" if _right(cases) else "right up to one constant added to each row (the last axis)"


def permuted(cases):
    for got, want, *_ in cases:
        if want.size < 2 or not agree(np.sort(got, axis=None), np.sort(want, axis=None)):
            return ""
    return "" if _right(cases) else "the right numbers, in other places"


def rows_sum(cases):
    """The right rows sum to 1, and one of the answer's does not."""
    if not all(case.want.ndim and case.want.size and agree(case.want.sum(axis=-1), 1.0) for case in cases):
        return ""
    for case in cases:
        sums = np.atleast_1d(case.got.sum(axis=-1)).ravel()
        off = sums[~np.isclose(sums, 1, rtol=CLOSE)]
        if off.size:
            return f"not every row sums to 1: one sums to {number(off[0], told_from=1)}"
    return ""


def negative_rows(cases):
    """Some numbers are negative, although each row sums to 1."""
    if rows_sum(cases) or not all(agree(case.want.sum(axis=-1), 1.0) for case in cases if case.want.ndim):
        return ""
    if any(case.want.ndim == 0 for case in cases) or not all(agree(case.got.sum(axis=-1), 1.0) for case in cases):
        return ""
    lowest = next((case.got.min() for case in cases if (case.got < 0).any()), None)
    return "" if lowest is None else f"rows sum to 1, but some numbers are negative, for instance {number(lowest)}"


def axis_0_sum(cases):
    """The answer sums to 1 along axis 0, and the right one along the last axis."""
    if not rows_sum(cases) or not all(case.want.ndim >= 2 for case in cases):
        return ""
    along_0 = all(agree(case.got.sum(axis=0), 1.0) for case in cases)
    return "the numbers sum to 1 along axis 0, and not along each row" if along_0 else ""


def total_sum(cases):
    """All numbers together sum to 1, where each row should."""
    if not rows_sum(cases) or not all(agree(case.got.sum(), 1.0) for case in cases):
        return ""
    return "all numbers together sum to 1, and not each row"


def largest_one(cases):
    """The largest number of each row is 1, as in a softmax without the division."""
    if not rows_sum(cases) or not all(agree(case.got.max(axis=-1), 1.0) for case in cases):
        return ""
    return "the largest number of each row is 1, not the sum of the row"


def rows_sum_to_zero(cases):
    """The right rows sum to 0, and one of the answer's does not."""
    for got, want, *_ in cases:
        if not want.ndim or want.shape[-1] < 2 or not agree(want.sum(axis=-1), 0.0):
            return ""
    sums = np.concatenate([np.atleast_1d(case.got.sum(axis=-1)).ravel() for case in cases])
    if agree(sums, 0.0):
        return ""
    return f"each row of the right answer sums to 0; one of yours sums to {number(sums[np.abs(sums).argmax()])}"


def zero(cases):
    """Every number is 0, up to rounding."""
    if _right(cases) or any(np.abs(case.got).max(initial=0) > 1e-9 * np.abs(case.want).max(initial=0) for case in cases):
        return ""
    return "every number is 0" if any(case.got.size > 1 for case in cases) else "your number is 0"


def complement(cases):
    """Every boolean is the opposite of the right one."""
    fits = all(case.want.dtype.kind == case.got.dtype.kind == "b" and case.got.shape == case.want.shape for case in cases)
    return "every entry is the opposite of the right one" if fits and all((c.got != c.want).all() for c in cases) else ""


def lost(cases):
    """NaN or infinities in wrong places, or infinities that are missing. The numbers are counted on a single case."""
    if len(cases) > 1:
        return ""
    got, want, *_ = cases[0]
    if got.shape != want.shape or "b" in (got.dtype.kind, want.dtype.kind):
        return ""
    nan, inf = np.isnan(got) & ~np.isnan(want), np.isinf(got) & (got != want)
    missing = np.isinf(want) & np.isfinite(got)
    one = got.size == 1
    if nan.any():
        right = want[nan]
        instead = f" where {right[0]:g} is right" if np.isinf(right).all() and (right == right[0]).all() else ""
        return ("NaN" if one else f"NaN in {nan.sum()} of {got.size} numbers") + instead
    if inf.any():
        return "infinity" if one else f"infinity in {inf.sum()} of {got.size} numbers"
    if missing.any():
        return f"finite where {want[missing][0]:g} is right" + ("" if one else f", in {missing.sum()} of {got.size} numbers")
    return ""


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


def _all_zero(cases):
    """Is every right number 0?"""
    return not any(np.any(case.want) for case in cases)


def number(x, told_from=None):
    """Write a number with three digits, or with as many as it takes to differ from `told_from`."""
    x = float(x)
    if np.isnan(x):
        return "NaN"
    if np.isinf(x):
        return "infinite" if x > 0 else "minus infinite"
    digits = 3
    while told_from is not None and x != told_from and float(f"{x:.{digits}g}") == told_from and digits < 16:
        digits += 1
    return str(int(x)) if x == round(x) and abs(x) < 1e6 else f"{x:.{digits}g}"


LONGEST = 159  # characters that all sentences before the cause may have together


class Compared(NamedTuple):
    """One output of an answer on one probe, together with the right output.

    Parameters
    ----------
    got, want : ndarray
        The answer's array and the right one.
    sizes : dict of str to int
        The sizes of the inputs' axes, by a description of the axis.
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
    """Return the sentences for those claims that hold, each with the widest range of cases in which it holds.

    Parameters
    ----------
    claims : iterable of str
        Names in `CLAIMS`. For each output, only the first claim that holds is said.
    outputs : dict of str to list of Compared
        The cases of each output.

    Examples
    --------
    >>> right = np.array([[0.5, 0.5], [0.2, 0.8]])
    >>> seen(["total_sum", "rows_sum"], {"weights": [Compared(0.6 * right, right)]})
    'not every row sums to 1: one sums to 0.6'
    """
    found = {}
    for name, cases in outputs.items():
        words = next(filter(None, (said(CLAIMS[claim], cases) for claim in claims)), "")
        if words:
            found.setdefault(words, []).append(name)
    whose = "{names}: {words}" if len(outputs) > 1 else "{words}"
    sentences = [whose.format(names=", ".join(names), words=words) for words, names in found.items()]
    while len("; ".join(sentences)) > LONGEST:
        sentences.pop()
    return "; ".join(sentences)


def said(claim, cases):
    """The words of a claim with the widest range in which it holds, or "".

    The ranges are all cases, the wrong ones, the wrong ordinary ones, and one case.
    """
    wrong = [case for case in cases if not case.right]
    ordinary = [case for case in wrong if not case.edge]
    ranges = [("", cases), ("where it is wrong, ", wrong), ("on ordinary inputs, ", ordinary)]
    if any(case.right and not case.edge for case in cases):
        ranges[2] = ("on ordinary inputs where it is wrong, ", ordinary)
    first = (ordinary or wrong)[:1]
    if claim is lost:  # it counts numbers, so it is about one case
        ranges = []
    if first:
        ranges.append((f'on the case "{first[0].label}", ' if len(cases) > 1 else "", first))
    for where, some in ranges:
        words = claim(some) if some and (claim in (lost, complement) or _comparable(some)) else ""
        if words:
            return where + words
    return ""


def _comparable(cases):
    """Do all arrays hold finite numbers, in the right shape?"""
    return all(
        case.got.shape == case.want.shape and case.want.dtype.kind in "fiu" and case.got.dtype.kind in "fiu"
        and np.isfinite(case.want).all() and np.isfinite(case.got).all()
        for case in cases
    )  # fmt: skip


UNFORESEEN = (
    zero, factor, offset, transposed, one_element, row_factor, column_factor, row_offset, permuted, rows_sum, negative_rows,
    rows_sum_to_zero,
)  # fmt: skip


def describe(cases):
    """Return one sentence about wrong arrays.

    Parameters
    ----------
    cases : list of Compared
        The cases of one output, of which at least one is wrong.

    Returns
    -------
    str
        A wrong shape or NaN, or else the first relation that holds, or else the largest difference.

    Examples
    --------
    >>> want = np.array([[1.0, 2.0], [4.0, 3.0]])
    >>> describe([Compared(2 * want, want)])
    'every number is 2 times the right one'
    >>> describe([Compared(want.T, want)])
    'the last two axes are swapped (transposed)'
    """
    wrong = [case for case in cases if not case.right]
    stage = [case for case in wrong if not case.edge] or wrong
    for case in stage:
        plain = _shape(case.got, case.want) if case.got.shape != case.want.shape else lost([case])
        if plain:
            return _on(case, cases) + plain
    if stage[0].want.dtype.kind == "b":
        return said(complement, cases) or _on(stage[0], cases) + _booleans(*stage[0][:2])
    sentence = _digits(cases)
    for claim in UNFORESEEN if not sentence else ():
        sentence = sentence or said(claim, cases)
    return sentence or _on(stage[0], cases) + _difference(*stage[0][:2])


def _digits(cases):
    """A sentence if the answer is right to some digits only, or "".

    Ordinary inputs decide how many digits, because large scores lose more. Infinities that are right are left out.
    """
    cases = [_infinities_aside(case) for case in cases]
    sentence = said(_precision, [case for case in cases if not case.edge])
    if not sentence or sentence == said(_precision, cases):
        return sentence or said(_precision, cases)
    return sentence if sentence.startswith(("on ", "where")) else f"on ordinary inputs, {sentence}"


def _on(case, cases):
    """The beginning of a sentence that names the case, if there are several cases."""
    return f'on the case "{case.label}", ' if case.label and len(cases) > 1 else ""


def describe_value(got, want, rtol=1e-9, words=()):
    """Return one sentence about a wrong value, less exact than `describe`, so as not to give the answer away.

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
    >>> describe_value(np.array(20), np.array(10))
    'your number is 2 times the right one'
    """
    if got.dtype.kind == "U":
        return f"{got.tolist()!r} is not " + (f"one of the words {', '.join(sorted(words))}" if words else "the answer")
    if got.shape != want.shape:
        if want.ndim == 0:
            if got.size == 1:
                return "a bare number is expected, not a list, a tuple or an array"
            return f"one number is expected, not {got.size}"
        if got.ndim == 0:
            return "a tuple of numbers is expected, not one number"
        if got.ndim == want.ndim == 1:
            return f"your tuple has {got.size} number{'s' if got.size != 1 else ''}; {want.size} are expected"
        return _shape(got, want)
    if not np.isfinite(got).all():
        return "NaN or infinity is not the answer"
    if want.ndim:
        if np.array_equal(np.sort(got, axis=None), np.sort(want, axis=None)):
            return "the right numbers, in another order"
        wrong = (~np.isclose(got, want, rtol=rtol, atol=0)).sum()
        return f"{wrong} of {got.size} numbers {'is' if wrong == 1 else 'are'} wrong"
    return _number_value(float(got), float(want), max(rtol, 1e-6))


def _number_value(got, want, rtol):
    if np.isclose(got, -want, rtol=rtol, atol=0):
        return "the sign is wrong"
    for digits in range(6, 0, -1):
        if got == float(f"{want:.{digits - 1}e}") and abs(got - want) < 0.1 * abs(want):
            return f"that is the right number rounded to {digits} digit{'s' if digits > 1 else ''}; give it in full"
    for factor in (2, 10, 100, 1000, 1024):
        if np.isclose(got, factor * want, rtol=rtol, atol=0):
            return f"your number is {factor} times the right one"
        if np.isclose(got * factor, want, rtol=rtol, atol=0):
            return f"your number is {factor} times too small"
    much, where = ("large", "below") if got > want else ("small", "above")
    return f"your number is too {much}" + (f": the right number lies {where} it" if min(got, want) < 0 else "")


def _booleans(got, want):
    if want.ndim >= 2 and np.array_equal(got.swapaxes(-1, -2), want):
        return "the last two axes are swapped (transposed)"
    too_many, missing = (got & ~want).sum(), (want & ~got).sum()
    return f"of {want.size} entries, {too_many} are True that should be False, and {missing} False that should be True"


def _shape(got, want):
    sentence = f"the shape is {got.shape}; {want.shape} is expected"
    if got.ndim != want.ndim and [n for n in got.shape if n > 1] == [n for n in want.shape if n > 1]:
        sentence += " (an axis of size 1 is " + ("too many)" if got.ndim > want.ndim else "missing)")
    return sentence


def _precision(cases):
    """A sentence for a nearly right answer, on how many digits are right and on the likely cause; otherwise ""."""
    error = max((_relative_error(case.got, case.want) for case in cases), default=0)
    narrow = any(case.got.dtype.kind == "f" and case.got.dtype.itemsize < 8 for case in cases)
    if error >= 1e-3 or (error == 0 and not narrow) or (error > 5e-6 and factor(cases)):
        return ""
    places = _rounded(cases)
    if places:
        return f"rounded to {places} decimal{'s' if places > 1 else ''}"
    digits = int(-np.log10(max(error, 1e-8 if narrow else 1e-16)))
    cause = "rounded, or an epsilon in it?"
    if 5 <= digits <= 8 and (narrow or not _one_sided(cases)):
        single = all(np.array_equal(case.got, case.got.astype(np.float32)) for case in cases)
        cause = "computed in float32?" + ("" if single else " Or is an epsilon in it?")
    return f"right to about {7 if digits in (6, 7, 8) else digits} digits only; {cause}"


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


def _difference(got, want):
    finite = np.isfinite(got) & np.isfinite(want)
    largest = float(np.abs(got[finite] - want[finite]).max(initial=0))
    return f"the largest difference from the right answer is {number(largest)}"
