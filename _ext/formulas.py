"""Sphinx extension: formulas are typeset while the book is built, so that a page shows them at once and without a script.

MathJax itself does it, in an embedded JavaScript engine (mini-racer): the page gets MathJax's HTML, its style sheet
and its fonts, and beside each formula the MathML that a screen reader reads. Nothing is left to do in the browser, so
nothing jumps, and a page can be read without JavaScript. A formula that MathJax cannot read is a warning. The fonts
hold the characters that the book uses, a tenth of MathJax's own.

Each display formula carries its width (`--width`, in em): the style sheet makes it smaller where it would not fit.
"""

import html
import importlib.util
import re
import shutil
from functools import lru_cache
from pathlib import Path

from docutils import nodes
from fontTools import subset
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

# In this order: each part registers itself with the ones before it.
PARTS = ("loader", "core", "adaptors/liteDOM", "input/tex-full", "output/chtml", "output/chtml/fonts/tex", "a11y/assistive-mml")
FIRST_FONTS = ("MathJax_Main-Regular.woff", "MathJax_Math-Italic.woff")  # of almost every formula
CHARACTER = re.compile(r'content:\s*"((?:\\.|[^"\\])*)"')  # in MathJax's style sheet; "\2211" is a sum's sign
GLOBALS = """
var global = globalThis;
globalThis.setTimeout = () => 0;
globalThis.clearTimeout = () => {};
globalThis.MathJax = {startup: {typeset: false, ready() {}, pageReady() {}}, loader: {load: [], ready() {}}};
"""
logger = logging.getLogger(__name__)


class Typesetter:
    """MathJax in an engine of its own."""

    def __init__(self, macros):
        try:
            from py_mini_racer import MiniRacer
        except ImportError as error:
            raise ExtensionError("the package mini-racer is missing; run: pip install -r requirements.txt") from error
        self.engine = MiniRacer()
        self.engine.eval(GLOBALS)
        for part in PARTS:
            self.engine.eval((mathjax() / f"{part}.js").read_text(encoding="utf-8"))
        self.engine.eval(Path(__file__).with_suffix(".js").read_text(encoding="utf-8"))
        self.engine.call("prepare", macros)
        self.typeset = lru_cache(maxsize=None)(self._typeset)

    def _typeset(self, tex, display):
        """Return the formula as HTML and its width in em. Raises ValueError with MathJax's words."""
        found, width = self.engine.call("typeset", tex, display)
        if not found:
            raise ValueError(width)
        return found, width

    def styles(self):
        return self.engine.call("styles")


def mathjax():
    """The folder of MathJax's files in the installed package."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    if package is None:
        raise ExtensionError("the package sphinx-mathjax-offline is missing; run: pip install -r requirements.txt")
    return Path(package.origin).parent / "static" / "mathjax"


def setup(app):
    app.add_config_value("formula_macros", {}, "html")
    app.add_html_math_renderer("typeset", (inline, None), (display, None))
    app.add_css_file("mathjax/style.css", priority=150)  # before the book's own
    app.connect("config-inited", choose)
    app.connect("builder-inited", start)
    app.connect("html-page-context", preload, priority=850)  # before bookext.py asks for all fonts
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}


def choose(app, config):
    config.html_math_renderer = "typeset"


def start(app):
    if app.builder.format == "html":
        app.builder.typesetter = Typesetter(app.config.formula_macros)


def typeset(translator, node, tex, is_display):
    try:
        return translator.builder.typesetter.typeset(tex, is_display)
    except ValueError as error:
        logger.warning("a formula cannot be typeset: %s: %s", error, tex.strip(), location=node, type="formula")
        return f"<code>{html.escape(tex)}</code>", 1


def inline(translator, node):
    formula, _ = typeset(translator, node, node.astext(), False)
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate nohighlight") + formula + "</span>")
    raise nodes.SkipNode


def display(translator, node):
    tex = node.astext()
    if r"\\" in tex and r"\begin{" not in tex:
        tex = r"\begin{split}" + tex + r"\end{split}"  # as Sphinx does: a break needs something around it
    formula, width = typeset(translator, node, tex, True)
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight", style=f"--width: {width:.2f}"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(formula + "</div>\n")
    raise nodes.SkipNode


def finish(app, exception):
    """Write the style sheet of the characters that were used, and the fonts beside it."""
    typesetter = vars(app.builder).pop("typesetter", None)
    if typesetter is None:  # called again, after another extension failed
        return
    styles = typesetter.styles()
    typesetter.engine.close()  # or the process would never end
    if exception is not None:
        return
    folder = Path(app.outdir) / "_static" / "mathjax"
    write_fonts(folder / "woff-v2", characters(styles))
    (folder / "style.css").write_text(styles, encoding="utf-8")


def preload(app, pagename, templatename, context, doctree):
    """On a page with formulas, ask at once for the fonts of their letters: they are there when it is first laid out."""
    if doctree is None or not any(isinstance(node, nodes.math | nodes.math_block) for node in doctree.findall()):
        return
    context["formula_fonts"] = [f"mathjax/woff-v2/{name}" for name in FIRST_FONTS]


def characters(styles):
    """All characters that the style sheet puts on a page."""
    found = CHARACTER.findall(styles)
    texts = [re.sub(r"\\([0-9A-Fa-f]+) ?", lambda code: chr(int(code[1], 16)), text) for text in found]
    return set(map(ord, "".join(texts)))


def write_fonts(folder, characters):
    """MathJax's fonts with these characters alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((mathjax() / "output" / "chtml" / "fonts" / "woff-v2").glob("*.woff")):
        options = subset.Options(flavor="woff", drop_tables=["FFTM"])  # a note of the program that made them
        with subset.load_font(str(path), options) as font:
            if not characters & set(font.getBestCmap()):  # a browser complains about a font without characters
                shutil.copy(path, folder)
                continue
            subsetter = subset.Subsetter(options)
            subsetter.populate(unicodes=characters)
            subsetter.subset(font)
            subset.save_font(font, str(folder / path.name), options)
