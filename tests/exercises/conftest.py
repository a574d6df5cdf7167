"""Every test of the exercises: no progress file, no file of the reader's, no strict mode, unless it says otherwise."""

import pytest

from attnexercises.failing_case import smallest
from attnexercises.own_library import accepted
from attnexercises.reader import record


@pytest.fixture(autouse=True)
def no_file(monkeypatch):
    monkeypatch.setenv("ATTNLIB_PROGRESS", "off")
    monkeypatch.setenv("ATTNLIB_LIBRARY", "off")
    monkeypatch.delenv("ATTNLIB_STRICT", raising=False)
    monkeypatch.setattr(record, "_memory", {})
    monkeypatch.setattr(record, "_unusable", set())
    monkeypatch.setattr(accepted, "_session", {})
    monkeypatch.setattr(record, "_last_checks", {})


@pytest.fixture(autouse=True)
def as_many_tries_as_it_takes(monkeypatch):
    """The search for the smallest case ends after a number of tries: a busy machine must not make a case larger."""
    monkeypatch.setattr(smallest, "SECONDS", 1e6)


@pytest.fixture
def own_file(tmp_path, monkeypatch):
    """Where the reader's file is to lie; it is not there yet."""
    path = tmp_path / "course" / "my_attention.py"
    path.parent.mkdir()
    monkeypatch.setenv("ATTNLIB_LIBRARY", str(path))
    return path


@pytest.fixture
def progress_file(tmp_path, monkeypatch):
    """Where the reader's progress is to be kept; nothing is there yet."""
    path = tmp_path / "state" / "progress.json"
    monkeypatch.setenv("ATTNLIB_PROGRESS", str(path))
    return path
