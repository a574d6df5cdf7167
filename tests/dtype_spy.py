"""An array that writes down the dtype of everything that is computed from it.

That float32 goes in and comes out does not show that nothing in between was float64,
at twice the memory. `spied(function, *arrays)` calls `function` and returns the set
of floating dtypes that any step of it read or produced, in arrays of more numbers than `beyond`.
"""

import contextlib

import numpy as np

import attnlib.checks.arrays


class SpyArray(np.ndarray):
    """A subclass that survives every NumPy operation and records dtypes in `seen`."""

    seen = set()

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [_plain(value) for value in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(_plain(value) for value in kwargs["out"])
        return _record(getattr(ufunc, method)(*plain, **kwargs), inputs)

    def __array_function__(self, function, types, args, kwargs):
        # NumPy's own implementation, which comes back here through its ufuncs.
        return _record(super().__array_function__(function, types, args, kwargs), args)

    def astype(self, *args, **kwargs):
        return _record(super().astype(*args, **kwargs), ())


def _plain(value):
    return value.view(np.ndarray) if isinstance(value, SpyArray) else value


def _record(result, inputs):
    for value in (result, *inputs):
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f":
            SpyArray.seen.add((value.dtype, value.size))
    # Scalars are wrapped as well, or a whole-array sum would leave the spy's sight.
    return np.asarray(result).view(SpyArray) if isinstance(result, (np.ndarray, np.generic)) else result


class _SpyingNumpy:
    @staticmethod
    def asarray(*args, **kwargs):
        return np.asarray(*args, **kwargs).view(SpyArray)

    def __getattr__(self, name):
        return getattr(np, name)


@contextlib.contextmanager
def _spying():
    # Every public function turns its arguments into arrays in attnlib.checks.arrays, and only there.
    SpyArray.seen = set()
    attnlib.checks.arrays.np = _SpyingNumpy()
    try:
        yield
    finally:
        attnlib.checks.arrays.np = np


def spied(function, *args, beyond=0, **kwargs):
    """Call `function` and return the floating dtypes that its steps read or produced."""
    with _spying():
        function(*args, **kwargs)
    return {dtype for dtype, size in SpyArray.seen if size > beyond}
