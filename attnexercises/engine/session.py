"""Undo whatever a reader's function changes in the Python session.

A function can replace `np.exp`, `math.exp` or `sum`, and it can change the working directory, the environment, the
recursion limit or the output stream. While a check runs, all of these are as Python and NumPy defined them, even if the
session has changed them. After the check they are what they were before it.

Restoring everything takes longer than most answers do, so `session_restored` does it once for each check. Between two
calls of the same check, `call_restored` restores only what the judge itself needs: the functions and settings of Python
and NumPy, the loaded modules, and the trace functions.
"""

import builtins
import cmath
import contextlib
import decimal
import functools
import gc
import io
import itertools
import math
import operator
import os
import random
import signal
import sys
import threading
import time
import warnings

import numpy as np

_MODULES = (builtins, np, np.random, np.linalg, math, cmath, random, itertools, functools, operator, time, os, warnings)
_PRIVATE = ("__import__", "__build_class__")  # the only names with underscores that a function may use
_REPLACED_BY_US = {builtins: ("input",), os: ("_exit", "abort"), warnings: ("filters", "showwarning")}
_AS_THEY_CAME = {
    module: {
        name: value
        for name, value in vars(module).items()
        if (name[0] != "_" or name in _PRIVATE) and name not in _REPLACED_BY_US.get(module, ())
    }
    for module in _MODULES
}
_values_of = {module: operator.itemgetter(*names) for module, names in _AS_THEY_CAME.items()}  # each reads all of them at once
_leave, _all, _map, _vars, _is, _NoSuchName = os._exit, all, map, vars, operator.is_, KeyError  # a function can replace these too
_MISSING = object()
_PATIENCE = 5.0  # seconds for which a thread may sleep, or compute, after its function has returned
_LOOK, _LAST = 0.2, 300.0  # seconds between two looks at such a thread; seconds after which it is said to run on
_inside = threading.local()  # `_inside.check` is True in a thread that is running a check


class _Silent(io.TextIOBase):
    """A stream that drops everything, so that only the message of the check is printed."""

    def write(self, text):
        return len(text)


@contextlib.contextmanager
def session_restored():
    """Run the block silently and with the original Python and NumPy; then restore all that it may have changed."""
    before = {}
    for module in _MODULES:  # `builtins` is the first, because the code below uses it
        if not _is_as_it_came(module):
            before[module] = {**_vars(module)}
            _put(module, _AS_THEY_CAME[module])
    stood_in = {module: {name: getattr(module, name) for name in names} for module, names in _REPLACED_BY_US.items()}
    outer, _inside.check = getattr(_inside, "check", False), True
    with contextlib.ExitStack() as stack:
        for put_back in (_interpreter, _modules, _folder, _interrupts, _display):
            stack.callback(put_back())
        stack.enter_context(_settings())
        stack.enter_context(contextlib.redirect_stdout(_Silent()))
        stack.enter_context(contextlib.redirect_stderr(_Silent()))
        for module, values in _stand_ins().items():
            _put(module, values)
        try:
            yield
        finally:
            _inside.check = outer
            put_functions_back([])
            for module, values in before.items():
                _put(module, {name: values.get(name, _MISSING) for name in _AS_THEY_CAME[module]})
            for module, values in stood_in.items():
                _put(module, values)


@contextlib.contextmanager
def call_restored(left):
    """Run one call of an answer, then restore what the judge needs.

    Side effects that the reader must be told about are added to the list `left`, each as the rest of a sentence
    "your function ...".
    """
    threads, traced, profiled = set(threading.enumerate()), sys.gettrace(), sys.getprofile()
    put_modules_back = _modules()
    with contextlib.nullcontext() if getattr(_inside, "check", False) else session_restored(), _settings():
        try:
            yield
        finally:
            put_functions_back(left)
            put_modules_back()
            _restore_tracing(traced, profiled)
            if _still_running(threads):
                left.append("starts a thread that is still running when it returns")


@contextlib.contextmanager
def _settings():
    """Inside the block, ignore warnings and NumPy's errors; afterwards restore how both, and printing, are handled."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), np.printoptions():
        warnings.simplefilter("ignore")
        yield


def put_functions_back(left):
    """Restore the functions of Python and NumPy. For each one that was replaced, add a text to `left` as above."""
    for module in _MODULES:
        if not _is_as_it_came(module):
            replaced = _replaced(module)
            _put(module, _AS_THEY_CAME[module])
            left += [f"replaces `{name}` itself, for every other cell too" for name in replaced]


def _is_as_it_came(module):
    """Does every name of this module still have its original value? Called often, so no Python loop asks one by one."""
    try:
        return _all(_map(_is, _values_of[module](_vars(module)), _AS_THEY_CAME[module].values()))
    except _NoSuchName:  # it was deleted
        return False


def _put(module, values):
    """Set the names of a module to the given values; delete those whose value is `_MISSING`."""
    space = _vars(module)
    for name, value in values.items():
        if value is _MISSING:
            space.pop(name, None)
        elif space.get(name, _MISSING) is not value:
            space[name] = value


def _replaced(module):
    """The names of a module that were replaced, as in "np.exp"."""
    prefix = {"numpy": "np.", "builtins": ""}.get(module.__name__, f"{module.__name__}.").replace("numpy.", "np.")
    return [prefix + name for name, value in _AS_THEY_CAME[module].items() if _vars(module).get(name) is not value]


def _stand_ins():
    """Replacements for functions that must not run during a check: `input`, whose question nobody sees, and exits."""
    session = os.getpid()

    def no_input(prompt=""):
        raise EOFError("a check answers no `input`")

    def no_exit(code=0):
        if os.getpid() != session:  # the function forked, and this is its child
            _leave(code)
        raise SystemExit(code)

    def no_abort():
        no_exit(1)

    return {builtins: {"input": no_input}, os: {"_exit": no_exit, "abort": no_abort}}


def _still_running(before):
    """Is there a live thread that is not in `before`? A thread that is about to end gets a few seconds to do so.

    These seconds are the thread's own. While it waits for a processor, on a busy machine, they do not pass.
    """
    return any(_runs_on(thread) for thread in threading.enumerate() if thread not in before)


def _runs_on(thread):
    looks, asleep, first, last = 0, 0, _computed_by(thread), None
    while looks * _LOOK < _LAST:
        thread.join(_LOOK)
        if not thread.is_alive():
            return False
        looks, now = looks + 1, _computed_by(thread)
        waits_for_a_processor = now is not None and now[0] in "RD" and last is not None and now[1] == last[1]
        asleep, last = asleep + (not waits_for_a_processor), now
        if asleep * _LOOK >= _PATIENCE or (now and first and now[1] - first[1] >= _PATIENCE):
            return True
    return True


def _computed_by(thread):
    """The state of a thread, and how many seconds it has computed; None where the system does not say."""
    try:
        with open(f"/proc/self/task/{thread.native_id}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _interpreter():
    """Remember the settings and hidden states of the interpreter.

    This function and those below each return a function that restores what they have remembered.
    """
    numpy_random, python_random, context = np.random.get_state(), random.getstate(), decimal.getcontext().copy()
    recursion, switch, collects = sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled()
    hooks = {name: getattr(sys, name) for name in ("stdin", "displayhook", "excepthook", "breakpointhook")}
    traced, profiled = sys.gettrace(), sys.getprofile()
    sys.stdin = io.StringIO("")

    def put_back():
        np.random.set_state(numpy_random)
        random.setstate(python_random)
        decimal.setcontext(context)
        sys.setswitchinterval(switch)
        (gc.enable if collects else gc.disable)()
        for name, value in hooks.items():
            setattr(sys, name, value)
        _restore_tracing(traced, profiled)
        with contextlib.suppress(RecursionError):  # the stack is already deeper than the limit
            sys.setrecursionlimit(recursion)

    return put_back


def _restore_tracing(traced, profiled):
    """Set the trace and profile functions to what they were before."""
    if sys.gettrace() is not traced:
        sys.settrace(traced)
    if sys.getprofile() is not profiled:
        sys.setprofile(profiled)


def _modules():
    """Remember the loaded modules and where Python searches for others."""
    loaded, path, finders = dict(sys.modules), list(sys.path), list(sys.meta_path)

    def put_back():
        sys.modules.update(loaded)  # takes less time than to see whether one of hundreds of modules was replaced
        sys.path[:], sys.meta_path[:] = path, finders

    return put_back


def _folder():
    """Remember the working directory and the environment."""
    environment = os.environ.copy()
    try:
        folder = os.getcwd()
    except OSError:  # the working directory was deleted
        folder = None

    def put_back():
        now = os.environ
        if now.copy() != environment:
            for name in set(now) - set(environment):
                del now[name]
            now.update(environment)
        with contextlib.suppress(OSError):
            if folder is not None and (not os.path.isdir(os.curdir) or os.getcwd() != folder):
                os.chdir(folder)

    return put_back


def _interrupts():
    """Remember the handler of Ctrl-C, which only the main thread may set."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    handler = signal.getsignal(signal.SIGINT)

    def put_back():
        if signal.getsignal(signal.SIGINT) is not handler and handler is not None:
            signal.signal(signal.SIGINT, handler)

    return put_back


def _display():
    """Let a notebook display nothing, just as nothing is printed, and remember how it displays."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    publisher = getattr(shell, "display_pub", None)
    if publisher is None:
        return lambda: None
    before = vars(publisher).get("publish", _MISSING)
    publisher.publish = lambda *args, **kwargs: None

    def put_back():
        if before is _MISSING:
            vars(publisher).pop("publish", None)
        else:
            publisher.publish = before

    return put_back
