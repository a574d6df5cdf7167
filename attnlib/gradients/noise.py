"""How far a measured slope may be trusted: the noise of a function, and the step at which it spoils least."""

import numpy as np

from attnlib.gradients.numerical import as_number

# Weights of the eighth difference, which is zero for a polynomial of degree 7, and the root of their sum of squares.
_EIGHTH = np.array([1, -8, 28, -56, 70, -56, 28, -8, 1])
_SPREAD = 12870**0.5
_POINTS = 17


def noise_of(function, f, x, step):
    """The largest error that rounding leaves in a value of `f` near `x`, with a wide margin.

    f is evaluated at 17 points in a row, about a sixteenth of `step` apart. A smooth function is a polynomial there,
    and the eighth differences of its values are nothing but noise [1]_. Thirty times their size bounds the error of a
    value. Noise that shows only over longer distances is not seen: float32 ``(x + 1e8) - 1e8`` looks like a constant.
    The least that it can be are two units in the last place, of the largest value there, at some points further off
    or around zero: terms that cancel at x are as coarse as they are large.

    References
    ----------
    .. [1] Moré and Wild (2011), "Estimating computational noise", SIAM J. Sci. Comput. 33(3), section 3.

    Examples
    --------
    >>> 1e-9 < noise_of("f", lambda x: float(x + 1e8), np.array(3.0), np.array(1e-3)) < 1e-6
    True
    """
    # Thirteenths: whatever power of two (x + 1e8) - 1e8 is rounded to, these points fall into its gaps in 13 places.
    grid = np.maximum(np.spacing(abs(x)), np.spacing(step)).astype(np.float64)
    apart = np.maximum(2.0 ** np.floor(np.log2(step / 16)), 64 * grid) * 11 / 13
    rng = np.random.default_rng(0)
    apart = np.round(apart / grid) * grid * rng.choice([-1.0, 1.0], x.shape)
    points = [np.asarray(x + (place - _POINTS // 2) * apart, x.dtype) for place in range(_POINTS)]
    values = [float(as_number(function, f(point))) for point in points]
    size = max(map(abs, values))
    bends = np.convolve(np.divide(values, size or 1.0), _EIGHTH, mode="valid")
    for centre in (x, x, x, 0 * x, 0 * x, 0 * x):
        away = np.asarray(centre + np.maximum(1, abs(centre)) * rng.normal(scale=0.5, size=x.shape), x.dtype)
        size = np.fmax(size, abs(value_or_nan(function, f, away)))
    return float(max(30 * max(map(abs, values)) * abs(bends).mean() / _SPREAD, 2 * np.finfo(x.dtype).eps * size))


def value_or_nan(function, f, x):
    """The value of `f` where nobody asked for it, so that it may have none."""
    try:
        with np.errstate(all="ignore"):
            return float(as_number(function, f(x)))
    except ValueError:
        return np.nan


def best_slope(along, step, noise, wanted, shortest, grain=2.0**-51):
    """The slope at 0 of a function of one number, how far it may be off, and the step it was measured with.

    Fourth-order differences from short steps to longer ones, each twice the one before, until the slope is known to
    within `wanted`. Rounding leaves up to ``1.5 * noise / step`` in it; what the curvature leaves shows in how much it
    changes from one step to the next. A long step may be blind to what f does in between, and look certain: it
    counts only as long as it agrees with all shorter ones, and as f bends more the further one goes. Where f has
    turned in between, as a wave does, it bends hardly more over two steps than over one.

    Parameters
    ----------
    along : callable
        The value at a distance; NaN where there is none.
    step : float
        About how long a step should be.
    noise : float
        Largest error of a value: see `noise_of`.
    wanted : float
        An uncertainty that is small enough.
    shortest : float
        Distances below this are lost in the rounding of x.
    grain : float
        The least error of a value, relative to its size.

    Examples
    --------
    >>> slope, uncertainty, step = best_slope(np.sin, 0.1, 1e-15, 1e-9, 1e-12)
    >>> bool(abs(slope - 1) < uncertainty < 1e-9)
    True
    """
    steps = [step * 2.0**power for power in range(-10, 9) if step * 2.0**power >= shortest]
    seen, best, least, most = {}, (0.0, np.inf, step), -np.inf, np.inf
    middle = along(0.0)

    def difference(h):
        nonlocal noise
        if h not in seen:
            high, low = along(h), along(-h)
            noise = max(noise, grain * abs(high), grain * abs(low))
            seen[h] = (high - low) / (2 * h), abs((high - middle) + (low - middle))
        return seen[h][0]

    def blind(h):
        # A parabola bends four times as much over 2h as over h; a sine still twice, up to a quarter of its wave.
        return seen[2 * h][1] < 2 * seen[h][1] - 12 * noise

    for h in steps:
        slope, next_slope = ((4 * difference(s) - difference(2 * s)) / 3 for s in (h, 2 * h))
        uncertainty = abs(slope - next_slope) + 1.5 * noise / h
        if not (slope - uncertainty <= most and slope + uncertainty >= least) or blind(h) or blind(2 * h):
            break  # NaN, too
        least, most = max(least, slope - uncertainty), min(most, slope + uncertainty)
        if uncertainty < best[1]:
            best = slope, uncertainty, h
        if uncertainty <= wanted:
            break
    return best
