"""A table of weights to tap, in the browser: the largest that there is, with a mask, on a page of the site."""

from pathlib import Path

import numpy as np
import pytest
from watched import SITE, accessibility

from attnpage import tap_figure
from tools import browser

ROOT = Path(__file__).resolve().parents[3]
PAGE = "chapters/running.html"
WORDS = ["because", "the", "cat", "was", "tired", "it", "slept", "there"]
CHOSEN = """figure => {
    const cells = [...figure.querySelectorAll("td")], seen = (box) => box.checkVisibility();
    const texts = (selector) => [...figure.querySelectorAll(selector)].filter(seen).map((box) => box.textContent);
    return {
        cells: [...figure.querySelectorAll("[aria-selected=true]")].map((cell) => cells.indexOf(cell)),
        stops: figure.querySelectorAll("[tabindex='0']").length,
        focused: cells.indexOf(document.activeElement),
        said: texts(".said"),
        ways: texts(".way"),
    };
}"""
CUT = """figure => [figure, ...figure.querySelectorAll("*")]
    .filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1).map((box) => box.outerHTML)"""
SIZES = """figure => [...figure.querySelectorAll("td")].flatMap((cell) => [cell.offsetWidth, cell.offsetHeight])"""


@pytest.fixture(scope="module")
def figure():
    query, key = np.random.default_rng(0).standard_normal((2, 8, 4))
    mask = np.tri(8, dtype=bool)
    mask[3] = False
    features = ["thing", "alive", "verb", "pronoun"]
    names = {"rows": WORDS, "columns": WORDS, "features": features}
    return tap_figure(query, key, mask=mask, start=(2, 1), caption="A map to tap", **names)._repr_html_()


def with_figure(page, figure):
    """From now on the page ends in the figure, as the output of a cell, and has its rules, needed elsewhere or not."""
    rules = (ROOT / "book" / "figures" / "tap.css").read_text(encoding="utf-8")
    before, article, after = (SITE / PAGE).read_text(encoding="utf-8").partition("</article>")
    text = f'{before}<style>{rules}</style><div class="cell_output">{figure}</div>{article}{after}'
    page.route(f"**/{PAGE}", lambda route: route.fulfill(body=text, content_type="text/html"))


def opened(watched, figure):
    with_figure(watched.page, figure)
    return watched.open(PAGE).locator("figure.tap")


def explained(place, shown):
    """The cell at this place, and no other, is chosen, focused and explained."""
    (said,) = shown["said"]
    (way,) = shown["ways"]
    row, column = divmod(place, 8)
    assert said.startswith(f"{WORDS[row]} gives {WORDS[column]} the weight ")
    return shown["cells"] == [place] and shown["stops"] == 1 and "Query times key" in way


def test_a_tap_chooses_a_weight(phone, figure):
    shown = opened(phone, figure)
    assert explained(17, shown.evaluate(CHOSEN))
    for place in (0, 63, 47):
        shown.locator("td").nth(place).tap()
        state = shown.evaluate(CHOSEN)
        assert explained(place, state) and state["focused"] == place
    assert "the mask hides this key" in state["said"][0]
    shown.locator("th").first.tap()  # names no weight
    assert shown.evaluate(CHOSEN)["cells"] == [47]


KEYS = [
    ("ArrowRight", 18),
    ("ArrowDown", 26),
    ("ArrowLeft", 25),
    ("ArrowUp", 17),
    ("End", 23),
    ("ArrowRight", 23),
    ("Home", 16),
    ("ArrowLeft", 16),
    ("Control+End", 63),
    ("ArrowDown", 63),
    ("Control+Home", 0),
    ("ArrowUp", 0),
    ("a", 0),
]


def test_the_keyboard_chooses_a_weight_and_the_page_stays(desk, figure):
    shown = opened(desk, figure)
    shown.locator("[tabindex='0']").focus()
    for key, place in KEYS:
        desk.page.keyboard.press(key)
        state = shown.evaluate(CHOSEN)
        assert explained(place, state) and state["focused"] == place, key
    before = desk.page.evaluate("scrollY")
    desk.page.keyboard.press("ArrowUp")
    assert desk.page.evaluate("scrollY") == before
    desk.page.keyboard.press("Tab")
    assert shown.evaluate(CHOSEN)["focused"] == -1


def test_eight_columns_fit_a_phone_and_axe_finds_nothing(phone, figure):
    shown = opened(phone, figure)
    for scheme in ("light", "dark"):
        phone.page.emulate_media(color_scheme=scheme)
        phone.page.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)
        browser.settle(phone.page)
        assert accessibility(phone.page) == []
    assert phone.page.evaluate("probes.broken()") == []
    assert shown.evaluate(CUT) == []
    assert min(shown.evaluate(SIZES)) >= 24
    assert shown.evaluate("figure => figure.getBoundingClientRect().right") <= 390


def test_without_scripts_and_on_paper_the_example_stays(without_scripts, desk, address, figure):
    with_figure(without_scripts, figure)
    without_scripts.goto(address + PAGE)
    without = without_scripts.locator("figure.tap").inner_text()
    shown = opened(desk, figure)
    seen = shown.inner_text()
    desk.page.emulate_media(media="print")
    paper = shown.inner_text()
    for text in (without, paper):
        assert text.count(" the weight ") == 1 and "cat gives the the weight " in text
        assert "A map to tap" in text and text.count("\n") >= 8
        assert "Choose a weight" in seen and "Choose a weight" not in text
