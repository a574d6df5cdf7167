"""What does not fit a phone: a formula that is cut off without a sign is a fault; what scrolls is counted."""

import narrow
import pytest
from test_browser_pages import CHAPTERS

NONE_OF = ["formulas cut"]  # a kind of `probes.wide` is forbidden by its name here; `python tools/narrow.py` counts all


@pytest.mark.parametrize("name", CHAPTERS or ["no site"])
def test_nothing_is_cut_off_on_a_phone(name, watched, record_property):
    watched.resize(narrow.PHONE)
    found = narrow.wide(watched.open(name))
    for kind, places in found.items():
        record_property(f"checked {kind} on a phone", len(places))
    assert not {kind: found[kind] for kind in NONE_OF if found[kind]}
