"""How is a wrong array related to the right one? For answers that no known mistake explains."""

import numpy as np

CLOSE = 1e-6  # two arrays "agree" in this file; a float32 answer is told apart elsewhere


def describe(cases):
    """Return one sentence about wrong arrays.

    Parameters
    ----------
    cases : list of (got, want, sizes)
        The wrong array, the right one, and the sizes of the inputs' axes as a
        dict of description to int, for each case.

    Returns
    -------
    str
        The first relation that holds in every case, or else the largest difference.

    Examples
    --------
    >>> want = np.array([[1.0, 2.0], [4.0, 3.0]])
    >>> describe([(2 * want, want, {})])
    'every number is 2 times the right one'
    >>> describe([(want.T, want, {})])
    'the last two axes are swapped (transposed)'
    """
    for got, want, _ in cases:
        if got.shape != want.shape:
            return _shape(got, want)
        strange = ~np.isfinite(got) & np.isfinite(want)
        if strange.any():
            which = "NaN" if np.isnan(got[strange]).any() else "infinity"
            return which + (f" in {strange.sum()} of {got.size} numbers" if got.size > 1 else "")
    if cases[0][1].dtype.kind == "b":
        return _booleans(*cases[0][:2])
    if all(np.isfinite(want).all() for _, want, _ in cases):
        for relation in (_precision, _factor, *map(_in_every_case, _SINGLE)):
            sentence = relation(cases)
            if sentence:
                return sentence
    return "the largest difference from the right answer is " + _number(_largest_difference(cases))


def describe_value(got, want):
    """Return one sentence about a wrong value; less exact, so as not to give the answer away.

    Examples
    --------
    >>> describe_value(np.array(20), np.array(10))
    'your number is 2 times the right one'
    """
    if got.dtype.kind == "U":
        return f"{got.tolist()!r} is not the answer"
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
        return f"{(got != want).sum()} of {got.size} numbers are wrong"
    if got == -want:
        return "the sign is wrong"
    for factor in (2, 10, 100, 1000, 1024):
        if np.isclose(got, factor * want):
            return f"your number is {factor} times the right one"
        if np.isclose(got * factor, want):
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
    if tuple(n for n in got.shape if n > 1) == tuple(n for n in want.shape if n > 1):
        sentence += " (an axis of size 1 is " + ("too many)" if got.ndim > want.ndim else "missing)")
    return sentence


def _precision(cases):
    error = max(_relative_error(got, want) for got, want, _ in cases)
    if error < 1e-3:
        digits = int(-np.log10(max(error, 1e-16)))
        cause = "rounded, or an epsilon in it?"
        if 5 <= digits <= 8 and not _one_sided(cases):
            single = all(np.array_equal(got, got.astype(np.float32)) for got, _, _ in cases)
            cause = "computed in float32?" + ("" if single else " Or is an epsilon in it?")
        return f"right to about {7 if digits in (6, 7, 8) else digits} digits only; {cause}"


def _one_sided(cases):
    """Are all of many numbers too small, or all too large? Rounding errors of float32 would have either sign."""
    errors = np.concatenate([((got - want) * np.sign(want)).ravel() for got, want, _ in cases])
    return errors.size >= 12 and bool((errors <= 0).all() or (errors >= 0).all())


def _relative_error(got, want):
    return float(np.abs(got - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-300))


def _largest_difference(cases):
    with np.errstate(invalid="ignore"):
        return max(float(np.nanmax(np.abs(got - want), initial=0)) for got, want, _ in cases)


def _factor(cases):
    factors = [_one_factor(got, want) for got, want, _ in cases]
    if None in factors:
        return None
    if np.allclose(factors, factors[0], rtol=CLOSE):
        if np.isclose(factors[0], -1):
            return "exactly minus the right answer"
        if len(cases) == 1:
            return _factor_and_size(factors, cases) or _times(factors[0])
        return _times(factors[0])
    return _factor_and_size(factors, cases)


def _times(factor):
    if abs(factor) < 1:
        return f"every number is {_number(1 / factor)} times too small"
    return f"every number is {_number(factor)} times the right one"


def _one_factor(got, want):
    largest = np.abs(want).max(initial=0)
    if largest == 0 or want.size < 1:
        return None
    at = np.abs(want).argmax()
    factor = got.ravel()[at] / want.ravel()[at]
    return float(factor) if factor != 0 and _agree(got, factor * want) else None


def _factor_and_size(factors, cases):
    """The factor may differ from case to case and still be the size of one axis."""
    for name in cases[0][2]:
        sizes = [sizes.get(name, np.nan) for _, _, sizes in cases]
        for power, words in ((1, "{}"), (0.5, "the square root of {}")):
            for sign, much in ((1, "too large"), (-1, "too small")):
                if min(sizes) > 1 and np.allclose(factors, np.power(sizes, sign * power, dtype=float), rtol=CLOSE):
                    size = f"{words.format(name)}, here {_number(sizes[0] ** power)}"
                    return f"every number is {much} by a factor of {size}"


def _in_every_case(relation):
    def holds(cases):
        found = [relation(got, want) for got, want, _ in cases]
        return found[0] if all(found) else None

    return holds


def _offset(got, want):
    difference = got - want
    if want.size > 1 and _agree(difference, difference.ravel()[0]):
        return f"every number is off by the same amount, {_number(difference.ravel()[0])}"


def _transposed(got, want):
    if want.ndim >= 2 and want.shape[-1] == want.shape[-2] and _agree(got.swapaxes(-1, -2), want):
        return "the last two axes are swapped (transposed)"


def _one_element(got, want):
    if want.ndim < 2 or want.shape[0] < 2:
        return None
    right = [_agree(a, b) for a, b in zip(got, want, strict=True)]
    what = "batch element" if want.ndim > 2 else "row"
    for place, where in ((0, "first"), (-1, "last")):
        if right[place] and sum(right) == 1:
            return f"only the {where} {what} (along axis 0) is right"


def _row_factor(got, want):
    return _factor_along(got, want, -1, "row (the last axis)")


def _column_factor(got, want):
    return _factor_along(got, want, -2, "column (the axis before the last)")


def _factor_along(got, want, axis, name):
    if want.ndim < -axis or want.ndim < 2 or want.shape[axis] < 2:
        return None
    at = np.abs(want).argmax(axis=axis, keepdims=True)
    top, bottom = np.take_along_axis(got, at, axis), np.take_along_axis(want, at, axis)
    factors = top / np.where(bottom == 0, np.nan, bottom)
    usable = np.isfinite(factors) & (factors != 0)  # zeros are 0 times whatever is right
    if not usable.all() or not _agree(got, factors * want):
        return None
    return f"right up to one factor for each {name}; the first is {_number(factors.ravel()[0])}"


def _row_offset(got, want):
    difference = got - want
    if want.ndim >= 1 and want.shape[-1] > 1 and _agree(difference, difference[..., :1]):
        return "right up to one constant added to each row (the last axis)"


def _permuted(got, want):
    if want.size > 1 and _agree(np.sort(got, axis=None), np.sort(want, axis=None)):
        return "the right numbers, in other places"


def _rows_sum(got, want):
    if want.ndim == 0 or want.size == 0 or not _agree(want.sum(axis=-1), 1.0):
        return None
    sums = np.atleast_1d(got.sum(axis=-1)).ravel()
    off = sums[~np.isclose(sums, 1, rtol=CLOSE)]
    if off.size:
        return f"rows do not sum to 1; one of them sums to {_number(off[0])}"
    if (got < 0).any():
        return f"rows sum to 1, but some numbers are negative, for instance {_number(got.min())}"


def _rows_sum_to_zero(got, want):
    if want.ndim and want.shape[-1] > 1 and _agree(want.sum(axis=-1), 0.0) and not _agree(got.sum(axis=-1), 0.0):
        return "each row of the right answer sums to 0, and yours do not"


_SINGLE = (
    _offset, _transposed, _one_element, _row_factor, _column_factor, _row_offset, _permuted, _rows_sum,
    _rows_sum_to_zero,
)  # fmt: skip


def _agree(a, b):
    scale = float(np.abs(b).max(initial=0)) if np.ndim(b) else abs(float(b))
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE * max(scale, 1e-3)))


def _number(x):
    x = float(x)
    if np.isinf(x):
        return "infinite"
    return str(int(x)) if x == round(x) and abs(x) < 1e6 else f"{x:.3g}"
