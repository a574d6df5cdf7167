"""Call a function that may do anything, and report what it did. Nothing it does to the session stays."""

import contextlib
import dis
import inspect
import io
import re
import signal
import threading
import warnings
import zlib
from dataclasses import dataclass

import numpy as np

from attnexercises.engine.crash import readers_line
from attnexercises.engine.returned import Unreadable, read
from attnexercises.engine.session import call_restored, put_functions_back
from attnexercises.engine.timelimit import TimeUp, call_within
from attnexercises.engine.todo import NotAttempted

TIME_LIMIT = 2.0  # seconds of computing for one call; an honest loop needs milliseconds


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
    blank : bool
        It met a TODO.
    stopped : TimeUp or None
        It was stopped, because it computed, or waited, for too long.
    raw : object
        What it returned.
    left : str
        What it left behind in the session, as the rest of a sentence: "replaces `np.exp` ...".
    printed : str
        The beginning of what it printed.
    line : Line or None
        The reader's own line at which it stopped.
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


class _Heard(io.TextIOBase):
    """What a checked function prints: not seen at once, but its beginning is kept for the message."""

    kept, most = "", 2000  # letters

    def write(self, text):
        self.kept += text[: self.most - len(self.kept)]
        return len(text)


class CheckInside(Exception):
    """A check was called by the very function that it checks; the message is the exercise's id."""


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
            values, problem = _compared(exercise, probe, *read(exercise, function(*args)))
        except Exception as error:
            values, problem = None, _crash(error)
    return Outcome(values, problem, _changed(exercise, args, arguments(exercise, probe)))


def run(exercise, function, probe):
    """Call `function` on a probe and return the `Outcome`. Only Ctrl-C gets through."""
    args = arguments(exercise, probe)
    left, kept, heard, line = [], [], _Heard(), None

    def call():
        kept.append(function(*args))
        put_functions_back(left)  # with whatever the function replaced, we could not even read what it returned
        return _compared(exercise, probe, *read(exercise, kept[0]))

    values, problem, blank, stopped = None, "", False, None
    with call_restored(left), contextlib.redirect_stdout(heard), _ctrl_c_noticed() as pressed:
        try:
            values, problem = call_within(TIME_LIMIT, call, probe.label)
        except TimeUp as error:
            stopped = error
        except Unreadable as error:
            problem = str(error)
        except BaseException as error:  # also SystemExit: a check must survive everything
            put_functions_back(left)
            try:
                blank, problem = _why(error, function)
            except TimeUp as late:
                problem, stopped = None, late
            line = readers_line(error)
    if pressed:
        raise KeyboardInterrupt
    changed = _changed(exercise, args, arguments(exercise, probe))
    raw = kept[0] if kept else None
    return Outcome(values, problem, changed, blank, stopped, raw, left[0] if left else "", heard.kept, line)


@contextlib.contextmanager
def _ctrl_c_noticed():
    """A list that is no longer empty once Ctrl-C was pressed: a function can raise, or catch, KeyboardInterrupt itself."""
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
    """Did a call meet a blank, and why did it stop? Raises `TimeUp` if even that takes for ever to say."""
    blank = call_within(TIME_LIMIT, lambda: _met_a_blank(error, function))
    return blank, "meets a blank that is still to be filled" if blank else call_within(TIME_LIMIT, lambda: _crash(error))


def _compared(exercise, probe, values, problem):
    """The values that are compared: what was returned, or what it does."""
    if not exercise.behaviour:
        return values, problem
    try:
        return exercise.behaviour.of(arguments(exercise, probe), values), problem
    except ValueError as error:
        raise Unreadable(str(error)) from None


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
    while last and last.tb_next:
        last = last.tb_next
    try:
        mine = inspect.unwrap(function).__code__
    except Exception:  # an object of the reader's own, which may answer anything
        return False
    code = last.tb_frame.f_code if last else None
    return code is mine and dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"


def _crash(error):
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
