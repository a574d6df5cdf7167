"""Is a large gradient right? Four values of the loss along one random direction tell, but not where it is wrong."""

from dataclasses import replace

import numpy as np

from attnlib.gradients.noise import best_slope, noise_of, value_or_nan
from attnlib.gradients.numerical import as_arguments, as_number
from attnlib.gradients.report import KNOWN, GradientReport, advice, as_claim, largest


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
    gradient, tolerance = as_claim(function, x, gradient, tolerance)
    if not np.isfinite(gradient).all():
        return GradientReport(False, np.inf, None, np.nan, np.nan, tolerance, "Yours is not finite everywhere.")
    direction = rng.normal(size=x.shape)
    if unit := largest(gradient):
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
    return replace(report, note=advice(x.dtype, best, report, eps)) if report.verdict == "cannot tell" else report
