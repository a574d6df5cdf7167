"""Record which numbers of its arguments a function uses, in which order, and what arrays it makes. One call suffices.

No two numbers of the arguments are equal, so each number tells which argument and which row it comes from. That still
works in a slice, a copy or a list, after `float` or `tolist`, and after a multiplication by a scale. During the call,
the arrays are of a class that records every operation with them (`_Watched`), and so are single numbers taken from
them (`_Number`). NumPy, `math` and `float` are replaced, so that they keep these classes.
"""

import builtins
import math
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from attnexercises.engine.transposes import spies
from attnexercises.engine.timelimit import TimeUp, call_within

# Seconds that an observed call may take. Only answers with right values are observed, so the call would end by itself.
# But observing a call changes what it computes with, and that might keep it from ending.
LONG = 60.0

_MATRIX = {
    np.matmul, np.vecdot, np.dot, np.inner, np.vdot, np.tensordot, np.einsum, np.outer, np.kron, np.linalg.multi_dot,
} | {getattr(np, name) for name in ("matvec", "vecmat") if hasattr(np, name)}  # fmt: skip
_SCALES = {np.multiply, np.divide, np.negative, np.positive}
_METHODS = "argmax argmin argpartition argsort cumprod cumsum dot partition searchsorted sort".split()
_LARGE = 100_000  # an array with more numbers is not searched for numbers of the arguments
_array, _float, _size, _multiply = np.array, float, np.size, np.multiply  # kept, because `watched` replaces them


@dataclass(frozen=True)
class Step:
    """One operation with numbers of the arguments.

    Attributes
    ----------
    kind : {"matrix", "entries", "other"}
        A product of matrices, an elementwise product, or another operation.
    rows : dict of str to frozenset
        For each argument used, the rows from which numbers were used (for an argument with one axis, the places).
    partner : int
        The size of the largest operand that holds no number of an argument.
    made : tuple
        The shape and the kind of dtype of the result.
    """

    kind: str
    rows: dict
    partner: int = 0
    made: tuple = ((), "")

    def meets(self, name):
        """The rows of an argument that are multiplied by other numbers here.

        Multiplying all rows by a common scale does not count. The other operand counts as a scale if it holds fewer
        numbers than there are rows.
        """
        rows = self.rows.get(name, frozenset())
        scaled = self.kind == "entries" and len(self.rows) == 1 and self.partner < len(rows)
        return frozenset() if self.kind == "other" or scaled else rows


@dataclass
class Book:
    """The record of one call: its operations, the arrays it made, and whether it ended normally."""

    steps: list = field(default_factory=list)
    made: list = field(default_factory=list)  # the shape and the kind of dtype of every array that NumPy made
    finished: bool = False
    _whose: dict = field(default_factory=dict)  # from a number to its (argument, row)

    def knows(self, name, array):
        """Remember for each number of an argument in which row it stands."""
        rows = array.reshape(len(array), -1).tolist()
        self._whose.update({number: (name, place) for place, row in enumerate(rows) for number in row})

    def owner(self, number):
        """The (argument, row) to which a number belongs, or None."""
        return self._whose.get(_float(number))

    def owners(self, operand):
        """The (argument, row) of each number of an operand, or None; () if no number belongs to an argument."""
        if isinstance(operand, _Number):
            owner = self.owner(operand)
            return (owner,) if owner else ()
        if not isinstance(operand, np.ndarray) or operand.dtype.kind != "f" or not 1 < operand.size <= _LARGE:
            return ()  # an array with one number is a result, such as a maximum, and counts as a new number
        owners = [self._whose.get(number) for number in _plain(operand).ravel().tolist()]
        return owners if any(owners) else ()

    def note(self, kind, operands, result=None):
        """Record an operation as a `Step`, if its operands hold numbers of the arguments."""
        found = [self.owners(operand) for operand in operands]
        if not any(found):
            return
        # In `block - m`, the single number m is only carried along, like a running maximum. That is no new use of m.
        if kind == "other" and any(len(owners) > 1 for owners in found):
            found = [owners if len(owners) > 1 else () for owners in found]
        rows = {}
        for name, row in {owner for owners in found for owner in owners if owner}:
            rows.setdefault(name, set()).add(row)
        partner = max((_size(x) for x, owners in zip(operands, found, strict=True) if not owners), default=0)
        made = (getattr(result, "shape", ()), getattr(getattr(result, "dtype", None), "kind", ""))
        self.steps.append(Step(kind, {name: frozenset(places) for name, places in rows.items()}, partner, made))

    def scaled(self, operands, result):
        """After scaling by numbers that belong to no argument, record that the results belong to the same rows."""
        found = [(operand, self.owners(operand)) for operand in operands]
        known = [(operand, owners) for operand, owners in found if owners]
        if len(known) != 1 or _size(known[0][0]) != _size(result):
            return
        for number, owner in zip(_array(_plain(result)).ravel().tolist(), known[0][1], strict=True):
            if owner and number:
                self._whose.setdefault(number, owner)


_book = None


def watched(function, arguments, names):
    """Call ``function(*arguments.values())`` and return the `Book` of what it did with the arguments in `names`.

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
    except (TimeUp, Exception):  # the record up to here is kept
        pass
    finally:
        _book = before
    return book


class _Watched(np.ndarray):
    """An array that records every operation with it. Arrays made from it do the same."""

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
            _note_made(result)
        if out is not None:
            return out[0] if len(out) == 1 else out
        return _wrapped(result)

    def __array_function__(self, function, kinds, arguments, options):
        if function not in _MATRIX:
            return _wrapped(super().__array_function__(function, kinds, arguments, options))
        plain = [tuple(map(_plain, x)) if isinstance(x, (list, tuple)) else _plain(x) for x in arguments]
        result = function(*plain, **{name: _plain(x) for name, x in options.items()})
        if _book is not None:
            operands = [x for argument in arguments for x in (argument if isinstance(argument, (list, tuple)) else [argument])]
            _book.note("matrix", [x for x in operands if isinstance(x, (np.ndarray, _Number))], result)
            _note_made(result)
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
    """A number that was taken from a watched array, or computed from such numbers. It records operations, too."""

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
    """Replaces `float` during a call, so that ``float(x)`` of a watched number is still watched."""

    dtype = np.dtype(_float)


def _spied(function, *arguments, **options):
    """Call a NumPy function on watched arrays in place of lists, and return its result as a watched array."""
    result = function(*map(_from_list, arguments), **options)
    _note_made(result)
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
    """Replace NumPy, `math` and `float` during the block, so that their results are watched."""
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
    """Convert an array or a float to a watched one."""
    if isinstance(x, np.ndarray):
        return x if isinstance(x, _Watched) else x.view(_Watched)
    return _Number(x) if isinstance(x, _float) else x


def _wrapped(result):
    """Convert arrays in a result of NumPy to watched ones. Single numbers stay plain: they count as new numbers."""
    if isinstance(result, tuple):
        return tuple(map(_wrapped, result)) if type(result) is tuple else result
    return _watch(result) if type(result) is np.ndarray and result.ndim else result


def _numbers(rows):
    return [_numbers(row) for row in rows] if isinstance(rows, list) else _Number(rows)


def _from_list(x):
    """Convert a list of floats, or of rows of floats, to a watched array; return anything else unchanged."""
    first = x
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if first is x or not isinstance(first, _float):
        return x
    try:
        return _array(x, dtype=_float).view(_Watched)
    except (ValueError, TypeError):
        return x


def _note_made(result):
    """Record the shape and dtype of an array that NumPy made."""
    if _book is not None and isinstance(result, np.ndarray):
        _book.made.append((result.shape, result.dtype.kind))


def _plain(x):
    """Convert a watched array or number to a plain one."""
    if isinstance(x, _Watched):
        return x.view(np.ndarray)
    return np.float64(x) if isinstance(x, _Number) else x
