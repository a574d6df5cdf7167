"""Sphinx extension: type, colours and margins of all pages, and the fonts, which a page asks for at once."""

import json
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.fileutil import copy_asset

from book.static_files import PRIORITY, add_script, add_styles

HERE = Path(__file__).resolve().parent
FIRST_FONTS = ("fonts/source-serif-4.woff2", "fonts/source-sans-3.woff2", "fonts/source-code-pro.woff2")
ITALIC = "fonts/source-serif-4-italic.woff2"
# Not on a page opened from a disk, where the browser would refuse and complain.
PRELOAD = """<script>
if (location.protocol !== "file:") for (const href of {addresses}) {{
  document.head.append(Object.assign(document.createElement("link"), {{ rel: "preload", as: "font", crossOrigin: "", href }}));
}}
</script>"""


def setup(app):
    add_styles(app, HERE, "book.css", "margin.css")
    add_styles(app, HERE, "type.css", "colours.css", priority=PRIORITY + 1)  # they have the last word, also over the features
    add_script(app, HERE, "book.js")
    app.connect("config-inited", favicon)
    app.connect("html-page-context", ask_for_fonts, priority=890)  # after the theme and formulas, before site
    app.connect("build-finished", copy_fonts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def favicon(app, config):
    config.html_favicon = str(HERE / "favicon.svg")


def ask_for_fonts(app, pagename, templatename, context, doctree):
    context["metatags"] = (context.get("metatags") or "") + "\n" + preload(context, doctree)


def preload(context, doctree):
    """The faces that the page shows, asked for before the style sheet that names them has arrived."""
    slanted = doctree is not None and next(doctree.findall(nodes.emphasis), None) is not None
    names = [*FIRST_FONTS, ITALIC] if slanted else FIRST_FONTS
    for name in names:
        if not (HERE / name).is_file():
            raise ExtensionError(f"the font book/look/{name} is missing")
    names = [*names, *context.get("formula_fonts", ())]  # of `book.formulas`
    return PRELOAD.format(addresses=json.dumps([context["pathto"](f"_static/{name}", resource=True) for name in names]))


def copy_fonts(app, exception):
    if exception is None and app.builder.format == "html":
        copy_asset(HERE / "fonts", Path(app.outdir) / "_static" / "fonts")
