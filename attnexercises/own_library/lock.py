"""Let only one session at a time use a file, on any operating system.

The operating system holds the lock and releases it when a session dies. Therefore no dead session can leave a lock
behind, which two others might then try to remove at the same moment.
"""

import contextlib
import os
import time

# Seconds to wait for the lock. A session holds it for milliseconds only. If one holds it for so long, that session was
# suspended and writes nothing meanwhile, so that we may go on without the lock.
SECONDS = 60


@contextlib.contextmanager
def locked(path):
    """Run the block while no other session is using the file."""
    file = _open(path.with_name(f".{path.name}.lock"))
    try:
        yield
    finally:
        if file is not None:
            _close(file, path.with_name(f".{path.name}.lock"))


def _open(lock):
    """Open and lock the lock file. Return None if the system has no locks, or if waiting took too long."""
    deadline = time.monotonic() + SECONDS
    while True:
        file = os.open(lock, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            got = _taken(file)
            if got is None or (got and _is_current(file, lock)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        if not got and time.monotonic() > deadline:
            return None
        time.sleep(0 if got else 0.01)


def _taken(file):
    """Try to lock the file and return whether that worked; None if there are no locks (browser, some file systems)."""
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


def _is_current(file, lock):
    """Is the file that we have locked still the one of that name? The session before us may just have removed it."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(lock))
    except OSError:
        return False


def _close(file, lock):
    """Remove the lock file, then release the lock. Windows cannot remove an open file, so the file stays there."""
    with contextlib.suppress(OSError):
        if _is_current(file, lock):
            os.unlink(lock)
    os.close(file)
