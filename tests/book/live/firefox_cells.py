"""The cells of a page in Firefox: write into one, run it, read what it shows. `running.py` does the same in Chromium."""

IDLE = """() => document.querySelector(".live-head > .live-button").textContent === "Run this page" """
SCRATCH = "document.querySelector('.live-scratch div.cell')"


def cell(number):
    """The cell of this number, from 1, in the language of the page."""
    return f"document.querySelectorAll('div.cell')[{number - 1}]"


def plain(number):
    """The same among the cells that are no exercise."""
    return f"""document.querySelectorAll("div.cell:not([class*='tag_exercise-'])")[{number - 1}]"""


def exercise(id):
    return f"document.querySelector('div.cell.tag_exercise-{id}')"


class Cells:
    """A chapter that is open in a window of Firefox, and its cells, each as an expression of the page."""

    def __init__(self, window, address):
        self.window = window
        window.open(address)
        window.wait("() => document.querySelector('html.live')")

    def type(self, cell, code):
        self.unfold(cell)
        self.window.ask(
            f"""(code) => {{
                const box = {cell}.querySelector("textarea");
                box.value = code;
                box.dispatchEvent(new Event("input", {{ bubbles: true }}));
            }}""",
            code,
        )

    def unfold(self, cell):
        self.window.ask(f"""() => {{
            {cell}.querySelectorAll("details.above-input").forEach((fold) => (fold.open = true));
            const scratch = {cell}.closest("details.live-scratch");
            if (scratch) scratch.open = true;
        }}""")

    def press(self, within, label):
        """Press the visible button or link whose text begins with this label, inside an element of the page.

        Firefox may answer before the page has heard of the press, so that what ends with a run would seem to be over.
        """
        self.window.wait(f"""() => {{
            const shown = [...{within}.querySelectorAll("button, a, summary")].filter((button) => button.checkVisibility());
            const found = shown.find((button) => button.textContent.trim().startsWith({label!r}));
            found?.setAttribute("data-pressed", "");
            found?.addEventListener("click", () => found.removeAttribute("data-pressed"), {{ once: true }});
            return Boolean(found);
        }}""")
        self.window.click("[data-pressed]")
        self.window.wait("() => !document.querySelector('[data-pressed]')")

    def begin(self, cell, code=None):
        """Run a cell, with other code if it is given, and return at once."""
        self.unfold(cell)
        if code is not None:
            self.type(cell, code)
        self.press(cell, "Run")

    def run(self, cell, code=None):
        """Run a cell and return what it shows when all is done."""
        self.begin(cell, code)
        self.window.wait(IDLE)
        return self.shown(cell)

    def shown(self, cell):
        return self.window.ask(f"() => {cell}.querySelector('.cell_output')?.innerText ?? ''")

    def code(self, cell):
        return self.window.ask(f"() => {cell}.querySelector('textarea').value")

    def row(self, cell):
        """What stands beside the buttons of a cell."""
        return self.window.ask(f"() => {cell}.querySelector('.live-row > .live-said').textContent")

    @property
    def said(self):
        return self.window.ask("() => document.querySelector('.live-head > .live-said').textContent")
