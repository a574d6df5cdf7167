"""Judge an answer in a separate process, so that nothing that it does reaches the session.

On Linux, `os.fork` copies the whole session in a few milliseconds. The copy judges the answer, sends the result through
a pipe and ends; everything that the answer replaced, started, left open or used up ends with it. The system ends a copy
that has computed for too long (`RLIMIT_CPU`), and the session ends a copy that has been silent for very long. So even
an answer that is stuck in compiled code gets a message.

Elsewhere `grade` judges in the session itself, because Windows and the browser cannot copy a process, and because on
macOS a copy cannot use the system's linear algebra.

`guard` restricts the copy before it judges. The copy gets no keyboard and no screen, and its memory and its number of
processes are limited. It can neither end the session nor change a file that existed before. It may write new files,
which do no harm. The restrictions are never lifted: the copy ends when it has sent the result.
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
import threading
import time
import warnings

from attnexercises.engine import diagnose, timelimit
from attnexercises.engine.judge import ends_python, grade, is_judging, stopped
from attnexercises.engine.model import Exercise, Result
from attnexercises.engine.registry import find
from attnexercises.engine.session import session_restored

# The copy itself stops a call at its time limit, unless the call is stuck in compiled code. The system ends the copy,
# or the session gives up waiting, this many seconds later, so that the copy comes first where it can.
GRACE = 1.0
OURS = 60.0  # seconds of computing for what the judge does between two calls
LOOK = 1.0  # seconds between two observations of a copy that sends nothing
ASLEEP = 3  # a copy counts as asleep after this many observations in a row without any progress

_leave = os._exit


def grade_apart(exercise, answer, *, details=False):
    """Judge an answer as `grade` does, but in a separate process where the system allows that.

    Examples
    --------
    >>> print(grade_apart("delta_sum", 3).lines[0])  # doctest: +ELLIPSIS
    [!] delta_sum: ...
    """
    with session_restored():
        exercise = exercise if isinstance(exercise, Exercise) else find(exercise)
        if not possible():
            return grade(exercise, answer, details=details)
        diagnose.expected(exercise)  # computed before the fork, so that every later copy inherits the cached result
        return _judged_by_a_copy(exercise, answer, details)


def possible():
    """Can this process be copied, and is it not already judging an answer (as a copy does)?"""
    return sys.platform == "linux" and hasattr(os, "fork") and not is_judging()


def _copy(exercise, answer, details):
    """Fork a copy that judges the answer. Return its process id and our end of the pipe; None if forking fails."""
    from multiprocessing.connection import Connection  # not every Python has it, and only this function needs it

    ours, theirs = os.pipe()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from Python 3.12 on: "multi-threaded, use of fork() may lead to deadlocks"
            pid = os.fork()
    except OSError:
        os.close(ours)
        os.close(theirs)
        return None
    if pid:
        os.close(theirs)
        return pid, Connection(ours, writable=False)
    try:
        os.close(ours)
        _judge_here(exercise, answer, details, Connection(theirs, readable=False))
    finally:
        _leave(0)


def _judge_here(exercise, answer, details, pipe):
    """Judge the answer in the copy, and send the result through the pipe."""
    from attnexercises.engine.isolation import compute_at_most, guard

    def tell(seconds, label):
        compute_at_most(seconds + GRACE if seconds else OURS)
        pipe.send_bytes(pickle.dumps((seconds, label)))

    guard()
    compute_at_most(OURS)
    timelimit.listen(tell)
    pipe.send_bytes(pickle.dumps(_portable(grade(exercise, answer, details=details))))


def _portable(result):
    """The result as a dict. A field that cannot be pickled, such as an object of a reader's class, gets its default."""
    fields = {field.name: getattr(result, field.name) for field in dataclasses.fields(Result)}
    for field in dataclasses.fields(Result):
        try:
            _unpickled(pickle.dumps(fields[field.name]))
        except Exception:
            fields[field.name] = field.default
    return fields


class _OursAlone(pickle.Unpickler):
    """An unpickler that refuses all classes but those of Python, NumPy and this project: the data may be forged."""

    def find_class(self, module, name):
        if module.partition(".")[0] not in ("numpy", "attnlib", "attnexercises", "fractions", "decimal") and module != "builtins":
            raise pickle.UnpicklingError(module)
        return super().find_class(module, name)


def _unpickled(data):
    return _OursAlone(io.BytesIO(data)).load()


def _judged_by_a_copy(exercise, answer, details):
    """Make a copy, wait for its result, end it, and return a `Result` even if the copy sent none."""
    copy, label, limit, said, gone = None, "", 0.0, None, False
    deadline = time.monotonic() + timelimit.on_the_wall(OURS)
    try:
        with _interrupts_held():  # or Ctrl-C between the fork and the next line would leave a copy behind
            copy = _copy(exercise, answer, details)
        if copy is None:  # the system refused another process
            return grade(exercise, answer, details=details)
        pid, pipe = copy
        looks = _Looks(pid)
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
                looks = _Looks(pid)
    finally:  # this runs after Ctrl-C, too
        if copy:
            with _interrupts_held():
                copy[1].close()
                status = _end(copy[0])
    if isinstance(said, dict):
        return Result(**said)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return stopped(exercise, label, timelimit.TimeUp(limit or OURS))
    if gone or not _killed_by_us(status):
        return ends_python(exercise, label, _how_it_ended(status))
    if looks.stood_still and _threads_of_others():
        return grade(exercise, answer, details=details)
    return stopped(exercise, label, timelimit.TimeUp(timelimit.on_the_wall(limit or OURS), waited=True))


@contextlib.contextmanager
def _interrupts_held():
    """Let Ctrl-C wait until the end of the block."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:  # Python cannot put None back
        yield
        return
    pressed = []
    signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            signal.raise_signal(signal.SIGINT)


class _Looks:
    """Observes a copy repeatedly, to tell whether it computes (or waits for a processor) or whether it is asleep."""

    def __init__(self, pid):
        self.pid, self.before, self.still = pid, None, 0

    def stands_still(self):
        """Observe the copy once more, and return whether it counts as asleep."""
        seen = self._seen()
        self.still = self.still + 1 if seen and seen == self.before and "R" not in seen[0] else 0
        self.before = seen
        return self.stood_still

    @property
    def stood_still(self):
        return self.still >= ASLEEP

    def _seen(self):
        """The states of its threads and their processor time. "R" is a thread that runs or waits for a processor."""
        states, ticks = "", 0
        try:
            for thread in os.listdir(f"/proc/{self.pid}/task"):
                with open(f"/proc/{self.pid}/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
                states, ticks = states + fields[0], ticks + int(fields[11]) + int(fields[12])
        except (OSError, ValueError, IndexError):
            return None
        return states, ticks


def _end(pid):
    """End the copy and all processes that it started; return the exit status of the copy."""
    gone, status = os.waitpid(pid, os.WNOHANG)
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return status if gone else os.waitpid(pid, 0)[1]


def _killed_by_us(status):
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _how_it_ended(status):
    """Say in a word or two how the copy ended, for the message of the check."""
    if not os.WIFSIGNALED(status):
        return f"exit code {os.WEXITSTATUS(status)}"
    if _killed_by_us(status):
        return "too much memory?"
    return signal.Signals(os.WTERMSIG(status)).name


def _threads_of_others():
    """Is a thread library (OpenMP) loaded? It can hang in a forked copy, so silence is not the answer's fault then."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            return any(name in line for line in file for name in ("libgomp", "libomp", "libiomp"))
    except OSError:
        return False


MEMORY = 4 * 2**30  # bytes that the copy may use in addition to those of the session
FILE = 2**26  # bytes that one new file may have
COPIES = 64  # processes that the copy may start by `os.fork`

_computed = time.process_time  # kept, because an answer can replace it


def guard():
    """Restrict this process, a copy of the session, so that an answer can do no harm in it."""
    os.setpgid(0, 0)  # so that the copy and its children end together, and Ctrl-C reaches only the session
    with contextlib.suppress(OSError, ValueError):
        signal.set_wakeup_fd(-1)  # a notebook may have set this to a file descriptor that the session uses
    for number in (signal.SIGINT, signal.SIGTTOU, signal.SIGTTIN):
        signal.signal(number, signal.SIG_IGN)
    for stream in (0, 1, 2):
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, stream)
            os.close(nowhere)
    faulthandler.disable()
    gc.freeze()  # the session's objects are not collected here: their finalizers might do harm
    sys.dont_write_bytecode = True
    _limits()
    sys.addaudithook(_AuditHook().watch)


def _limits():
    import resource

    with contextlib.suppress(OSError):  # if memory runs out nevertheless, the system ends this process first
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            have = int(file.read().split()[5]) * resource.getpagesize()
        # RLIMIT_AS would also count address space, of which threads reserve much and use little.
        _lower(resource, resource.RLIMIT_DATA, have + MEMORY)
    _lower(resource, resource.RLIMIT_CORE, 0)
    _lower(resource, resource.RLIMIT_FSIZE, FILE)


def compute_at_most(seconds):
    """Let the system end this process after so many more seconds of computing, even in the middle of compiled code."""
    import resource

    _lower(resource, resource.RLIMIT_CPU, math.ceil(_computed() + seconds))  # the limit is in whole seconds


def _lower(resource, which, limit):
    """Lower one limit of this process, as far as the system allows."""
    with contextlib.suppress(OSError, ValueError):
        hard = resource.getrlimit(which)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(which, (limit, hard))


class _AuditHook:
    """Refuses operations on files and processes whose effects would outlast the check."""

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
        """Refuse to change or delete a file, unless this process has created it."""
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
    "open": _AuditHook.opened,
    "os.remove": _AuditHook.changed,
    "os.rmdir": _AuditHook.changed,
    "os.mkdir": lambda files, path, mode, directory: files.changed(path, directory),
    "os.rename": _AuditHook.renamed,
    "os.truncate": _AuditHook.changed,
    "os.chmod": lambda files, path, mode, directory: files.changed(path, directory),
    "os.link": lambda files, old, new, directory, other: files.changed(new, other),
    "os.symlink": lambda files, old, new, directory: files.changed(new, directory),
    "shutil.rmtree": _AuditHook.changed,
    "os.kill": _AuditHook.killed,
    "os.killpg": lambda files, group, number: files.killed(-group),
    "os.fork": _AuditHook.copied,
    "os.forkpty": _AuditHook.copied,
    "os.system": _AuditHook.started,
    "os.exec": _AuditHook.started,
    "os.posix_spawn": _AuditHook.started,
    "os.spawn": _AuditHook.started,
    "subprocess.Popen": _AuditHook.started,
}
