"""Call a function that may do anything, and report what it did. Nothing it does to the session stays."""

import contextlib
import dis
import inspect
import io
import random
import re
import sys
import warnings
import zlib
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real

import numpy as np

from attnlib.exercises.engine.timelimit import TimeUp, call_within
from attnlib.exercises.engine.todo import NotAttempted, holds_blank

TIME_LIMIT = 2.0  # seconds for one call; an honest loop needs milliseconds

_NUMPY = {name: value for name, value in vars(np).items() if not name.startswith("_")}


@dataclass(frozen=True)
class Outcome:
    """What one call did.

    Attributes
    ----------
    values : tuple of ndarray or None
        Copies of the outputs, if there are readable ones.
    problem : str
        What is wrong with the way it returned, or why it did not; "" if nothing.
    changed : tuple of str
        Names of the arguments that it wrote to.
    blank, endless : bool
        It met a TODO; it was stopped.
    raw : object
        What it returned.
    """

    values: tuple | None = None
    problem: str = ""
    changed: tuple = ()
    blank: bool = False
    endless: bool = False
    raw: object = None


class _Unreadable(Exception):
    """The returned object is not what the exercise asks for; the message says what it is."""


class _Nowhere(io.TextIOBase):
    """What a checked function prints goes here, so that the message of the check stays alone."""

    def write(self, text):
        return len(text)


def arguments(exercise, probe):
    """Return the probe's arguments, newly made, the same every time."""
    seed = [zlib.crc32(exercise.id.encode()), exercise.probes.index(probe)]
    return probe.make(np.random.default_rng(seed))


def run_trusted(exercise, function, probe):
    """Call one of our own functions on a probe: it may stop and change its input, but nothing worse."""
    args = arguments(exercise, probe)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values, problem = _compared(exercise, probe, *_read(exercise, function(*args)))
        except Exception as error:
            values, problem = None, _crash(error)
    return Outcome(values, problem, _changed(exercise, args, arguments(exercise, probe)))


def run(exercise, function, probe):
    """Call `function` on a probe and return the `Outcome`. Only Ctrl-C gets through."""
    args = arguments(exercise, probe)
    replaced, kept = [], []

    def call():
        kept.append(function(*args))
        return _compared(exercise, probe, *_read(exercise, kept[0]))

    values, problem, blank, endless = None, "", False, False
    with session_restored(replaced):
        try:
            values, problem = call_within(TIME_LIMIT, call)
        except KeyboardInterrupt:
            raise
        except TimeUp:
            endless = True
        except _Unreadable as error:
            problem = str(error)
        except BaseException as error:  # also SystemExit: a check must survive everything
            blank = _met_a_blank(error, function)
            problem = "meets a blank that is still to be filled" if blank else _crash(error)
    changed = _changed(exercise, args, arguments(exercise, probe))
    if replaced:
        values, problem = None, f"replaces `np.{replaced[0]}` itself, for every other cell too"
    return Outcome(values, problem, changed, blank, endless, kept[0] if kept else None)


@contextlib.contextmanager
def session_restored(replaced=None):
    """Run with NumPy as it came, and silently; afterwards put back all that a function might have changed.

    The names of NumPy's functions that were changed meanwhile are added to the list `replaced`.
    """
    space = vars(np)
    before = {name: space.get(name) for name in _NUMPY}
    numpy_random, python_random, recursion = np.random.get_state(), random.getstate(), sys.getrecursionlimit()
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(np.errstate(all="ignore"))
        stack.enter_context(np.printoptions())
        stack.enter_context(contextlib.redirect_stdout(_Nowhere()))
        stack.enter_context(contextlib.redirect_stderr(_Nowhere()))
        warnings.simplefilter("ignore")
        space.update(_NUMPY)
        try:
            yield
        finally:
            if replaced is not None:
                replaced += [name for name, value in _NUMPY.items() if space.get(name) is not value]
            space.update(before)
            np.random.set_state(numpy_random)
            random.setstate(python_random)
            sys.setrecursionlimit(recursion)


def _read(exercise, raw):
    """Return the outputs as arrays of their own, and a problem that does not hinder looking at them."""
    if holds_blank(raw):
        raise NotAttempted
    if inspect.iscoroutine(raw):
        raw.close()  # a coroutine that nobody awaits would complain later
    names = exercise.behaviour.returns if exercise.behaviour else exercise.outputs
    problem = ""
    if raw is None:
        raise _Unreadable("returns None: did you forget `return`?")
    if len(names) == 1:
        parts = [raw]
        if isinstance(raw, tuple) and len(raw) == 1 and not exercise.value:
            parts, problem = [raw[0]], "returns a tuple of one; is there a comma too many after `return`?"
        elif isinstance(raw, tuple) and not exercise.value:
            raise _Unreadable(f"returns {len(raw)} things, but one is expected: {names[0]}")
    else:
        wanted = f"{len(names)} things are expected: {', '.join(names)}"
        if isinstance(raw, np.ndarray):
            raise _Unreadable(f"returns one array of shape {raw.shape}, but {wanted}")
        rows = isinstance(raw, list) and len(raw) != len(names) and all(isinstance(row, list) for row in raw)
        if rows or not isinstance(raw, (tuple, list)):  # an array written as rows is one thing
            raise _Unreadable(f"returns one {_type_name(raw)}, but {wanted}")
        if len(raw) != len(names):
            raise _Unreadable(f"returns {len(raw)} thing{'s' if len(raw) != 1 else ''}, but {wanted}")
        parts = list(raw)
    return tuple(_as_array(part, words=exercise.value) for part in parts), problem


def _compared(exercise, probe, values, problem):
    """The values that are compared: what was returned, or what it does."""
    if not exercise.behaviour:
        return values, problem
    try:
        return exercise.behaviour.of(arguments(exercise, probe), values), problem
    except ValueError as error:
        raise _Unreadable(str(error)) from None


def _as_array(part, words):
    if part is None:
        raise _Unreadable("returns None in one place")
    try:
        array = np.array(part)
    except ValueError:
        raise _Unreadable("returns rows of unequal length") from None
    if array.dtype.kind == "c":
        raise _Unreadable("returns complex numbers")
    if array.dtype.kind == "O" and not isinstance(part, np.ndarray) and all(map(_is_number, array.flat)):
        array = array.astype(float)  # fractions, decimals, integers of any length
    if array.dtype.kind == "O" and isinstance(part, np.ndarray):
        raise _Unreadable("returns an array of Python objects, not of floats")
    if array.dtype.kind not in ("fiubU" if words else "fiub"):
        raise _Unreadable(f"returns {with_article(_type_name(part))}, not numbers")
    return array


def _is_number(x):
    return isinstance(x, (Real, Decimal)) and not isinstance(x, (bool, np.bool_))


def with_article(noun):
    return f"{'an' if noun[:1].lower() in tuple('aeio') else 'a'} {noun}"


def _type_name(thing):
    return {"ndarray": "array"}.get(type(thing).__name__, type(thing).__name__)


def _met_a_blank(error, function):
    """A TODO, or the function's own `raise NotImplementedError`; out of deeper code that is a crash like any other."""
    if type(error) is NotImplementedError and _raises_itself(error, function):
        return True
    while error is not None and not isinstance(error, NotAttempted):
        error = error.__cause__ or error.__context__  # NumPy sometimes raises an error of its own because of ours
    return error is not None


def _raises_itself(error, function):
    """Does the error come from a `raise` in the body of this very function?"""
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    code = last.tb_frame.f_code
    mine = getattr(inspect.unwrap(function), "__code__", None)
    return code is mine and dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"


def _crash(error):
    if isinstance(error, RecursionError):
        return "calls itself without end (RecursionError)"
    if isinstance(error, SystemExit):
        return "ends Python itself (SystemExit)"
    try:
        text = str(error).strip().split("\n")[0]
    except Exception:
        text = ""
    text = re.sub(r",? with gufunc signature \S+| gufunc core with signature \S+", "", text)  # NumPy's own shorthand
    text = re.sub(r"0x[0-9a-fA-F]+", "0x...", text)[:150]
    return f"stops with {type(error).__name__}" + (f": {text}" if text else "")


def _changed(exercise, args, originals):
    return tuple(
        name
        for name, arg, original in zip(argument_names(exercise), args, originals, strict=False)
        if isinstance(original, np.ndarray) and not _identical(arg, original)
    )


def _identical(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def argument_names(exercise):
    """The parameter names of the solution."""
    code = exercise.solution.__code__
    return code.co_varnames[: code.co_argcount]
