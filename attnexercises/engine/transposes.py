"""Find out whether an answer is wrong only because its `.T` reverses all axes of an array with leading axes.

To find out, the answer is run on arrays whose `.T` swaps only the last two axes. If it is right on them, its `.T` is to
blame. Meanwhile `spies` stand in the place of NumPy's functions, so that their results are such arrays, too.
"""

import types
from contextlib import contextmanager

import numpy as np

from attnexercises.engine.calls import arguments, run
from attnexercises.engine.claims import Claim
from attnexercises.engine.diagnose import expected, is_right

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.concatenate))
_SETTINGS = ("shape", "ndim", "size", "errstate", "seterr", "geterr", "printoptions")  # these compute nothing


class _Spy:
    def __init__(self, function, call):
        self._function, self._call = function, call

    def __call__(self, *arguments, **options):
        return self._call(self._function, *arguments, **options)

    def __getattr__(self, name):  # for attributes such as np.add.reduce
        return getattr(self._function, name)


@contextmanager
def spies(call):
    """Inside the block, ``np.name(...)`` becomes ``call(np.name, ...)``, in all code that calls NumPy.

    Examples
    --------
    >>> with spies(lambda function, *arguments: -function(*arguments)):
    ...     print(np.abs(-3), np.add.reduce([1, 2]))
    -3 3
    """
    before = {
        name: value
        for name, value in vars(np).items()
        if isinstance(value, _FUNCTIONS) and name[0] != "_" and name not in _SETTINGS
    }
    try:
        for name, value in before.items():
            setattr(np, name, _Spy(value, call))
        yield
    finally:
        for name, value in before.items():
            setattr(np, name, value)


class _SwapsLastTwo(np.ndarray):
    """An array whose transpose swaps only the last two axes, as `.mT` does. So do arrays computed from it."""

    def transpose(self, *axes):
        if self.ndim < 2 or axes not in ((), (None,)):
            return super().transpose(*axes)
        return self.swapaxes(-1, -2)

    @property
    def T(self):  # noqa: N802, the name is NumPy's
        return self.transpose()


def _swapping(x):
    return x.view(_SwapsLastTwo) if isinstance(x, np.ndarray) else x


def _call_swapping(function, *arguments, **options):
    """Call a NumPy function and convert the arrays in its result. (`np.transpose` calls the method above.)"""
    result = function(*arguments, **options)
    return tuple(map(_swapping, result)) if type(result) is tuple else _swapping(result)


def explain(exercise, answer, right, crashed):
    """Return a claim if the answer is wrong only because a transpose reversed all axes, otherwise None.

    Parameters
    ----------
    exercise : Exercise
    answer : callable
    right : list of bool
        For each probe whether the answer is right.
    crashed : bool
        Whether the answer raised an exception on one of the other probes.
    """
    if exercise.value:
        return None

    def with_swaps(*args):
        # Functions of the book convert their arguments to plain arrays. So the results of NumPy's functions are
        # converted back.
        with spies(_call_swapping):
            return answer(*map(_swapping, args))

    visible = [i for i, probe in enumerate(exercise.probes) if probe.kind != "edge"]
    if all(right[i] for i in visible):
        return None
    for i in visible:
        if not is_right(exercise, run(exercise, with_swaps, exercise.probes[i]), expected(exercise)[i]):
            return None
    if all(right[i] == (_axes(exercise, i) <= 2) for i in visible) and any(right):
        return Claim("turned", {"stops": crashed})
    return Claim("turns")


def _axes(exercise, place):
    return max(np.ndim(arg) for arg in arguments(exercise, exercise.probes[place]))
