"""Answers that may do anything, by what they do, and what is said to each.

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
import sys
import threading
import time
import warnings

import numpy as np
from answers import EqualToAll, right

from attnexercises import grade

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
    threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
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
    from attnexercises import check

    check("softmax", checks_itself)
    return right(x)


def grades_itself_and_hides_it(x):
    with contextlib.suppress(Exception):
        grade("softmax", grades_itself_and_hides_it)
    return right(x)


def uses_another_exercise(x):
    from attnexercises import use

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


STILL = 'your function is still running after .* of computing on the case "all sizes differ"'
STOPPED = 'your function has slept for .* seconds on the case "all sizes differ": what does it wait for'

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
    "sleeps": (sleeps, STOPPED),
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
    "blocks the alarm": (blocks_the_alarm, STOPPED),
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
    "closes every file": (closes_every_file, r'ends Python itself on the case "all sizes differ" \(it closes files that are not its own\)'),
    "fills memory": (fills_memory, "your function asks for more memory than there is: .*MiB"),
}
