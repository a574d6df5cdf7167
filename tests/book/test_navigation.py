"""Previous and Next lead through the whole book in its order, and from the first page to the first chapter."""

import posixpath
import re
from pathlib import Path

import pytest

from tools.printing import pdf

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r'<a class="(left-prev|right-next)"\s+href="([^"#?]+)"')
PAGES = [page for part in pdf.parts(ROOT) for page in part["pages"]]


def neighbours(site, page):
    """Where Previous and Next of a page lead, "" for nowhere."""
    links = dict(LINK.findall((site / f"{page}.html").read_text(encoding="utf-8")))
    back, on = (links.get(kind, "") for kind in ("left-prev", "right-next"))
    return [link and posixpath.normpath(f"{posixpath.dirname(page)}/{link}").removesuffix(".html") for link in (back, on)]


@pytest.mark.parametrize("place", range(len(PAGES)), ids=PAGES)
def test_previous_and_next_follow_the_contents(place, site):
    around = ["", *PAGES, ""]
    assert neighbours(site, PAGES[place]) == [around[place], around[place + 2]]


def test_the_book_begins_with_the_prerequisites_and_chapter_1(site):
    assert PAGES[:3] == ["chapters/index", "chapters/prerequisites", "chapters/01_softmax"]
    first = (site / "chapters/index.html").read_text(encoding="utf-8")
    assert re.findall(r'<a class="start [^"]*" href="([^"]+)"', first) == ["prerequisites.html", "01_softmax.html"]
