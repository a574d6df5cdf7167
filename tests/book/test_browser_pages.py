"""Every page of the site, opened once in a browser from a disk: it fits a phone, and nothing complains.

A chapter is then widened to a desk, for what depends on the width. What costs more is asked of one page of each kind
(test_browser_views.py), and of the others before the book is published.
"""

import re

import browser
import pytest
from watched import CHAPTERS, PAGES, broken

PHONE, DESK = sorted(browser.WIDTHS)
WITH_A_MARGIN = 1680
NUMBERED = [name for name in CHAPTERS if re.match(r"chapters/\d\d_", name)]  # these have captions and side notes
BESIDE = NUMBERED[:3]  # on every push


def on_a_phone(watched, name):
    watched.page.set_viewport_size({"width": PHONE, "height": browser.WIDTHS[PHONE]})
    page = watched.open(name)
    found = broken(page, "light")
    page.evaluate("probes.unfold()")
    browser.settle(page)
    found += [f"a formula is cut: {place}" for place in page.evaluate("probes.wide()")["formulas cut"]]
    return found + page.evaluate("[...probes.broken(), ...probes.unreachable()]")


def on_a_desk(watched):
    watched.resize(DESK)
    return watched.page.evaluate("[...probes.broken(), ...probes.unreachable(), ...probes.stale()]")


@pytest.fixture
def looker(from_disk):
    """The page on which all are opened, as if it were the first."""
    from_disk.faults.clear()
    from_disk.page.emulate_media(color_scheme="light")
    return from_disk


@pytest.mark.parametrize("name", PAGES)
def test_page(name, looker, record_property):
    found = {PHONE: on_a_phone(looker, name)}
    if name in CHAPTERS:
        found[DESK] = on_a_desk(looker)
    found = [f"{width} px: {fault}" for width, faults in found.items() for fault in faults] + looker.faults
    record_property("checked pages in the browser, from a disk", 1)
    assert not found, f"{name}:\n" + "\n".join(found)


@pytest.mark.parametrize("name", [name if name in BESIDE else pytest.param(name, marks=pytest.mark.thorough) for name in NUMBERED])
def test_notes_are_beside_the_text_or_in_it(name, looker):
    page = looker.open(name)
    page.evaluate("probes.unfold()")
    assert page.locator(".bd-content figure > figcaption").count()
    for width in (DESK, WITH_A_MARGIN):
        looker.resize(width, browser.WIDTHS[DESK])
        assert page.evaluate("margin => probes.notes(margin)", width == WITH_A_MARGIN) == [], f"{width} px"
