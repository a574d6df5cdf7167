"""`TODO`: the blank in an exercise. Harmless to look at, loud as soon as it is used."""

import contextlib
import dis
import inspect


class NotAttempted(NotImplementedError):
    """A blank was reached: the exercise has not been done yet."""


class _Todo:
    """The one object `TODO`. Using it in any way but printing it raises `NotAttempted`.

    While it is `imagined`, what is computed from it is TODO again, and where a number is needed it is that number.
    """

    _number = None

    def __repr__(self):
        return "TODO"

    def __getattr__(self, name):
        if name.startswith("_"):  # notebooks and NumPy look for optional methods; say "none", as any object would
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
    """Let TODO pass through a function, as `number` where one is needed: so what does not depend on it can be seen.

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


def holds_blank(answer, depth=0):
    """Is this TODO or `...`, or a tuple or list with one in it?"""
    if isinstance(answer, (tuple, list)):
        return depth < 20 and any(holds_blank(part, depth + 1) for part in answer)  # a list can hold itself
    return answer is TODO or answer is Ellipsis or answer is NotImplemented


def blanks_left(answer):
    """How many TODO there still are in the code of a function, or in a tuple or list.

    Examples
    --------
    >>> blanks_left(lambda x: (x, TODO)), blanks_left((TODO, 3, TODO))
    (1, 2)
    """
    if isinstance(answer, (tuple, list)):
        return sum(part is TODO for part in answer)
    return _loads(getattr(answer, "__code__", None))


def _loads(code):
    """How often a piece of compiled code, with the functions inside it, reads the name TODO."""
    if not inspect.iscode(code):
        return 0
    reads = ("LOAD_GLOBAL", "LOAD_DEREF")
    here = sum(step.opname in reads and step.argval == "TODO" for step in dis.get_instructions(code))
    return here + sum(map(_loads, code.co_consts))
