"""Describe a wrong array or value that no known mistake explains, by its relation to the right one."""

import numpy as np

from attnexercises.engine import relations
from attnexercises.engine.relations import Compared, number, said

_CLAIMS = (
    relations.zero, relations.factor, relations.offset, relations.transposed, relations.one_element, relations.row_factor,
    relations.column_factor, relations.row_offset, relations.permuted, relations.rows_sum, relations.negative_rows,
    relations.rows_sum_to_zero,
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
        lost = _shape(case.got, case.want) if case.got.shape != case.want.shape else relations.lost([case])
        if lost:
            return _on(case, cases) + lost
    if stage[0].want.dtype.kind == "b":
        return said(relations.complement, cases) or _on(stage[0], cases) + _booleans(*stage[0][:2])
    sentence = _digits(cases)
    for claim in _CLAIMS if not sentence else ():
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
    if error >= 1e-3 or (error == 0 and not narrow) or (error > 5e-6 and relations.factor(cases)):
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
