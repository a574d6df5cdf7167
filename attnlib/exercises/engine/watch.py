"""How did a function get its result? Whether a tiled one holds, or looks at, more than its tile.

Two observations, each by one call: what Python's memory tracer sees, and arrays that report when too many
rows of them go into one product. While they are watched, `np.asarray` and its like leave them what they are.
"""

from contextlib import contextmanager

import numpy as np

from attnlib.exercises.engine.calls import TIME_LIMIT
from attnlib.exercises.engine.timelimit import TimeUp, call_within

PRODUCTS = {
    np.matmul, np.vecdot, np.dot, np.inner, np.vdot, np.tensordot, np.einsum, np.outer, np.linalg.multi_dot,
} | {getattr(np, name) for name in ("matvec", "vecmat") if hasattr(np, name)}  # fmt: skip


def peak_bytes(function, arguments):
    """How many bytes a call allocates at most at any moment; 0 if that cannot be found out.

    Examples
    --------
    >>> peak_bytes(np.zeros, (1000,)) >= 8000
    True
    """
    try:
        import tracemalloc
    except ImportError:  # a Python without it
        return 0
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        if not _finishes(function, arguments):
            return 0
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not was_tracing:
            tracemalloc.stop()


def most_rows_at_once(function, arguments, names):
    """The most rows of any of the named arguments that go into one product; 0 if none was seen.

    Parameters
    ----------
    function : callable
    arguments : dict
        Its arguments by name, in order.
    names : tuple of str
        The matrices to be watched.

    Examples
    --------
    >>> def by_twos(x, y):
    ...     return [x[i : i + 2] @ y for i in range(0, 6, 2)]
    >>> arguments = {"x": np.ones((6, 3)), "y": np.ones(3)}
    >>> most_rows_at_once(by_twos, arguments, ("x",)), most_rows_at_once(np.matmul, arguments, ("x",))
    (2, 6)
    """
    return _watch(function, arguments, names).most


def comes_back(function, arguments, one, other):
    """Does the same part of `one` meet a part of `other` in a product, then others, and then that part again?

    Parameters
    ----------
    function : callable
    arguments : dict
        Its arguments by name, in order.
    one, other : str
        Names of two matrices.

    Examples
    --------
    >>> def products(x, y, order):
    ...     return [x @ y[i] for i in order]
    >>> matrices = {"x": np.ones((3, 2)), "y": np.ones((2, 2))}
    >>> for order in ((0, 0, 1), (0, 1, 0)):
    ...     print(comes_back(products, matrices | {"order": order}, "x", "y"))
    False
    True
    """
    met = {}
    for places in _watch(function, arguments, ()).places:
        if one in places and other in places:
            met.setdefault(places[one], []).append(places[other])
    for others in met.values():
        visits = [place for place, before in zip(others, [None, *others]) if place != before]
        if len(set(visits)) < len(visits):
            return True
    return False


def _watch(function, arguments, names):
    watch = _Watch(names)
    matrices = {name: array for name, array in arguments.items() if np.ndim(array) == 2}
    watched = arguments | {name: watch.over(array, name) for name, array in matrices.items()}
    with _conversions_that_keep_watching():
        _finishes(function, watched.values())
    return watch


def _finishes(function, arguments):
    try:
        call_within(TIME_LIMIT, lambda: function(*arguments))
    except (TimeUp, Exception):  # its values were right: whoever stops here gets the benefit of the doubt
        return False
    return True


class _Watch:
    """Keeps the largest number of rows of the named arrays that was seen in a product, and what met in each."""

    def __init__(self, names):
        self.names, self.most, self.places = names, 0, []

    def over(self, array, name):
        watched = array.view(_Watched)
        watched.watch, watched.origin, watched.width = self, name, array.shape[-1]
        watched.root, watched.extent = _address(watched), array.size * array.itemsize
        return watched

    def product(self, operands, elementwise):
        self.places.append({_origin(array): array.place() for array in operands if _origin(array)})
        for array in operands:
            if _origin(array) not in self.names:
                continue
            rows = array.size // array.width
            others = [other for other in operands if np.ndim(other) and _origin(other) != array.origin]
            # A product entry by entry with a few numbers is a scale; with one for each row, or a query, it is more.
            if any(not elementwise or _origin(other) or np.size(other) >= rows for other in others):
                self.most = max(self.most, rows)


class _Watched(np.ndarray):
    """Remembers which argument it is a part of; the result of a product is part of none."""

    watch, origin, width = None, "", 1
    root, extent, start = 0, 0, 0  # where the memory begins that it lies in, how long that is, and what stands there

    def __array_finalize__(self, parent):
        if isinstance(parent, _Watched):
            self.watch, self.origin, self.width = parent.watch, parent.origin, parent.width
            self.root, self.extent, self.start = parent.root, parent.extent, parent.start
            if not 0 <= _address(self) - self.root < self.extent:  # a copy
                self.root, self.extent, self.start = _address(self), self.size * self.itemsize, parent.place()

    def place(self):
        """The place, in the argument, of its first number."""
        return self.start + (_address(self) - self.root) // self.itemsize

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if out is not None:
            options["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **{name: _plain(x) for name, x in options.items()})
        if ufunc in PRODUCTS or (ufunc is np.multiply and method == "__call__"):
            _report(inputs, ufunc is np.multiply)
        if out is not None:
            return out[0] if len(out) == 1 else out
        parent = next((x for x in inputs if isinstance(x, _Watched)), None)
        if parent is None or ufunc in PRODUCTS or not isinstance(result, np.ndarray) or result.size != parent.size:
            return result
        result = result.view(_Watched)
        result.__array_finalize__(parent)
        return result

    def __array_function__(self, function, types, arguments, options):
        if function in PRODUCTS:
            _report([x for x in arguments if isinstance(x, np.ndarray)], False)
            return function(*map(_plain, arguments), **{name: _plain(x) for name, x in options.items()})
        result = super().__array_function__(function, types, arguments, options)
        return _watched_copy(result, arguments[0]) if arguments else result

    def tolist(self):
        numbers = _Numbers(super().tolist())
        numbers.of = self
        return numbers


@contextmanager
def _conversions_that_keep_watching():
    def keeping(convert):
        def converted(x, *arguments, **options):
            return _watched_copy(convert(x, *arguments, **options), x)

        return converted

    conversions = {name: getattr(np, name) for name in ("array", "asarray", "ascontiguousarray", "asfortranarray")}
    try:
        for name, convert in conversions.items():
            setattr(np, name, keeping(convert))
        yield
    finally:
        for name, convert in conversions.items():
            setattr(np, name, convert)


class _Numbers(list):
    """What `tolist` returns, with the array of which they are the numbers."""

    of = None


def _watched_copy(result, source):
    """Watch what was made of an array, of its numbers or of all its rows, if nothing is missing."""
    if not isinstance(result, np.ndarray):
        return result
    if isinstance(source, _Numbers):
        source = source.of
    first, size = source, np.size(source) if isinstance(source, np.ndarray) else 0
    if isinstance(source, (list, tuple)) and source and all(isinstance(part, _Watched) for part in source):
        if len({part.origin for part in source}) == 1:
            first, size = source[0], sum(part.size for part in source)
    if not isinstance(first, _Watched) or result.size != size:
        return result
    watched = result.view(np.ndarray).view(_Watched)
    watched.__array_finalize__(first)
    return watched


def _address(array):
    return array.__array_interface__["data"][0]


def _report(operands, elementwise):
    watch = next((array.watch for array in operands if isinstance(array, _Watched) and array.watch), None)
    if watch is not None:
        watch.product(operands, elementwise)


def _origin(array):
    return array.origin if isinstance(array, _Watched) else ""


def _plain(x):
    return x.view(np.ndarray) if isinstance(x, _Watched) else x
