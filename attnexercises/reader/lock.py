"""One session at a time at a file, on any system.

The system itself holds the lock and frees it when a session dies. So there is none that somebody left behind, and none that
two others find old at the same moment.
"""

import contextlib
import os
import time

SECONDS = 60  # a lock is held for milliseconds; whoever holds it longer has been stopped, and does not write meanwhile


@contextlib.contextmanager
def locked(path):
    """Wait until no other session is at the file."""
    file = _open(path.with_name(f".{path.name}.lock"))
    try:
        yield
    finally:
        if file is not None:
            _close(file, path.with_name(f".{path.name}.lock"))


def _open(lock):
    """The open lock file, ours alone; None where the system has no locks."""
    deadline = time.monotonic() + SECONDS
    while True:
        file = os.open(lock, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            got = _taken(file)
            if got is None or (got and _is(file, lock)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        if not got and time.monotonic() > deadline:
            return None
        time.sleep(0 if got else 0.01)


def _taken(file):
    """Have we got the lock? None where there are none: in the browser, on some file systems."""
    try:
        import fcntl
    except ImportError:
        return _taken_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _taken_on_windows(file):
    try:
        import msvcrt
    except ImportError:
        return None
    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def _is(file, lock):
    """Is what we have locked still the file of that name, or has the session before us just removed it?"""
    try:
        return os.path.samestat(os.fstat(file), os.stat(lock))
    except OSError:
        return False


def _close(file, lock):
    """Remove the lock file while it is still ours, then let go; Windows removes no open file, and there it stays."""
    with contextlib.suppress(OSError):
        if _is(file, lock):
            os.unlink(lock)
    os.close(file)
