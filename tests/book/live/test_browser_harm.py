"""A reader's cell that does harm harms its own page only, and Restart Python or Reset brings it back."""

import pytest
from running import Running, expect, has_python
from watched import Watched

CHAPTER = "chapters/01_softmax.html"
WORK = "localStorage.getItem(Object.keys(localStorage).find(key => key.endsWith(':files')))"
SAVED = "def softmax(x):\n    e = np.exp(x - x.max(axis=-1, keepdims=True))\n    return e / e.sum(axis=-1, keepdims=True)\n\ncheck('softmax', softmax)"
HARM = {
    "takes all memory": "taken = []\nwhile True:\n    taken.append(np.empty(50_000_000))",
    "asks for too much at once": "np.ones(10**12)",
    "replaces builtins": "import builtins\nbuiltins.isinstance = builtins.len = builtins.print = builtins.open = None",
    "replaces what shows outputs": "import json, sys\njson.dumps = None\nsys.stdout = None",
    "deletes the course": "import shutil\nshutil.rmtree('/course')",
    "deletes the standard library": "import os\nfor name in os.listdir('/lib'):\n    __import__('shutil').rmtree(f'/lib/{name}', ignore_errors=True)",
    "changes the library": "import attnlib.softmax\nattnlib.softmax.softmax = None\nimport numpy\nnumpy.exp = None",
    "ends Python": "import sys\nsys.exit()",
    "ends the worker": "import js\njs.close()\nwhile True:\n    pass",
}


@pytest.fixture(scope="module")
def solved(chromium, address, site):
    """Chapter 1 with its first exercise solved, so that there is something to lose."""
    has_python(site)
    with Watched(chromium, address, 1440) as watched:
        running = Running(watched.open(CHAPTER))
        assert "[x] softmax" in running.run(running.exercise("softmax"), SAVED)
        yield running


@pytest.mark.parametrize("name", HARM)
def test_harm_ends_with_the_page_and_loses_no_work(solved, name):
    page, cell = solved.page, solved.scratch
    kept = page.evaluate(WORK)
    assert "softmax" in kept
    solved.type(cell, HARM[name])
    cell.locator(".live-button").first.click()
    if name == "ends the worker":
        expect(cell.locator(".live-row > .live-said")).to_contain_text("running")
        cell.get_by_role("button", name="Stop").click()
    solved.idle()
    if "memory" in name:
        assert "MemoryError" in solved.shown(cell)
    assert page.evaluate(WORK) == kept
    if page.locator(".live-work:not([open])").count():
        page.locator(".live-work > summary").click()
    page.get_by_role("button", name="Restart Python").click()
    assert "3.14" in solved.run(cell, "import sys\nprint(sys.version)\nprint(len('abc'), isinstance(1, int))")
    assert "[x] softmax" in solved.run(solved.exercise("softmax"))
    assert "solved" in solved.exercise("softmax").locator(".live-badge").inner_text()
    cell.get_by_role("button", name="Reset").click()
    assert cell.locator("textarea").input_value().startswith("from attnexercises import progress")
