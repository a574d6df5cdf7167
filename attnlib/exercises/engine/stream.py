"""Does a function use up a row of numbers piece by piece, and never go back? Found out by one call each.

`reads` watches the row: a slice reads nothing; a number that is taken out, a ufunc and a reduction read what they are
given. Copies and lists of the row are not watched. `exponents` hears what is exponentiated, wherever it came from.
"""

import math
from contextlib import contextmanager

import numpy as np

from attnlib.exercises.engine.calls import TIME_LIMIT
from attnlib.exercises.engine.timelimit import TimeUp, call_within


def reads(function, row, *rest):
    """Return what ``function(row, *rest)`` reads of the row, in order: pairs of first place and number of places.

    Parameters
    ----------
    function : callable
    row : ndarray
        One axis.
    *rest
        The other arguments.

    Examples
    --------
    >>> reads(lambda x: x[:2].max() + x[2], np.arange(3.0))
    [(0, 2), (2, 1)]
    """
    log = []
    watched = np.array(row).view(_Row)
    watched.log, watched.first = log, 0
    try:
        with _conversions_that_keep_the_place():
            call_within(TIME_LIMIT, lambda: function(watched, *rest))
    except (TimeUp, Exception):  # its values were right: whoever stops here gets the benefit of the doubt
        return []
    return log


def exponents(function, row, *rest):
    """Return what ``function(row, *rest)`` hands to `exp` and to `logaddexp.reduce`, call by call, as flat arrays.

    Examples
    --------
    >>> exponents(lambda x: np.exp(list(x)).sum() + math.exp(7), np.arange(3.0))
    [array([0., 1., 2.]), array([7.])]
    """
    heard = []
    try:
        with _heard_by(heard):
            call_within(TIME_LIMIT, lambda: function(np.array(row), *rest))
    except (TimeUp, Exception):  # as above
        return []
    return heard


@contextmanager
def _heard_by(heard):
    def hear(x):
        heard.append(np.array(x, dtype=float).ravel())

    replaced = [(np, "exp", _Heard(np.exp, hear)), (math, "exp", _Heard(math.exp, hear))]
    replaced.append((np, "logaddexp", _Heard(np.logaddexp, hear, "reduce")))
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    try:
        for module, name, function in replaced:
            setattr(module, name, function)
        yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)


class _Heard:
    """A function that tells `hear` its first argument; or the one of a method of it, if that is named."""

    def __init__(self, function, hear, method=""):
        self.function, self.hear, self.method = function, hear, method

    def __call__(self, *arguments, **options):
        return self._called(self.function, "", arguments, options)

    def __getattr__(self, name):
        found = getattr(self.function, name)
        if name != self.method:
            return found
        return lambda *arguments, **options: self._called(found, name, arguments, options)

    def _called(self, function, name, arguments, options):
        if name == self.method and arguments:
            self.hear(arguments[0])
        return function(*arguments, **options)


def most_at_once(log):
    """The largest number of places that one step reads.

    Examples
    --------
    >>> most_at_once([(0, 2), (2, 1)])
    2
    """
    return max((count for _, count in log), default=0)


def goes_back(log, block):
    """Does a read begin before the block that the furthest one so far ends in?

    Examples
    --------
    >>> goes_back([(0, 3), (0, 3), (3, 3), (3, 1)], 3), goes_back([(0, 3), (3, 3), (0, 3)], 3)
    (False, True)
    """
    furthest = 0
    for first, count in log:
        if first < (max(furthest, 1) - 1) // block * block:
            return True
        furthest = max(furthest, first + count)
    return False


class _Row(np.ndarray):
    """Remembers where in the row it begins; what is computed from it is a plain array."""

    log, first = None, None

    def __array_finalize__(self, parent):
        if isinstance(parent, _Row) and parent.first is not None:
            gap = (_address(self) - _address(parent)) // self.itemsize
            inside = 0 <= gap and gap + self.size <= parent.size
            if inside or self.size == parent.size:  # a part, or a copy
                self.log, self.first = parent.log, parent.first + (gap if inside else 0)

    def __getitem__(self, key):
        found = super().__getitem__(key)
        if not isinstance(found, np.ndarray) and self.ndim == 1 and self.first is not None:
            self.log.append((self.first + int(key) % len(self), 1))
        return found

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        for array in inputs:
            _read(array)
        if out is not None:
            options["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **{name: _plain(x) for name, x in options.items()})
        return result if out is None else out[0] if len(out) == 1 else out

    def sort(self, *arguments, **options):
        _read(self)
        _plain(self).sort(*arguments, **options)

    def argsort(self, *arguments, **options):
        _read(self)
        return _plain(self).argsort(*arguments, **options)

    def argmax(self, *arguments, **options):
        _read(self)
        return _plain(self).argmax(*arguments, **options)

    def tolist(self):
        _read(self)
        return super().tolist()


@contextmanager
def _conversions_that_keep_the_place():
    def keeping(convert):
        def converted(x, *arguments, **options):
            result = convert(x, *arguments, **options)
            if not isinstance(x, _Row) or result.size != x.size:
                return result
            watched = result.view(_Row)
            watched.log, watched.first = x.log, x.first
            return watched

        return converted

    conversions = {name: getattr(np, name) for name in ("array", "asarray", "copy", "ascontiguousarray")}
    try:
        for name, convert in conversions.items():
            setattr(np, name, keeping(convert))
        yield
    finally:
        for name, convert in conversions.items():
            setattr(np, name, convert)


def _address(array):
    return array.__array_interface__["data"][0]


def _read(array):
    if isinstance(array, _Row) and array.first is not None and array.size:
        array.log.append((array.first, array.size))


def _plain(x):
    return x.view(np.ndarray) if isinstance(x, _Row) else x
