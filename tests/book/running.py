"""A page whose cells run: what its tests share."""

import pytest
from playwright.sync_api import expect
from watched import PATIENCE

TEXTS = """() => [...document.querySelectorAll('div.cell')].map(cell => {
    const place = cell.querySelector('.cell_output')?.cloneNode(true);
    if (!place || cell.matches('[class*=tag_exercise-], [class*=tag_nbval-ignore-output]')) return '';
    place.querySelectorAll('.headerlink, .copybtn, .live-figure').forEach(part => part.remove());
    return place.textContent.split('\\n').filter(line => line.trim()).join('\\n');
})"""

#: Two chapters, and a wrong and a right answer to the exercise `softmax` of the first one.
CHAPTER, NEXT = "chapters/01_softmax.html", "chapters/02_attention.html"
HEAD, TAIL = "def softmax(x):\n", '\n\ncheck("softmax", softmax)'
WRONG = HEAD + "    exponentials = np.exp(x)\n    return exponentials / exponentials.sum(axis=-1, keepdims=True)" + TAIL
RIGHT = HEAD + "    e = np.exp(x - x.max(axis=-1, keepdims=True))\n    return e / e.sum(axis=-1, keepdims=True)" + TAIL

BEGUN = "print('begun', flush=True)\n"


class Running:
    """The cells of a page, by number from 1; the last is the one to try things in."""

    def __init__(self, page):
        self.page = page
        page.set_default_timeout(PATIENCE)
        page.wait_for_selector("html.live", state="attached")

    def cell(self, number):
        return self.page.locator("div.cell").nth(number - 1)

    def plain(self, number):
        """The cell of this number, from 1, among those that are no exercise."""
        return self.page.locator("div.cell:not([class*='tag_exercise-'])").nth(number - 1)

    def exercise(self, id):
        return self.page.locator(f"div.cell.tag_exercise-{id}")

    @property
    def scratch(self):
        self.page.locator("details.live-scratch").evaluate("box => { box.open = true; }")
        return self.page.locator("details.live-scratch div.cell")

    def type(self, cell, code):
        self.unfold(cell)
        cell.locator("textarea").fill(code)

    def unfold(self, cell):
        cell.evaluate("cell => cell.querySelectorAll('details.above-input').forEach(fold => { fold.open = true; })")

    def run(self, cell, code=None):
        """Run a cell, with other code if it is given; return what it shows when all is done."""
        self.unfold(cell)
        if code is not None:
            self.type(cell, code)
        cell.locator(".live-button").first.click()
        self.idle()
        return self.shown(cell)

    def shown(self, cell):
        return cell.locator(".cell_output").inner_text()

    def begin(self, cell, code):
        """Run a cell that does not end by itself, and return when it has said that it has begun: the line BEGUN."""
        self.type(cell, code)
        cell.locator(".live-button").first.click()
        expect(cell.locator(".cell_output")).to_contain_text("begun")

    def run_all(self):
        self.page.locator(".live-head > .live-button").click()
        self.idle()

    def idle(self):
        # Not by a script of the test, which a strict policy would refuse.
        expect(self.page.locator(".live-head > .live-button")).to_have_text("Run this page")

    @property
    def said(self):
        return self.page.locator(".live-head > .live-said").inner_text()

    @property
    def heard(self):
        return self.page.locator("#live-status").text_content()


def has_python(site):
    """Skip where the pages are built without a Python."""
    if not (site / "_static" / "live").is_dir():
        pytest.skip("the pages are built without a Python; run: make live")


__all__ = ["BEGUN", "Running", "TEXTS", "expect", "has_python"]
