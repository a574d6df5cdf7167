"""MathJax itself, in an embedded JavaScript engine (mini-racer): it typesets formulas without a browser."""

import importlib.metadata
import importlib.util
from pathlib import Path

from sphinx.errors import ExtensionError

from book.cache import digest

SCRIPT = Path(__file__).with_name("typeset.js")
# In this order: each part registers itself with the ones before it.
PARTS = ("loader", "core", "adaptors/liteDOM", "input/tex-full", "output/chtml", "output/chtml/fonts/tex", "a11y/assistive-mml")
GLOBALS = """
var global = globalThis;
globalThis.setTimeout = () => 0;
globalThis.clearTimeout = () => {};
globalThis.MathJax = {startup: {typeset: false, ready() {}, pageReady() {}}, loader: {load: [], ready() {}}};
"""


class Engine:
    """MathJax, ready to typeset."""

    def __init__(self, macros):
        try:
            from py_mini_racer import MiniRacer
        except ImportError as error:
            raise ExtensionError("the package mini-racer is missing; run: pip install -r requirements.txt") from error
        self.racer = MiniRacer()
        self.racer.eval(GLOBALS)
        for path in scripts():
            self.racer.eval(path.read_text(encoding="utf-8"))
        self.racer.call("prepare", macros)

    def typeset(self, tex, display):
        """The formula as HTML, its width in em, and what it uses. Raises ValueError with MathJax's words."""
        found, width, used = self.racer.call("typeset", tex, display)
        if not found:
            raise ValueError(width)
        return found, width, used

    def styles(self, used):
        """The style sheet for formulas that use this."""
        return self.racer.call("styles", used)

    def close(self):
        self.racer.close()  # or the process would never end


def version(macros):
    """The digest of everything but the formula that decides how MathJax typesets it."""
    return digest(Path(__file__), *scripts(), importlib.metadata.version("mini-racer"), sorted(macros.items()))


def scripts():
    return [*(mathjax() / f"{part}.js" for part in PARTS), SCRIPT]


def mathjax():
    """The folder of MathJax's files in the installed package."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    if package is None:
        raise ExtensionError("the package sphinx-mathjax-offline is missing; run: pip install -r requirements.txt")
    return Path(package.origin).parent / "static" / "mathjax"
