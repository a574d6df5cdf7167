"""Sphinx extension: formulas are typeset while the book is built, so that a page shows them at once and without a script.

MathJax itself does it, in an embedded JavaScript engine (mini-racer): the page gets MathJax's HTML, its style sheet
and its fonts, and beside each formula the MathML that a screen reader reads. Nothing is left to do in the browser, so
nothing jumps, and a page can be read without JavaScript. A formula that MathJax cannot read is a warning. The fonts
hold the characters that the book uses, a tenth of MathJax's own, and alphabets of which it uses none have no font.

Each display formula carries its width (`--width`, in em): the style sheet makes it smaller where it would not fit.
"""

import base64
import html
import importlib.metadata
import io
import re
import zlib
from functools import lru_cache, partial
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from book.cache import Kept, digest
from book.formulas.mathjax_engine import Engine, mathjax, version
from book.formulas import short
from book.static_files import add_styles

FIRST_FONTS = ("MathJax_Main-Regular.woff", "MathJax_Math-Italic.woff")  # of almost every formula
CHARACTER = re.compile(r'content:\s*"((?:\\.|[^"\\])*)"')  # in MathJax's style sheet; "\2211" is a sum's sign
BEFORE_A_MARK = re.compile(
    r'<span class="math notranslate">(?:[^<]|<(?!span class="math))*?</mjx-container></span>[.,;:!?)\]’”]+'
)
# What one formula defined would hold for those after it, and none may depend on what was typeset before.
DEFINES = re.compile(r"\\(?:def|let|(?:re)?new(?:command|environment|tagform)|Declare\w+|definecolor|mathtoolsset|usetagform|label)\b")
# Fraktur, script, sans serif, typewriter, calligraphic: a book may use none of them.
FACE_OF_AN_ALPHABET = re.compile(r"@font-face[^{]*\{[^}]*font-family: MJX(TEX-(?:FR|SC|SS|T|C)\w*);[^}]*\}\n*")
logger = logging.getLogger(__name__)


class Typesetter:
    """Typesets each formula once: in this build or, where the parts are kept, in an earlier one."""

    def __init__(self, macros, kept=None):
        self.macros, self.kept = macros, kept or Kept()
        self.version = version(macros)
        self.started = None
        self.used = [{}, {}, {}]  # by all formulas so far, in the order of the pages: kinds of elements, delimiters, characters
        self.typeset = lru_cache(maxsize=None)(self._typeset)

    @property
    def engine(self):
        self.started = self.started or Engine(self.macros)
        return self.started

    def _typeset(self, tex, display):
        """Return the formula as HTML and its width in em. Raises ValueError if it is wrong, and says what is."""
        if found := DEFINES.search(tex):
            raise ValueError(f"{found[0]} would change other formulas; a macro belongs in formula_macros of _config.yml")
        found, width, used = self.kept.get(lambda *what: self.engine.typeset(*what), tex, display, version=self.version)
        for all_used, of_formula in zip(self.used, used, strict=True):
            all_used.update((str(each), each) for each in of_formula)
        return short.shortened(found), width

    def styles(self):
        used = [list(each.values()) for each in self.used]
        return short.style_sheet(self.kept.get(lambda *what: self.engine.styles(*what), used, version=self.version))

    def close(self):
        if self.started:
            self.started.close()


def setup(app):
    app.setup_extension("book.cache")
    add_styles(app, Path(__file__).parent, "formulas.css")
    app.add_config_value("formula_macros", {}, "html")
    app.add_html_math_renderer("typeset", (inline, None), (display, None))
    app.add_css_file("mathjax/style.css", priority=150)  # before the book's own
    app.connect("config-inited", choose)
    app.connect("builder-inited", start)
    app.connect("html-page-context", preload, priority=850)  # before `look` asks for all fonts
    app.connect("html-page-context", keep_marks)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}


def choose(app, config):
    config.html_math_renderer = "typeset"


def start(app):
    if app.builder.format == "html":
        app.builder.typesetter = Typesetter(app.config.formula_macros, app.kept)


def typeset(translator, node, tex, is_display):
    try:
        return translator.builder.typesetter.typeset(tex, is_display)
    except ValueError as error:
        logger.warning("a formula cannot be typeset: %s: %s", error, tex.strip(), location=node, type="formula")
        return f"<code>{html.escape(tex)}</code>", 1


def inline(translator, node):
    formula, _ = typeset(translator, node, node.astext(), False)
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate") + formula + "</span>")
    raise nodes.SkipNode


def keep_marks(app, pagename, templatename, context, doctree):
    """A full stop or a bracket behind a formula stays on its line: browsers may break a line between the two."""
    if "body" in context:
        context["body"] = BEFORE_A_MARK.sub(r'<span class="formula-end">\g<0></span>', context["body"])


def display(translator, node):
    tex = node.astext()
    if r"\\" in tex and r"\begin{" not in tex:
        tex = r"\begin{split}" + tex + r"\end{split}"  # as Sphinx does: a break needs something around it
    formula, width = typeset(translator, node, tex, True)
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate", style=f"--width: {width:.2f}"))
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
    styles = typesetter.styles() if exception is None else None
    typesetter.close()
    if exception is not None:
        return
    folder = Path(app.outdir) / "_static" / "mathjax"
    styles = FACE_OF_AN_ALPHABET.sub(lambda face: face[0] if f".{face[1]}::before" in styles else "", styles)
    write_fonts(folder / "woff-v2", characters(styles), app.kept)
    for font in (folder / "woff-v2").glob("*.woff"):
        if font.name not in styles:
            font.unlink()
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


def write_fonts(folder, characters, kept=None):
    """Write MathJax's fonts with these characters alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((mathjax() / "output" / "chtml" / "fonts" / "woff-v2").glob("*.woff")):
        version = digest(Path(__file__), path, importlib.metadata.version("fonttools"), zlib.ZLIB_RUNTIME_VERSION)
        font = (kept or Kept()).get(partial(subset_font, path), sorted(characters), version=version)
        (folder / path.name).write_bytes(base64.b64decode(font))


def subset_font(path, characters):
    """The font with these characters alone, in base64; the whole font if it has none of them."""
    from fontTools import subset  # slow to import, and seldom needed: fonts are kept between builds

    options = subset.Options(flavor="woff", drop_tables=["FFTM"])  # a note of the program that made them
    with subset.load_font(str(path), options) as font:
        if not set(characters) & set(font.getBestCmap()):  # a browser complains about a font without characters
            return base64.b64encode(path.read_bytes()).decode()
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=characters)
        subsetter.subset(font)
        made = io.BytesIO()
        subset.save_font(font, made, options)
        return base64.b64encode(made.getvalue()).decode()
