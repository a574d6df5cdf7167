"""What to say about a wrong array or a wrong number that no known mistake explains."""

from dataclasses import replace

import numpy as np

from attnexercises.engine.claims import Claim
from attnexercises.engine.compared import on_case, said
from attnexercises.engine.relations import (
    CLOSE,
    agree,
    column_factor,
    comparable,
    complement,
    factor,
    function,
    infinities_aside,
    lost,
    negative_rows,
    offset,
    one_element,
    permuted,
    relative_error,
    row_factor,
    row_offset,
    rows_sum,
    rows_sum_to_zero,
    same_columns,
    same_rows,
    transposed,
    whole_numbers,
    zero,
)  # fmt: skip

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
    >>> from attnexercises.engine.compared import Compared
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
            return on_case(plain, case, cases)
    if stage[0].want.dtype.kind == "b":
        return said(complement, cases) or on_case(_booleans(*stage[0][:2]), stage[0], cases)
    found = said(whole_numbers, cases) or _digits(cases)
    for claim in UNFORESEEN:
        found = found or said(claim, cases)
    return found or on_case(_entries(*stage[0][:2]), stage[0], cases)


def _digits(cases):
    """The claim that the answer is right to some digits only, or None.

    Ordinary inputs decide how many digits, because large scores lose more. Infinities that are right are left out.
    """
    cases = [infinities_aside(case) for case in cases]
    wrong = [case for case in cases if not case.right]
    largest = max(float(np.abs(case.want).max(initial=0)) for case in cases) if comparable(wrong) else np.nan
    near = all(relative_error(case.got, case.want) <= 1e-2 or agree(case.got - case.want + largest, largest) for case in wrong)
    if not near and sum(case.got.size for case in wrong if not case.edge) < 12:
        return None  # a few wrong numbers can lie near the right ones by chance
    everywhere, ordinary = said(_precision, cases), said(_precision, [case for case in cases if not case.edge])
    found = ordinary or everywhere
    if found and found.where == "case" and len(wrong) > 1:
        return None
    return found if not ordinary or ordinary == everywhere or ordinary.where else replace(ordinary, where="ordinary")


def describe_value(got, want, rtol=1e-9, words=(), quantities=None):
    """Return the claim to make about a wrong value, less exact than `describe`, so as not to give the answer away.

    Parameters
    ----------
    got, want : ndarray
        The reader's value and the right one.
    rtol : float
        The relative tolerance of a right value.
    words : iterable of str
        If the exercise asks for a word, the possible answers.
    quantities : dict of str to number, optional
        The numbers that the exercise states, such as "12 heads" for 12.

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
        wrong = np.flatnonzero(~np.isclose(got, want, rtol=rtol, atol=0))
        at = tuple(int(place) + 1 for place in wrong) if got.ndim == 1 and got.size <= 6 else ()
        return Claim("wrong numbers", {"count": wrong.size, "of": got.size, "at": at})
    return _number_value(float(got), float(want), max(rtol, 1e-6), quantities or {})


def _number_value(got, want, rtol, quantities):
    if np.isclose(got, -want, rtol=rtol, atol=0):
        return Claim("sign")
    for digits in range(6, 1, -1):  # a number further away may be near by chance
        if got == float(f"{want:.{digits - 1}e}") and abs(got - want) < 0.02 * abs(want):
            return Claim("rounded value", {"digits": digits})
    for n in (2, 10, 100, 1000, 1024, 10**6, 2**20):
        for kind, bottom, top in (("multiple", want, got), ("part", got, want)):
            if np.isclose(top, n * bottom, rtol=rtol, atol=0):
                return Claim(kind, {"n": n})
    ratios = [((name,), n) for name, n in quantities.items()]
    ratios += [((a, b), n / m) for a, n in quantities.items() for b, m in quantities.items() if n > m]
    for names, n in ratios:
        for much, bottom, top in (("large", want, got), ("small", got, want)):
            if n > 1 and np.isclose(top, n * bottom, rtol=rtol, atol=0):
                return Claim("quantity", {"much": much, "n": n, "names": names})
    return Claim("side", {"much": "large" if got > want else "small", "told": min(got, want) < 0})


def _booleans(got, want):
    if want.ndim >= 2 and np.array_equal(got.swapaxes(-1, -2), want):
        return Claim("transposed")
    return Claim("booleans", {"of": want.size, "extra": int((got & ~want).sum()), "missing": int((want & ~got).sum())})


def _shape(got, want):
    return Claim("shape", {"got": got.shape, "want": want.shape})


def _precision(cases):
    """A claim on a nearly right answer: how many digits are right, and the likely cause; otherwise None."""
    error = max((relative_error(case.got, case.want) for case in cases), default=0)
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


def _entries(got, want):
    """The claim on how many numbers are wrong, along which axis they lie in a few places, and which is the first of them."""
    scale = np.abs(want[np.isfinite(want)]).max(initial=0) if want.size else 0
    wrong = ~((got == want) | (np.abs(got - want) <= CLOSE * max(float(scale), 1e-3)))
    if not wrong.any():  # a difference that is smaller still
        wrong = got != want
    first = tuple(map(int, np.argwhere(wrong)[0]))
    side, (axis, at) = _side(wrong), _few_places(wrong)
    values = {"wrong": int(wrong.sum()), "of": want.size, "axis": axis, "at": at, "first": first}
    values |= {"side": side, "axis": None, "at": ()} if side else {}
    return Claim("entries", values | {"got": float(got[first]), "want": float(want[first])})


def _side(wrong):
    """ "below" or "above", if the wrong numbers fill most of that side of the diagonal of the last two axes, or "on"; else ""."""
    if wrong.ndim < 2 or wrong.shape[-1] != wrong.shape[-2] or wrong.shape[-1] < 3:
        return ""
    row, column = np.indices(wrong.shape[-2:])
    for side, place in (("on", row == column), ("below", row > column), ("above", row < column)):
        if not wrong[..., ~place].any() and wrong[..., place].mean() > 0.5:
            return side
    return ""


def _few_places(wrong):
    """The axis, counted from the end, along which the wrong numbers lie in fewest places, and these places; or (None, ())."""
    found = []
    for axis in range(-wrong.ndim, 0):
        bad = np.moveaxis(wrong, axis, 0).reshape(wrong.shape[axis], -1).any(axis=1)
        if not bad.all() and wrong.shape[axis] > 1:
            found.append((bad.mean(), axis, tuple(map(int, np.flatnonzero(bad)))))
    found = [(axis, at) for _, axis, at in sorted(found) if len(at) <= 4 or at[-1] - at[0] == len(at) - 1]
    return found[0] if found else (None, ())
