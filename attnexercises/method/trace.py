"""What does a function look at, in which order, and what does it make of it? Found out by one call.

The numbers of the arguments are drawn so that no two are equal. So wherever a number turns up in a product, it is known whose
it is: in a slice, a copy, a list, after `float` or `tolist`, taken times a scale. For that call every array is one that
reports what is done with it, every number taken out of one is, too, and NumPy, `math` and `float` hand on such arrays and
numbers.
"""

import builtins
import math
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from attnexercises.engine.spies import spies
from attnexercises.engine.timelimit import TimeUp, call_within

LONG = 60.0  # seconds; the values were right, so the call ends: this is for what watching does to it

_MATRIX = {
    np.matmul, np.vecdot, np.dot, np.inner, np.vdot, np.tensordot, np.einsum, np.outer, np.kron, np.linalg.multi_dot,
} | {getattr(np, name) for name in ("matvec", "vecmat") if hasattr(np, name)}  # fmt: skip
_SCALES = {np.multiply, np.divide, np.negative, np.positive}
_METHODS = "argmax argmin argpartition argsort cumprod cumsum dot partition searchsorted sort".split()
_LARGE = 100_000  # numbers: an array beyond that is not looked through
_array, _float, _size, _multiply = np.array, float, np.size, np.multiply  # while a call is watched, NumPy's are others


@dataclass(frozen=True)
class Step:
    """One thing that was done.

    Attributes
    ----------
    kind : {"matrix", "entries", "other"}
        A product of matrices, a product entry by entry, something else.
    rows : dict of str to frozenset
        Of each argument of which something was used: which rows; of one with a single axis, which places.
    partner : int
        How many numbers there are in the largest operand that is no part of an argument.
    made : tuple
        Shape and kind of dtype of the result.
    """

    kind: str
    rows: dict
    partner: int = 0
    made: tuple = ((), "")

    def meets(self, name):
        """The rows of an argument that meet numbers of others here; to be scaled is to meet none."""
        rows = self.rows.get(name, frozenset())
        scaled = self.kind == "entries" and len(self.rows) == 1 and self.partner < len(rows)
        return frozenset() if self.kind == "other" or scaled else rows


@dataclass
class Book:
    """What was done in a call, step by step; and whether it came to its end."""

    steps: list = field(default_factory=list)
    made: list = field(default_factory=list)  # shape and kind of dtype of every array that NumPy made
    finished: bool = False
    _whose: dict = field(default_factory=dict)  # number to (argument, row)

    def knows(self, name, array):
        rows = array.reshape(len(array), -1).tolist()
        self._whose.update({number: (name, place) for place, row in enumerate(rows) for number in row})

    def owner(self, number):
        return self._whose.get(_float(number))

    def owners(self, operand):
        """Who the numbers of an operand belong to, one by one; () if to nobody."""
        if isinstance(operand, _Number):
            owner = self.owner(operand)
            return (owner,) if owner else ()
        if not isinstance(operand, np.ndarray) or operand.dtype.kind != "f" or not 1 < operand.size <= _LARGE:
            return ()  # a single number that was not taken out, but found, such as the largest, is a new one
        owners = [self._whose.get(number) for number in _plain(operand).ravel().tolist()]
        return owners if any(owners) else ()

    def note(self, kind, operands, result=None):
        found = [self.owners(operand) for operand in operands]
        if not any(found):
            return
        if kind == "other" and any(len(owners) > 1 for owners in found):  # beside an array, a number is one carried along
            found = [owners if len(owners) > 1 else () for owners in found]
        rows = {}
        for name, row in {owner for owners in found for owner in owners if owner}:
            rows.setdefault(name, set()).add(row)
        partner = max((_size(x) for x, owners in zip(operands, found, strict=True) if not owners), default=0)
        made = (getattr(result, "shape", ()), getattr(getattr(result, "dtype", None), "kind", ""))
        self.steps.append(Step(kind, {name: frozenset(places) for name, places in rows.items()}, partner, made))

    def scaled(self, operands, result):
        """A number times a number of nobody is still its owner's."""
        found = [(operand, self.owners(operand)) for operand in operands]
        known = [(operand, owners) for operand, owners in found if owners]
        if len(known) != 1 or _size(known[0][0]) != _size(result):
            return
        for number, owner in zip(_array(_plain(result)).ravel().tolist(), known[0][1], strict=True):
            if owner and number:
                self._whose.setdefault(number, owner)


_book = None


def watched(function, arguments, names):
    """Call ``function(*arguments.values())`` and return the `Book` on what it did with the arguments of these names.

    Examples
    --------
    >>> def by_twos(x, y):
    ...     return [[float(a) for a in row] @ y for row in (x[:2], x[2:])]
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> book = watched(lambda x, y: x[:2].copy() @ y, {"x": x, "y": np.array([7.0, 8.0])}, ("x",))
    >>> [(step.kind, sorted(step.meets("x"))) for step in book.steps]
    [('matrix', [0, 1])]
    """
    global _book
    book = Book()
    for name in names:
        book.knows(name, arguments[name])
    given = [_watch(np.array(x)) if isinstance(x, np.ndarray) else x for x in arguments.values()]
    _book, before = book, _book
    try:
        with _everything_reports():
            call_within(LONG, lambda: function(*given))
            book.finished = True
    except (TimeUp, Exception):  # what was seen until then was seen
        pass
    finally:
        _book = before
    return book


class _Watched(np.ndarray):
    """An array that reports what is done with it; so does what is made of it."""

    def __getitem__(self, key):
        return _watch(super().__getitem__(key))

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if out is not None:
            options["out"] = tuple(map(_plain, out))
        options = {name: _plain(x) for name, x in options.items()}
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        if _book is not None:
            kind = "matrix" if ufunc in _MATRIX or method == "outer" else "entries" if ufunc is _multiply else "other"
            operands = inputs[:1] if method in ("reduce", "accumulate", "reduceat") else inputs
            _book.note("other" if len(operands) == 1 else kind, operands, result)
            if ufunc in _SCALES and method == "__call__":
                _book.scaled(operands, result)
            _made(result)
        if out is not None:
            return out[0] if len(out) == 1 else out
        return _wrapped(result)

    def __array_function__(self, function, kinds, arguments, options):
        if function not in _MATRIX:
            return super().__array_function__(function, kinds, arguments, options)
        plain = [tuple(map(_plain, x)) if isinstance(x, (list, tuple)) else _plain(x) for x in arguments]
        result = function(*plain, **{name: _plain(x) for name, x in options.items()})
        if _book is not None:
            operands = [x for argument in arguments for x in (argument if isinstance(argument, (list, tuple)) else [argument])]
            _book.note("matrix", [x for x in operands if isinstance(x, (np.ndarray, _Number))], result)
            _made(result)
        return _wrapped(result)

    def tolist(self):
        return _numbers(super().tolist()) if self.dtype.kind == "f" else super().tolist()

    def item(self, *place):
        return _watch(super().item(*place))

    @property
    def flat(self):
        return iter(_numbers(super().ravel().tolist())) if self.dtype.kind == "f" else super().flat


def _method(name):
    def method(self, *arguments, **options):
        result = getattr(_plain(self), name)(*map(_plain, arguments), **options)
        if _book is not None:
            _book.note("matrix" if name == "dot" else "other", (self, *arguments), result)
        return _wrapped(result)

    return method


for _name in _METHODS:
    setattr(_Watched, _name, _method(_name))


class _Number(np.float64):
    """A number that was taken out of a watched array, or computed from such numbers."""

    __slots__ = ()

    def item(self, *place):
        return self

    tolist = copy = item


def _operator(name):
    compute = getattr(np.float64, name)
    kind = "entries" if name in ("__mul__", "__rmul__") else "other"
    scales = name in ("__mul__", "__rmul__", "__truediv__")

    def operator(self, *others):
        result = compute(self, *others)
        if result is NotImplemented or isinstance(result, np.ndarray):
            return result
        if _book is not None:
            _book.note(kind, (self, *others))
        if not isinstance(result, np.floating):
            return result
        result = _Number(result)
        if scales and _book is not None:
            _book.scaled((self, *others), result)
        return result

    return operator


for _name in "add radd sub rsub mul rmul truediv rtruediv pow rpow neg abs lt le gt ge eq ne".split():
    setattr(_Number, f"__{_name}__", _operator(f"__{_name}__"))
_Number.__hash__ = np.float64.__hash__


class _AnyFloat(type):
    def __call__(cls, x=0.0):
        if isinstance(x, _Number):
            return x
        if isinstance(x, _Watched) and x.size == 1 and x.dtype.kind == "f":
            return _Number(_plain(x).item())
        return _float(x)

    def __instancecheck__(cls, thing):
        return isinstance(thing, _float)

    def __subclasscheck__(cls, kind):
        return issubclass(kind, _float)

    def __eq__(cls, other):
        return other is _float or other is _Float

    __hash__ = type.__hash__


class _Float(_float, metaclass=_AnyFloat):
    """Stands in the place of `float`: what it makes of a watched number is one."""

    dtype = np.dtype(_float)


def _spied(function, *arguments, **options):
    """Call a function of NumPy's: lists of watched numbers become watched arrays, and so does what it makes."""
    result = function(*map(_from_list, arguments), **options)
    _made(result)
    return _wrapped(result)


def _spy_on_math(function):
    def spied(*arguments):
        if _book is not None:
            for argument in arguments:
                numbers = argument if isinstance(argument, (list, tuple)) else (argument,)
                for number in numbers:
                    _book.note("other", (number,))
        return function(*arguments)

    return spied


@contextmanager
def _everything_reports():
    changed = [(math, name, _spy_on_math(value)) for name, value in vars(math).items() if callable(value) and name[0] != "_"]
    changed.append((builtins, "float", _Float))
    before = [(module, name, getattr(module, name)) for module, name, _ in changed]
    try:
        for module, name, value in changed:
            setattr(module, name, value)
        with spies(_spied):
            yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _watch(x):
    """A watched array, or a watched number, of a plain one."""
    if isinstance(x, np.ndarray):
        return x if isinstance(x, _Watched) else x.view(_Watched)
    return _Number(x) if isinstance(x, _float) else x


def _wrapped(result):
    """What NumPy made: an array is watched, a number that it found is a new one."""
    if isinstance(result, tuple):
        return tuple(map(_wrapped, result)) if type(result) is tuple else result
    return _watch(result) if type(result) is np.ndarray and result.ndim else result


def _numbers(rows):
    return [_numbers(row) for row in rows] if isinstance(rows, list) else _Number(rows)


def _from_list(x):
    """An array of a list of floats, or of rows of floats; anything else as it is."""
    first = x
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if first is x or not isinstance(first, _float):
        return x
    try:
        return _array(x, dtype=_float).view(_Watched)
    except (ValueError, TypeError):
        return x


def _made(result):
    if _book is not None and isinstance(result, np.ndarray):
        _book.made.append((result.shape, result.dtype.kind))


def _plain(x):
    if isinstance(x, _Watched):
        return x.view(np.ndarray)
    return np.float64(x) if isinstance(x, _Number) else x
