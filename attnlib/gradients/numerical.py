"""Gradients that are measured: finite differences and the complex step."""

import numpy as np

from attnlib.checks.arrays import as_float


def numerical_gradient(f, x, eps=None, *, order=2):
    r"""Measure the gradient of a scalar function, one entry of `x` at a time.

    .. math:: \frac{\partial f}{\partial x_i} = g_i(h) + O(h^2), \qquad
              g_i(h) = \frac{f(x + h e_i) - f(x - h e_i)}{2h}

    With ``order=4`` two such slopes are combined so that their h² errors cancel:
    :math:`(4 g_i(h) - g_i(2h)) / 3`. That costs four calls of `f` for each entry
    instead of two.

    A small h is spoilt by rounding, a large one by the curvature of `f`. The
    default, :math:`(\varepsilon \max(1, |x_i|))^{1/(order + 1)}` with the
    :math:`\varepsilon` of the dtype of `x`, makes the two about equal: 6e-6 or,
    for order 4, 7e-4 in float64.

    The slopes are taken in the dtype of `x`. In float32 expect four digits, not
    ten: that is the dtype, not your gradient. Check in float64.

    Parameters
    ----------
    f : callable
        Takes an array like `x`, returns one number. Each call gets a fresh copy.
    x : array_like of shape (...)
        Where to take the gradient. It is never written to. Every entry has to be
        finite: let `f` put in the ``-inf`` of a masked score itself.
    eps : float, optional
        The step h, the same for every entry.
    order : {2, 4}, default 2
        The power of h that the error shrinks with.

    Returns
    -------
    gradient : ndarray of shape (...)

    Raises
    ------
    TypeError
        If `f` cannot be called or returns something that is no real number, if
        `x` does not hold real numbers, or if `eps` is not a number.
    ValueError
        If `order` is not 2 or 4, `eps` is not positive or is lost in the rounding
        of `x`, `x` is not finite, or `f` returns an array, NaN or infinity.

    References
    ----------
    .. [1] Nocedal and Wright (2006), "Numerical Optimization", section 8.1:
       the step that balances the two errors.

    Examples
    --------
    >>> numerical_gradient(lambda x: (x**3).sum(), [1.0, 2.0]).round(6)
    array([ 3., 12.])
    """
    x, dtype, step = as_arguments("numerical_gradient", f, x, eps, order)
    return differences("numerical_gradient", f, x, step, order).astype(dtype, copy=False)


def complex_step_gradient(f, x):
    r"""The gradient to the last digit, for a formula that also works on complex numbers.

    .. math:: \frac{\partial f}{\partial x_i} = \frac{\operatorname{Im} f(x + i h e_i)}{h} + O(h^2)

    Nothing is subtracted, so nothing cancels, and h = 1e-20 is small enough for
    the h² to vanish altogether. The price: `f` has to be written for it. ``abs``,
    ``.real`` and ``conj`` drop or flip the imaginary part, and a maximum has to be
    taken on the real part. The functions of attnlib refuse complex numbers, so
    this is for a twin of the formula that you write by hand.

    Parameters
    ----------
    f : callable
        Takes a complex array like `x`, returns one complex number.
    x : array_like of shape (...)
        Where to take the gradient: real and finite. It is never written to.

    Returns
    -------
    gradient : ndarray of shape (...)

    Raises
    ------
    TypeError
        If `f` cannot be called or returns something that is no complex number, or
        if `x` does not hold real numbers.
    ValueError
        If `x` is not finite, or `f` returns an array, NaN or infinity.

    References
    ----------
    .. [1] Squire and Trapp (1998), "Using complex variables to estimate
       derivatives of real functions", SIAM Review 40(1).

    Examples
    --------
    >>> def loss(x):
    ...     weights = np.exp(x) / np.exp(x).sum()
    ...     return weights[0]
    >>> complex_step_gradient(loss, [0.0, 0.0])
    array([ 0.25, -0.25])
    """
    function = "complex_step_gradient"
    x, dtype, _ = as_arguments(function, f, x)
    step = 1e-20
    gradient = np.empty(x.shape, x.dtype)
    for index in np.ndindex(x.shape):
        moved = x.astype(np.result_type(x, np.complex64))
        moved[index] += 1j * step
        gradient[index] = as_number(function, f(moved), "c").imag / step
    return gradient.astype(dtype, copy=False)


def as_arguments(function, f, x, eps=None, order=2):
    # x as a finite float array, the dtype to return, and the step for each entry of x.
    if not callable(f):
        raise TypeError(f"{function}: f must be a function of one array; got {type(f).__name__}.")
    if order not in (2, 4):
        raise ValueError(f"{function}: order must be 2 or 4; got {order!r}.")
    (x,), dtype = as_float(function, x=x)
    if not np.isfinite(x).all():
        raise ValueError(f"{function}: x must be finite; got {x[~np.isfinite(x)][0]}, which has no slope.")
    if eps is not None:
        return x, dtype, np.full(x.shape, as_positive(function, "eps", eps), x.dtype)
    return x, dtype, (np.finfo(x.dtype).eps * np.maximum(1, abs(x))) ** (1 / (order + 1))


def as_positive(function, name, value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{function}: {name} must be a number; got {value!r}.")
    if not 0 < value < np.inf:
        raise ValueError(f"{function}: {name} must be positive and finite; got {value!r}.")
    return float(value)


def as_number(function, value, kinds="iuf"):
    value = np.asarray(value)
    if value.ndim:
        raise ValueError(
            f"{function}: f must return one number; got an array of shape {value.shape}. "
            "Multiply it by a fixed random array and sum."
        )
    if value.dtype.kind not in kinds:
        kind = "complex" if kinds == "c" else "real"
        raise TypeError(f"{function}: f must return a {kind} number; got {value.dtype}.")
    if not np.isfinite(value):
        raise ValueError(f"{function}: f must return a finite number near x; got {value}.")
    return value.astype(np.float64) if value.dtype.kind in "iu" else value


def differences(function, f, x, step, order):
    def slope(index, h):
        high, low = x.copy(), x.copy()
        high[index] += h
        low[index] -= h
        # x + h is rounded; the distance of the two points that f really sees is not 2h.
        distance = high[index] - low[index]
        if distance == 0:
            raise ValueError(f"{function}: eps = {h} is lost in the rounding of x = {x[index]}; take a larger one.")
        return (as_number(function, f(high)) - as_number(function, f(low))) / distance

    gradient = np.empty(x.shape, x.dtype)
    for index in np.ndindex(x.shape):
        h = step[index]
        gradient[index] = slope(index, h) if order == 2 else (4 * slope(index, h) - slope(index, 2 * h)) / 3
    return gradient
