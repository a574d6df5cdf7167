"""Every test of the exercises: no progress file, no strict mode, unless the test says otherwise."""

import pytest

from attnlib.exercises.engine import record


@pytest.fixture(autouse=True)
def no_progress_file(monkeypatch):
    monkeypatch.setenv("ATTNLIB_PROGRESS", "off")
    monkeypatch.delenv("ATTNLIB_STRICT", raising=False)
    monkeypatch.setattr(record, "_memory", {})
    monkeypatch.setattr(record, "_unusable", set())
