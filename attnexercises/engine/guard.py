"""What the copy of a session that judges an answer may not do.

`guard` restricts the copy before it judges. The copy gets no keyboard and no screen, and its memory and its number of
processes are limited. It can neither end the session nor change a file that existed before. It may write new files,
which do no harm. The restrictions are never lifted: the copy ends when it has sent the result.
"""

import contextlib
import faulthandler
import gc
import math
import os
import signal
import sys
import time

MEMORY = 4 * 2**30  # bytes that the copy may use in addition to those of the session
FILE = 2**26  # bytes that one new file may have
COPIES = 64  # processes that the copy may start by `os.fork`

_computed = time.process_time  # kept, because an answer can replace it


def guard(pipe=None):
    """Restrict this process, a copy of the session, so that an answer can do no harm in it. Only `pipe` stays open."""
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
    _close_all_but(pipe)
    gc.freeze()  # the session's objects are not collected here: their finalizers might do harm
    sys.dont_write_bytecode = True
    _limits()
    sys.addaudithook(_AuditHook().watch)


def _close_all_but(pipe):
    """Close the files, pipes and sockets that this copy has inherited: they are the session's."""
    for number in [int(name) for name in os.listdir("/proc/self/fd")]:
        if number > 2 and number != pipe:
            with contextlib.suppress(OSError):  # the one of the folder itself is closed already
                os.close(number)


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
