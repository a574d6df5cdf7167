"""Replace every function of NumPy for the duration of a `with` block, to observe or change its calls."""

import types
from contextlib import contextmanager

import numpy as np

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
