"""Captions and side notes: in the margin where the window is wide, in the column elsewhere, on top of nothing."""

import browser
import pytest
from test_browser_pages import CHAPTERS
from watched import Watched

PLACES = """() => {
    const shown = (selector) => [...document.querySelectorAll(selector)].filter((box) => box.checkVisibility());
    const box = (element) => { const { left, right, top, bottom } = element.getBoundingClientRect(); return { left, right, top, bottom,
        boxed: !!element.closest("details, .exercise"), what: element.textContent.trim().slice(0, 40) }; };
    const column = Math.max(...shown("article.bd-article > section > section > p, article.bd-article pre").map((e) => box(e).right));
    const bar = document.querySelector(".bd-sidebar-secondary").getBoundingClientRect();
    return { column, edge: bar.width ? bar.left : innerWidth, notes: shown(".bd-content .note, .bd-content figure > figcaption").map(box) };
}"""


def overlapping(notes):
    return [
        (one["what"], other["what"])
        for number, one in enumerate(notes)
        for other in notes[:number]
        if one["left"] < other["right"] and other["left"] < one["right"]
        if one["top"] < other["bottom"] and other["top"] < one["bottom"]
    ]


@pytest.fixture(scope="module")
def page(chromium, address):
    with Watched(chromium, address, 1440) as watched:
        yield watched


@pytest.mark.parametrize("name", [name for name in CHAPTERS if "/0" in name] or ["no site"])
def test_notes_are_beside_the_text_or_in_it(name, page):
    shown = page.open(name)
    shown.evaluate("probes.unfold()")
    for width in (1440, 1680):
        shown.set_viewport_size({"width": width, "height": 900})
        browser.settle(shown)
        places = shown.evaluate(PLACES)
        beside = [note["left"] > places["column"] for note in places["notes"]]
        assert beside and beside == [width == 1680 and not note["boxed"] for note in places["notes"]]
        assert [note["what"] for note in places["notes"] if note["right"] > places["edge"]] == []
        assert overlapping(places["notes"]) == []
