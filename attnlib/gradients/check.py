"""Is a gradient right? Compare it with slopes that are measured, not derived."""

from dataclasses import dataclass

import numpy as np

from attnlib.checks.arrays import as_float, same_shape
from attnlib.gradients.numerical import as_arguments, as_number, as_positive, differences, numerical_gradient


@dataclass(frozen=True)
class GradientReport:
    """The verdict of a gradient check. It is true if the check passed; printed, it says why.

    Attributes
    ----------
    passed : bool
        Whether `relative_error` is within `tolerance`.
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
        What the numbers look like, if they look like something.

    Examples
    --------
    >>> report = check_gradient(lambda x: (x**2).sum(), [1.0, 3.0], [2.0, -6.0])
    >>> bool(report), report.worst_index
    (False, (1,))
    """

    passed: bool
    relative_error: float
    worst_index: tuple | None
    yours: float
    finite_difference: float
    tolerance: float
    note: str = ""

    def __bool__(self):
        return self.passed

    def __str__(self):
        place = "along a random direction" if self.worst_index is None else f"worst entry {list(self.worst_index)}"
        return (
            f"gradient {'right' if self.passed else 'WRONG'}: "
            f"relative error {self.relative_error:.1e}, tolerance {self.tolerance:.0e}\n"
            f"{place}: yours {self.yours:.9g}, finite difference {self.finite_difference:.9g}"
            f"{self.note and '. ' + self.note}"
        )


def check_gradient(f, x, gradient, *, tolerance=None, eps=None, order=4):
    r"""Compare a gradient with finite differences and say where they differ most.

    The error is :math:`\max|g - n| / \max(\max|g|, \max|n|)`, 0 if both are zero: an
    entry counts by its size beside the largest, so rounding in a tiny entry is no
    alarm. The defaults catch a gradient that is wrong by a factor of 1.000001.

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
        As in `numerical_gradient`.

    Returns
    -------
    report : GradientReport
        True if the gradient is right. A gradient with a NaN is wrong.

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
    # Measured with rounding eps in f, a slope is uncertain by about eps |f| / h.
    noise = 10 * np.finfo(x.dtype).eps * abs(as_number(function, f(x.copy()))) / step.min()
    scale = max(_largest(gradient), _largest(measured))
    error = abs(gradient / (scale or 1) - measured / (scale or 1))
    worst = np.unravel_index(error.argmax(), x.shape)  # argmax finds a NaN first
    relative_error = np.inf if np.isnan(error[worst]) else float(error[worst])
    passed = relative_error <= tolerance
    return GradientReport(
        passed=passed,
        relative_error=relative_error,
        worst_index=tuple(int(i) for i in worst),
        yours=float(gradient[worst]),
        finite_difference=float(measured[worst]),
        tolerance=tolerance,
        note=_note(gradient, measured, passed, tolerance, noise),
    )


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

    def slope(h):
        high, low = f(x + h * direction), f(x - h * direction)
        return (as_number(function, high) - as_number(function, low)) / (2 * h)

    measured = float((4 * slope(step) - slope(2 * step)) / 3)
    yours = float((gradient * direction).sum())
    relative_error = abs(yours - measured) / (max(abs(yours), abs(measured)) or 1)
    return GradientReport(relative_error <= tolerance, relative_error, None, yours, measured, tolerance)


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


def _note(yours, measured, passed, tolerance, noise):
    # Say the two things a bare number hides: a loss that tests nothing, and a plain wrong factor.
    if max(_largest(measured), _largest(yours)) <= noise:
        return "Both are zero but for rounding, so this tests nothing: is the upstream gradient constant?"
    if passed or not np.isfinite(yours).all() or _largest(measured) <= noise:
        return ""
    scaled = measured / _largest(measured)
    factor = float((yours * scaled).sum() / (measured * scaled).sum())
    if yours.size > 1 and _largest(yours - factor * measured) <= 10 * tolerance * _largest(measured):
        return f"Yours is {factor:.9g} times the finite difference in every entry."
    return ""
