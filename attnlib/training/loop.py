"""The training loop: draw a batch, compute the loss and its gradients, make a step of Adam, and begin again."""

import numpy as np

from attnlib.checks.arrays import as_integer
from attnlib.training.arguments import as_params
from attnlib.training.optimiser import adam_start, adam_step


def train(params, next_batch, loss_and_gradients, *, steps, rate, beta2=0.99, report=None):
    """Train for a number of steps. The same arguments give the same numbers.

    Parameters
    ----------
    params : dict from str to array_like of any shape
        Where to start. It is left as it is.
    next_batch : callable
        Called without arguments once a step; returns a batch. No other random numbers are drawn.
    loss_and_gradients : callable
        Takes parameters and a batch; returns the loss and a dict of gradients: see `transformer_loss`.
    steps : int
    rate : float or callable
        Adam's rate, or a function from the step (1 to `steps`) to it: see `warmup_cosine`.
    beta2 : float, default 0.99
        Adam's second moment. The default forgets in about 100 steps, because these runs are short.
    report : callable, optional
        Called after each step as ``report(step, loss, params)`` with the loss before the step and the parameters
        after it; to show progress, or to keep what is wanted later. What it returns is ignored.

    Returns
    -------
    params : dict from str to ndarray of any shape
    losses : ndarray of shape (steps,)
        The loss of each step, in float64.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If `steps` is less than 1, or a loss is NaN or infinite: training has diverged.

    Examples
    --------
    The minimum of a parabola:

    >>> params, losses = train(
    ...     {"x": [3.0]}, lambda: None, lambda params, batch: (params["x"][0] ** 2, {"x": 2 * params["x"]}),
    ...     steps=100, rate=0.1, beta2=0.9,
    ... )
    >>> losses.shape, bool(abs(params["x"][0]) < 0.2)
    ((100,), True)
    """
    name = "train"
    params, _ = as_params(name, params)
    steps = as_integer(name, "steps", steps, minimum=1)
    for what, function in (("next_batch", next_batch), ("loss_and_gradients", loss_and_gradients), ("report", report)):
        if not (callable(function) or what == "report" and function is None):
            raise TypeError(f"{name}: {what} must be a function; got {type(function).__name__}.")
    state, losses = adam_start(params), np.empty(steps, np.float64)
    for step in range(1, steps + 1):
        loss, gradients = loss_and_gradients(params, next_batch())
        if not np.isfinite(loss):
            raise ValueError(f"{name}: the loss of step {step} is {loss}: training has diverged; try a smaller rate.")
        rate_now = rate(step) if callable(rate) else rate
        params, state = adam_step(params, gradients, state, rate=rate_now, beta2=beta2)
        losses[step - 1] = loss
        if report is not None:
            report(step, float(loss), params)
    return params, losses
