"""Is a gradient right? Compare it with slopes that are measured, not derived."""

from dataclasses import dataclass, replace

import numpy as np

from attnlib.checks.arrays import as_float, same_shape
from attnlib.gradients.noise import best_slope, noise_of, value_or_nan
from attnlib.gradients.numerical import as_arguments, as_number, as_positive, differences

# A right verdict needs a slope that is known to within this many tolerances, so that no chance hit counts.
KNOWN = 9


@dataclass(frozen=True)
class GradientReport:
    """The verdict of a gradient check. It is true if the gradient is right; printed, it says why.

    Attributes
    ----------
    passed : bool
        Whether the gradient is right.
    relative_error : float
        Largest difference, divided by the largest entry of the two gradients.
    worst_index : tuple of int or None
        Where that difference is; None for a check along a direction.
    yours : float
        Your gradient there.
    finite_difference : float
        The measured slope there.
    tolerance : float
        The largest `relative_error` that passes.
    note : str
        What the numbers look like, if they look like something; what would help, if they cannot tell.
    uncertainty : float
        How far the measured slope may be off there, divided as `relative_error` is.

    Examples
    --------
    >>> report = check_gradient(lambda x: (x**2).sum(), [1.0, 3.0], [2.0, -6.0])
    >>> bool(report), report.verdict, report.worst_index
    (False, 'wrong', (1,))
    """

    passed: bool
    relative_error: float
    worst_index: tuple | None
    yours: float
    finite_difference: float
    tolerance: float
    note: str = ""
    uncertainty: float = 0.0

    def __bool__(self):
        return self.passed

    @property
    def verdict(self):
        """``"right"``, ``"wrong"``, or ``"cannot tell"`` where the measured slope is too uncertain to say."""
        if self.passed:
            return "right"
        return "cannot tell" if self.relative_error <= self.tolerance + self.uncertainty else "wrong"

    def __str__(self):
        place = "along a random direction" if self.worst_index is None else f"worst entry {list(self.worst_index)}"
        verdict = {"right": "gradient right", "wrong": "gradient WRONG", "cannot tell": "CANNOT TELL"}[self.verdict]
        known = f", finite difference known to {self.uncertainty:.0e}" if self.verdict == "cannot tell" else ""
        return (
            f"{verdict}: relative error {self.relative_error:.1e}, tolerance {self.tolerance:.0e}{known}\n"
            f"{place}: yours {self.yours:.9g}, finite difference {self.finite_difference:.9g}"
            f"{self.note and '. ' + self.note}"
        )


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
    gradient, tolerance = _claim(function, x, gradient, tolerance)
    measured = differences(function, f, x, step, order)
    ordinary = step if eps is None else as_arguments(function, f, x, order=4)[2]
    noise = noise_of(function, f, x, ordinary)
    steps = np.array(step, np.float64)
    uncertain = np.array(1.5 * noise / steps)
    scale = max(_largest(gradient), _largest(measured))
    if scale:
        error = abs(gradient / scale - measured / scale)
        doubtful = ~((error <= tolerance) & (uncertain / scale <= KNOWN * tolerance)) & np.isfinite(gradient)
        for flat in np.argsort(-error, axis=None):
            index = np.unravel_index(flat, x.shape)
            if not doubtful[index]:
                continue
            slope, uncertain[index], steps[index] = best_slope(
                _along_an_axis(function, f, x, index), float(ordinary[index]),
                noise + scale * np.spacing(abs(x[index])), tolerance * scale / 4, 64 * np.spacing(abs(x[index])),
                2 * float(np.finfo(x.dtype).eps),
            )  # fmt: skip
            moved = abs(measured[index] - slope)
            if eps is None and moved > uncertain[index]:
                measured[index] = slope
            else:  # the first measurement stands, and may be off by as much as it differs from the best
                uncertain[index] += moved
            if abs(gradient[index] - measured[index]) > tolerance * scale + uncertain[index]:
                break  # certainly wrong
    scale = max(_largest(gradient), _largest(measured))
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
        note = _advice(x.dtype, float(steps[worst]), report, eps)
    else:
        note = _factor(gradient, measured, tolerance) if wrong else ""
    return replace(report, note=note)


def check_direction(f, x, gradient, rng, *, tolerance=None, eps=None):
    r"""Check a large gradient along one random direction: four calls of `f`, whatever the size.

    For any direction u, ``(gradient * u).sum()`` has to be the slope of
    :math:`t \mapsto f(x + t u)` at 0, measured with the fourth-order formula of
    `numerical_gradient`. Here u holds independent normal numbers and leans a little
    towards your gradient, since at right angles to it there would be nothing to see.
    A wrong entry shows up in almost every direction, but not where it is: for that,
    `check_gradient` on a small case.

    As in `check_gradient`, build `f` with a random upstream gradient, never ones.

    Parameters
    ----------
    f : callable
        Takes an array like `x`, returns one number. Each call gets a fresh array.
    x : array_like of shape (...)
        Where to compare. It is never written to.
    gradient : array_like of shape (...)
        Yours, of the shape of `x`.
    rng : numpy.random.Generator
        Draws the direction.
    tolerance : float, optional
        Largest difference that passes, relative to the larger of the two slopes:
        1e-8, or 1e-3 if `x` is float32 or float16.
    eps : float, optional
        The step h.

    Returns
    -------
    report : GradientReport
        With the two slopes as `yours` and `finite_difference`. A gradient with a
        NaN is wrong.

    Raises
    ------
    TypeError
        As `check_gradient`; also if `rng` is not a `numpy.random.Generator`.
    ValueError
        As `check_gradient`.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 10_000)
    >>> bool(check_direction(lambda x: np.sin(x).sum(), x, np.cos(x), np.random.default_rng(0)))
    True
    """
    function = "check_direction"
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"{function}: rng must be a numpy.random.Generator; got {type(rng).__name__}.")
    x, _, step = as_arguments(function, f, x, eps, 4)
    gradient, tolerance = _claim(function, x, gradient, tolerance)
    if not np.isfinite(gradient).all():
        return GradientReport(False, np.inf, None, np.nan, np.nan, tolerance, "Yours is not finite everywhere.")
    direction = rng.normal(size=x.shape)
    if unit := _largest(gradient):
        lean = gradient / unit
        lean /= np.linalg.norm(lean)
        direction += lean * np.copysign(1, (direction * lean).sum())
    direction = direction.astype(x.dtype)
    step = step.max()
    if np.array_equal(x + step * direction, x):
        raise ValueError(f"{function}: eps = {step} is lost in the rounding of x; take a larger one.")

    values = [float(as_number(function, f(x + t * direction))) for t in (step, -step, 2 * step, -2 * step)]
    measured = float((8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * step))
    yours = float((gradient * direction).sum())
    scale = max(abs(yours), abs(measured)) or 1.0
    noise = 10 * float(np.finfo(x.dtype).eps) * max(map(abs, values))
    uncertain, best = 1.5 * noise / step, float(step)
    agrees = abs(yours - measured) <= tolerance * scale and uncertain <= KNOWN * tolerance * scale
    if not agrees and (yours or measured):
        step = as_arguments(function, f, x, order=4)[2].max()
        noise = noise_of(function, f, x, step) + float((abs(gradient) * np.spacing(abs(x))).sum())
        hidden = 1.5 * noise / step
        slope, uncertain, best = best_slope(
            lambda t: value_or_nan(function, f, x + t * direction), float(step), noise, tolerance * scale / 4,
            64 * float(np.spacing(abs(x)).max()), 2 * float(np.finfo(x.dtype).eps),
        )  # fmt: skip
        moved = abs(measured - slope)
        if eps is None and moved > uncertain:
            measured = float(slope)
        else:
            uncertain += moved
        if max(abs(yours), abs(measured)) <= hidden:
            uncertain = hidden
        scale = max(abs(yours), abs(measured)) or 1.0
    relative_error, uncertain = abs(yours - measured) / scale, float(uncertain / scale)
    passed = relative_error <= tolerance and (uncertain <= KNOWN * tolerance or yours == measured == 0)
    report = GradientReport(passed, relative_error, None, yours, measured, tolerance, uncertainty=uncertain)
    return replace(report, note=_advice(x.dtype, best, report, eps)) if report.verdict == "cannot tell" else report


def _along_an_axis(function, f, x, index):
    def along(t):
        moved = x.copy()
        moved[index] += t
        return value_or_nan(function, f, moved)

    return along


def _claim(function, x, gradient, tolerance):
    (gradient,), _ = as_float(function, gradient=gradient)
    same_shape(function, x=x, gradient=gradient)
    if x.size == 0:
        raise ValueError(f"{function}: x has no entries, so there is nothing to check; its shape is {x.shape}.")
    if tolerance is None:
        return gradient, 1e-3 if x.dtype == np.float32 else 1e-8
    return gradient, as_positive(function, "tolerance", tolerance)


def _largest(array):
    return float(np.nan_to_num(abs(array)).max())  # NaN counts as 0


def _factor(yours, measured, tolerance):
    # What a bare number hides: a plain wrong factor.
    if yours.size == 1 or not np.isfinite(yours).all() or not _largest(measured):
        return ""
    scaled = measured / _largest(measured)
    factor = float((yours * scaled).sum() / (measured * scaled).sum())
    if f"{factor:.9g}" == "1" or _largest(yours - factor * measured) > 10 * tolerance * _largest(measured):
        return ""
    return f"Yours is {factor:.9g} times the finite difference in every entry."


def _advice(dtype, step, report, eps):
    # What could tell: another step, more digits, or fewer digits asked for.
    if eps is not None and abs(step / eps - 1) > 0.1:
        return f"A step of {step:.0e} could tell more."
    if dtype != np.float64:
        return f"{dtype} has too few digits for this tolerance: check in float64."
    needed = 10.0 ** np.ceil(np.log10(report.uncertainty))
    return (
        f"Even the best step, {step:.0e}, leaves too much rounding in f: take a large constant out of it, "
        f"or accept tolerance={needed:.0e}."
    )
