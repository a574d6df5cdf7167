"""attnexercises.engine.timelimit: does every endless answer end, no other one, and nobody else's alarm with it?"""

import gc
import signal
import subprocess
import sys
import threading
import time
import weakref
from functools import partial
from pathlib import Path

import pytest
from answers import first_line, right

from attnexercises import grade
from attnexercises.engine import calls, judge, timelimit
from attnexercises.engine.registry import registry

computed = timelimit.computed  # as it came: some tests put another in its place


def test_a_python_without_a_clock_for_threads_takes_that_of_the_process():
    """The browser's has none."""
    code = "import time; del time.thread_time; import attnexercises; print(attnexercises.grade('softmax', lambda x: x).status)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stdout == "wrong\n", done.stderr


def endless(x):
    while True:
        pass


def busy(seconds):
    """Compute for so long."""
    end = timelimit.computed() + seconds
    while timelimit.computed() < end:
        pass


class Deleted:
    def __del__(self):
        busy(0.005)


class Forgotten:
    pass


class SlowDict(dict):
    """Of a weak dictionary, which deletes a key here when nobody else holds it."""

    def __delitem__(self, key):
        busy(0.005)
        super().__delitem__(key)


class SlowSet(set):
    """Of a weak set, likewise."""

    def discard(self, item):
        busy(0.005)
        super().discard(item)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer")
def test_an_alarm_where_python_ignores_exceptions_waits_until_it_is_heard():
    """In what Python calls when it deletes an object it prints an exception and goes on: pytest makes a failure of that."""

    def slow(phase, info):
        busy(0.02)

    def collects_for_ever():
        while True:
            gc.collect()

    def deletes_for_ever():
        while True:
            Deleted()

    def forgets_for_ever(where):
        while True:
            where(Forgotten())

    known, seen = weakref.WeakKeyDictionary(), weakref.WeakSet()
    known.data, seen.data = SlowDict(), SlowSet()
    in_a_dict, in_a_set = partial(forgets_for_ever, known.setdefault), partial(forgets_for_ever, seen.add)

    for endless, callbacks in ((collects_for_ever, [slow]), (deletes_for_ever, []), (in_a_dict, []), (in_a_set, [])):
        gc.callbacks.extend(callbacks)
        try:
            with pytest.raises(timelimit.TimeUp):
                timelimit.call_within(0.2, endless)
        finally:
            for callback in callbacks:
                gc.callbacks.remove(callback)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer")
@pytest.mark.parametrize("depth", [0, 700])
def test_an_alarm_does_not_interrupt_the_alarm_before_it_without_end(depth):
    """Far down in a recursion, or on a slow machine, an alarm takes longer than the pause until the next one."""

    def at_depth(n):
        if n:
            at_depth(n - 1)
        while True:
            gc.collect()

    def slow(phase, info):
        busy(0.02)

    gc.callbacks.append(slow)
    try:
        with pytest.raises(timelimit.TimeUp):
            timelimit.call_within(0.2, lambda: at_depth(depth))
    finally:
        gc.callbacks.remove(slow)


def endless_and_stubborn(x):
    while True:
        try:
            sum(range(1000))
        except:  # noqa: E722
            pass


def waits_and_is_stubborn(x):
    while True:
        try:
            time.sleep(0.01)
        except:  # noqa: E722
            pass


def endless_and_doubly_stubborn(x):
    while True:
        try:
            try:
                while True:
                    pass
            except Exception:
                pass
        except BaseException:
            continue


def endless_in_numpy(x):
    while True:
        x = x + 1


def swallows_and_returns(x):
    try:
        while True:
            pass
    except BaseException:
        return right(x)


ENDLESS = [endless, endless_and_stubborn, endless_and_doubly_stubborn, endless_in_numpy, swallows_and_returns]
STILL = "[!] softmax: your function is still running after 0.2 seconds of computing"
STOPPED = "[!] softmax: your function has slept for 1 seconds on the case"
has_alarm = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal")
has_monitoring = pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="Python 3.11 has no sys.monitoring")


def wait(x):
    time.sleep(1e6)


@has_alarm
@pytest.mark.parametrize("answer", [*ENDLESS, wait, waits_and_is_stubborn])
def test_an_endless_loop_is_stopped(answer):
    """In a process of its own: an alarm that falls into pytest's code, which may run in between, says nothing about ours."""
    waits = answer not in ENDLESS
    code = f"import test_timelimit; test_timelimit.stop(test_timelimit.{answer.__name__}, {waits})"
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=600)
    said = done.stdout.splitlines()
    assert said and said[0].startswith(STOPPED if waits else STILL), said + [done.stderr]
    assert said[1:] == ["passed"], done.stderr


def stop(answer, waits):
    if waits:
        timelimit.WALL = 1.0
    calls.TIME_LIMIT = 0.1 if waits else 0.2
    print(first_line(answer))
    timelimit.WALL = 600.0
    calls.TIME_LIMIT = 60.0
    print(grade("softmax", right).status)


class Clock:
    """In the place of a real one: it goes on by so much each time it is looked at."""

    def __init__(self, step):
        self.time, self.step = 0.0, step

    def __call__(self):
        self.time += self.step
        return self.time


@pytest.fixture(params=[pytest.param("_alarm", marks=has_alarm), pytest.param("_look_at_the_clock", marks=has_monitoring)])
def limited(request):
    """Both ways to stop a function."""
    return getattr(timelimit, request.param)


def until(seconds):
    """A right answer that computes for so long."""

    def answer():
        end = computed() + seconds
        while computed() < end:
            pass
        return "right"

    return answer


def test_who_waits_for_the_processor_is_not_stopped(limited, monkeypatch):
    """As beside heavy work: a hundredth of the time on the wall is the function's own."""
    monkeypatch.setattr(timelimit, "_on_the_wall", lambda: 100 * computed())
    assert limited(0.4, until(0.2)) == "right"


def test_who_computes_for_too_long_is_stopped_however_short_it_was_on_the_wall(limited, monkeypatch):
    monkeypatch.setattr(timelimit, "_on_the_wall", lambda: 0.0)
    with pytest.raises(timelimit.TimeUp) as stopped:
        limited(0.1, until(30))
    assert not stopped.value.waited and stopped.value.seconds == 0.1 * timelimit._SLOWER  # the browser gets more


def test_who_sleeps_is_stopped_in_the_end_and_told_so(limited, monkeypatch):
    monkeypatch.setattr(timelimit, "_on_the_wall", Clock(20.0))
    monkeypatch.setattr(timelimit, "computed", lambda: 0.0)
    monkeypatch.setattr(timelimit, "_waited_for_a_processor", lambda: 0.0)
    with pytest.raises(timelimit.TimeUp) as stopped:
        limited(0.05, until(30))
    assert stopped.value.waited and not stopped.value.given_up and stopped.value.seconds == timelimit.WALL == 60.0


@pytest.mark.parametrize("queued", [None, 1e9], ids=["nobody counts", "always in the queue"])
def test_who_never_gets_the_processor_is_given_up_without_a_verdict(limited, queued, monkeypatch):
    clock = Clock(20.0)
    monkeypatch.setattr(timelimit, "_on_the_wall", clock)
    monkeypatch.setattr(timelimit, "computed", lambda: 0.0)
    monkeypatch.setattr(timelimit, "_waited_for_a_processor", lambda: queued and clock.time)
    with pytest.raises(timelimit.TimeUp) as stopped:
        limited(0.05, until(30))
    assert stopped.value.given_up and stopped.value.seconds == timelimit.LAST_RESORT == 600.0


def test_the_limit_on_sleeping_is_at_least_ten_times_that_of_computing():
    assert [timelimit.asleep_at_most(seconds) for seconds in (0.1, 2.0, 60.0)] == [60.0, 60.0, 600.0]


def test_a_stopped_answer_is_told_which_limit_it_met():
    exercise = registry()["softmax"]
    given = (2.0,), (60.0, True), (600.0, True, True)
    said = [judge.stopped(exercise, "square", timelimit.TimeUp(*each)).lines[0] for each in given]
    assert said == [
        '[!] softmax: your function is still running after 2 seconds of computing on the case "square": which loop in it never ends?',
        '[!] softmax: your function has slept for 60 seconds on the case "square": what does it wait for?',
        '[ ] softmax: not judged: your function was still running after 600 seconds on the case "square": either it waits for '
        "something, or the machine is too busy. Check again later.",
    ]


@has_alarm
def test_an_alarm_that_rings_as_the_function_ends_is_not_set_again(monkeypatch):
    """It would end the session: nobody answers it any more."""
    set_alarm = signal.setitimer

    def ring_once_more(which, seconds, *interval):
        before = set_alarm(which, seconds, *interval)
        if seconds == 0:
            signal.raise_signal(signal.SIGALRM)
        return before

    monkeypatch.setattr(signal, "setitimer", ring_once_more)
    assert timelimit.call_within(60.0, lambda: "right") == "right"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@has_alarm
def test_somebody_elses_alarm_survives(monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.1)
    rung = []
    old = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 3000.0, 5.0)
        grade("softmax", right)
        grade("softmax", endless)
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 1 < left < 3000 and interval == 5.0 and not rung
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        grade("softmax", endless)  # ends after the other alarm was due: it rings then
        deadline = time.monotonic() + 600
        while not rung and time.monotonic() < deadline:
            time.sleep(0.01)
        assert rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@has_monitoring
@pytest.mark.parametrize("answer", ENDLESS)
def test_an_endless_loop_in_another_thread_is_stopped(answer, monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.2)
    lines = []
    thread = threading.Thread(target=lambda: lines.append(first_line(answer)), daemon=True)
    thread.start()
    thread.join(600)
    assert lines and lines[0].startswith(STILL)


def test_another_thread_can_check():
    results = []
    thread = threading.Thread(target=lambda: results.append(grade("softmax", right)))
    thread.start()
    thread.join()
    assert results[0].status == "passed"


def test_the_clock_way_returns_results_and_exceptions():
    assert timelimit._look_at_the_clock(5.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        timelimit._look_at_the_clock(5.0, lambda: 1 / 0)
