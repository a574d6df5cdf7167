"""Stop a function that never ends.

The limit is on processor time, the time for which the function's thread has really computed. On a busy machine a right
answer waits long for a processor but computes no longer than usual, so a busy machine cannot make it look endless.
A function that sleeps or waits uses no processor time, so there is a second limit, on the time for which the thread has
neither computed nor waited for a processor. Linux counts these seconds for each thread, so this limit does not depend on
other programs, either. Only the third limit is on wall-clock time alone. It is a last resort, ten minutes long, and the
function is then not judged at all.

Python has no way to stop a function that works everywhere, so there are two:

* On the main thread of Linux and macOS, a timer signal interrupts the function.
* Elsewhere (on Windows, on other threads, and in the browser, which has neither signals
  nor threads), `sys.monitoring` calls us at every backward jump and at the start of every
  function, and we look at the clock. Every loop jumps back, and every recursion starts functions.

Python 3.11 has no `sys.monitoring`, so only the first way exists there. And neither way can
interrupt a single call of compiled code, such as ``sum(itertools.count())``. On Linux the module
`attnexercises.engine.isolation` handles this case: it judges in a separate process, which the
system ends. Elsewhere only the notebook's stop button helps.
"""

import gc
import signal
import sys
import threading
import time
import weakref

WALL = 60.0  # seconds that a call may sleep; at least 10 times its processor-time limit
LAST_RESORT = 600.0  # seconds on the wall after which a call is given up without a verdict
# The browser's Python has no clock for a thread, and that of the process shows wall-clock time there. It is also several
# times slower, so its limits are longer.
_SLOWER = 5.0 if sys.platform == "emscripten" else 1.0

# The files of weak dictionaries and sets, as a frame names them.
_OF_WEAK_REFERENCES = {method.__code__.co_filename for method in (weakref.WeakKeyDictionary.copy, weakref.WeakSet.copy)}

computed = getattr(time, "thread_time", time.process_time)  # kept, because an answer can replace them
_on_the_wall = time.monotonic
_listener, _depth = None, 0  # the function that `listen` was given; how many calls of `call_within` are nested


def listen(listener):
    """Let every `call_within` call ``listener(seconds, label)`` when it begins and ``listener(0, "")`` when it ends."""
    global _listener
    _listener = listener


class TimeUp(BaseException):
    """The time is over. This is no `Exception`, so that an ``except Exception`` in an answer does not catch it.

    Attributes
    ----------
    seconds : float
        The limit that was reached, as it is printed for a reader.
    waited : bool
        Whether it was the limit on sleeping: the function neither computed nor waited for a processor.
    given_up : bool
        Whether it was the last resort. It says nothing about the function, because the machine may be to blame.
    """

    def __init__(self, seconds=0.0, waited=False, given_up=False):
        super().__init__(seconds, waited, given_up)
        self.seconds, self.waited, self.given_up = seconds, waited, given_up


def asleep_at_most(seconds):
    """Return how many seconds a call may sleep whose processor-time limit is `seconds`."""
    return max(WALL, 10 * seconds)


def _waited_for_a_processor():
    """Seconds for which this thread could have computed, but other programs had the processors; None if nobody counts them."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return None


def call_within(seconds, function, label=""):
    """Return ``function()``; raise `TimeUp` if it computes for more than `seconds`. `label` is for the listener.

    A bare ``except:`` inside `function` catches `TimeUp` too. Therefore it is
    raised again and again until `function` has ended.

    Examples
    --------
    >>> call_within(1.0, lambda: "done")
    'done'
    """
    global _depth
    if _listener is None or _depth:  # the listener hears only of the outermost limit
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
    """All limits of one call, measured from the creation of this object."""

    def __init__(self, seconds):
        self.seconds, self.asleep = seconds * _SLOWER, asleep_at_most(seconds)
        self.began_computing, self.began = computed(), _on_the_wall()
        self._looks, self._queued_before, self._awake = 0, None, 0.0
        self._over = None  # the arguments for `TimeUp`, once a limit has been reached

    def left(self):
        """Seconds that have to pass before a limit can be reached; 0 if one has been reached."""
        if self._over:
            return 0.0
        self._looks += 1
        if self._looks == 2:  # a short call never comes here, so that only the others open a file
            self._queued_before = _waited_for_a_processor()
        has_computed, passed = computed() - self.began_computing, _on_the_wall() - self.began
        if passed - self._awake >= self.asleep:
            queued = _waited_for_a_processor()
            known = queued is not None and self._queued_before is not None
            self._awake = has_computed + queued - self._queued_before if known else passed
        limits = {
            (self.seconds,): self.seconds - has_computed,
            (self.asleep, True): self.asleep - (passed - self._awake),
            (LAST_RESORT, True, True): LAST_RESORT - passed,
        }
        over = [limit for limit, left in limits.items() if left <= 0]
        if over:
            self._over = over[0]
        return 0.0 if over else min(limits.values())

    def stop(self):
        """Raise `TimeUp` if a limit has been reached. Called repeatedly, because a function can catch the exception."""
        if self._over:
            raise TimeUp(*self._over)


def _alarm(seconds, function):
    here, clock = sys._getframe(), _Clock(seconds)
    pause, ringing, ended = 0.1, False, False

    def ring(signum, frame):
        nonlocal pause, ringing
        if ended:  # an alarm that fell into the clean-up below would be set again there, and ring for nobody
            return
        if ringing:  # this alarm interrupts the one before: on a slow machine such calls would nest without end
            signal.setitimer(signal.ITIMER_REAL, 1e-3)
            return
        left = clock.left()
        if left:  # it has waited: ring again when its time can be over
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
            return
        if frame is here:  # `function` has ended, and nothing may keep the clean-up below from beginning
            return
        ringing = True
        try:
            ignored = _is_ignored_in(frame)
            # The pauses become shorter and irregular, so that they never fall into step with a loop whose `try` catches
            # `TimeUp`: sooner or later an alarm comes while the loop is outside of its `try`.
            pause = max(0.7 * pause, 1e-6 * (3 + time.perf_counter_ns() % 61))
            signal.setitimer(signal.ITIMER_REAL, pause)
        finally:
            ringing = False
        if not ignored:
            clock.stop()

    old_handler = signal.signal(signal.SIGALRM, ring)
    old_delay, old_interval = signal.setitimer(signal.ITIMER_REAL, clock.left())
    try:
        result = function()
    finally:
        ended = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler or signal.SIG_DFL)
        if old_delay:  # another alarm was running: set it again for its remaining time
            left = old_delay - (_on_the_wall() - clock.began)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3), old_interval)
    clock.stop()
    return result


def _is_ignored_in(frame):
    """Would Python ignore an exception that is raised here, in what it calls when an object is deleted?

    It prints such an exception and goes on, so `TimeUp` would not stop the function, and the reader would see a traceback.
    Three kinds are known: a callback of the garbage collector, a method `__del__`, and the clean-up of a weak dictionary or set.
    """
    collector = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame:
        code = frame.f_code
        if code in collector or code.co_name == "__del__" or code.co_filename in _OF_WEAK_REFERENCES:
            return True
        frame = frame.f_back
    return False


def _look_at_the_clock(seconds, function):
    monitoring = getattr(sys, "monitoring", None)
    tool = next((i for i in range(6) if monitoring.get_tool(i) is None), None) if monitoring else None
    if tool is None:  # Python 3.11, or debuggers and profilers use all six ids
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
