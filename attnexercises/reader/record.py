"""Store the reader's progress in a small file in the user's home. If it cannot be used, checks work all the same.

The last check of each exercise is kept in memory only, for `case` and `report`.
"""

import contextlib
import copy
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from attnexercises.own_library.lock import locked

_memory = {}  # the table, for a session that may not or cannot write a file
_last_checks = {}  # from the id of an exercise to its `Checked`
_unusable = set()  # files that could not be written; each is reported only once

try:
    _started_in = os.getcwd()  # relative paths start here, even if the session changes its folder
except OSError:  # the folder was deleted
    _started_in = os.curdir


def location():
    """Return the path of the file, or None if ``ATTNLIB_PROGRESS=off``.

    ``ATTNLIB_PROGRESS=<path>`` chooses another file. By default the file lies where
    the system keeps the state of programs.
    """
    chosen = os.environ.get("ATTNLIB_PROGRESS", "")
    if chosen.lower() == "off":
        return None
    if chosen:
        return Path(os.path.join(_started_in, os.path.expanduser(chosen)))
    home = os.path.expanduser("~")  # unlike `Path.home()`, this never raises
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    return Path(base) / "attnlib" / "progress.json"


def load():
    """Return the table, which maps the id of an exercise to a dict ``state, turn, tries, hints, mistake, hint, said``."""
    path = location()
    if path is None or path in _unusable:
        return {id: dict(entry) for id, entry in _memory.items()}
    try:
        return _checked(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:  # the file, or its folder, does not exist yet
        return {}
    except OSError as error:
        return _give_up(path, error)
    except (ValueError, RecursionError):  # not JSON, not UTF-8, or not a table: keep the file, begin a new one
        return _set_aside(path)


@contextlib.contextmanager
def changing():
    """Yield the table and store the changes made to it. A lock keeps other sessions from storing meanwhile."""
    with _alone():
        table = load()
        before = copy.deepcopy(table)
        yield table
        if table != before:
            store(table)


@contextlib.contextmanager
def _alone():
    """Run the block while no other session changes the progress file."""
    path = location()
    with contextlib.ExitStack() as stack:
        if path is not None and path not in _unusable:
            with contextlib.suppress(OSError):  # without a folder or permission, `store` reports the problem
                path.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(path))
        yield


def store(table):
    """Write the whole table. The file is replaced in one step, so a crash leaves the old file intact."""
    path = location()
    _memory.clear()
    _memory.update(table)
    if path is None or path in _unusable:
        return
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            temporary = file.name
            json.dump({"version": 1, "exercises": table}, file, indent=1, sort_keys=True)
        os.replace(temporary, path)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        _give_up(path, error)


def blank():
    """Return the entry of an exercise that the reader has not touched.

    `turn` is 0 until the exercise is solved; the exercise that was solved last has the largest `turn`.
    """
    return {"state": "", "turn": 0, "tries": 0, "hints": [], "mistake": "", "hint": None, "said": ""}


def _checked(data):
    table = data.get("exercises") if isinstance(data, dict) else None
    if not isinstance(table, dict):
        raise ValueError("no table of exercises")
    return {id: _checked_entry(entry) for id, entry in table.items()}


def _checked_entry(entry):
    if not isinstance(entry, dict):
        raise ValueError("an entry that is not ours")
    known = {key: entry[key] for key in _KINDS if key in entry}
    if not all(_KINDS[key](value) for key, value in known.items()):
        raise ValueError("an entry that is not ours")
    return {**blank(), **known}


def _is_count(value):
    return type(value) is int and value >= 0  # True is no count


_KINDS = {
    "state": lambda value: value in ("", "wrong", "crashed", "passed"),
    "turn": _is_count,
    "tries": _is_count,
    "hints": lambda value: isinstance(value, list) and all(map(_is_count, value)),
    "mistake": lambda value: isinstance(value, str),
    "said": lambda value: isinstance(value, str),
    "hint": lambda value: value is None or _is_count(value),
}


def _set_aside(path):
    """Rename a file that cannot be read, so that a new one can be begun; return an empty table."""
    aside = next(p for n in range(1, 10**6) if not (p := path.with_name(f"{path.name}.unreadable-{n}")).exists())
    try:
        os.replace(path, aside)
    except OSError as error:
        return _give_up(path, error)
    print(f"(Your progress file could not be read; it is kept as {aside.name}, and a new one is begun.)")
    return {}


def _give_up(path, error):
    """Tell the reader that the file cannot be used in this session; return the table in memory."""
    _unusable.add(path)
    reason = error.strerror or type(error).__name__
    print(f"(Progress is not saved in this session: {path.name}: {reason}. The checks work all the same.)")
    return {id: dict(entry) for id, entry in _memory.items()}


@dataclass(frozen=True)
class Checked:
    """An answer and the result of its check."""

    result: object
    answer: object


def keep(id, result, answer):
    """Remember the last check of an exercise."""
    _last_checks[id] = Checked(result, answer)


def last_check(id):
    """Return the last `Checked` of an exercise, or None."""
    return _last_checks.get(id)


def forget_checks(id=None):
    """Forget the last check of one exercise, or of all."""
    for gone in [id] if id else list(_last_checks):
        _last_checks.pop(gone, None)
