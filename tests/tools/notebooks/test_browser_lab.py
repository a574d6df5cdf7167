"""JupyterLab as `make lab` starts it: chapter 1, for every user, and no question before it."""

import contextlib
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
from playwright.sync_api import expect
from watched import PATIENCE

from attnpage import tap_figure
from tools import browser

ROOT = Path(__file__).resolve().parents[3]
COMMAND = "jupyter lab --config=tools/notebooks/lab/config.py"
STARTS = 600  # seconds; it takes three on an idle machine

# A notebook of somebody else, with a table to tap as it was stored, and the code that makes another.
CODE = """from attnpage import tap_figure
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
    for folder in ("chapters", "tools/notebooks/lab"):
        shutil.copytree(ROOT / folder, home / "course" / folder)
    nbformat.write(TAPPED, home / "course" / "chapters" / "tap.ipynb")
    places = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    python_m = [sys.executable, "-m", *COMMAND.split(), "--no-browser", "--ServerApp.port=0", "--LabApp.expose_app_in_browser=True"]
    with open(home / "log", "w") as log:
        process = subprocess.Popen(
            python_m, cwd=home / "course", env={**os.environ, **places, "HOME": str(home)}, stdout=log, stderr=log
        )
    try:
        yield address(process, home)
    finally:
        process.terminate()
        try:
            process.wait(timeout=STARTS)
        except subprocess.TimeoutExpired:  # all has been asked by now
            process.kill()
            process.wait()


def address(process, home):
    for _ in range(STARTS * 10):
        assert process.poll() is None, (home / "log").read_text()
        for file in (home / "runtime").glob("jpserver-*.json"):
            with contextlib.suppress(json.JSONDecodeError):  # the lab is still writing it
                server = json.loads(file.read_text())
                return server["url"], server["token"]
        time.sleep(0.1)
    pytest.fail(f"JupyterLab does not start:\n{(home / 'log').read_text()}")


@pytest.fixture(scope="module")
def page(chromium, lab):
    """The lab as it opens for the first time; it may ask no other site. To open it again would take as long as a chapter."""
    url, token = lab
    with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        context.set_default_timeout(PATIENCE)
        page, requests = context.new_page(), []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"{url}?token={token}")
        heading = page.locator(".jp-Notebook h1").first
        heading.wait_for()
        page.requests, page.met_with = requests, heading.inner_text()  # read now: the lab empties cells that a test scrolls away
        yield page
        assert [url for url in requests if not url.startswith((lab[0], "data:", "blob:"))] == []


def test_make_and_the_readme_start_the_same_lab():
    for file in ("Makefile", "README.md"):
        assert COMMAND in (ROOT / file).read_text(encoding="utf-8"), file


def test_the_lab_opens_chapter_1_and_asks_nothing(page, lab):
    first = json.loads((ROOT / "chapters" / "01_softmax.ipynb").read_text(encoding="utf-8"))["cells"][0]["source"][0]
    assert page.met_with.strip(" \n¶") == first.strip("# \n")  # the sign is a link that shows under the mouse, wherever that was left
    in_front(page, "01_softmax.ipynb").locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()  # the kernel has started
    # The question about news came when the lab stood and its settings were loaded; it asks its server for both.
    settings = page.evaluate(SETTINGS)
    assert settings["schema"]["properties"]["fetchNews"]["default"] == "false"
    browser.settle(page)
    assert page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts() == []
    assert not [url for url in page.requests if "/lab/api/news" in url or "/lab/api/update" in url]


SETTINGS = """async () => {
    await jupyterapp.restored;
    return await jupyterapp.serviceManager.settings.fetch("@jupyterlab/apputils-extension:notification");
}"""


def in_front(page, name):
    """A chapter in the lab, in front of the others."""
    page.evaluate("async name => { await jupyterapp.commands.execute('docmanager:open', { path: name }) }", name)
    expect(page.locator(".lm-DockPanel-tabBar .lm-mod-current .lm-TabBar-tabLabel")).to_have_text(name)
    return page.locator(".jp-NotebookPanel:visible", has=page.locator("h1"))


def opened(page, name):
    """A chapter in the lab, its text rendered."""
    notebook = in_front(page, name)
    notebook.locator(".jp-Notebook h1").first.wait_for()
    return notebook


def test_a_formula_has_its_number_and_a_link_leads_to_it(page):
    notebook = opened(page, "01_softmax.ipynb")
    formula = notebook.locator("mjx-container[display=true]", has=page.locator("mjx-labels")).first
    formula.wait_for()
    letters = formula.locator("mjx-labels mjx-c").evaluate_all("letters => letters.map(letter => letter.className)")
    assert "".join(chr(int(re.match("mjx-c([0-9A-F]+)", name)[1], 16)) for name in letters) == "(1.1)"
    link = notebook.locator('a[href*="#eq-softmax"]', has_text="(1.1)").last
    link.scroll_into_view_if_needed()
    expect(formula).not_to_be_in_viewport()
    link.click()
    expect(formula).to_be_in_viewport()


def test_a_diagram_is_shown(page):
    notebook = opened(page, "03_gradients.ipynb")
    picture = notebook.locator(".jp-RenderedMarkdown img").first
    picture.scroll_into_view_if_needed()
    page.wait_for_function("picture => picture.naturalWidth > 300", arg=picture.element_handle())


def run(notebook, page):
    """Run the only code cell when there is a kernel: without one the lab clears the outputs and is silent."""
    notebook.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
    page.evaluate(CONNECTED)
    notebook.locator(".jp-CodeCell .jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    expect(notebook.locator(".jp-InputPrompt").last).to_have_text(re.compile(r"\[\d+\]:"))


CONNECTED = """async () => {
    const { sessionContext } = jupyterapp.shell.currentWidget.context;
    await sessionContext.ready;
    await sessionContext.session.kernel.info;
}"""


def test_a_weight_of_a_foreign_notebook_is_explained_and_after_running_it_each_one_is(page):
    notebook = opened(page, "tap.ipynb")
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
