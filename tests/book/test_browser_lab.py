"""JupyterLab as `make lab` starts it: chapter 1, for every user, and no question before it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from attnlib.page import tap_figure
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "jupyter lab --config=tools/lab/config.py"
STARTS = 60  # seconds; it takes three on an idle machine

# A notebook of somebody else, with a table to tap as it was stored, and the code that makes another.
CODE = """from attnlib.page import tap_figure
tap_figure([[1], [2]], [[0], [1]], rows=["a", "b"], columns=["c", "d"], caption="A map", start=(1, 1))"""
STORED = tap_figure([[1], [2]], [[0], [1]], rows=["a", "b"], columns=["c", "d"], caption="A map")
SHOWN = {"text/html": STORED._repr_html_(), "text/plain": repr(STORED)}
RESULT = nbformat.v4.new_output("execute_result", SHOWN)
TAPPED = nbformat.v4.new_notebook(
    cells=[
        nbformat.v4.new_markdown_cell("# A table to tap"),
        nbformat.v4.new_code_cell(CODE, outputs=[RESULT]),
    ],
    metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
)


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    """The lab of somebody who never used it, on a copy of the chapters; yields its address and its token."""
    home = tmp_path_factory.mktemp("home")
    for folder in ("chapters", "tools/lab"):
        shutil.copytree(ROOT / folder, home / "course" / folder)
    nbformat.write(TAPPED, home / "course" / "chapters" / "tap.ipynb")
    places = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    python_m = [sys.executable, "-m", *COMMAND.split(), "--no-browser", "--ServerApp.port=0"]
    with open(home / "log", "w") as log:
        process = subprocess.Popen(
            python_m, cwd=home / "course", env={**os.environ, **places, "HOME": str(home)}, stdout=log, stderr=log
        )
    try:
        yield address(process, home)
    finally:
        process.terminate()
        process.wait(timeout=STARTS)


def address(process, home):
    for _ in range(STARTS * 10):
        assert process.poll() is None, (home / "log").read_text()
        for file in (home / "runtime").glob("jpserver-*.json"):
            server = json.loads(file.read_text())
            return server["url"], server["token"]
        time.sleep(0.1)
    pytest.fail(f"JupyterLab does not start:\n{(home / 'log').read_text()}")


@pytest.fixture
def page(chromium, lab):
    """An empty page that may ask no other site."""
    with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.requests = []
        page.on("request", lambda request: page.requests.append(request.url))
        yield page
        assert [url for url in page.requests if not url.startswith((lab[0], "data:", "blob:"))] == []


def test_make_and_the_readme_start_the_same_lab():
    for file in ("Makefile", "README.md"):
        assert COMMAND in (ROOT / file).read_text(encoding="utf-8"), file


def test_the_lab_opens_chapter_1_and_asks_nothing(page, lab):
    url, token = lab
    first = json.loads((ROOT / "chapters" / "01_softmax.ipynb").read_text(encoding="utf-8"))["cells"][0]["source"][0]
    page.goto(f"{url}?token={token}")
    title = page.locator(".jp-Notebook h1").first
    title.wait_for()
    assert title.inner_text().strip() == first.strip("# \n")
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for()  # the kernel has started
    page.wait_for_timeout(3000)  # the question about news used to come about now
    assert page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts() == []


def opened(page, lab, name):
    """A chapter in the lab, its text rendered."""
    url, token = lab
    page.goto(f"{url}lab/tree/{name}?token={token}&reset")
    page.locator(".jp-Notebook h1").first.wait_for()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for()
    return page.locator(".jp-NotebookPanel:visible")


def test_a_formula_has_its_number_and_a_link_leads_to_it(page, lab):
    notebook = opened(page, lab, "01_softmax.ipynb")
    formula = notebook.locator("mjx-container[display=true]", has=page.locator("mjx-labels")).first
    formula.wait_for()
    letters = formula.locator("mjx-labels mjx-c").evaluate_all("letters => letters.map(letter => letter.className)")
    assert "".join(chr(int(re.match("mjx-c([0-9A-F]+)", name)[1], 16)) for name in letters) == "(1.1)"
    link = notebook.locator('a[href*="#eq-softmax"]', has_text="(1.1)").last
    link.scroll_into_view_if_needed()
    expect(formula).not_to_be_in_viewport()
    link.click()
    expect(formula).to_be_in_viewport()


def test_a_diagram_is_shown(page, lab):
    notebook = opened(page, lab, "03_gradients.ipynb")
    picture = notebook.locator(".jp-RenderedMarkdown img").first
    picture.scroll_into_view_if_needed()
    page.wait_for_function("picture => picture.naturalWidth > 300", arg=picture.element_handle())


def run(notebook, page):
    """Run the only code cell; again where nothing ran: without a kernel the lab clears the outputs and is silent."""
    notebook.locator(".jp-CodeCell .jp-InputArea-editor").click()
    for _ in range(10):
        page.keyboard.press("Control+Enter")
        try:
            return expect(notebook.locator(".jp-InputPrompt").last).to_have_text(re.compile(r"\[\d+\]:"), timeout=12_000)
        except AssertionError:
            continue
    pytest.fail("The cell was never run.")


def test_a_weight_of_a_foreign_notebook_is_explained_and_after_running_it_each_one_is(page, lab):
    notebook = opened(page, lab, "tap.ipynb")
    figure, said = notebook.locator("figure.tap"), notebook.locator("figure.tap .said")
    expect(said).to_contain_text("a gives c the weight 0.269")  # what a stranger stored may run no script
    expect(figure.locator(".way")).to_have_count(1)
    run(notebook, page)
    expect(said).to_contain_text("b gives d the weight 0.881")
    figure.locator("td").nth(2).click()
    expect(said).to_contain_text("b gives c the weight 0.119")
    page.keyboard.press("ArrowUp")  # otherwise a key by which the lab goes to the cell above
    expect(said).to_contain_text("a gives c the weight 0.269")
    expect(figure.locator(".way")).to_have_count(1)
    expect(figure.locator("td").first).to_be_focused()
