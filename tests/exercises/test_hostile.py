"""An answer may do anything: what is seen of it, and what is left of it in the session? Nothing may be.

`APART` answers would end, stop or fill the session itself; they are tried only where a check has a process of its own.
"""

import builtins
import contextlib
import gc
import itertools
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

from attnlib.exercises import grade
from attnlib.exercises.engine import apart, calls
from attnlib.exercises.engine.session import session_restored

REPLACES = "your function replaces `{}` itself, for every other cell too"


def patches(module, name):
    def answer(x):
        out = right(x)
        setattr(module, name, lambda *args, **kwargs: 0)
        return out

    return answer


def loses_modules(x):
    out = right(x)
    sys.modules["json"] = None
    del sys.modules["math"]
    sys.path.insert(0, "/nowhere")
    return out


def leaves_a_thread(x):
    threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()
    return right(x)


def uses_threads_and_ends_them(x):
    thread = threading.Thread(target=time.sleep, args=(0.01,))
    thread.start()
    thread.join()
    return right(x)


def moves(x):
    os.chdir("/")
    os.environ["HOME"] = "/nowhere"
    os.environ.pop("PATH", None)
    os.environ["ATTNLIB_NEW"] = "1"
    return right(x)


def sets_the_interpreter(x):
    sys.setrecursionlimit(100_000)
    sys.setswitchinterval(1.0)
    gc.disable()
    warnings.simplefilter("error")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    np.seterr(over="raise")
    np.random.seed(0)
    random.seed(0)
    sys.excepthook = sys.displayhook = print
    return right(x)


def prints_megabytes(x):
    for _ in range(50):
        print("x" * 10**5)
        print("x" * 10**5, file=sys.stderr)
    return right(x)


def closes_what_it_prints_to(x):
    sys.stdout.close()
    sys.stdout = sys.stderr = None
    return right(x)


def asks(x):
    return right(x) if input("May I? ") == "yes" else x


def interrupts_itself(x):
    raise KeyboardInterrupt


def exits(x):
    sys.exit("bye")


def exits_at_once(x):
    os._exit(3)


def checks_itself(x):
    from attnlib.exercises import check

    check("softmax", checks_itself)
    return right(x)


def grades_itself_and_hides_it(x):
    with contextlib.suppress(Exception):
        grade("softmax", grades_itself_and_hides_it)
    return right(x)


def uses_another_exercise(x):
    from attnlib.exercises import use

    use("delta_sum", 3)
    return right(x)


def wants_terabytes(x):
    return right(x) + np.zeros((10**6, 10**6))[0, 0]


def calls_itself(x):
    return calls_itself(x)


class Lying:
    """Claims whatever is asked; its numbers never come."""

    def __init__(self, endless):
        self.endless = endless

    def __array__(self, dtype=None, copy=None):
        while self.endless:
            pass
        return np.zeros((2, 3, 5))

    def __eq__(self, other):
        return True

    def __repr__(self):
        while True:
            pass

    __str__ = __repr__


class SaysNothing(Exception):
    def __str__(self):
        while True:
            pass


def raises_what_takes_for_ever_to_say(x):
    raise SaysNothing


class EqualToAll(np.ndarray):
    def __eq__(self, other):
        return np.True_

    def __array_function__(self, *args):
        return True

    def __array_ufunc__(self, *args, **kwargs):
        return True


class Refuses(np.ndarray):
    """Right numbers that let nobody compute with them."""

    def __array_function__(self, *args):
        raise TypeError

    def __array_ufunc__(self, *args, **kwargs):
        raise TypeError


def holds_itself(x):
    rows = []
    rows.append(rows)
    return rows


def waits_in_regex(x):
    return re.match("(a+)+$", "a" * 60 + "b")


def sleeps(x):
    time.sleep(1e9)


STILL = 'your function is still running after .* on the case "all sizes differ"'

# What it does, what is said to it ("" for a pass); in the session or apart, it is the same.
EVERYWHERE = {
    "replaces np.exp": (patches(np, "exp"), REPLACES.format("np.exp")),
    "replaces np.random.rand": (patches(np.random, "rand"), REPLACES.format("np.random.rand")),
    "replaces np.linalg.norm": (patches(np.linalg, "norm"), REPLACES.format("np.linalg.norm")),
    "replaces math.exp": (patches(math, "exp"), REPLACES.format("math.exp")),
    "replaces sum": (patches(builtins, "sum"), REPLACES.format("sum")),
    "replaces isinstance": (patches(builtins, "isinstance"), REPLACES.format("isinstance")),
    "replaces warnings.warn": (patches(warnings, "warn"), REPLACES.format("warnings.warn")),
    "replaces time.monotonic": (patches(time, "monotonic"), REPLACES.format("time.monotonic")),
    "loses modules": (loses_modules, ""),
    "leaves a thread": (leaves_a_thread, "your function starts a thread that is still running when it returns"),
    "uses threads and ends them": (uses_threads_and_ends_them, ""),
    "moves": (moves, ""),
    "sets the interpreter": (sets_the_interpreter, ""),
    "prints megabytes": (prints_megabytes, ""),
    "closes what it prints to": (closes_what_it_prints_to, ""),
    "asks": (asks, "your function stops with EOFError: a check answers no `input`"),
    "interrupts itself": (interrupts_itself, "your function stops with KeyboardInterrupt"),
    "exits": (exits, r"your function ends Python itself \(SystemExit\)"),
    "exits at once": (exits_at_once, r"your function ends Python itself \(SystemExit\)"),
    "checks itself": (checks_itself, "your function calls the check of softmax inside that very check"),
    "grades itself and hides it": (grades_itself_and_hides_it, ""),
    "uses another exercise": (uses_another_exercise, ""),
    "wants terabytes": (wants_terabytes, "your function asks for more memory than there is: .*TiB"),
    "calls itself": (calls_itself, "your function calls itself without end"),
    "returns an endless generator": (lambda x: itertools.count(), "your function returns a count, not numbers"),
    "returns what never becomes numbers": (lambda x: Lying(True), STILL),
    "returns what claims to be equal": (lambda x: Lying(False), "softmax: "),
    "returns an array that claims to be equal": (lambda x: np.zeros(x.shape).view(EqualToAll), "softmax: "),
    "returns right numbers that refuse": (lambda x: right(x).view(Refuses), ""),
    "raises what takes for ever to say": (raises_what_takes_for_ever_to_say, STILL),
    "returns a list that holds itself": (holds_itself, "your function returns lists within lists, without end"),
    "returns a trillion numbers": (
        lambda x: np.broadcast_to(0.0, (10**6, 10**6)),
        r"your function returns an array of shape \(1000000, 1000000\): far too many numbers",
    ),
    "a regular expression without end": (waits_in_regex, STILL),
    "sleeps": (sleeps, STILL),
}


def deletes(x):
    os.remove("precious.txt")
    return right(x)


def overwrites(x):
    with open("precious.txt", "w") as file:
        file.write("mine")
    return right(x)


def renames(x):
    os.replace("precious.txt", "elsewhere.txt")
    return right(x)


def notes_something_down(x):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            with open(os.path.join(folder, "notes.txt"), "w") as file:
                file.write("x" * 100)
    return right(x)


def fills_the_disk(x):
    with open("new.txt", "wb") as file:
        for _ in range(1000):
            file.write(bytes(10**6))
    return right(x)


def starts_a_program(x):
    os.system("echo")
    return right(x)


def ends_the_session(x):
    os.kill(os.getppid(), signal.SIGTERM)
    return right(x)


def multiplies(x):
    for _ in range(1000):
        if os.fork() == 0:
            os._exit(0)
    return right(x)


def one_copy_at_work(x):
    number = os.fork()
    if number == 0:
        os._exit(0)
    os.waitpid(number, 0)
    return right(x)


def blocks_the_alarm(x):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    time.sleep(1e9)


def crashes_python(x):
    import ctypes

    return ctypes.string_at(0)


def closes_every_file(x):
    os.closerange(0, 1000)
    return right(x)


def fills_memory(x):
    kept = []
    while True:
        kept.append(np.zeros(10**8))


APART = {
    "counts for ever in compiled code": (lambda x: sum(itertools.count()), STILL),
    "a number without end": (lambda x: 7 ** 7 ** 7 ** 7, STILL),
    "blocks the alarm": (blocks_the_alarm, STILL),
    "deletes a file": (deletes, "a check lets no function change or delete a file: precious.txt"),
    "overwrites a file": (overwrites, "a check lets no function change or delete a file: precious.txt"),
    "renames a file": (renames, "a check lets no function change or delete a file: precious.txt"),
    "notes something down": (notes_something_down, ""),
    "fills the disk": (fills_the_disk, "your function stops with OSError"),
    "starts a program": (starts_a_program, "a check lets no function start another program"),
    "ends the session": (ends_the_session, "a check lets no function end another process"),
    "multiplies": (multiplies, "a check lets no function start so many processes"),
    "one copy at work": (one_copy_at_work, ""),
    "crashes Python": (crashes_python, r'ends Python itself on the case "all sizes differ" \(SIGSEGV\)'),
    "closes every file": (closes_every_file, 'ends Python itself on the case "all sizes differ"'),
    "fills memory": (fills_memory, "your function asks for more memory than there is: .*MiB"),
}

needs_a_process = pytest.mark.skipif(not apart.possible(), reason="this system cannot copy a process")


@pytest.fixture
def state(tmp_path, monkeypatch):
    """What a session is: everything that a check must leave as it was."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precious.txt").write_text("years of work")
    monkeypatch.setattr(calls, "TIME_LIMIT", 60)  # whatever ends by itself ends, however busy the machine is
    monkeypatch.setattr(apart, "GRACE", 0.3)

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


@needs_a_process
@pytest.mark.parametrize("case", [*EVERYWHERE, *APART])
def test_in_a_process_of_its_own(case, state):
    def files():
        return sorted(os.listdir("/proc/self/fd"))

    opened = files()
    judged(apart.grade_apart, *(EVERYWHERE | APART)[case], state)
    assert files() == opened
    with pytest.raises(ChildProcessError):  # no process is left
        os.waitpid(-1, os.WNOHANG)


def test_the_file_of_the_reader_may_do_no_more_than_an_answer():
    before = signal.getsignal(signal.SIGINT)
    with session_restored():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGINT) is before


# --- patched before, slow, interrupted ------------------------------------------------------------


PATCHES = [(np, "exp"), (np, "allclose"), (np.random, "default_rng"), (math, "exp"), (math, "fsum"), (random, "random")] + [
    (builtins, name) for name in "abs all any isinstance len map max min range sorted sum zip".split()
]


@pytest.mark.parametrize("judge", [grade, apart.grade_apart])
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


class Clock:
    """In the place of the real one: a call takes as long as it says."""

    time = 0.0

    def __call__(self):
        return self.time


@pytest.mark.parametrize("slow_calls, told", [(10**6, True), (1, False)])
def test_a_slow_answer_is_told_so_after_one_case_unless_it_was_slow_only_once(slow_calls, told, monkeypatch):
    clock, called = Clock(), []
    monkeypatch.setattr(calls, "now", clock)

    def slow(x):
        called.append(x.shape)
        clock.time += 1.5 if len(called) <= slow_calls else 0.001
        return right(x)

    result = grade("softmax", slow)
    if told:
        assert result.lines[0] == (
            '[!] softmax: a call on the case "all sizes differ" takes more than 1 second, again and again; it should take '
            "milliseconds. What is it busy with?"
        )
        assert called == [(2, 3, 5)] * 2
    else:
        assert result.status == "passed"


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from attnlib.exercises.engine import apart, calls, judge
calls.TIME_LIMIT = 60
check = getattr(sys.modules["attnlib.exercises.engine." + sys.argv[1]], sys.argv[2])

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
@pytest.mark.parametrize("judge", [("judge", "grade"), ("apart", "grade_apart")])
def test_ctrl_c_ends_a_check_and_the_next_one_works(judge, tmp_path):
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *judge], cwd=tmp_path, env={**os.environ, "PYTHONPATH": root},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["stopped by the reader", "passed", "nobody is left"], done.stderr
