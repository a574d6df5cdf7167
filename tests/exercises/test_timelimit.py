"""attnlib.exercises.engine.timelimit: does every endless answer end, and nobody else's alarm with it?"""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from answers import first_line, right

from attnlib.exercises import grade
from attnlib.exercises.engine import calls, timelimit


def endless(x):
    while True:
        pass


def endless_and_stubborn(x):
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


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal")
@pytest.mark.parametrize(
    "answer", [endless, endless_and_stubborn, endless_and_doubly_stubborn, endless_in_numpy, swallows_and_returns]
)
def test_an_endless_loop_is_stopped(answer):
    """In a process of its own: an alarm that falls into pytest's code, which may run in between, says nothing about ours."""
    code = f"import test_timelimit; test_timelimit.stop(test_timelimit.{answer.__name__})"
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300)
    said = done.stdout.splitlines()
    assert said and said[0].startswith("[!] softmax: your function is still running after"), done.stderr
    assert said[1:] == ["passed"], done.stderr


def stop(answer):
    calls.TIME_LIMIT = 0.2
    print(first_line(answer))
    calls.TIME_LIMIT = 60
    print(grade("softmax", right).status)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal")
def test_somebody_elses_alarm_survives(monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.1)
    rung = []
    old = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30.0, 5.0)
        grade("softmax", right)
        grade("softmax", endless)
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 1 < left < 30 and interval == 5.0 and not rung
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        grade("softmax", endless)  # ends after the other alarm was due: it rings then
        deadline = time.monotonic() + 10
        while not rung and time.monotonic() < deadline:
            time.sleep(0.01)
        assert rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="Python 3.11 has no sys.monitoring")
@pytest.mark.parametrize(
    "answer", [endless, endless_and_stubborn, endless_and_doubly_stubborn, endless_in_numpy, swallows_and_returns]
)
def test_an_endless_loop_in_another_thread_is_stopped(answer, monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.2)
    lines = []
    thread = threading.Thread(target=lambda: lines.append(first_line(answer)), daemon=True)
    thread.start()
    thread.join(30)
    assert lines and lines[0].startswith("[!] softmax: your function is still running after")


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
