"""attnexercises.own_library.lock: is a file one session's at a time, and does nobody wait for a session that is gone?"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attnexercises.own_library import lock
from attnexercises.own_library.lock import locked

ROOT = str(Path(__file__).parents[2])
HANGS = 1800  # seconds after which a session that should have ended is given up: never the measure of anything
COUNT = """
from pathlib import Path
from attnexercises.own_library import lock
from attnexercises.own_library.lock import locked
lock.SECONDS = 10**6  # on a busy machine others may wait for long, and they must not go on without the lock
path = Path("count.txt")
for _ in range(100):
    with locked(path):
        path.write_text(str(int(path.read_text()) + 1))
"""
DIES = """
import os
from pathlib import Path
from attnexercises.own_library.lock import locked
with locked(Path("count.txt")):
    os._exit(1)
"""


def session(code, folder):
    environment = {**os.environ, "PYTHONPATH": ROOT}
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environment)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "count.txt"
    path.write_text("0")
    return path


@pytest.fixture
def for_ever(monkeypatch):
    monkeypatch.setattr(lock, "SECONDS", 10**6)


def test_nothing_is_lost_though_an_old_lock_lies_there(path):
    old = path.with_name(".count.txt.lock")
    old.touch()
    os.utime(old, (0, 0))
    sessions = [session(COUNT, path.parent) for _ in range(4)]
    assert [process.wait(timeout=HANGS) for process in sessions] == [0] * 4
    assert path.read_text() == "400"


def test_a_session_that_died_holds_nobody_up(path, for_ever):
    assert session(DIES, path.parent).wait(timeout=HANGS) == 1
    with locked(path):
        pass
    assert sorted(os.listdir(path.parent)) == ["count.txt"] or sys.platform == "win32"


def test_a_session_that_stands_still_is_not_waited_for_for_ever(path, monkeypatch):
    monkeypatch.setattr(lock, "SECONDS", 0.05)
    with locked(path), locked(path):  # the outer one does nothing, whatever happens
        assert path.read_text() == "0"


def test_without_locks_there_is_none(path, monkeypatch, for_ever):
    monkeypatch.setattr(lock, "_taken", lambda file: None)
    with locked(path), locked(path):
        assert path.read_text() == "0"


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError), locked(tmp_path / "nowhere" / "count.txt"):
        raise AssertionError("got in")
