"""Judge an answer in a process of its own, so that nothing it does reaches the session.

On Linux a copy of the whole session is made in a few milliseconds (`os.fork`). The copy judges the answer, sends what it
found, and is gone, with all that was patched, started, left open or eaten up in it. The system ends a copy that has
computed for too long (`RLIMIT_CPU`), and the session ends one that says nothing for very long, so that compiled code that
never returns ends with a sentence, too.

Elsewhere `grade` judges in the session itself: Windows and the browser cannot copy a process, and on macOS a copy cannot use
the system's own linear algebra.

What a copy of the session may do while it judges an answer: compute. Nothing here can be undone; the copy is thrown away.

It gets no keyboard and no screen, limits of memory and of processes, no way to end the session, and it cannot change a file that was there
before. New files it may write: what an answer notes down for itself is its own affair.
"""

import contextlib
import dataclasses
import faulthandler
import gc
import io
import math
import os
import pickle
import signal
import sys
import time
import warnings

from attnexercises.engine import diagnose, timelimit
from attnexercises.engine.judge import ends_python, grade, is_judging, stopped
from attnexercises.engine.model import Exercise, Result
from attnexercises.engine.registry import find
from attnexercises.engine.session import session_restored

GRACE = 1.0  # seconds beyond the limit of a call, which the copy stops by itself where it can
OURS = 60.0  # seconds of computing for what the judge does between two calls
LOOK = 1.0  # seconds between two looks at a copy that says nothing
ASLEEP = 3  # looks in a row at which it stands still

_leave = os._exit


def grade_apart(exercise, answer, *, details=False):
    """Judge an answer as `grade` does, in a process of its own where the system has a way to do so.

    Examples
    --------
    >>> print(grade_apart("delta_sum", 3).lines[0])  # doctest: +ELLIPSIS
    [!] delta_sum: ...
    """
    with session_restored():
        exercise = exercise if isinstance(exercise, Exercise) else find(exercise)
        if not possible():
            return grade(exercise, answer, details=details)
        diagnose.expected(exercise)  # computed here, every later copy has it
        copy = _copy(exercise, answer, details)
        if copy is None:  # no room for another process
            return grade(exercise, answer, details=details)
        return _watched(exercise, answer, details, *copy)


def possible():
    """Can the session be copied, and is it not a copy already?"""
    return sys.platform == "linux" and hasattr(os, "fork") and not is_judging()


def _copy(exercise, answer, details):
    """Let a copy judge; return its number and our end of the pipe that it speaks into. None if there can be none."""
    from multiprocessing.connection import Connection  # not in every Python, and not needed before

    ours, theirs = os.pipe()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from Python 3.12 on: "multi-threaded, use of fork() may lead to deadlocks"
            number = os.fork()
    except OSError:
        os.close(ours)
        os.close(theirs)
        return None
    if number:
        os.close(theirs)
        return number, Connection(ours, writable=False)
    try:
        os.close(ours)
        _judge_here(exercise, answer, details, Connection(theirs, readable=False))
    finally:
        _leave(0)


def _judge_here(exercise, answer, details, pipe):
    """What the copy does."""
    from attnexercises.engine.isolation import compute_at_most, guard

    def tell(seconds, label):
        compute_at_most(seconds + GRACE if seconds else OURS)
        pipe.send_bytes(pickle.dumps((seconds, label)))

    guard()
    compute_at_most(OURS)
    timelimit.listen(tell)
    pipe.send_bytes(pickle.dumps(_portable(grade(exercise, answer, details=details))))


def _portable(result):
    """The result without what only this process can hold, such as an object of a class of the reader's."""
    fields = {field.name: getattr(result, field.name) for field in dataclasses.fields(Result)}
    for field in dataclasses.fields(Result):
        try:
            _unpickled(pickle.dumps(fields[field.name]))
        except Exception:
            fields[field.name] = field.default
    return fields


class _OursAlone(pickle.Unpickler):
    """Makes nothing of what is sent but numbers, words and what NumPy and we define."""

    def find_class(self, module, name):
        if module.partition(".")[0] not in ("numpy", "attnlib", "attnexercises", "fractions", "decimal") and module != "builtins":
            raise pickle.UnpicklingError(module)
        return super().find_class(module, name)


def _unpickled(data):
    return _OursAlone(io.BytesIO(data)).load()


def _watched(exercise, answer, details, number, pipe):
    """Wait for what the copy found; end it where it does not come to an end by itself."""
    label, limit, said, gone, looks = "", 0.0, None, False, _Looks(number)
    deadline = time.monotonic() + timelimit.on_the_wall(OURS)
    try:
        while not isinstance(said, dict):
            if not pipe.poll(LOOK):
                if time.monotonic() > deadline or (looks.stands_still() and _threads_of_others()):
                    break
                continue
            try:
                said = _unpickled(pipe.recv_bytes())
            except (EOFError, OSError, pickle.UnpicklingError):
                gone = True
                break
            if not isinstance(said, dict):
                limit, label = said
                deadline = time.monotonic() + timelimit.on_the_wall(limit or OURS) + GRACE
                looks = _Looks(number)
    finally:  # also if Ctrl-C was pressed
        pipe.close()
        status = _end(number)
    if isinstance(said, dict):
        return Result(**said)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return stopped(exercise, label, timelimit.TimeUp(limit or OURS))
    if gone or not _killed_by_us(status):
        return ends_python(exercise, label, _how(status))
    if looks.stood_still and _threads_of_others():
        return grade(exercise, answer, details=details)
    return stopped(exercise, label, timelimit.TimeUp(timelimit.on_the_wall(limit or OURS), waited=True))


class _Looks:
    """Looks at a copy, one after the other: does it compute, or wait for its turn? Or does it stand still?"""

    def __init__(self, number):
        self.number, self.before, self.still = number, None, 0

    def stands_still(self):
        """Look once more."""
        seen = self._seen()
        self.still = self.still + 1 if seen and seen == self.before and "R" not in seen[0] else 0
        self.before = seen
        return self.stood_still

    @property
    def stood_still(self):
        return self.still >= ASLEEP

    def _seen(self):
        """The states of its threads ("R" for one that computes, or would if it were its turn) and the time they have computed."""
        states, ticks = "", 0
        try:
            for thread in os.listdir(f"/proc/{self.number}/task"):
                with open(f"/proc/{self.number}/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
                states, ticks = states + fields[0], ticks + int(fields[11]) + int(fields[12])
        except (OSError, ValueError, IndexError):
            return None
        return states, ticks


def _end(number):
    """End the copy and all that it started; return how it ended."""
    gone, status = os.waitpid(number, os.WNOHANG)
    for kill in (os.killpg, os.kill):
        try:
            kill(number, signal.SIGKILL)
        except OSError:
            pass
    return status if gone else os.waitpid(number, 0)[1]


def _killed_by_us(status):
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _how(status):
    if not os.WIFSIGNALED(status):
        return f"exit code {os.WEXITSTATUS(status)}"
    if _killed_by_us(status):
        return "too much memory?"
    return signal.Signals(os.WTERMSIG(status)).name


def _threads_of_others():
    """Is there a library of threads (OpenMP) that stands still in a copy? Then its silence says nothing about the answer."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            return any(name in line for line in file for name in ("libgomp", "libomp", "libiomp"))
    except OSError:
        return False


MEMORY = 4 * 2**30  # bytes beyond those that the session has already
FILE = 2**26  # bytes of one new file
COPIES = 64  # processes that it may start by `os.fork`

_computed = time.process_time  # as it came: an answer can replace it


def guard():
    """Turn this process into one that can hurt nobody."""
    os.setpgid(0, 0)  # with all it starts, it is ended together; and Ctrl-C is the session's
    with contextlib.suppress(OSError, ValueError):
        signal.set_wakeup_fd(-1)  # a notebook's own, shared with the session
    for number in (signal.SIGINT, signal.SIGTTOU, signal.SIGTTIN):
        signal.signal(number, signal.SIG_IGN)
    for stream in (0, 1, 2):
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, stream)
            os.close(nowhere)
    faulthandler.disable()
    gc.freeze()  # what the session holds is the session's to clean up
    sys.dont_write_bytecode = True
    _limits()
    sys.addaudithook(_Files().watch)


def _limits():
    import resource

    with contextlib.suppress(OSError):  # if memory runs out all the same, the system ends this process first
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            have = int(file.read().split()[5]) * resource.getpagesize()
        _lower(resource, resource.RLIMIT_DATA, have + MEMORY)  # not of addresses: threads reserve many, and use few
    _lower(resource, resource.RLIMIT_CORE, 0)
    _lower(resource, resource.RLIMIT_FSIZE, FILE)


def compute_at_most(seconds):
    """From now on this process may compute for so many seconds; then the system ends it, even in the middle of compiled code."""
    import resource

    _lower(resource, resource.RLIMIT_CPU, math.ceil(_computed() + seconds))  # the system counts whole seconds


def _lower(resource, which, limit):
    with contextlib.suppress(OSError, ValueError):
        hard = resource.getrlimit(which)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(which, (limit, hard))


class _Files:
    """Sees what a function is about to do with files and processes, and stops what would outlast the check."""

    def __init__(self):
        self.new, self.session, self.own, self.copies = set(), os.getppid(), os.getpid(), 0

    def watch(self, event, arguments):
        act = _ACTS.get(event)
        if act is not None:
            act(self, *arguments)

    def opened(self, path, mode, flags):
        if isinstance(path, int) or path is None:
            return
        writes = any(letter in mode for letter in "wax+") if mode else flags & (os.O_WRONLY | os.O_RDWR | os.O_TRUNC)
        if writes:
            self.changed(path)

    def changed(self, path, directory=-1, *_):
        """Let nothing be changed but what this process made itself."""
        if isinstance(path, int):
            return
        path = self.full(path, directory)
        if path in self.new or path == os.devnull:
            return
        if os.path.lexists(path):
            raise PermissionError(f"a check lets no function change or delete a file: {os.path.basename(path)}")
        self.new.add(path)

    def renamed(self, old, new, directory=-1, other=-1, *_):
        self.changed(old, directory)
        self.changed(new, other)

    def killed(self, process, *_):
        if process in (self.session, -1, -self.session):
            raise PermissionError("a check lets no function end another process")

    def copied(self):
        self.copies += 1
        if self.copies > COPIES or os.getpid() != self.own:
            raise PermissionError("a check lets no function start so many processes")

    def started(self, *_):
        raise PermissionError("a check lets no function start another program")

    @staticmethod
    def full(path, directory):
        path = os.fsdecode(path)
        if isinstance(directory, int) and directory >= 0:
            path = os.path.join(os.readlink(f"/proc/self/fd/{directory}"), path)
        return os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))


_ACTS = {
    "open": _Files.opened,
    "os.remove": _Files.changed,
    "os.rmdir": _Files.changed,
    "os.mkdir": lambda files, path, mode, directory: files.changed(path, directory),
    "os.rename": _Files.renamed,
    "os.truncate": _Files.changed,
    "os.chmod": lambda files, path, mode, directory: files.changed(path, directory),
    "os.link": lambda files, old, new, directory, other: files.changed(new, other),
    "os.symlink": lambda files, old, new, directory: files.changed(new, directory),
    "shutil.rmtree": _Files.changed,
    "os.kill": _Files.killed,
    "os.killpg": lambda files, group, number: files.killed(-group),
    "os.fork": _Files.copied,
    "os.forkpty": _Files.copied,
    "os.system": _Files.started,
    "os.exec": _Files.started,
    "os.posix_spawn": _Files.started,
    "os.spawn": _Files.started,
    "subprocess.Popen": _Files.started,
}
