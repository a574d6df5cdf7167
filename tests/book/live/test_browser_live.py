"""Cells that run in the page, in a real browser: chapter 1 whole, an exercise to its end, what is kept, loops, faults."""

import contextlib
import itertools
import json
import queue
import re
from pathlib import Path

import pytest
from running import BEGUN, CHAPTER, NEXT, RIGHT, TEXTS, WRONG, Running, expect, has_python
from watched import PATIENCE, Watched

from attnexercises import grade
from attnexercises.engine.registry import find
from tools import browser
from tools.notebooks.compare import text

@pytest.fixture(autouse=True)
def with_python(site):
    has_python(site)


@pytest.fixture(scope="module")
def started(chromium, address, site):
    """Chapter 1 after "Run this page", and what its cells showed before and after."""
    has_python(site)
    with Watched(chromium, address, 1440, color_scheme="light") as watched:
        watched.context.add_init_script(PATIENT)
        running = Running(watched.open(CHAPTER))
        before = watched.page.evaluate(TEXTS)
        running.run_all()
        yield watched, running, before, watched.page.evaluate(TEXTS), running.said
        # Stop takes back the address that a running cell looks for.
        assert not [fault for fault in watched.faults if not re.match(r"(net::)?ERR_FILE_NOT_FOUND: blob:|Failed to load.*FILE_NOT", fault)]


# A whole chapter


def test_before_a_click_there_is_no_python_and_little_script(own_desk):
    asked = []
    own_desk.context.on("request", lambda request: "/live/" in request.url and asked.append(request))
    page = own_desk.open(CHAPTER)
    Running(page)
    assert asked and not [request.url for request in asked if re.search("/python-|worker|after", request.url)]
    script, style = (sum(len(request.response().body()) for request in asked if request.url.endswith(end)) for end in (".js", ".css"))
    assert script < 28_900 and style < 11_000  # not compressed


def test_matplotlib_is_fetched_when_a_cell_draws_and_not_before(own_desk):
    asked = []
    own_desk.context.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
    running = Running(own_desk.open(CHAPTER))
    assert "mat" in running.run(running.cell(2), "print('mat')")  # after the first cell, which imports what draws
    assert any(name.startswith("numpy-") for name in asked) and not [name for name in asked if "matplotlib" in name]
    running.run(running.scratch, "plotting.heatmap(plt.gca(), np.eye(2), rows='ab', columns='cd');")
    assert running.scratch.locator("figure img, .cell_output img, .cell_output svg").count() == 1
    assert [name for name in asked if name.startswith("matplotlib-")]


def test_chapter_1_shows_what_is_stored(started, record_property):
    _, _, before, after, said = started
    assert said == f"All {len(before) - 1} cells ran."  # the last one is the reader's own
    assert len(before) == len(after) > 20
    wrong = {number: said for number, pair in enumerate(zip(before, after), start=1) if (said := text.difference(*pair))}
    assert wrong == {}
    record_property("checked cells that run in the page", len(after))


def test_figures_are_drawn_anew_with_their_captions_and_alt(started):
    page = started[0].page
    figures = page.evaluate("[...document.querySelectorAll('.cell_output figure')].map(f => [f.querySelector('img').src, f.querySelector('img').alt, f.querySelector('figcaption').innerText])")
    assert len(figures) > 5
    for address, alt, caption in figures:
        assert address.startswith("blob:") and address.endswith("#.svg")
        assert "Before:" not in alt and "changed" not in caption and re.match(r"Fig\. 1\.\d+", caption.strip())


def test_a_figure_of_changed_code_says_so(started):
    _, running, *_ = started
    figure = running.page.locator("#fig-shares")
    box = running.page.locator("div.cell", has=figure)
    box.locator("details").first.evaluate("box => { box.open = true; }")
    running.run(box, box.locator("textarea").input_value().replace("width=0.7", "width=0.2"))
    expect(figure).to_contain_text("Drawn by your changed code.")
    assert figure.locator("img").get_attribute("alt").startswith("Drawn by your changed code. Before: Two bar charts")
    box.get_by_role("button", name="Reset").click()
    expect(figure).not_to_contain_text("changed code")
    assert figure.locator("img").get_attribute("alt").startswith("Two bar charts")


def test_a_traceback_is_cut_to_the_readers_lines(started):
    _, running, *_ = started
    shown = running.run(running.scratch, "def twice(x):\n    return np.broadcast_to(x, (2, 2))\n\ntwice(np.zeros(3))")
    lines = shown.strip().splitlines()
    assert lines[:3] == ["Traceback (most recent call last):", "  This cell, line 4, in <module>", "    twice(np.zeros(3))"]
    assert "  This cell, line 2, in twice" in lines and not re.search("site-packages|numpy/|/course", shown)
    assert lines[-1].startswith("ValueError: operands could not be broadcast together")


def test_megabytes_of_output_are_cut(started):
    _, running, *_ = started
    shown = running.run(running.scratch, "for _ in range(10_000):\n    print('x' * 100)")
    assert 290_000 < len(shown) < 310_000 and shown.strip().endswith("The output is too long to show: the rest is left out.")


def test_a_line_is_replaced_by_the_next_and_taken_away(started):
    _, running, *_ = started
    lines = "from IPython.display import clear_output\nfor n in range(4):\n    clear_output(wait=True)\n    print('line', n)"
    assert running.run(running.scratch, lines).strip() == "line 3"
    assert running.run(running.scratch, lines + "\nclear_output(wait=True)").strip() == "line 3"
    assert running.run(running.scratch, lines + "\nclear_output()\nprint('done')").strip() == "done"
    assert running.run(running.scratch, "clear_output(wait=True)").strip() == ""


def test_a_training_says_how_far_it_is_while_it_runs(started):
    _, running, *_ = started
    running.type(running.scratch, PROGRESS)
    output = running.scratch.locator(".cell_output")
    output.evaluate(WATCH)
    running.scratch.locator(".live-button").first.click()
    running.idle()
    assert running.shown(running.scratch) == ""
    seen = [text.strip() for text in running.page.evaluate("shownTexts") if "step" in text]
    lines = [line for line, _ in itertools.groupby(seen)]  # one text can come in two changes of the page
    assert lines == ["step 10 of 40, loss 1.00", "step 20 of 40, loss 0.50", "step 30 of 40, loss 0.33"]


# Every text that the output has had: to look now and then could miss one.
WATCH = """output => {
    window.shownTexts = [];
    const note = () => { if (shownTexts.at(-1) !== output.textContent) shownTexts.push(output.textContent); };
    new MutationObserver(note).observe(output, { childList: true, subtree: true, characterData: true });
}"""
PROGRESS = """from attnpage import training_progress
import time

report = training_progress(40)
for step in range(1, 41):
    report(step, 10 / step)
    time.sleep(0.02)
"""

# Stop


LOOPS = {
    "bare": f"n = 1\n{BEGUN}while True:\n    n += 1",
    "arrays": f"n = 1\n{BEGUN}while True:\n    np.ones((50, 50)) @ np.ones((50, 50))",
    "recursion": f"n = 1\n{BEGUN}def fib(n):\n    return fib(n - 1) + fib(n - 2) if n > 1 else n\n\nfib(60)",
    "prints": f"n = 1\n{BEGUN}while True:\n    print('again')",
}


# On a busy machine a cell may take longer to stop than the page waits for it.
PATIENT = """{
    const usual = window.setTimeout;
    window.setTimeout = (act, wait, ...rest) => usual(act, wait === 1500 ? window.patience ?? wait : wait, ...rest);
}"""


def stop(running, cell, code, patience=PATIENCE):
    running.page.evaluate("patience => { window.patience = patience; }", patience)
    running.begin(cell, code)
    cell.get_by_role("button", name="Stop").click()
    running.idle()


@pytest.mark.parametrize("name", LOOPS)
def test_stop_ends_a_loop_and_keeps_what_was_computed(started, name):
    _, running, *_ = started
    stop(running, running.scratch, LOOPS[name])
    assert "Stopped in line" in running.shown(running.scratch)
    assert running.said == "Stopped after 1 cell. What the cells had computed is kept."
    assert "True True" in running.run(running.scratch, "print(n > 0, 'softmax_backward' in globals())")


def test_an_endless_answer_is_stopped_by_the_check(started):
    _, running, *_ = started
    cell = running.exercise("softmax_backward")
    shown = running.run(cell, 'def softmax_backward(d_weights, weights):\n    while True:\n        pass\n\ncheck("softmax_backward", softmax_backward)')
    assert "still running after 10 seconds" in " ".join(shown.split())
    recursive = "def softmax_backward(d_weights, weights):\n    f = lambda n: f(n - 1) + f(n - 2) if n > 1 else n\n    return f(60)"
    shown = running.run(cell, recursive + '\n\ncheck("softmax_backward", softmax_backward)')
    assert "still running after 10 seconds" in " ".join(shown.split())
    cell.get_by_role("button", name="Reset").click()


@pytest.mark.parametrize("code", [f"{BEGUN}while True:\n    try:\n        while True: pass\n    except: pass", f"import time\n{BEGUN}time.sleep(1000)"])
def test_what_does_not_stop_is_ended_and_nothing_typed_is_lost(started, code):
    _, running, *_ = started
    stop(running, running.scratch, code, patience=1500)
    assert running.said.startswith("The cell did not stop, so Python was started anew.")
    assert running.scratch.locator("textarea").input_value() == code
    # What stood above runs again by itself.
    assert "[x] softmax" in running.run(running.exercise("softmax"), RIGHT)


# What is kept


def test_an_exercise_wrong_hinted_right_kept_and_used_in_the_next_chapter(own_desk, monkeypatch):
    running = Running(own_desk.open(CHAPTER))
    cell = running.exercise("softmax")
    shown = running.run(cell, WRONG)
    monkeypatch.setenv("ATTNLIB_HELP", "softmax")  # its hints stand below the cell
    wrong = grade(find("softmax"), function_of(WRONG))
    assert " ".join(shown.split()).startswith(" ".join(" ".join(wrong.lines).split()))
    assert running.heard.startswith("[!] softmax") and running.heard == " ".join(" ".join(wrong.lines).split())
    assert cell.locator(".live-badge").inner_text() == "not right yet, 1 try"
    assert " ".join(find("softmax").hints[0].split()) in " ".join(running.run(running.scratch, 'hint("softmax")').split())
    assert re.match(r"\[x\] softmax: all \d+ cases right", running.run(cell, RIGHT))
    assert "Saved: softmax, in my_attention.py" in running.run(running.scratch, 'save("softmax")')
    page = own_desk.open(CHAPTER)  # before Python starts
    assert cell.locator("textarea").input_value() == RIGHT
    assert cell.locator(".live-badge").inner_text() == "solved, 2 tries"
    expect(page.locator("input[data-exercise=softmax]")).to_be_checked()
    running = Running(own_desk.open(NEXT))
    shown = running.run(running.scratch, 'from attnexercises import load\nload("softmax")(np.zeros(4))')
    assert "Yours, from my_attention.py: softmax." in shown and "0.25" in shown


def function_of(code):
    import numpy as np

    space = {"np": np, "check": lambda *_: None}
    exec(code, space)
    return space["softmax"]


def test_work_is_exported_imported_and_reset(own_desk, tmp_path):
    running = Running(own_desk.open(CHAPTER))
    running.type(running.cell(2), "words = ['one']")
    page = running.page
    page.locator(".live-work > summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    exported = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert [list(texts.values()) for name, texts in exported["work"].items() if name.startswith("edits:")] == [["words = ['one']"]]
    page.get_by_role("button", name="Reset everything").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Yes, forget it").click()
    assert running.cell(2).locator("textarea").input_value().startswith("words = [\"mat\"")
    (tmp_path / "other.json").write_text("[1]")
    (tmp_path / "mine.json").write_text(json.dumps(exported))
    running = Running(page)
    page.set_input_files(".live-work input[type=file]", tmp_path / "other.json")
    expect(page.locator(".live-head > .live-said")).to_have_text("That file is not an export of this book.")
    with page.expect_navigation():
        page.set_input_files(".live-work input[type=file]", tmp_path / "mine.json")
    Running(page)
    assert running.cell(2).locator("textarea").input_value() == "words = ['one']"


def test_two_cells_of_the_same_text_keep_their_own_edits(own_desk):
    own_desk.context.route(f"**/{CHAPTER}", with_equal_cells)
    running = Running(own_desk.open(CHAPTER))
    running.type(running.cell(3), "n = 3")
    running = Running(own_desk.open(CHAPTER))
    assert [running.cell(number).locator("textarea").input_value() for number in (2, 3)] == ["same = 1", "n = 3"]


def with_equal_cells(route):
    """The page with one text in its second and third cell."""
    cells = re.compile(r'(<div class="cell_input[^"]*">\n<div class="highlight-[^"]*"><div class="highlight"><pre>)(?:(?!</pre>).)*(</pre>)', re.S)
    texts = iter(["first = 1\n", "same = 1\n", "same = 1\n"])
    answer = route.fetch()
    route.fulfill(response=answer, body=cells.sub(lambda found: found[1] + next(texts) + found[2], answer.text(), count=3))


@pytest.mark.parametrize(("error", "words"), [("QuotaExceededError", "store for this site is full"), ("SecurityError", "keeps nothing")])
def test_a_store_that_refuses_is_said(own_desk, error, words):
    own_desk.context.add_init_script(
        f"""const usual = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, text) {{
            if (key.startsWith("attention-derived-live")) throw new DOMException("no", "{error}");
            usual.call(this, key, text);
        }};"""
    )
    running = Running(own_desk.open(CHAPTER))
    running.type(running.cell(2), "words = []")
    expect(running.page.locator(".live-warning")).to_contain_text(words)
    assert running.cell(2).locator("textarea").input_value() == "words = []"


# Faults


@pytest.mark.parametrize(
    ("file", "answer", "words"),
    [
        ("**/pyodide.asm.wasm", {"status": 404}, "The file pyodide.asm.wasm is missing on this site"),
        ("**/python_stdlib.zip", {"body": b"altered"}, "The file python_stdlib.zip on this site is not the one that belongs to the book"),
        ("**/numpy-*.whl", None, "The network was lost while numpy-"),
        ("**/matplotlib-*.whl", None, "The network was lost while matplotlib-"),
        ("**/files.json", {"status": 404}, "The list of Python's files cannot be fetched"),
    ],
)
def test_a_file_that_cannot_be_had_is_named_and_the_page_stays_usable(chromium, address, file, answer, words):
    with Watched(chromium, address, 1440) as watched:  # its faults are ours here
        running = Running(watched.open(CHAPTER))
        watched.context.route(file, lambda route: route.fulfill(**answer) if answer else route.abort())
        drawing = "matplotlib" in file
        shown = running.run(running.cell(2), "plt.plot([1, 2])" if drawing else None)
        assert words in shown and words in running.said
        watched.context.unroute_all()
        assert "mat" in running.run(running.cell(2), "print('mat')")


def test_a_browser_without_webassembly_is_told(own_desk):
    own_desk.context.add_init_script("delete globalThis.WebAssembly;")
    running = Running(own_desk.open(CHAPTER))
    assert "no WebAssembly" in running.run(running.cell(2))


def test_the_documented_policy_is_enough(chromium, site):
    """Served with the strictest policy that book/live/README.md names, a chapter runs, and the browser reports no violation."""
    readme = (Path(__file__).resolve().parents[3] / "book" / "live" / "README.md").read_text(encoding="utf-8")
    policy = " ".join(re.search(r"```text\nContent-Security-Policy: (.*?)\n```", readme, re.S)[1].split())

    refused = queue.Queue()

    class Strict(browser.Quiet):
        def end_headers(self):
            self.send_header("Content-Security-Policy", f"{policy}; report-uri /refused")
            super().end_headers()

        def do_POST(self):
            refused.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(204)
            self.end_headers()

    with browser.served(site, Strict) as url, contextlib.closing(chromium.new_page()) as page:  # axe would need more
        page.goto(url + CHAPTER)
        cell = page.locator("div.cell").nth(2)  # it draws: NumPy and Matplotlib are loaded
        cell.locator(".live-button").first.dispatch_event("click")
        expect(cell.locator(".live-said").first).to_contain_text("ran in")
        expect(cell.locator("img")).to_have_attribute("src", re.compile("^blob:"))
        expect(page.locator("#fig-temperature .live-sentence")).to_contain_text("the weights are")
        running = Running(page)
        page.evaluate(PATIENT)
        stop(running, running.scratch, LOOPS["bare"])
        assert "Stopped in line" in running.shown(running.scratch)
        page.evaluate("() => { try { (0, eval)('1') } catch {} }")  # the one thing refused, to see that it is told
        assert '"blocked-uri":"eval"' in refused.get(timeout=PATIENCE / 1000)  # the first, and then no other
        assert refused.empty()
