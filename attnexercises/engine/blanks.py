"""`TODO`, the blank in an exercise. Printing it does no harm; any other use raises `NotAttempted`."""

import contextlib
import dis
import inspect


class NotAttempted(NotImplementedError):
    """The answer used a blank, so the exercise has not been done yet."""


class _Todo:
    """The class of the single object `TODO`. Any use of it except printing raises `NotAttempted`.

    Inside `imagined(number)`, a computation with TODO gives TODO again, and `float(TODO)` is the number.
    """

    _number = None

    def __repr__(self):
        return "TODO"

    def __getattr__(self, name):
        if name.startswith("_"):  # notebooks and NumPy look for optional methods, and TODO has none
            raise AttributeError(name)
        return self._used()

    def _used(self):
        if self._number is None:
            raise _blank()
        return self

    def _as_number(self):
        self._used()
        return self._number

    __hash__ = object.__hash__


def _blank():
    return NotAttempted("a TODO is still in this function: replace it by your own code")


def _raise(self, *args, **kwargs):
    raise _blank()


def _spread(self, *args, **kwargs):
    """Return TODO from an operation with TODO inside `imagined`; raise `NotAttempted` elsewhere."""
    return self._used()


_BINARY = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or".split()
_SPREADING = """
    lt le eq ne gt ge neg pos abs invert round trunc floor ceil call getitem array_ufunc array_function
""".split()
_OTHER = """
    bool complex index bytes len iter next reversed contains setitem delitem enter exit setattr delattr instancecheck
""".split()

for _name in _SPREADING + [side + name for name in _BINARY for side in ("", "r", "i")]:
    setattr(_Todo, f"__{_name}__", _spread)
for _name in _OTHER:
    setattr(_Todo, f"__{_name}__", _raise)


def _int(self):
    return int(self._as_number())


def _array(self, *args, **kwargs):
    import numpy as np

    return np.array(self._as_number())


_Todo.__float__, _Todo.__int__, _Todo.__array__ = _Todo._as_number, _int, _array

TODO = _Todo()


@contextlib.contextmanager
def imagined(number):
    """Let a function run in spite of its blanks: TODO acts as `number` wherever a number is needed.

    Running a function with two different numbers shows which of its outputs do not depend on a blank.

    Examples
    --------
    >>> with imagined(0.5):
    ...     print(TODO + 1, [TODO] * 2, float(TODO))
    TODO [TODO, TODO] 0.5
    """
    _Todo._number = number
    try:
        yield
    finally:
        _Todo._number = None


def is_todo(thing):
    """Is this TODO? A grader reads this file anew, so the TODO in a student's notebook may be that of another import."""
    return _is_called(type(thing), _Todo)


def is_not_attempted(error):
    """Is this the exception that TODO raises, perhaps the TODO of another import?"""
    return any(_is_called(kind, NotAttempted) for kind in type(error).__mro__)


def _is_called(kind, ours):
    return (kind.__module__, kind.__qualname__) == (ours.__module__, ours.__qualname__)


def holds_blank(answer, depth=0):
    """Is the answer a blank (TODO, `...` or NotImplemented), or a tuple or list that contains one?"""
    if isinstance(answer, (tuple, list)):
        return depth < 20 and any(holds_blank(part, depth + 1) for part in answer)  # a list can hold itself
    return is_todo(answer) or answer is Ellipsis or answer is NotImplemented


def blanks_left(answer):
    """Return how many TODO are left in the code of a function, or in a tuple or list.

    Examples
    --------
    >>> blanks_left(lambda x: (x, TODO)), blanks_left((TODO, 3, TODO))
    (1, 2)
    """
    if isinstance(answer, (tuple, list)):
        return sum(map(is_todo, answer))
    return _loads(getattr(answer, "__code__", None))


def _loads(code):
    """Return how often a piece of compiled code reads the name TODO, including the functions defined inside it."""
    if not inspect.iscode(code):
        return 0
    reads = ("LOAD_GLOBAL", "LOAD_DEREF")
    here = sum(step.opname in reads and step.argval == "TODO" for step in dis.get_instructions(code))
    return here + sum(map(_loads, code.co_consts))
