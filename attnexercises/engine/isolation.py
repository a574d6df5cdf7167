"""Judge an answer in a separate process, so that nothing that it does reaches the session.

On Linux, `os.fork` copies the whole session in a few milliseconds. The copy judges the answer, sends the result through
a pipe and ends; everything that the answer replaced, started, left open or used up ends with it. The system ends a copy
that has computed for too long (`RLIMIT_CPU`), and the session ends a copy that has slept for very long. So even
an answer that is stuck in compiled code gets a message.

What comes through the pipe is `plain_data`. It names no function, so that reading it cannot run code, whoever wrote it.
With a pass the copy sends what the answer returned in every case, and the session compares these outputs itself. An answer
that writes a verdict of its own into the pipe therefore passes only if it also knows the right outputs.

**This is isolation, and no security.** It keeps the session whole when an answer is wrong in a way that nobody foresaw:
endless, greedy, or tidying up the wrong folder. It does not stop a program that wants to do harm. An answer runs with the
rights of the reader's account: it can read what they can read, it can use the network, `ctypes` gets round the audit hook,
and it finds the book's solution in the library's source. For answers of people whom you do not trust, take a container.

Elsewhere `grade` judges in the session itself, because Windows and the browser cannot copy a process, and because on
macOS a copy cannot use the system's linear algebra.
"""

import contextlib
import os
import signal
import sys
import threading
import time
import warnings

from attnexercises.engine import diagnose, plain_data, timelimit
from attnexercises.engine.guard import compute_at_most, guard
from attnexercises.engine.judge import (
    ends_python,
    forged,
    grade,
    is_judging,
    judge_failed,
    not_judged,
    outputs_are_right,
    returned,
    stopped,
)  # fmt: skip
from attnexercises.engine.model import Exercise
from attnexercises.engine.registry import find
from attnexercises.engine.session import session_restored

# The copy itself stops a call at its time limit, unless the call is stuck in compiled code. The system ends the copy,
# or the session gives up waiting, this many seconds later, so that the copy comes first where it can.
GRACE = 1.0
OURS = 60.0  # seconds of computing for what the judge does between two calls
LOOK = 1.0  # seconds between two observations of a copy that sends nothing
MOMENTS = 100  # hundredths of a second for a copy that has closed the pipe, to end by itself
LOST = 64  # the exit code of a copy whose pipe the answer has closed
ASLEEP = 3  # a copy counts as asleep after this many observations in a row without any progress
MUCH = 2**30  # bytes; a copy that held less than that in addition to the session's has not used up the machine's memory

MOST_LINES, MOST_BYTES = 10**5, 2**27  # of what a copy sends; a check sends a few hundred lines

_leave, _write = os._exit, os.write  # kept, because an answer can replace them


def grade_apart(exercise, answer, *, details=False):
    """Judge an answer as `grade` does, but in a separate process where the system allows that.

    Examples
    --------
    >>> print(grade_apart("delta_sum", 3).lines[0])  # doctest: +ELLIPSIS
    [!] delta_sum: ...
    """
    return result_and_outputs(exercise, answer, details=details)[0]


def result_and_outputs(exercise, answer, *, details=False):
    """Judge an answer as `grade_apart` does. Return the result and, if it is a pass, the answer's outputs in all cases."""
    with session_restored():
        exercise = exercise if isinstance(exercise, Exercise) else find(exercise)
        if not possible():
            return _judged_by_this_process(exercise, answer, details)
        diagnose.expected(exercise)  # computed before the fork, so that every later copy inherits the cached result
        return _judged_by_a_copy(exercise, answer, details)


def possible():
    """Can this process be copied, and is it not already judging an answer (as a copy does)?"""
    return sys.platform == "linux" and hasattr(os, "fork") and not is_judging()


def _copy(exercise, answer, details):
    """Fork a copy that judges the answer. Return its process id and our end of the pipe; None if forking fails."""
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
        return pid, ours
    try:
        os.close(ours)
        _judge_here(exercise, answer, details, theirs)
    except OSError:
        _leave(LOST)
    finally:
        _leave(0)


def _judge_here(exercise, answer, details, pipe):
    """Judge the answer in the copy, and send the result through the pipe."""
    def tell(seconds, label):
        compute_at_most(seconds + GRACE if seconds else OURS)
        _send(pipe, plain_data.text_of((seconds, label)))

    guard(pipe)
    compute_at_most(OURS)
    timelimit.listen(tell)
    try:
        seen = []
        said = plain_data.fields_of(grade(exercise, answer, details=details, seen=seen))
        said["outputs"] = returned(exercise, seen) if said["status"] == "passed" else ()
    except BaseException as error:  # a fault of the judge; the session says so
        said = plain_data.exception_in_words(error)
    _send(pipe, plain_data.text_of(said))


def _send(pipe, text):
    line = text.encode("ascii") + b"\n"
    while line:
        line = line[_write(pipe, line) :]


class _Garbled(Exception):
    """Somebody else has written into the pipe."""


class _Lines:
    """The lines that a copy sends. Reading never waits for the rest of a line, because an answer could leave it away."""

    def __init__(self, pipe):
        import select  # not every system has `poll`, and only this class needs it

        self.pipe, self._begun, self._count, self._poll = pipe, bytearray(), 0, select.poll()
        self._poll.register(pipe, select.POLLIN)

    def next(self, seconds):
        """Return what the next line says: None if nothing came within so many seconds, () if only a part of a line came.

        Raises
        ------
        EOFError
            If the pipe was closed.
        _Garbled
            If a line is not plain data.
        """
        if b"\n" not in self._begun:
            if not self._poll.poll(1000 * seconds):
                return None
            part = os.read(self.pipe, 2**16)
            if not part:
                raise _Garbled if self._begun else EOFError
            self._begun += part
        line, end, rest = self._begun.partition(b"\n")
        self._count += bool(end)
        if self._count > MOST_LINES or len(self._begun) > MOST_BYTES:
            raise _Garbled
        if not end:
            return ()
        self._begun = rest
        try:
            said = plain_data.read(line.decode("ascii"))
        except ValueError:
            raise _Garbled from None
        if isinstance(said, dict) or (isinstance(said, tuple) and list(map(type, said)) in ([float, str], [int, str])):
            return said
        raise _Garbled


def _judged_by_a_copy(exercise, answer, details, again=True):
    """Make a copy, wait for its result, end it. Return a `Result` even if the copy sent none, and the answer's outputs."""
    copy, label, limit, said, how = None, "", 0.0, None, ""
    last = time.monotonic() + timelimit.LAST_RESORT
    try:
        with _interrupts_held():  # or Ctrl-C between the fork and the next line would leave a copy behind
            copy = _copy(exercise, answer, details)
        if copy is None:  # the system refused another process
            return _judged_by_this_process(exercise, answer, details)
        pid, pipe = copy
        lines, looks = _Lines(pipe), _Looks(pid)
        while not isinstance(said, dict):
            try:
                said = lines.next(LOOK)
            except (EOFError, OSError):
                how = "gone"
                break
            except _Garbled:
                how = "garbled"
                break
            if said is None:
                looks.look()
                if looks.still >= ASLEEP and _threads_of_others():
                    how = "stuck in the fork"
                elif looks.still * LOOK > timelimit.asleep_at_most(limit or OURS) + GRACE:
                    how = "asleep"
            elif isinstance(said, tuple) and said:
                limit, label = said
                last, looks = time.monotonic() + timelimit.LAST_RESORT + GRACE, _Looks(pid)
            if not how and not isinstance(said, dict) and time.monotonic() > last:
                how = "given up"
            if how:
                break
    finally:  # this runs after Ctrl-C, too
        if copy:
            with _interrupts_held():
                os.close(copy[1])
                status, by_itself, most_memory = _end(copy[0], how in ("gone", "garbled"))
    if isinstance(said, dict):
        return _result(exercise, label, said)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return stopped(exercise, label, timelimit.TimeUp(limit or OURS)), ()
    if by_itself and _killed(status) and most_memory < MUCH + _own_memory():
        if again:
            return _judged_by_a_copy(exercise, answer, details, again=False)
        return not_judged(exercise, "the system ended the check, because other programs have used up the memory"), ()
    if how == "garbled":
        return forged(exercise), ()
    if how == "gone" or by_itself:
        how_it_ended = _how_it_ended(status) if by_itself else "it closes files that are not its own"
        return ends_python(exercise, label, how_it_ended), ()
    if how == "stuck in the fork":
        return _judged_by_this_process(exercise, answer, details)
    seconds, given_up = timelimit.asleep_at_most(limit or OURS), how == "given up"
    return stopped(exercise, label, timelimit.TimeUp(timelimit.LAST_RESORT if given_up else seconds, True, given_up)), ()


def _judged_by_this_process(exercise, answer, details):
    seen = []
    result = grade(exercise, answer, details=details, seen=seen)
    return result, returned(exercise, seen) if result.status == "passed" else ()


def _result(exercise, label, said):
    """The result that a copy has sent, and the answer's outputs. A pass counts only if we find these outputs right."""
    if "exception" in said:
        return judge_failed(exercise, said), ()
    outputs = said.pop("outputs", ())
    try:
        result = plain_data.result_of(said)
    except plain_data.NotPlain:
        return forged(exercise), ()
    if result.status == "passed" and not outputs_are_right(exercise, outputs):
        return forged(exercise), ()
    return result, outputs


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
        self.pid, self.before, self.still = pid, None, 0  # `still`: for how many looks in a row it has been asleep

    def look(self):
        """Observe the copy once more."""
        seen = self._seen()
        self.still = self.still + 1 if seen and seen == self.before and not set(seen[0]) & set("RDTt") else 0
        self.before = seen

    def _seen(self):
        """The states of its threads and their processor time.

        "R" is a thread that runs or waits for a processor, "D" one that waits for a disk, "T" one that somebody has paused.
        """
        states, ticks = "", 0
        try:
            for thread in os.listdir(f"/proc/{self.pid}/task"):
                with open(f"/proc/{self.pid}/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
                states, ticks = states + fields[0], ticks + int(fields[11]) + int(fields[12])
        except (OSError, ValueError, IndexError):
            return None
        return states, ticks


def _end(pid, is_ending=False):
    """End the copy and all processes that it started; if the copy is ending by itself, let it.

    Returns its exit status, whether it ended by itself, and the most memory that it has held.
    """
    gone, status, usage = os.wait4(pid, os.WNOHANG)
    for _ in range(MOMENTS if is_ending else 0):
        if not gone:
            time.sleep(0.01)
            gone, status, usage = os.wait4(pid, os.WNOHANG)
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except OSError:
            pass
    if not gone:
        _, status, usage = os.wait4(pid, 0)
    return status, bool(gone), 1024 * usage.ru_maxrss


def _own_memory():
    """The most memory that this process has held."""
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _killed(status):
    """Was it ended by SIGKILL, as by the system where memory runs out, or by us?"""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _how_it_ended(status):
    """Say in a word or two how the copy ended, for the message of the check."""
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == LOST:
        return "it closes files that are not its own"
    if not os.WIFSIGNALED(status):
        return f"exit code {os.WEXITSTATUS(status)}"
    if _killed(status):
        return "too much memory?"
    return signal.Signals(os.WTERMSIG(status)).name


def _threads_of_others():
    """Is a thread library (OpenMP) loaded? It can hang in a forked copy, so silence is not the answer's fault then."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            return any(name in line for line in file for name in ("libgomp", "libomp", "libiomp"))
    except OSError:
        return False
