"""Stop a function that never ends.

The limit is on processor time: the time that the thread of the function has really computed. On a busy machine a right
answer waits long for its turn and computes as little as ever, so no other program can make it look endless. A function
that computes nothing, because it sleeps or waits, is stopped by a second limit: a generous one, on the clock on the wall.

Python has no single way to stop a function, so there are two:

* on the main thread of Linux and macOS, a timer signal;
* elsewhere (Windows, other threads, the browser, which has neither signals nor
  threads), a look at the clock at every jump backwards and at the start of every
  function, by `sys.monitoring`: a loop has the one, a recursion the other.

The limits of this: Python 3.11 has no `sys.monitoring`, so there only the first way
exists; and neither way reaches into one single call of compiled code, such as
``sum(itertools.count())``. On Linux `attnexercises.engine.isolation` does: it judges in a
process of its own, which the system ends. Elsewhere the stop button is left.
"""

import signal
import sys
import threading
import time

WALL = 60.0  # seconds on the wall before a call of a few processor seconds is stopped; a call gets at least 10 times its limit
# In the browser's Python there is no clock for the time of a thread, that of the process is the one on the wall, and
# everything takes several times as long.
_SLOWER = 5.0 if sys.platform == "emscripten" else 1.0

computed = getattr(time, "thread_time", time.process_time)  # as they came: an answer can replace them
_on_the_wall = time.monotonic
_listener, _depth = None, 0  # who is told what begins and ends; how many limits run inside one another


def listen(listener):
    """From now on call ``listener(seconds, label)`` when something with a limit begins, ``listener(0, "")`` when it has ended."""
    global _listener
    _listener = listener


class TimeUp(BaseException):
    """The time is over. Not an `Exception`, so that ``except Exception`` does not catch it.

    Attributes
    ----------
    seconds : float
        The limit that was reached, as a reader is told it.
    waited : bool
        It was the limit on the wall: the function hardly computed, or never got the processor.
    """

    def __init__(self, seconds=0.0, waited=False):
        super().__init__(seconds, waited)
        self.seconds, self.waited = seconds, waited


def on_the_wall(seconds):
    """How long a call with a limit of so many processor seconds may take on the wall, in seconds."""
    return max(WALL, 10 * seconds)


def call_within(seconds, function, label=""):
    """Return ``function()``; raise `TimeUp` if it computes for more than `seconds`. `label` says what it is about.

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


class _Clock:
    """Both limits of one call, from now on."""

    def __init__(self, seconds):
        self.seconds, self.wall = seconds * _SLOWER, on_the_wall(seconds)
        self.began_computing, self.began = computed(), _on_the_wall()
        self._over = None  # what `TimeUp` is told, once one of the two limits is reached

    def left(self):
        """Seconds in which no limit can be reached; 0 when one has been."""
        computing = self.seconds - (computed() - self.began_computing)
        waiting = self.wall - (_on_the_wall() - self.began)
        if self._over is None and min(computing, waiting) <= 0:
            waited = computing > 0
            self._over = self.wall if waited else self.seconds, waited
        return 0.0 if self._over else min(computing, waiting)

    def stop(self):
        """Raise `TimeUp` if a limit has been reached: a new one each time, since a function can catch it."""
        if self._over:
            raise TimeUp(*self._over)


def _alarm(seconds, function):
    here, clock = sys._getframe(), _Clock(seconds)
    pause = 0.1

    def ring(signum, frame):
        nonlocal pause
        left = clock.left()
        if left:  # the function waited for the processor: look again when it can have used the rest of its time
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
            return
        if frame is here:  # `function` has ended: never interrupt the clean-up below
            return
        # Sooner each time, and never in step with a loop: one alarm falls outside its `try`.
        pause = max(0.7 * pause, 1e-6 * (3 + time.perf_counter_ns() % 61))
        signal.setitimer(signal.ITIMER_REAL, pause)
        clock.stop()

    old_handler = signal.signal(signal.SIGALRM, ring)
    old_delay, old_interval = signal.setitimer(signal.ITIMER_REAL, clock.left())
    try:
        result = function()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler or signal.SIG_DFL)
        if old_delay:  # somebody else's alarm was running: give it the time that it has left
            left = old_delay - (_on_the_wall() - clock.began)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3), old_interval)
    clock.stop()
    return result


def _look_at_the_clock(seconds, function):
    monitoring = getattr(sys, "monitoring", None)
    tool = next((i for i in range(6) if monitoring.get_tool(i) is None), None) if monitoring else None
    if tool is None:  # Python 3.11, or other tools (debugger, profiler, ...) hold every place
        return function()
    clock, me = _Clock(seconds), threading.get_ident()

    def tick(*_):
        if threading.get_ident() == me and not clock.left():
            clock.stop()

    events = monitoring.events.JUMP, monitoring.events.PY_START
    monitoring.use_tool_id(tool, "attnexercises")
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
    clock.stop()
    return result
