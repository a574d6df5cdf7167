"""What a check says of a gradient: the verdict with its numbers, and what could tell where they cannot."""

from dataclasses import dataclass

import numpy as np

from attnlib.checks.arrays import as_float, same_shape
from attnlib.gradients.numerical import as_positive

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
    >>> from attnlib.gradients import check_gradient
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


def as_claim(function, x, gradient, tolerance):
    """The gradient that is claimed to be that of f at x, and the tolerance, checked."""
    (gradient,), _ = as_float(function, gradient=gradient)
    same_shape(function, x=x, gradient=gradient)
    if x.size == 0:
        raise ValueError(f"{function}: x has no entries, so there is nothing to check; its shape is {x.shape}.")
    gradient = gradient.astype(np.result_type(gradient, np.float64))  # so that a tiny scale does not vanish in float32
    if tolerance is None:
        return gradient, 1e-3 if x.dtype == np.float32 else 1e-8
    return gradient, as_positive(function, "tolerance", tolerance)


def largest(array):
    """The largest absolute number of an array, in which NaN counts as 0."""
    return float(np.nan_to_num(abs(array)).max())


def advice(dtype, step, report, eps):
    """What could tell: another step, more digits, or fewer digits asked for."""
    if eps is not None and abs(step / eps - 1) > 0.1:
        return f"A step of {step:.0e} could tell more."
    if dtype != np.float64:
        return f"{dtype} has too few digits for this tolerance: check in float64."
    needed = 10.0 ** np.ceil(np.log10(report.uncertainty))
    return (
        f"Even the best step, {step:.0e}, leaves too much rounding in f: take a large constant out of it, "
        f"or accept tolerance={needed:.0e}."
    )
