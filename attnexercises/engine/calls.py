"""Call a reader's function safely, and read its return value as the arrays that the exercise asks for.

`run` calls the function within a time limit, catches every exception, and undoes what the function changed in the
session. `read` converts the return value to arrays, or raises `Unreadable` with a text that says what was returned
instead.
"""

import contextlib
import copy
import dis
import inspect
import io
import re
import signal
import threading
import warnings
import zlib
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from numbers import Real

import numpy as np

from attnexercises.engine.blanks import NotAttempted, holds_blank, is_not_attempted
from attnexercises.engine.crash import readers_line
from attnexercises.engine.output import shortened
from attnexercises.engine.session import call_restored, put_functions_back
from attnexercises.engine.timelimit import TimeUp, call_within

MEETS_A_TODO = "meets a blank that is still to be filled"
TIME_LIMIT = 2.0  # seconds of processor time for one call; even an answer with Python loops needs only milliseconds


@dataclass(frozen=True)
class Outcome:
    """The result and all side effects of one call.

    Attributes
    ----------
    values : tuple of ndarray or None
        Copies of the outputs, or None if the call returned nothing that can be read as the outputs.
    problem : str
        What is wrong with the form of the return value, or why the call returned nothing; "" if all is well.
    changed : tuple of str
        The names of the arguments that the function wrote to.
    blank : bool
        Whether the function used a TODO, or says `raise NotImplementedError` here.
    stopped : TimeUp or None
        The time limit that stopped the function, if one did.
    raw : object
        The object that the function returned.
    left : str
        What the function changed in the session, as the rest of a sentence: "replaces `np.exp` ...".
    printed : str
        The beginning of the text that the function printed.
    line : Line or None
        The reader's own line at which an exception was raised.
    """

    values: tuple | None = None
    problem: str = ""
    changed: tuple = ()
    blank: bool = False
    stopped: object = None
    raw: object = None
    left: str = ""
    printed: str = ""
    line: object = None


class _KeptText(io.TextIOBase):
    """A stream that shows nothing, but keeps the beginning of the text that a checked function prints."""

    kept, most = "", 2000  # characters

    def write(self, text):
        self.kept += text[: self.most - len(self.kept)]
        return len(text)


class CheckInside(Exception):
    """A function calls the check by which it is being checked. The exception's text is the id of the exercise."""


def arguments(exercise, probe):
    """Return the arguments of a probe. Their values are the same each time; the arrays are new."""
    return copy.deepcopy(_made_once(exercise, probe))


@lru_cache(maxsize=200)
def _made_once(exercise, probe):
    """The arguments themselves, of which no function gets more than a copy: to make them takes five times as long."""
    seed = [zlib.crc32(exercise.id.encode()), exercise.probes.index(probe)]
    return probe.make(np.random.default_rng(seed))


def run_trusted(exercise, function, probe):
    """Call the solution, perhaps with mistakes in it, on a probe. It may raise an exception or change its arguments.

    It does nothing worse than that, so the call needs no time limit and the session need not be restored.
    """
    args = arguments(exercise, probe)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values, problem = compared(exercise, probe, *read(exercise, function(*args)))
        except Exception as error:
            values, problem = None, _crash(error)
    return Outcome(values, problem, _changed(exercise, args, _made_once(exercise, probe)))


def run(exercise, function, probe):
    """Call `function` on a probe and return the `Outcome`. The only exception that it lets through is Ctrl-C."""
    args = arguments(exercise, probe)
    left, kept, heard, line = [], [], _KeptText(), None

    def call():
        kept.append(function(*args))
        put_functions_back(left)  # `read` uses NumPy, and the function may have replaced parts of it
        return compared(exercise, probe, *read(exercise, kept[0]))

    values, problem, blank, stopped = None, "", False, None
    with call_restored(left), contextlib.redirect_stdout(heard), _ctrl_c_noticed() as pressed:
        try:
            values, problem = call_within(TIME_LIMIT, call, probe.label)
        except TimeUp as error:
            stopped = error
        except Unreadable as error:
            problem = str(error)
        except BaseException as error:  # a check has to survive everything, SystemExit too
            put_functions_back(left)
            try:
                blank, problem = _why(error, function)
            except TimeUp as late:
                problem, stopped = None, late
            line = readers_line(error)
    if pressed:
        raise KeyboardInterrupt
    changed = _changed(exercise, args, _made_once(exercise, probe))
    raw = kept[0] if kept else None
    return Outcome(values, problem, changed, blank, stopped, raw, left[0] if left else "", heard.kept, line)


@contextlib.contextmanager
def _ctrl_c_noticed():
    """Yield a list to which an element is added when Ctrl-C is pressed.

    A KeyboardInterrupt alone would not tell, because a function can raise that itself, or catch it.
    """
    pressed = []
    handler = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(handler):
        yield pressed
        return

    def noticed(signum, frame):
        pressed.append(True)
        handler(signum, frame)

    signal.signal(signal.SIGINT, noticed)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, handler)


def _why(error, function):
    """Return whether the call used a blank, and why it ended with an exception.

    Raises `TimeUp` if that takes too long: an exception class of the reader's may have a `__str__` that never ends.
    """
    blank = call_within(TIME_LIMIT, lambda: _met_a_blank(error, function))
    if blank and type(error) is not NotImplementedError:
        return True, MEETS_A_TODO
    return blank, call_within(TIME_LIMIT, lambda: _crash(error))


def compared(exercise, probe, values, problem):
    """Return the values that are compared: the returned ones, or what the exercise's `Behaviour` makes of them."""
    if not exercise.behaviour:
        return values, problem
    try:
        return exercise.behaviour.of(arguments(exercise, probe), values), problem
    except ValueError as error:
        raise Unreadable(str(error)) from None


def _met_a_blank(error, function):
    """Did the call use a TODO, or does the function itself say `raise NotImplementedError`?

    A NotImplementedError that other code raises, NumPy for instance, is a crash like any other.
    """
    if type(error) is NotImplementedError and _raises_itself(error, function):
        return True
    while error is not None and not is_not_attempted(error):
        error = error.__cause__ or error.__context__  # NumPy sometimes wraps our exception in its own
    return error is not None


def _raises_itself(error, function):
    """Does the error come from a `raise` statement in the body of `function` itself?"""
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    try:
        mine = inspect.unwrap(function).__code__
    except Exception:  # an object of the reader's class, whose attributes may be anything
        return False
    code = last.tb_frame.f_code if last else None
    return code is mine and dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"


def _crash(error):
    """Say with which exception a call ended, as the rest of a sentence "your function ..."."""
    if isinstance(error, RecursionError):
        return "calls itself without end (RecursionError)"
    if isinstance(error, SystemExit):
        return "ends Python itself (SystemExit)"
    if isinstance(error, CheckInside):
        return f"calls the check of {error} inside that very check"
    try:
        text = str(error).strip().split("\n")[0]
    except TimeUp:
        raise
    except BaseException:
        text = ""
    if isinstance(error, MemoryError):
        return "asks for more memory than there is" + (f": {text}" if text else "")
    text = re.sub(r",? with gufunc signature \S+| gufunc core with signature \S+| \[original->remapped\]:| *and requested shape.*", "", text)  # jargon
    text = shortened(re.sub(r"0x[0-9a-fA-F]+", "0x...", text), 200)
    return f"stops with {type(error).__name__}" + (f": {text}" if text else "")


def _changed(exercise, args, originals):
    """The names of the array arguments that are no longer equal to the originals."""
    return tuple(
        name
        for name, arg, original in zip(argument_names(exercise), args, originals, strict=False)
        if isinstance(original, np.ndarray) and not _identical(arg, original)
    )


def _identical(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=a.dtype.kind == "f")  # mostly the first, which is cheap


def argument_names(exercise):
    """Return the parameter names of the solution."""
    code = exercise.solution.__code__
    return code.co_varnames[: code.co_argcount]


TOO_MANY = 10**6  # numbers in a returned array; a right answer to a probe has a few hundred


class Unreadable(Exception):
    """The returned object is not of the form that the exercise asks for. The exception's text says what it is."""


def read(exercise, raw):
    """Convert a return value to arrays, one for each output.

    Returns
    -------
    values : tuple of ndarray
        Copies of the outputs.
    problem : str
        A fault in the form of the return value in spite of which the outputs can be read, or "".

    Raises
    ------
    NotAttempted
        If the return value contains a blank.
    Unreadable
        If the return value does not have the form of the outputs.
    """
    if holds_blank(raw):
        raise NotAttempted
    if inspect.iscoroutine(raw):
        raw.close()  # Python would later print a warning about a coroutine that was never awaited
    names = exercise.behaviour.returns if exercise.behaviour else exercise.outputs
    problem = ""
    if raw is None:
        raise Unreadable("returns None: did you forget `return`?")
    if exercise.behaviour and exercise.behaviour.as_is:
        return (raw,), ""
    if len(names) == 1:
        parts = [raw]
        if isinstance(raw, tuple) and len(raw) == 1 and not exercise.value:
            parts, problem = [raw[0]], "returns a tuple of one; is there a comma too many after `return`?"
        elif isinstance(raw, tuple) and not exercise.value:
            raise Unreadable(f"returns {len(raw)} things, but one is expected: {names[0]}")
    else:
        wanted = f"{len(names)} things are expected: {', '.join(names)}"
        if isinstance(raw, np.ndarray):
            raise Unreadable(f"returns one array of shape {raw.shape}, but {wanted}")
        rows = isinstance(raw, list) and len(raw) != len(names) and all(isinstance(row, list) for row in raw)
        if rows or not isinstance(raw, (tuple, list)):  # a list of rows stands for one array
            raise Unreadable(f"returns one {_type_name(raw)}, but {wanted}")
        if len(raw) != len(names):
            raise Unreadable(f"returns {len(raw)} thing{'s' if len(raw) != 1 else ''}, but {wanted}")
        parts = list(raw)
    return tuple(_as_array(part, words=exercise.value) for part in parts), problem


def _as_array(part, words):
    if part is None:
        raise Unreadable("returns None in one place")
    try:
        if isinstance(part, np.ndarray) and np.ndarray.size.__get__(part) > TOO_MANY:
            raise Unreadable(f"returns an array of shape {np.ndarray.shape.__get__(part)}: far too many numbers")
        if isinstance(part, np.ma.MaskedArray) and np.ma.getmaskarray(part).any():
            hidden = f"{np.ma.getmaskarray(part).sum()} of its {part.size} numbers are hidden"
            raise Unreadable(f"returns a masked array: {hidden}, and plain numbers are expected")
        array = np.array(part)
    except ValueError as error:
        if "maximum number of dimension" in str(error):
            raise Unreadable("returns lists within lists, without end") from None
        raise Unreadable("returns rows of unequal length") from None
    if array.dtype.kind == "c":
        raise Unreadable("returns complex numbers")
    if array.dtype.kind == "O" and not isinstance(part, np.ndarray) and all(map(_is_number, array.flat)):
        array = array.astype(float)  # fractions, decimals and very large integers
    if array.dtype.kind == "O" and isinstance(part, np.ndarray):
        raise Unreadable("returns an array of Python objects, not of floats")
    if array.dtype.kind not in ("fiubU" if words else "fiub"):
        raise Unreadable(f"returns {with_article(_type_name(part))}, not numbers")
    return array


def _is_number(x):
    return isinstance(x, (Real, Decimal)) and not isinstance(x, (bool, np.bool_))


def with_article(noun):
    return f"{'an' if noun[:1].lower() in tuple('aeio') else 'a'} {noun}"


def _type_name(thing):
    return {"ndarray": "array"}.get(type(thing).__name__, type(thing).__name__)
