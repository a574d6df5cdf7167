"""A page that runs code, by keyboard alone, on a phone, and for a screen reader."""

import pytest
from running import CHAPTER, WRONG, Running, has_python
from watched import Watched, accessibility

from tools import browser


@pytest.fixture(autouse=True)
def with_python(site):
    has_python(site)


def test_keyboard_alone(own_desk):
    running = Running(own_desk.open(CHAPTER))
    page, box = running.page, running.exercise("softmax").locator("textarea")
    box.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("def softmax(x):\nreturn 1")  # the line after a colon is indented by itself
    assert box.input_value() == "def softmax(x):\n    return 1"
    page.keyboard.press("Shift+Tab")
    assert box.input_value() == "def softmax(x):\nreturn 1"
    page.keyboard.press("Shift+Home")  # what is selected is indented
    page.keyboard.press("Tab")
    assert box.input_value() == "def softmax(x):\n    return 1"
    page.keyboard.press("Control+Z")
    assert box.input_value() == "def softmax(x):\nreturn 1"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")  # to the button that copies
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText.trim()").startswith("Run")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type('check("softmax", ...)')
    page.keyboard.press("Shift+Enter")
    running.idle()
    assert running.heard == "[ ] softmax: not attempted yet"
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA" and not box.evaluate("box => box.matches(':focus')")


def test_phone(own_phone):
    running = Running(own_phone.open(CHAPTER))
    cell = running.exercise("softmax")
    cell.locator("textarea").tap()
    assert cell.locator("textarea").evaluate("box => getComputedStyle(box).fontSize") == "16px"  # else a phone enlarges the page
    assert "[!] softmax" in running.run(cell, WRONG)
    assert running.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_on_a_phone_no_line_of_a_verdict_is_broken_twice(own_phone):
    page = own_phone.open(CHAPTER)
    running = Running(page)
    box = running.exercise("softmax")
    assert "overflow" in running.run(box, WRONG)
    rows = box.locator(".cell_output .stream pre").first.evaluate(ROWS)
    assert rows["drawn"] == rows["printed"] > 5


ROWS = """pre => {
    const range = document.createRange();
    range.selectNodeContents(pre);
    const tops = new Set([...range.getClientRects()].filter(box => box.width > 0).map(box => Math.round(box.top)));
    return {drawn: tops.size, printed: pre.textContent.split("\\n").filter(line => line.trim()).length};
}"""


@pytest.mark.parametrize("width", [1440, 390])
def test_running_pages_are_accessible_in_both_schemes(chromium, address, width):
    with Watched(chromium, address, width, color_scheme="light") as watched:
        running = Running(watched.open(CHAPTER))
        running.run(running.exercise("softmax"), WRONG)
        running.run(running.scratch, "1 / 0")
        running.page.locator(".live-work > summary").click()
        for scheme in ("light", "dark"):
            watched.page.emulate_media(color_scheme=scheme)
            browser.settle(watched.page)
            assert not accessibility(watched.page), scheme
        assert not watched.faults


@pytest.mark.parametrize("device", ["own_desk", "own_phone"])
def test_editor_and_colours_have_one_height(request, device):
    """Letters and caret lie on each other only if both break their lines at the same places."""
    page = request.getfixturevalue(device).open(CHAPTER)
    Running(page)
    page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    sizes = page.evaluate(
        "[...document.querySelectorAll('.live-editor')].map(box => [box.querySelector('pre'), box.querySelector('textarea')])"
        ".map(([pre, area]) => [pre.clientHeight, area.clientHeight, area.scrollHeight])"
    )
    assert len(sizes) > 20 and all(pre == area >= inner for pre, area, inner in sizes), sizes
