"""Every page of the site, opened once in a browser from a disk: it fits a phone, and nothing complains.

The pages of the library are all made alike: on a push one of each kind is opened, before publishing all of them. A chapter is then widened to a desk, for what depends on the width. What costs more is asked of one page of each kind
(test_browser_views.py), and of all before the book is published.
"""

import re

import pytest
from kinds import LOOKED_AT
from watched import CHAPTERS, PAGES, broken

from tools import browser

PHONE, DESK = sorted(browser.WIDTHS)
WITH_A_MARGIN = 1680
NUMBERED = [name for name in CHAPTERS if re.match(r"chapters/\d\d_", name)]  # these have captions and side notes
BESIDE = NUMBERED[:3]  # of which that is asked on a push
ON_A_PUSH = {*CHAPTERS, *LOOKED_AT}


def on_a_phone(watched, name):
    watched.page.set_viewport_size({"width": PHONE, "height": browser.WIDTHS[PHONE]})
    page = watched.open(name)
    page.evaluate("probes.unfold()")
    browser.settle(page)
    cut = [f"a formula is cut: {place}" for place in page.evaluate("probes.wide()")["formulas cut"]]
    return broken(page, "light") + cut + page.evaluate("probes.unreachable()")


def on_a_desk(watched):
    watched.resize(DESK)
    return watched.page.evaluate("[...probes.broken(), ...probes.unreachable(), ...probes.stale()]")


def beside_the_text(watched):
    """What is wrong with captions and notes on a desk without a margin, and on one with it."""
    assert watched.page.locator(".bd-content figure > figcaption").count()
    found = watched.page.evaluate("probes.notes(false)")
    watched.resize(WITH_A_MARGIN, browser.WIDTHS[DESK])
    return found + watched.page.evaluate("probes.notes(true)")


@pytest.mark.parametrize("name", [name if name in ON_A_PUSH else pytest.param(name, marks=pytest.mark.thorough) for name in PAGES])
def test_page(name, from_disk, record_property, request):
    from_disk.faults.clear()
    from_disk.page.emulate_media(color_scheme="light")
    found = {PHONE: on_a_phone(from_disk, name)}
    if name.startswith("chapters/"):
        found[DESK] = on_a_desk(from_disk)
    if name in (NUMBERED if request.config.option.thorough else BESIDE):
        found[WITH_A_MARGIN] = beside_the_text(from_disk)
    found = [f"{width} px: {fault}" for width, faults in found.items() for fault in faults] + from_disk.faults
    record_property("checked pages in the browser, from a disk", 1)
    assert not found, f"{name}:\n" + "\n".join(found)
