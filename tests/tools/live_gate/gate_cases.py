"""What the gate's files share: when it is skipped, the zip file for node, and the list of differences."""

import tomllib
from pathlib import Path

import pytest

from tools import live_gate

LISTED = tomllib.loads(Path(__file__).with_name("differences.toml").read_text(encoding="utf-8"))
needs_the_site = pytest.mark.skipif(bool(live_gate.missing()), reason=f"NOT CHECKED IN THE PAGE'S PYTHON: {live_gate.missing()}")


def unlisted_and_stale(found, kind):
    """How the names of what differs and the entries of the list do not fit; an entry may be the beginning of names."""
    entries = [entry["name"] for entry in LISTED.get(kind, [])]
    unlisted = [name for name in found if not name.startswith(tuple(entries))]
    stale = [entry for entry in entries if not any(name.startswith(entry) for name in found)]
    return unlisted, stale
