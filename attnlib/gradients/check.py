"""Is a gradient right? Compare each entry with a slope that is measured, not derived."""

from dataclasses import replace

import numpy as np

from attnlib.gradients.noise import best_slope, noise_of, value_or_nan
from attnlib.gradients.numerical import as_arguments, differences
from attnlib.gradients.report import KNOWN, GradientReport, advice, as_claim, largest


def check_gradient(f, x, gradient, *, tolerance=None, eps=None, order=4):
    r"""Compare a gradient with finite differences and say where they differ most.

    The error is :math:`\max|g - n| / \max(\max|g|, \max|n|)`, 0 if both are zero: an
    entry counts by its size beside the largest, so rounding in a tiny entry is no
    alarm.

    **Three verdicts.** A slope is only measured: rounding in `f` and its curvature
    leave it uncertain. Where it disagrees with you, or is too uncertain to agree, it
    is measured again with other steps. *Right*: the error is within the tolerance, and
    the slope is known to within 9 tolerances; so an error above 10 tolerances, 1e-7 of
    the largest entry by default, is never called right. *Wrong*: the error is more than
    the tolerance and that uncertainty together. *Cannot tell*: the rest, with a note on
    what could. Check `if report` for right, `report.verdict` for all three.

    **What to check.** If your function returns an array, make it a number with a
    *random* upstream gradient: ``f = lambda x: (d_out * op(x)).sum()`` with
    ``d_out = rng.normal(size=...)``. Never take ones. The weights of a softmax sum
    to one, so with ``d_out`` of ones the loss is constant and its gradient exactly
    zero: a backward that returns zero, or anything proportional to the right
    answer, would look right.

    Parameters
    ----------
    f : callable
        Takes an array like `x`, returns one number. Each call gets a fresh copy.
    x : array_like of shape (...)
        Where to compare. It is never written to.
    gradient : array_like of shape (...)
        Yours, of the shape of `x`.
    tolerance : float, optional
        Largest relative error that passes: 1e-8, or 1e-3 if `x` is float32 or
        float16, which are too coarse for a strict check.
    eps, order : optional
        As in `numerical_gradient`. With an `eps` of your own the differences at that step
        decide; if they cannot tell, the note names a step that can.

    Returns
    -------
    report : GradientReport
        True if the gradient is right. A gradient with a NaN is wrong.

    References
    ----------
    .. [1] Moré and Wild (2011), "Estimating computational noise", SIAM J. Sci. Comput. 33(3).

    Raises
    ------
    TypeError
        As `numerical_gradient`; also if `gradient` does not hold real numbers or
        `tolerance` is not a number.
    ValueError
        As `numerical_gradient`; also if `gradient` has not the shape of `x`, `x` has
        no entries, or `tolerance` is not positive.

    Examples
    --------
    >>> d_out = np.array([0.5, -0.3])
    >>> print(check_gradient(lambda x: d_out @ np.sin(x), [0.0, 2.0], d_out * [1.0, 1.0]))
    gradient WRONG: relative error 8.5e-01, tolerance 1e-08
    worst entry [1]: yours -0.3, finite difference 0.124844051
    """
    function = "check_gradient"
    x, _, step = as_arguments(function, f, x, eps, order)
    gradient, tolerance = as_claim(function, x, gradient, tolerance)
    measured = differences(function, f, x, step, order).astype(gradient.dtype)
    ordinary = step if eps is None else as_arguments(function, f, x, order=4)[2]
    noise = noise_of(function, f, x, ordinary)
    steps, again = np.array(step, np.float64), np.zeros(x.shape, bool)
    uncertain = np.array(1.5 * noise / steps)
    while scale := max(largest(gradient), largest(measured)):  # which a new measurement can shrink
        error = abs(gradient / scale - measured / scale)
        settled = again | ~np.isfinite(gradient) | (error <= tolerance) & (uncertain / scale <= KNOWN * tolerance)
        if settled.all():
            break
        index = np.unravel_index(np.where(settled, -1, error).argmax(), x.shape)
        again[index] = True
        wanted = tolerance * min(largest(gradient), largest(measured)) / 4
        slope, uncertain[index], steps[index] = best_slope(
            _along_an_axis(function, f, x, index), float(ordinary[index]),
            noise + scale * np.spacing(abs(x[index])), wanted, 64 * np.spacing(abs(x[index])),
            2 * float(np.finfo(x.dtype).eps),
        )  # fmt: skip
        moved = abs(measured[index] - slope)
        if eps is None and moved > uncertain[index]:
            measured[index] = slope
        else:  # the first measurement stands, and may be off by as much as it differs from the best
            uncertain[index] += moved
        if abs(gradient[index] - measured[index]) > tolerance * scale + uncertain[index]:
            break  # certainly wrong
    scale = max(largest(gradient), largest(measured))
    nothing, scale = scale <= uncertain.max(), scale or 1.0
    error, uncertain = abs(gradient / scale - measured / scale), uncertain / scale
    error = np.where(np.isnan(error), np.inf, error)
    excess = np.where(error > tolerance, error - uncertain, -np.inf)
    wrong = excess.max() > tolerance
    right = not wrong and bool((error <= tolerance).all() and (nothing or (uncertain <= KNOWN * tolerance).all()))
    worst = np.unravel_index((excess if wrong else error if right else np.maximum(error, uncertain)).argmax(), x.shape)
    report = GradientReport(
        passed=right,
        relative_error=float(error[worst]),
        worst_index=tuple(int(i) for i in worst),
        yours=float(gradient[worst]),
        finite_difference=float(measured[worst]),
        tolerance=tolerance,
        uncertainty=float(uncertain[worst]),
    )
    if nothing and not wrong:
        note = "Both are zero but for rounding, so this tests nothing: is the upstream gradient constant?"
    elif report.verdict == "cannot tell":
        note = advice(x.dtype, float(steps[worst]), report, eps)
    else:
        note = _factor(gradient, measured, tolerance) if wrong else ""
    return replace(report, note=note)


def _along_an_axis(function, f, x, index):
    def along(t):
        moved = x.copy()
        moved[index] += t
        return value_or_nan(function, f, moved)

    return along


def _factor(yours, measured, tolerance):
    # What a bare number hides: a plain wrong factor.
    if yours.size == 1 or not np.isfinite(yours).all() or not largest(measured):
        return ""
    scaled = measured / largest(measured)
    factor = float((yours * scaled).sum() / (measured * scaled).sum())
    if f"{factor:.9g}" == "1" or largest(yours - factor * measured) > 10 * tolerance * largest(measured):
        return ""
    return f"Yours is {factor:.9g} times the finite difference in every entry."
