"""Adam, which steps along the mean gradient in units of its usual size, and the schedule of its learning rate."""

import math
from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_float, as_integer, quiet
from attnlib.training.arguments import as_params, same_names


class AdamState(NamedTuple):
    """What Adam remembers from step to step.

    Attributes
    ----------
    step : int
        How many steps have been taken.
    mean : dict from str to ndarray of any shape
        A running mean of each parameter's gradient: the first moment.
    square : dict from str to ndarray of any shape
        A running mean of the gradient's square: the second moment.
    """

    step: int
    mean: dict
    square: dict


def adam_start(params):
    """The state before the first step, with both moments zero.

    Parameters
    ----------
    params : dict from str to array_like of any shape

    Returns
    -------
    state : AdamState

    Raises
    ------
    TypeError
        If `params` is not a dict of arrays of real numbers.
    ValueError
        If it is empty.

    Examples
    --------
    >>> adam_start({"slope": [1.0, 2.0]}).mean
    {'slope': array([0., 0.])}
    """
    params, _ = as_params("adam_start", params)
    return AdamState(0, *({name: np.zeros_like(array) for name, array in params.items()} for _ in range(2)))


@quiet
def adam_step(params, gradients, state, *, rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
    r"""Make one step of Adam and return new parameters and a new state; nothing is changed in place.

    .. math:: \bar g \leftarrow \beta_1 \bar g + (1 - \beta_1)\, g, \qquad
              \overline{g^2} \leftarrow \beta_2 \overline{g^2} + (1 - \beta_2)\, g^2, \qquad
              x \leftarrow x - rate\, \frac{\bar g / (1 - \beta_1^t)}{\sqrt{\overline{g^2} / (1 - \beta_2^t)} + \epsilon}

    Both means start at 0 and so begin too small. After t steps of the same gradient they hold
    :math:`1 - \beta^t` of it: dividing by that takes the bias out. The first step has the length `rate` in every
    entry whose gradient is much larger than `epsilon`, whatever the gradient's size.

    Parameters
    ----------
    params : dict from str to array_like of any shape
    gradients : dict from str to array_like of any shape
        The gradient of the loss under each name of `params`.
    state : AdamState
        From `adam_start` or the step before.
    rate : float
        Length of the step; see `warmup_cosine`.
    beta1, beta2 : float
        How much of the running means is kept, at least 0 and below 1.
    epsilon : float
        Prevents 0 / 0 for a parameter whose gradient is zero.

    Returns
    -------
    params : dict from str to ndarray of any shape
        Each in the dtype it came in.
    state : AdamState

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If names or shapes differ, or a number is out of its range.

    References
    ----------
    .. [1] Kingma and Ba (2015), "Adam: A Method for Stochastic Optimization", algorithm 1.

    Examples
    --------
    >>> params = {"slope": np.array([1.0, 2.0])}
    >>> params, state = adam_step(params, {"slope": [300.0, -0.5]}, adam_start(params), rate=0.1)
    >>> params["slope"].round(6)
    array([0.9, 2.1])
    """
    name = "adam_step"
    params, dtype = as_params(name, params)
    gradients, _ = as_params(name, gradients, "gradients")
    if not isinstance(state, AdamState):
        raise TypeError(f"{name}: state must be an AdamState; got {type(state).__name__}.")
    same_names(name, params=params, gradients=gradients)
    same_names(name, params=params, **{"state.mean": state.mean})
    rate = _as_number(name, "rate", rate, 0, math.inf)
    beta1, beta2 = _as_number(name, "beta1", beta1, 0, 1), _as_number(name, "beta2", beta2, 0, 1)
    epsilon = _as_number(name, "epsilon", epsilon, 0, math.inf)
    step, mean, square, moved = state.step + 1, {}, {}, {}
    for key, array in params.items():
        gradient = gradients[key].astype(array.dtype, copy=False)
        mean[key] = beta1 * state.mean[key] + (1 - beta1) * gradient
        square[key] = beta2 * state.square[key] + (1 - beta2) * gradient**2
        unbiased_mean = mean[key] / (1 - beta1**step)
        unbiased_square = square[key] / (1 - beta2**step)
        moved[key] = array - rate * unbiased_mean / (np.sqrt(unbiased_square) + epsilon)
    return {key: array.astype(dtype, copy=False) for key, array in moved.items()}, AdamState(step, mean, square)


def warmup_cosine(step, steps, *, peak, warmup=0, floor=0.0):
    r"""The rate of a step: it rises in a straight line and then falls along half a cosine.

    Parameters
    ----------
    step : int
        The step to take next, from 1 to `steps`.
    steps : int
        How many there will be.
    peak : float
        The largest rate, at step `warmup`.
    warmup : int, default 0
        The number of steps up to the peak, less than `steps`.
    floor : float, default 0.0
        The rate of the last step.

    Returns
    -------
    rate : float

    Raises
    ------
    TypeError
        If a number of steps is not an integer, or a rate is not a number.
    ValueError
        If a number is out of its range.

    References
    ----------
    .. [1] Loshchilov and Hutter (2017), "SGDR: Stochastic Gradient Descent with Warm Restarts", eq. 5,
       without restarts; the warm-up is that of Goyal et al. (2017), section 2.2.

    Examples
    --------
    >>> [round(warmup_cosine(step, 6, peak=1.0, warmup=2), 2) for step in range(1, 7)]
    [0.5, 1.0, 0.85, 0.5, 0.15, 0.0]
    """
    name = "warmup_cosine"
    steps = as_integer(name, "steps", steps, minimum=1)
    step = as_integer(name, "step", step, minimum=1)
    warmup = as_integer(name, "warmup", warmup, minimum=0)
    if step > steps or warmup >= steps:
        raise ValueError(f"{name}: step must be at most steps, and warmup below it; got {step}, {warmup} of {steps}.")
    peak = _as_number(name, "peak", peak, 0, math.inf)
    floor = _as_number(name, "floor", floor, 0, math.inf)
    if step <= warmup:
        return peak * step / warmup
    return floor + (peak - floor) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2


def _as_number(function, name, value, low, high):
    (number,), _ = as_float(function, **{name: value})
    if number.ndim or not low <= number < high:
        limit = "at least 0 and finite" if high == math.inf else f"at least {low} and below {high}"
        raise ValueError(f"{function}: {name} must be one number, {limit}; got {value!r}.")
    return float(number)
