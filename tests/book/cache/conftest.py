"""Where the file of kept parts is to lie; it is not there yet."""

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "_build" / "kept.db"
