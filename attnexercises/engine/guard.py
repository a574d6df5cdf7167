"""What a copy of the session may do while it judges an answer: compute. Nothing here can be undone; the copy is thrown away.

It gets no keyboard and no screen, limits of memory and of processes, no way to end the session, and it cannot change a file that was there
before. New files it may write: what an answer notes down for itself is its own affair.
"""

import contextlib
import faulthandler
import gc
import math
import os
import signal
import sys
import time

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
