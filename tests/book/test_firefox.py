"""The site in Firefox: no complaint of the console, a prediction, the search. Cells that run: `live/test_firefox_cells.py`.

What Chromium is asked in all its tests is asked here once, where the two browsers differ: modules, workers, storage, input.
"""

import pytest
from firefox import CONTROL, ENTER, NAMES, firefox, launched
from test_browser_phone import HITS, SMALL
from test_browser_phone import PAGES as ON_A_PHONE

PAGES = ["chapters/index.html", "chapters/02_attention.html", "_modules/attnlib/softmax/weights.html", "404.html"]
PREDICTION = "#predict-masks-rescale"
# Formulas that have not the two parts, or the three, that their kind has.
UNFINISHED = """() => [["msub, msup, mfrac, munder, mover, mroot", 2], ["msubsup, munderover", 3]].flatMap(([kinds, parts]) =>
    [...document.querySelectorAll(kinds)].filter((formula) => formula.children.length !== parts).map((formula) => formula.outerHTML))"""


@pytest.fixture(scope="module")
def window(address):
    if firefox() is None:
        pytest.skip(f"Firefox is not installed (looked for {', '.join(NAMES)})")
    with launched() as window:
        yield window


@pytest.fixture
def quiet(window):
    """The window as on a first visit, which must not have complained in the end."""
    window.anew()
    yield window
    assert not window.faults


@pytest.mark.parametrize("name", PAGES)
def test_a_page_arrives_without_a_complaint(name, quiet, address):
    quiet.open(address + name)
    assert quiet.ask("() => document.querySelector('article h1').checkVisibility()")
    assert quiet.ask("() => document.documentElement.scrollWidth <= innerWidth")
    assert quiet.ask(UNFINISHED) == []


@pytest.mark.parametrize("name", ON_A_PHONE)
def test_on_a_phone_letters_have_12_pixels_and_choices_are_easy_to_hit(name, quiet, address):
    quiet.anew(width=390, height=844)
    quiet.open(address + name)
    assert quiet.ask("() => document.documentElement.scrollWidth <= innerWidth")
    assert quiet.ask(SMALL) == [] and quiet.ask(HITS) == []


def test_a_prediction_is_committed_by_mouse_and_remembered(quiet, address):
    quiet.open(address + "chapters/04_masks.html")
    quiet.click(f"{PREDICTION} input[type=radio]")
    quiet.click(f"{PREDICTION} button")
    said = f"() => document.querySelector('{PREDICTION} .predict-result').textContent"
    assert "you chose A" in quiet.wait(said)
    quiet.open(address + "chapters/review.html")
    assert "rescale" in quiet.ask("() => localStorage.getItem('attention-derived-predictions')")
    assert quiet.ask("() => document.querySelector('.predict-counts').textContent").startswith("1 not right")


def test_the_search_finds_rope_by_keyboard(quiet, address):
    quiet.open(address + "chapters/index.html")
    quiet.press(CONTROL, "k")
    quiet.wait("() => document.querySelector('#pst-search-dialog').open")
    quiet.follow(quiet.type, f"RoPE{ENTER}")
    quiet.wait("() => document.querySelector('#search-results li a')")
    found = quiet.ask("() => [...document.querySelectorAll('#search-results li a')].slice(0, 3).map((link) => link.textContent)")
    assert any("RoPE" in title or "Rotary" in title for title in found), found
