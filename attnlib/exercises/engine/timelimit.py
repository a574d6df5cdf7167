"""Stop a function that never ends.

Two ways, because Python has no single one:

* on the main thread of Linux and macOS, a timer signal;
* elsewhere (Windows, other threads, the browser, which has neither signals nor
  threads), a look at the clock at every jump backwards and at the start of every
  function, by `sys.monitoring`: a loop has the one, a recursion the other.

The limits of this: Python 3.11 has no `sys.monitoring`, so there only the first way
exists; and nothing of it reaches into one single call of compiled code, such as
``sum(itertools.count())``. On Linux `attnlib.exercises.engine.apart` does: it is told
what begins and what has ended, and ends the process. Elsewhere the stop button is left.
"""

import signal
import sys
import threading
import time


_listener, _depth = None, 0  # who is told what begins and ends; how many limits run inside one another


def listen(listener):
    """From now on call ``listener(seconds, label)`` when something with a limit begins, ``listener(0, "")`` when it has ended."""
    global _listener
    _listener = listener


class TimeUp(BaseException):
    """The time is over. Not an `Exception`, so that ``except Exception`` does not catch it."""


def call_within(seconds, function, label=""):
    """Return ``function()``; raise `TimeUp` if that takes longer than `seconds`. `label` says what it is about.

    A bare ``except:`` inside `function` catches `TimeUp` too; therefore it is
    raised again and again until `function` has ended.

    Examples
    --------
    >>> call_within(1.0, lambda: "done")
    'done'
    """
    global _depth
    if _listener is None or _depth:  # the outermost limit is the one that counts
        return _limited(seconds, function)
    _depth += 1
    _listener(seconds, label)
    try:
        return _limited(seconds, function)
    finally:
        _depth -= 1
        _listener(0, "")


def _limited(seconds, function):
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        if sys.platform not in ("emscripten", "wasi"):
            return _alarm(seconds, function)
    return _look_at_the_clock(seconds, function)


def _alarm(seconds, function):
    here = sys._getframe()
    pause = 0.1
    late = False

    def ring(signum, frame):
        nonlocal late, pause
        late = True
        if frame is here:  # `function` has ended: never interrupt the clean-up below
            return
        # Sooner each time, and never in step with a loop: one alarm falls outside its `try`.
        pause = max(0.7 * pause, 1e-6 * (3 + time.perf_counter_ns() % 61))
        signal.setitimer(signal.ITIMER_REAL, pause)
        raise TimeUp

    started = time.monotonic()
    old_handler = signal.signal(signal.SIGALRM, ring)
    old_delay, old_interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        result = function()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler or signal.SIG_DFL)
        if old_delay:  # somebody else's alarm was running: give it the time that it has left
            left = old_delay - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3), old_interval)
    if late:
        raise TimeUp
    return result


def _look_at_the_clock(seconds, function):
    monitoring = getattr(sys, "monitoring", None)
    tool = next((i for i in range(6) if monitoring.get_tool(i) is None), None) if monitoring else None
    if tool is None:  # Python 3.11, or other tools (debugger, profiler, ...) hold every place
        return function()
    deadline = time.monotonic() + seconds
    me = threading.get_ident()

    def tick(*_):
        if time.monotonic() > deadline and threading.get_ident() == me:
            raise TimeUp

    events = monitoring.events.JUMP, monitoring.events.PY_START
    monitoring.use_tool_id(tool, "attnlib.exercises")
    try:
        for event in events:
            monitoring.register_callback(tool, event, tick)
        monitoring.set_events(tool, sum(events))
        result = function()
    finally:
        monitoring.set_events(tool, 0)
        for event in events:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
    if time.monotonic() > deadline:
        raise TimeUp
    return result
