"""An answer may do anything: what is seen of it, and what is left of it in the session? Nothing may be."""

import builtins
import gc
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from answers import right
from hostile_answers import APART, EVERYWHERE, STILL, STOPPED

from attnexercises import grade
from attnexercises.engine import calls, isolation, session, timelimit
from attnexercises.engine.session import session_restored

needs_a_process = pytest.mark.skipif(not isolation.possible(), reason="this system cannot copy a process")


@pytest.fixture
def state(tmp_path, monkeypatch):
    """What a session is: everything that a check must leave as it was."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precious.txt").write_text("years of work")
    monkeypatch.setattr(timelimit, "WALL", 600.0)  # whatever ends by itself ends, however busy the machine is
    monkeypatch.setattr(session, "_PATIENCE", 0.2)
    monkeypatch.setattr(isolation, "GRACE", 0.3)

    def state():
        threads = [thread for thread in threading.enumerate() if not thread.daemon]
        files = {name: (tmp_path / name).read_bytes()[:100] for name in os.listdir(tmp_path) if name != "new.txt"}
        return {
            "functions": [*map(id, (np.exp, np.random.rand, np.linalg.norm, math.exp, sum, isinstance, warnings.warn,
                                    time.monotonic, input, os._exit, open))],
            "streams": (sys.stdin, sys.stdout, sys.stderr), "closed": (sys.stdout.closed, sys.stderr.closed),
            "modules": (sys.modules["json"], sys.modules["math"], sys.modules["numpy"]), "path": list(sys.path),
            "place": (os.getcwd(), dict(os.environ)), "files": files, "threads": threads,
            "interpreter": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), list(warnings.filters),
                            sys.excepthook, sys.displayhook, sys.gettrace()),
            "numpy": (np.geterr(), np.get_printoptions(), str(np.random.get_state())), "random": random.getstate(),
            "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
        }  # fmt: skip

    return state


def judged(judge, answer, sentence, state):
    before = state()
    with pytest.MonkeyPatch.context() as patch:
        if sentence == STILL:
            patch.setattr(calls, "TIME_LIMIT", 0.3)
        if sentence == STOPPED:  # nothing but the clock on the wall can stop it
            patch.setattr(calls, "TIME_LIMIT", 0.05)
            patch.setattr(timelimit, "WALL", 2.0)
        result = judge("softmax", answer)
    assert state() == before
    if sentence:
        assert result.status in ("crashed", "wrong") and re.search(sentence, result.lines[0]), result.lines
    else:
        assert result.status == "passed", result.lines
    assert judge("softmax", right).status == "passed"  # the next check is as good as the first
    assert judge("softmax", lambda x: x).status == "wrong"
    assert state() == before


@pytest.mark.parametrize("case", EVERYWHERE)
def test_in_the_session_itself(case, state):
    judged(grade, *EVERYWHERE[case], state)


def children():
    """The processes that this one has started; a browser of other tests may be among them."""
    with open(f"/proc/self/task/{threading.get_native_id()}/children", encoding="ascii") as file:
        return file.read().split()


@needs_a_process
@pytest.mark.parametrize("case", [*EVERYWHERE, *APART])
def test_in_a_process_of_its_own(case, state):
    def files():
        return sorted(os.listdir("/proc/self/fd"))

    opened, before = files(), children()
    judged(isolation.grade_apart, *(EVERYWHERE | APART)[case], state)
    assert files() == opened
    assert children() == before  # no process is left


def test_the_file_of_the_reader_may_do_no_more_than_an_answer():
    before = signal.getsignal(signal.SIGINT)
    with session_restored():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGINT) is before


# --- patched before, slow, interrupted ------------------------------------------------------------


PATCHES = [(np, "exp"), (np, "allclose"), (np.random, "default_rng"), (math, "exp"), (math, "fsum"), (random, "random")] + [
    (builtins, name) for name in "abs all any isinstance len map max min range sorted sum zip".split()
]


@pytest.mark.parametrize("judge", [grade, isolation.grade_apart])
@pytest.mark.parametrize("module, name", PATCHES, ids=lambda x: getattr(x, "__name__", x))
def test_what_was_replaced_before_does_not_change_the_verdict(judge, module, name):
    original, fake = getattr(module, name), lambda *args, **kwargs: 7
    setattr(module, name, fake)
    try:
        verdicts = judge("softmax", right).status, judge("softmax", wrong).status
        kept = vars(module)[name]
    finally:
        setattr(module, name, original)
    assert verdicts == ("passed", "wrong") and kept is fake


def wrong(x):
    return x


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from attnexercises.engine import isolation, calls, judge, timelimit
timelimit.WALL = 6000.0
check = getattr(sys.modules["attnexercises.engine." + sys.argv[1]], sys.argv[2])

def stubborn(x):
    open("begun", "x").close()
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            pass

def press():
    while not os.path.exists("begun"):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press).start()
try:
    print(check("softmax", stubborn))
except KeyboardInterrupt:
    print("stopped by the reader")

def right(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

print(check("softmax", right).status)
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("nobody is left")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
@pytest.mark.parametrize("judge", [("judge", "grade"), ("isolation", "grade_apart")])
def test_ctrl_c_ends_a_check_and_the_next_one_works(judge, tmp_path):
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *judge], cwd=tmp_path, env={**os.environ, "PYTHONPATH": root},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["stopped by the reader", "passed", "nobody is left"], done.stderr


@needs_a_process
@pytest.mark.parametrize("place", ["_copy", "_end"])
def test_ctrl_c_just_after_the_fork_or_during_the_end_leaves_no_copy_behind(place, monkeypatch):
    done, copies = getattr(isolation, place), []

    def interrupted(*args):
        result = done(*args)
        copies.append(result[0] if place == "_copy" else args[0])
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(isolation, place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        isolation.grade_apart("softmax", wrong)
    with pytest.raises(ChildProcessError):
        os.waitpid(copies[0], os.WNOHANG)
