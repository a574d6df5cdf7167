"""The site in Firefox: no complaint of the console, a prediction, the search; with Python in the pages, cells that run.

What Chromium is asked in all its tests is asked here once, where the two browsers differ: modules, workers, storage, input.
"""

import pytest
from firefox import CONTROL, ENTER, NAMES, firefox, launched
from running import has_python

PAGES = ["chapters/index.html", "chapters/02_attention.html", "_modules/attnlib/softmax/weights.html", "404.html"]
PREDICTION = "#predict-masks-rescale"
CELL = "(number) => document.querySelectorAll('div.cell')[number - 1]"
IDLE = """() => document.querySelector(".live-head > .live-button").textContent === "Run this page" """


@pytest.fixture(scope="module")
def window(address):
    if firefox() is None:
        pytest.skip(f"Firefox is not installed (looked for {', '.join(NAMES)})")
    with launched() as window:
        yield window


@pytest.fixture
def quiet(window):
    """The window, which must not have complained in the end."""
    window.faults.clear()
    yield window
    assert not window.faults


@pytest.mark.parametrize("name", PAGES)
def test_a_page_arrives_without_a_complaint(name, quiet, address):
    quiet.open(address + name)
    assert quiet.ask("() => document.querySelector('article h1').checkVisibility()")
    assert quiet.ask("() => document.documentElement.scrollWidth <= innerWidth")


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
    quiet.type(f"RoPE{ENTER}")
    quiet.wait("() => document.querySelector('#search-results li a')")
    found = quiet.ask("() => [...document.querySelectorAll('#search-results li a')].slice(0, 3).map((link) => link.textContent)")
    assert any("RoPE" in title or "Rotary" in title for title in found), found


@pytest.mark.thorough
def test_a_cell_runs_a_failed_one_is_named_and_stop_works(quiet, address, site):
    has_python(site)
    quiet.open(address + "chapters/01_softmax.html")
    quiet.wait("() => document.querySelector('html.live')")
    run(quiet, 2, "print(np.arange(3).sum() + 40)")
    assert "43" in shown(quiet, 2)
    run(quiet, 2, "np.arry")
    run(quiet, 3)
    assert "np.arry" in quiet.ask("() => document.querySelector('.live-head > .live-said').textContent")
    begin(quiet, 2, "print('begun', flush=True)\nwhile True: pass")
    quiet.wait(f"() => ({CELL})(2).textContent.includes('begun')")
    quiet.click(".live-head > .live-button")
    quiet.wait(IDLE)
    assert "stopped" in shown(quiet, 2).lower()
    run(quiet, 2, "print(np.arange(4).sum() + 40)")  # names are kept
    assert "46" in shown(quiet, 2)
    # A cell that was stopped looks in vain for the address that the page has taken back.
    quiet.faults[:] = [fault for fault in quiet.faults if "blob:" not in fault]


def begin(window, number, code=None):
    window.ask(
        f"""(number, code) => {{
            const cell = ({CELL})(number);
            const box = cell.querySelector("textarea");
            cell.querySelectorAll("details.above-input").forEach((fold) => (fold.open = true));
            if (code !== null) {{
                box.value = code;
                box.dispatchEvent(new Event("input", {{ bubbles: true }}));
            }}
            document.querySelector("[data-pressed]")?.removeAttribute("data-pressed");
            cell.querySelector(".live-button").setAttribute("data-pressed", "");
        }}""",
        number,
        code,
    )
    window.click("[data-pressed]")


def run(window, number, code=None):
    begin(window, number, code)
    window.wait(IDLE)


def shown(window, number):
    return window.ask(f"(number) => ({CELL})(number).querySelector('.cell_output')?.textContent ?? ''", number)
