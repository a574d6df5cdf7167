"""Sphinx extension: the page `404.html`, which a server shows for an address that no page has.

It comes under that very address, at any depth (`/book/chapters/gone/`), and nobody knows while building where the book
will lie. So a script at its top, `missing_page.js`, looks for the book's root among the folders of the address, and all
relative addresses start there. (While it looks, a browser may already ask for some files at a wrong place.) Without
scripts there may be no style sheet, so only the words are left, which can be read.
"""

from pathlib import Path

from book.static_files import add_templates

HERE = Path(__file__).resolve().parent
SCRIPT = HERE / "missing_page.js"
WITHOUT_SCRIPTS = """<noscript><style>
body { max-width: 40rem; margin: 1rem auto; }
#pst-back-to-top, .bd-sidebar-primary { display: none !important; }
.book-icon { height: 1em; }
</style></noscript>"""


def setup(app):
    add_templates(app, HERE)
    app.connect("html-collect-pages", lambda app: [("404", {"title": "Page not found"}, "404.html")])
    app.connect("html-page-context", script_first, priority=950)  # before what `look` and `site` put there
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def script_first(app, pagename, templatename, context, doctree):
    if pagename == "404":
        script = SCRIPT.read_text(encoding="utf-8")
        before = f'\n<script>\n{script}</script>\n{WITHOUT_SCRIPTS}\n<meta name="robots" content="noindex">'
        context["metatags"] = before + context["metatags"]
