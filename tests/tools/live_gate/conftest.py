"""The zip file that node is given, made once."""

import pytest

from tools import live_gate


@pytest.fixture(scope="session")
def kit(tmp_path_factory):
    return live_gate.pack(tmp_path_factory.mktemp("gate") / "kit.zip")
