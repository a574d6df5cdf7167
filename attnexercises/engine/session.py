"""Leave the session as it was: whatever a function of the reader's changes in Python itself is put back.

A function can replace `np.exp`, `math.exp` or `sum`, change the working directory, the environment, the limit of
recursion, the stream that is printed to. While a check runs, all of that is as it came with Python and NumPy, whatever the
session made of it before; afterwards it is what it was before the check.

All of that takes longer than most answers do, so it is done once a check. Between the calls of one check only that is put back
with which the judge itself computes: the functions and settings of Python and NumPy, the modules, who is told of every line.
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
_PRIVATE = ("__import__", "__build_class__")  # of the names with underscores those that a function may reach for
_REPLACED_BY_US = {builtins: ("input",), os: ("_exit", "abort"), warnings: ("filters", "showwarning")}
_AS_THEY_CAME = {
    module: {
        name: value
        for name, value in vars(module).items()
        if (name[0] != "_" or name in _PRIVATE) and name not in _REPLACED_BY_US.get(module, ())
    }
    for module in _MODULES
}
_leave, _all, _map, _vars, _is = os._exit, all, map, vars, operator.is_  # as they came, too
_MISSING = object()
_PATIENCE = 5.0  # seconds for a thread that is just about to end, on a busy machine, too
_inside = threading.local()  # in which threads a check is going on


class _Silent(io.TextIOBase):
    """What a checked function prints goes here, so that the message of the check stays alone."""

    def write(self, text):
        return len(text)


@contextlib.contextmanager
def session_restored():
    """Run with Python and NumPy as they came, and silently; afterwards put back all that a function might have changed."""
    before = {}
    for module in _MODULES:  # `builtins` first: what follows is written in it
        if not _is_as_it_came(module):
            before[module] = {**_vars(module)}
            _put(module, _AS_THEY_CAME[module])
    stood_in = {module: {name: getattr(module, name) for name in names} for module, names in _REPLACED_BY_US.items()}
    outer, _inside.check = getattr(_inside, "check", False), True
    with contextlib.ExitStack() as stack:
        for put_back in (_python, _modules, _folder, _interrupts, _pictures):
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
    """Run one call of an answer; afterwards the judge can go on as before.

    What cannot stay unsaid is added to the list `left`, each as the rest of a sentence "your function ...".
    """
    threads, traced, profiled = set(threading.enumerate()), sys.gettrace(), sys.getprofile()
    put_modules_back = _modules()
    with contextlib.nullcontext() if getattr(_inside, "check", False) else session_restored(), _settings():
        try:
            yield
        finally:
            put_functions_back(left)
            put_modules_back()
            _not_told(traced, profiled)
            if _still_running(threads):
                left.append("starts a thread that is still running when it returns")


@contextlib.contextmanager
def _settings():
    """Warnings, and how NumPy handles errors and prints: ours inside, afterwards those of before."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), np.printoptions():
        warnings.simplefilter("ignore")
        yield


def put_functions_back(left):
    """The functions of Python and NumPy as they came; what had been replaced is added to `left`, as above."""
    for module in _MODULES:
        if not _is_as_it_came(module):
            replaced = _replaced(module)
            _put(module, _AS_THEY_CAME[module])
            left += [f"replaces `{name}` itself, for every other cell too" for name in replaced]


def _is_as_it_came(module):
    """Is nothing replaced in this module? (Asked often, so without a loop in Python.)"""
    kept = _AS_THEY_CAME[module]
    return _all(_map(_is, _map(_vars(module).get, kept), kept.values()))


def _put(module, values):
    space = _vars(module)
    for name, value in values.items():
        if value is _MISSING:
            space.pop(name, None)
        elif space.get(name, _MISSING) is not value:
            space[name] = value


def _replaced(module):
    prefix = {"numpy": "np.", "builtins": ""}.get(module.__name__, f"{module.__name__}.").replace("numpy.", "np.")
    return [prefix + name for name, value in _AS_THEY_CAME[module].items() if _vars(module).get(name) is not value]


def _stand_ins():
    """What must not happen in the middle of a check: a question that nobody sees, the end of the session."""
    session = os.getpid()

    def no_input(prompt=""):
        raise EOFError("a check answers no `input`")

    def no_exit(code=0):
        if os.getpid() != session:  # a process that the function started
            _leave(code)
        raise SystemExit(code)

    def no_abort():
        no_exit(1)

    return {builtins: {"input": no_input}, os: {"_exit": no_exit, "abort": no_abort}}


def _still_running(before):
    """Does a thread live that was not there before? One that is just about to end is waited for."""
    new = [thread for thread in threading.enumerate() if thread not in before]
    for thread in new:
        thread.join(_PATIENCE)
    return any(thread.is_alive() for thread in new)


def _python():
    """Settings and hidden states of the interpreter. Returns, as the functions below, how to put them back."""
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
        _not_told(traced, profiled)
        with contextlib.suppress(RecursionError):  # already deeper than that
            sys.setrecursionlimit(recursion)

    return put_back


def _not_told(traced, profiled):
    """Nobody but who was there before is told of every line and every call."""
    if sys.gettrace() is not traced:
        sys.settrace(traced)
    if sys.getprofile() is not profiled:
        sys.setprofile(profiled)


def _modules():
    """Modules that were loaded stay so, and where Python looks for more stays, too."""
    loaded, path, finders = dict(sys.modules), list(sys.path), list(sys.meta_path)

    def put_back():
        if not _all(_map(_is, _map(sys.modules.get, loaded), loaded.values())):  # no loop in Python: there are thousands
            sys.modules.update(loaded)
        sys.path[:], sys.meta_path[:] = path, finders

    return put_back


def _folder():
    """The working directory and the environment."""
    environment = os.environ.copy()
    try:
        folder = os.getcwd()
    except OSError:  # it is gone
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
    """What Ctrl-C does; only the main thread may set it."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    handler = signal.getsignal(signal.SIGINT)

    def put_back():
        if signal.getsignal(signal.SIGINT) is not handler and handler is not None:
            signal.signal(signal.SIGINT, handler)

    return put_back


def _pictures():
    """What a notebook would show; nothing of it, as of what is printed."""
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
