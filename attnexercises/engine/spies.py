"""For one call, put something in the place of every function of NumPy's."""

import types
from contextlib import contextmanager

import numpy as np

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.concatenate))
_SETTINGS = ("shape", "ndim", "size", "errstate", "seterr", "geterr", "printoptions")  # nothing is computed by them


class _Spy:
    def __init__(self, function, call):
        self._function, self._call = function, call

    def __call__(self, *arguments, **options):
        return self._call(self._function, *arguments, **options)

    def __getattr__(self, name):  # np.add.reduce and its like
        return getattr(self._function, name)


@contextmanager
def spies(call):
    """Inside, ``np.name(...)`` is ``call(np.name, ...)``, whoever calls it.

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
