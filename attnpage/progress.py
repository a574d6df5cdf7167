"""How far a training is, shown while it runs and gone when it is done: nothing of it is stored in a notebook."""


def training_progress(steps, every=10):
    """A function that says now and then how far a training is, for the `report` of `attnlib.training.train`.

    In a notebook one line stands under the cell while it runs; the last step takes it away. Where there is no notebook,
    or one that cannot take a line away, nothing is shown.

    Parameters
    ----------
    steps : int
        How many there will be.
    every : int, default 10
        A line each so many steps.

    Returns
    -------
    report : callable
        Takes step, loss and, ignored, the parameters.

    Examples
    --------
    >>> report = training_progress(200)
    >>> report(20, 1.25)
    """
    try:
        from IPython import get_ipython
        from IPython.display import clear_output
    except ImportError:
        return _nothing
    if get_ipython() is None:
        return _nothing

    def report(step, loss, params=None):
        if step >= steps:
            clear_output()
        elif step % every == 0:
            clear_output(wait=True)
            print(f"step {step} of {steps}, loss {loss:.2f}", flush=True)

    return report


def _nothing(step, loss, params=None):
    pass
