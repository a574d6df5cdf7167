"""Pages that run, in Firefox: what a reader does there, at a desk and with a finger. Chromium is asked more in `test_browser_*`."""

import json
import re
import time
import urllib.request

import pytest
from firefox import CONTROL, NAMES, firefox, launched
from firefox_cells import IDLE, SCRATCH, Cells, cell, exercise, plain
from running import BEGUN, CHAPTER, RIGHT, WRONG, has_python
from watched import PATIENCE

from tools import browser

MISSPELT = 'words = ["mat"]\nscores = np.arry([2.0, 1.0, 0.1])'
HEAD = "document.querySelector('.live-head')"
WORK = "document.querySelector('.live-work')"


@pytest.fixture(scope="module", autouse=True)
def pages_run(site):
    has_python(site)
    if firefox() is None:
        pytest.skip(f"Firefox is not installed (looked for {', '.join(NAMES)})")


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    with launched({"browser.download.folderList": 2, "browser.download.dir": str(folder)}) as window:
        window.downloads = folder
        yield window


@pytest.fixture
def page(window, address):
    """Chapter 1 as on a first visit, in a page that must not have complained in the end."""
    window.anew()
    yield Cells(window, address + CHAPTER)
    # A cell that is stopped looks in vain for the address that the page has taken back.
    assert not [fault for fault in window.faults if "blob:" not in fault]


@pytest.fixture(scope="module")
def started(window_of_its_own, address):
    """Chapter 1 with Python started, for tests that leave nothing behind."""
    page = Cells(window_of_its_own, address + CHAPTER)
    page.run(cell(1))
    return page


@pytest.fixture(scope="module")
def window_of_its_own():
    with launched() as window:
        yield window


def first_line(page, cell):
    line = page.code(cell).splitlines()[0]
    return line if len(line) <= 40 else line[:39].strip() + "…"


# Which cell has run


def test_a_cell_that_failed_is_named_again_and_the_message_leads_to_it(page):
    assert "AttributeError" in page.run(cell(2), MISSPELT)
    for _ in range(2):  # the second run once blamed the next cell
        page.run(plain(8))
        assert page.said == f"An error ended the cell “words = [\"mat\"]”, so the cell “{first_line(page, plain(8))}” was not run."
        assert page.row(plain(8)) == "not run" and page.row(cell(3)) == ""
    page.press(HEAD, "the cell “words")
    page.window.wait(f"() => document.activeElement === {cell(2)}.querySelector('textarea')")
    page.press(cell(2), "Reset")
    page.run(plain(8))
    for each in (cell(2), cell(3), plain(8)):
        assert "ran in" in page.row(each)
    page.type(cell(2), page.code(cell(2)) + "\nchanged = 7")
    assert "edited since it ran" in page.row(cell(2))
    assert page.run(plain(8), "print(changed)").strip() == "7"


def test_the_status_line_says_what_python_is_doing(page):
    page.window.ask("""() => {
        const line = document.querySelector(".live-head > .live-said");
        window.told = [];
        const note = () => line.textContent && told.at(-1) !== line.textContent && told.push(line.textContent);
        new MutationObserver(note).observe(line, { childList: true, subtree: true, characterData: true });
    }""")
    page.run(cell(1))
    told = page.window.ask("() => told")
    fetched = [line for line in told if re.fullmatch(r"Fetching Python: \d+ of \d+ MB", line)]
    assert fetched and told[told.index(fetched[-1]) + 1].startswith("Starting Python")
    assert any(line.startswith("Running the cell “") for line in told) and told[-1] == "Python is ready"
    page.begin(SCRATCH, f"n = 41\n{BEGUN}while True: pass")
    page.window.wait(f"() => /^Running the cell to try things in, \\d+ s$/.test({HEAD}.querySelector('.live-said').textContent)")
    page.press(SCRATCH, "Stop")
    page.window.wait(IDLE)
    stopped = page.said  # on a busy machine the cell may take longer to stop than the page waits for it
    assert stopped.startswith(("Stopped after 1 cell", "The cell did not stop, so Python was started anew"))
    if stopped.startswith("Stopped"):
        assert page.run(SCRATCH, "print(n + 1)").strip() == "42"


def test_reset_is_undone_by_the_keyboard_and_by_a_button(page):
    book = page.code(cell(2))
    for undo in (lambda: page.window.press(CONTROL, "z"), lambda: page.press(cell(2), "Undo reset")):
        page.type(cell(2), "mine = 1")
        page.press(cell(2), "Reset")
        assert page.code(cell(2)) == book
        undo()
        assert page.code(cell(2)) == "mine = 1"


# Exercises and the own library


def test_an_exercise_wrong_right_and_remembered(page, address):
    shown = page.run(exercise("softmax"), WRONG)
    assert "[!] softmax" in shown and re.search(r"For help: open\s+Hint \d\s+below", shown)
    assert re.search(r"\[x\] softmax: all \d+ cases right", page.run(exercise("softmax"), RIGHT))
    page = Cells(page.window, address + CHAPTER)  # before Python starts
    assert page.code(exercise("softmax")) == RIGHT
    assert page.window.ask(f"() => {exercise('softmax')}.querySelector('.live-badge').textContent") == "solved, 2 tries"


def test_a_solution_opens_after_the_first_try_or_after_a_word(page):
    helps = "document.querySelector('[data-exercise=softmax_backward]').closest('.exercise-helps')"
    opened = f"() => {helps}.querySelector('details.exercise-solution').open"
    page.press(helps, "Solution")
    assert not page.window.ask(opened)
    assert "The solution opens after your first try." in page.window.ask(f"() => {helps}.innerText")
    page.press(helps, "Show it now")
    assert page.window.ask(opened)


def test_the_own_library_is_uploaded_and_downloaded_as_a_file(page, tmp_path):
    mine = tmp_path / "from elsewhere.py"
    mine.write_text("def softmax(x):\n    return x\n")
    page.press(WORK, page.window.ask(f"() => {WORK}.querySelector('summary').textContent.trim()"))
    page.window.upload(".live-work input[accept^='.py']", mine)
    page.window.wait(f"() => {HEAD}.querySelector('.live-said').textContent.includes('my_attention.py is uploaded')")
    assert page.run(SCRATCH, "import my_attention\nprint(my_attention.softmax(3))").strip() == "3"
    page.window.ask("() => { document.querySelector('details.live-scratch').open = false; }")
    page.press(WORK, "Download my_attention.py")
    file = page.window.downloads / "my_attention.py"
    until = time.monotonic() + PATIENCE / 1000
    while not (file.exists() and file.stat().st_size) and time.monotonic() < until:
        time.sleep(0.1)
    assert file.read_text() == mine.read_text()


def test_the_own_cell_is_one_press_away_from_any_place(page):
    page.window.ask("() => scrollTo(0, document.documentElement.scrollHeight / 2)")
    place = page.window.ask("() => scrollY")
    page.window.ask("() => document.querySelector('.live-scratch > summary').click()")
    page.window.wait("() => document.activeElement === document.querySelector('.live-scratch textarea')")
    top, bottom, high = page.window.ask("""() => {
        const { top, bottom } = document.activeElement.getBoundingClientRect();
        return [top, bottom, innerHeight];
    }""")
    assert 0 <= top < bottom <= high and abs(page.window.ask("() => scrollY") - place) < 5


# What Python says


def test_a_carriage_return_overwrites_its_line(started):
    code = "import sys\nfor n in range(8, 11):\n    print(f'\\rstep {n} of 10', end='', flush=True)\nprint()\nprint('abc\\rd')"
    assert started.run(SCRATCH, code).strip().splitlines() == ["step 10 of 10", "dbc"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("!pip install torch", "Lines that begin with ! or % are commands of JupyterLab."),
        ("import asyncio\nawait asyncio.sleep(0)", "Nothing in this book needs `await`"),
        ("globals().pop('_', None)\n6 * 7", "42"),
        ("_ + 1", "43"),
        ("import sys\nsys.setrecursionlimit(10**8)\ndef deep(n):\n    return deep(n + 1)\ndeep(0)", "At most 3,000 calls in each other"),
    ],
)
def test_what_the_page_cannot_do_gets_a_word_and_the_last_value_a_name(started, code, words):
    assert words in started.run(SCRATCH, code)


def test_an_answer_that_python_cannot_stop_is_ended(page):
    code = 'def softmax_backward(d_weights, weights):\n    return sum(iter(int, 1))\n\ncheck("softmax_backward", softmax_backward)'
    shown = page.run(exercise("softmax_backward"), code)
    assert "still running after 10 seconds, inside one call that Python cannot stop" in shown
    assert page.said.endswith("Python was started anew. What you typed is as it was.")
    assert page.code(exercise("softmax_backward")) == code
    assert "2" in page.run(SCRATCH, "print(1 + 1)")


# Without a network, and with a store that is refused


class OneAnswer(browser.Quiet):
    """Closes the connection after each answer, so that a server that has ended is gone for pages that are open, too."""

    protocol_version = "HTTP/1.0"


def test_the_kept_book_opens_without_its_server(window, site):
    window.anew()
    with browser.served(site, OneAnswer) as address:
        page = Cells(window, address + CHAPTER)
        page.press(WORK, page.window.ask(f"() => {WORK}.querySelector('summary').textContent.trim()"))
        page.press(WORK, "Keep for offline use")
        window.wait(f"() => {HEAD}.querySelector('.live-said').textContent.includes('this address opens without a network')")
        window.ask("() => navigator.serviceWorker.ready.then(() => true)")
    with pytest.raises(OSError):
        urllib.request.urlopen(address)
    page = Cells(window, address + CHAPTER)
    assert "mat" in page.run(cell(2), "print('mat')")
    window.open(address + "chapters/gone/page.html")
    assert window.ask("() => document.querySelector('h1').firstChild.textContent") == "This page does not exist"


def test_with_storage_blocked_nothing_throws_and_the_warning_stays(address):
    with launched({"network.cookie.cookieBehavior": 2}) as window:
        page = Cells(window, address + CHAPTER)
        assert not window.ask("() => navigator.cookieEnabled")
        window.click(".theme-switch-button")  # the theme wants to keep the scheme
        page.run(cell(2), "print('mine')")
        assert "This browser keeps nothing for this site" in window.ask("() => document.querySelector('.live-warning').innerText")
        assert page.said == "Python is ready"
        assert not window.faults


# A finger

POINT = "#fig-plane svg [data-at='3']"
CURVES = "#fig-temperature svg.live-drawing"
SQUARES = "#fig-tiny button.live-square"
ASKED = "([x, y]) => getComputedStyle(document.elementFromPoint(x, y)).touchAction"


@pytest.fixture(scope="module")
def narrow(request, address):
    """A window as wide as a phone, on the chapter with this figure, when the figure answers."""
    chapter, part = request.param
    with launched() as window:
        window.anew(width=390, height=844)
        Cells(window, f"{address}chapters/{chapter}.html").run(cell(1))
        window.wait(f"() => document.querySelector({json.dumps(part)})")
        yield window


# A finger of the protocol never scrolls a page of Firefox, so each test asks to whom a real one would belong.
four_ways = pytest.mark.parametrize("by", [(0, -30), (0, 30), (-30, 0), (30, 0)], ids=["up", "down", "left", "right"])


@four_ways
@pytest.mark.parametrize("narrow", [("02_attention", POINT)], indirect=True, ids=["fig-plane"])
def test_a_finger_moves_a_point_in_every_direction(narrow, by):
    start = narrow.middle(POINT)
    assert narrow.ask(ASKED, start) == "none"
    narrow.drag(start, by)
    moved = [now - before for now, before in zip(narrow.middle(POINT, scroll=False), start)]
    assert all(abs(found - asked) <= 3 for found, asked in zip(moved, by)), moved
    narrow.drag(narrow.middle(POINT, scroll=False), [-x for x in by])


@four_ways
@pytest.mark.parametrize("narrow", [("04_masks", SQUARES)], indirect=True, ids=["fig-tiny"])
def test_a_finger_paints_a_mask_in_every_direction(narrow, by):
    pressed = f"() => [...document.querySelectorAll('{SQUARES}')].map((square) => square.getAttribute('aria-pressed') === 'true')"
    start = narrow.middle(f"{SQUARES}[aria-label^='query 1, key 1:']")
    assert narrow.ask(ASKED, start) == "none"
    beside = 5 + {(0, -30): -4, (0, 30): 4, (-30, 0): -1, (30, 0): 1}[by]
    before = narrow.ask(pressed)
    for kept in (not before[5], before[5]):  # the second time the square beside has to change
        narrow.drag(start, by)
        now = narrow.ask(pressed)
        assert now[5] == now[beside] == kept
        assert all(now[at] == before[at] for at in range(16) if at not in (5, beside))


@pytest.mark.parametrize("by", [(-60, 0), (60, 0)], ids=["left", "right"])
@pytest.mark.parametrize("narrow", [("01_softmax", CURVES)], indirect=True, ids=["fig-temperature"])
def test_a_finger_moves_the_temperature_and_scrolls_the_page_up_and_down(narrow, by):
    said = "() => Number(document.querySelector('#fig-temperature .live-sentence').textContent.match(/^T = ([\\d.]+):/)[1])"
    start = narrow.middle(CURVES)
    assert narrow.ask(ASKED, start) == "pan-y"
    narrow.drag(start, (0, 0), steps=0)
    in_the_middle = narrow.ask(said)
    narrow.drag(start, by)
    assert (narrow.ask(said) > in_the_middle) == (by[0] > 0) and narrow.ask(said) != in_the_middle
