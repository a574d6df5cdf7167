"""What a page that runs says and keeps: which cell has run, what Python is doing, what Reset and a blocked storage do."""

import re

import pytest
from running import BEGUN, CHAPTER, RIGHT, WRONG, Running, expect, has_python
from watched import Watched

MISSPELT = 'words = ["mat"]\nscores = np.arry([2.0, 1.0, 0.1])'
HAS_RUN = re.compile(r"\bran in\b")

# Every text that the status line has had: to look now and then could miss one.
NOTED = """() => {
    const line = document.querySelector('.live-head > .live-said');
    window.told = [];
    const note = () => line.textContent && told.at(-1) !== line.textContent && told.push(line.textContent);
    new MutationObserver(note).observe(line, { childList: true, subtree: true, characterData: true });
}"""


@pytest.fixture(scope="module", autouse=True)
def pages_run(site):
    has_python(site)


@pytest.fixture(scope="module")
def page(chromium, address):
    """Chapter 1 with Python started by its first cell, and what the status line said meanwhile."""
    with Watched(chromium, address, 1440, color_scheme="light") as watched:
        running = Running(watched.open(CHAPTER))
        watched.page.evaluate(NOTED)
        running.run(running.cell(1))
        running.told = watched.page.evaluate("told")
        yield running


def reset(cell):
    cell.get_by_role("button", name=re.compile("^Reset")).click()


def row(cell):
    return cell.locator(".live-row > .live-said")


# Which cell has run


def test_a_cell_that_failed_runs_again_first_and_is_the_one_that_is_named(page):
    assert "AttributeError" in page.run(page.cell(2), MISSPELT)
    for _ in range(2):  # the second run blamed the next cell
        assert "words = " in page.run(page.plain(8))
        assert page.said == "An error ended the cell “words = [\"mat\"]”, so the cell “" + first_line(page.plain(8)) + "” was not run."
        expect(row(page.plain(8))).to_have_text("not run")
        expect(row(page.cell(3))).to_have_text("")
    reset(page.cell(2))  # corrected, but not run
    page.run(page.plain(8))
    for cell in (page.cell(2), page.cell(3), page.plain(8)):
        expect(row(cell)).to_have_text(HAS_RUN)


def first_line(cell):
    line = cell.locator("textarea").input_value().splitlines()[0]
    return line if len(line) <= 40 else line[:39].strip() + "…"


def test_a_cell_that_was_changed_since_runs_again_first(page):
    page.run(page.plain(8))
    code = page.cell(2).locator("textarea").input_value()
    page.type(page.cell(2), code + "\nchanged = 7")
    expect(row(page.cell(2))).to_contain_text("edited since it ran")
    assert page.run(page.plain(8), "print(changed)").strip() == "7"
    for cell in (page.cell(2), page.plain(8)):
        reset(cell)


def test_an_exercise_with_an_error_is_named_and_not_the_cell_that_needs_its_function(page):
    cell, later = page.exercise("softmax"), page.exercise("softmax_backward")
    assert "SyntaxError" in page.run(cell, "def softmax(x) return x")
    for _ in range(2):
        assert page.run(later) == "An error ended the exercise softmax, so the exercise softmax_backward was not run."
    reset(cell)
    assert "not attempted yet" in page.run(later)


def test_a_message_leads_to_the_cell_that_it_quotes(page):
    page.run(page.cell(2), MISSPELT)
    page.run(page.plain(8))
    for place in (page.page.locator(".live-head > .live-said"), page.plain(8).locator(".cell_output .live-note")):
        link = place.get_by_role("link", name="the cell “words = [\"mat\"]”")
        link.click()
        expect(page.cell(2).locator("textarea")).to_be_focused()
        assert page.cell(2).locator("textarea").evaluate("box => { const { top, bottom } = box.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }")
    reset(page.cell(2))


# What Python is doing


def test_the_status_line_says_what_python_is_doing(page):
    told = page.told
    fetched = [re.fullmatch(r"Fetching Python: (\d+) of (\d+) MB", line) for line in told]
    assert any(fetched) and len({found[2] for found in fetched if found}) == 1
    last = max(at for at, found in enumerate(fetched) if found)
    assert told[last + 1].startswith("Starting Python")
    assert re.match("Running the cell “", [line for line in told if not line.startswith(("Starting", "Fetching"))][0])
    assert told[-1] == "Python is ready"


def test_an_endless_loop_is_said_to_run_with_its_seconds_and_then_to_be_stopped(page):
    cell = page.scratch
    page.begin(cell, f"{BEGUN}while True:\n    pass")
    said = page.page.locator(".live-head > .live-said")
    expect(said).to_have_text(re.compile(r"^Running the cell to try things in, \d+ s$"))
    cell.get_by_role("button", name="Stop").click()
    page.idle()
    assert page.said.startswith("Stopped after 1 cell") or page.said.startswith("The cell did not stop")


# Undo


def test_reset_is_undone_by_the_keyboard_and_by_a_button(page):
    cell = page.cell(2)
    box = cell.locator("textarea")
    book = box.input_value()
    for undo in (lambda: page.page.keyboard.press("Control+Z"), lambda: cell.get_by_role("button", name="Undo reset").click()):
        page.type(cell, "mine = 1")
        reset(cell)
        assert box.input_value() == book
        undo()
        assert box.input_value() == "mine = 1"
        expect(cell.get_by_role("button", name="Undo reset")).to_be_hidden()
    reset(cell)
    page.type(cell, book + " ")
    expect(cell.get_by_role("button", name="Undo reset")).to_be_hidden()  # what would come back is no more what was reset
    page.type(cell, book)


# Help, the own library, the own cell


def test_a_verdict_points_to_what_stands_below_the_cell(page):
    cell = page.exercise("softmax")
    shown = page.run(cell, WRONG)
    found = re.search(r"For help: open (Hint \d) below", " ".join(shown.split()))
    assert found and 'hint("' not in shown
    expect(page.page.locator(".exercise-helps", has=page.page.locator("[data-exercise=softmax]")).get_by_text(found[1])).to_be_visible()
    assert "open Solution below" in " ".join(page.run(cell, RIGHT).split())
    page.scratch
    assert 'hint("softmax"' in page.run(page.scratch, WRONG)  # no hints stand below this one
    page.page.keyboard.press("Escape")
    reset(cell)


def test_a_solution_opens_after_the_first_try_or_after_a_word(own_desk):
    running = Running(own_desk.open(CHAPTER))
    helps = running.page.locator(".exercise-helps", has=running.page.locator("[data-exercise=softmax_backward]"))
    solution = helps.locator("details.exercise-solution")
    solution.locator("summary").click()
    assert not solution.evaluate("box => box.open")
    expect(helps).to_contain_text("The solution opens after your first try.")
    helps.get_by_role("button", name="Show it now").click()
    assert solution.evaluate("box => box.open")
    expect(helps).not_to_contain_text("after your first try")


def test_the_own_library_is_downloaded_and_uploaded_as_a_file(own_desk, tmp_path):
    running = Running(own_desk.open(CHAPTER))
    page = running.page
    page.locator(".live-work > summary").click()
    page.get_by_role("button", name="Download my_attention.py").click()
    assert running.said.startswith("There is no my_attention.py yet")
    mine = tmp_path / "from elsewhere.py"
    mine.write_text("def softmax(x):\n    return x\n")
    page.set_input_files(".live-work input[accept^='.py']", mine)
    expect(page.locator(".live-head > .live-said")).to_contain_text("my_attention.py is uploaded")
    assert running.run(running.scratch, "import my_attention\nprint(my_attention.softmax(3))").strip() == "3"
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download my_attention.py").click()
    assert download.value.suggested_filename == "my_attention.py"
    assert download.value.path().read_text() == mine.read_text()


@pytest.mark.parametrize("device", ["own_desk", "own_phone"])
def test_the_own_cell_is_one_press_away_from_any_place(request, device):
    watched = request.getfixturevalue(device)
    running = Running(watched.open(CHAPTER))
    page = running.page
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    place = page.evaluate("scrollY")
    page.locator(".live-scratch > summary").click()
    box = page.locator(".live-scratch textarea")
    expect(box).to_be_focused()
    assert abs(page.evaluate("scrollY") - place) < 5
    assert box.evaluate("box => { const { top, bottom } = box.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }")
    page.locator(".live-scratch > summary").click()
    expect(box).to_be_hidden()


# A browser that keeps nothing

BLOCKED = """for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(window, name, { configurable: true, get() { throw new DOMException("denied", "SecurityError"); } });
}"""


@pytest.mark.parametrize("name", [CHAPTER, "chapters/index.html"])
def test_with_storage_blocked_nothing_throws_and_the_warning_stays(chromium, address, name):
    with Watched(chromium, address, 1440) as watched:
        watched.context.add_init_script(BLOCKED)
        page = watched.open(name)
        page.locator(".theme-switch-button").locator("visible=true").first.click()  # the theme wants to keep the scheme
        if name == CHAPTER:
            running = Running(page)
            warning = page.locator(".live-warning")
            expect(warning).to_contain_text("This browser keeps nothing for this site")
            running.run(running.cell(2), "print('mine')")
            expect(warning).to_be_visible()
            assert running.said == "Python is ready"
        assert not watched.faults


# What Python says


def test_a_carriage_return_overwrites_its_line(page):
    code = "import sys\nfor n in range(8, 11):\n    print(f'\\rstep {n} of 10', end='', flush=True)\nprint()\nprint('abc\\rd')"
    assert page.run(page.scratch, code).strip().splitlines() == ["step 10 of 10", "dbc"]


def test_the_last_value_has_its_name(page):
    page.run(page.scratch, "globals().pop('_', None)  # a cell of the chapter has its own\n6 * 7")
    assert page.run(page.scratch, "_ + 1").strip() == "43"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("!pip install torch", "Lines that begin with ! or % are commands of JupyterLab."),
        ("%timeit 1 + 1", "Lines that begin with ! or % are commands of JupyterLab."),
        ("import asyncio\nawait asyncio.sleep(0)", "Nothing in this book needs `await`"),
        ("import torch", "These pages have Python with NumPy and Matplotlib, and no torch"),
    ],
)
def test_what_only_jupyter_knows_gets_a_word(page, code, words):
    assert words in page.run(page.scratch, code)


def test_a_deep_recursion_with_a_raised_limit_ends_by_itself(page):
    shown = page.run(page.scratch, "import sys\nusual = sys.getrecursionlimit()\nsys.setrecursionlimit(10**8)\ndef deep(n):\n    return deep(n + 1)\ndeep(0)")
    assert "RecursionError" in shown and "At most 3,000 calls in each other" in shown
    assert page.run(page.scratch, "sys.setrecursionlimit(usual)\nprint('still here')").strip() == "still here"


def test_an_answer_that_python_cannot_stop_is_ended(page):
    cell = page.exercise("softmax_backward")
    code = 'def softmax_backward(d_weights, weights):\n    return sum(iter(int, 1))\n\ncheck("softmax_backward", softmax_backward)'
    shown = page.run(cell, code)
    assert "still running after 10 seconds, inside one call that Python cannot stop" in shown
    assert page.said.endswith("Python was started anew. What you typed is as it was.")
    assert cell.locator("textarea").input_value() == code
    reset(cell)
    assert "2" in page.run(page.scratch, "print(1 + 1)")
