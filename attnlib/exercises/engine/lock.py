"""One session at a time at a file, on any system."""

import contextlib
import os
import time

SECONDS = 10  # a lock is held for milliseconds; an older one was left by a session that died


@contextlib.contextmanager
def locked(path):
    """Wait until no other session is at the file: whoever can make the lock file may go on."""
    lock = path.with_name(f".{path.name}.lock")
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                if abs(time.time() - lock.stat().st_mtime) > SECONDS:
                    lock.unlink()
            time.sleep(0.01)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.unlink()
