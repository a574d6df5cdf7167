"""Sphinx extension: a page of the library's source is the code below one line of links.

There are twice as many such pages as of all others. With the theme's lists, buttons and scripts they would be a sixth of the site,
and nine tenths of most of them. `source.html` has what a reader goes to from there: the book, the library, the search; each
function leads back to its description.
"""

from pathlib import Path

from book.static_files import add_styles, add_templates

HERE = Path(__file__).resolve().parent
SOURCE = "_modules/"  # where sphinx.ext.viewcode puts its pages
ENDS = ("_start", "_center", "_persistent", "_end", "_items")  # of the theme's names for lists of templates


def setup(app):
    add_templates(app, HERE)
    add_styles(app, HERE, "source.css")
    app.connect("html-page-context", without_parts, priority=1)  # before the theme's own
    app.connect("html-page-context", template)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def template(app, pagename, templatename, context, doctree):
    return "source.html" if pagename.startswith(SOURCE) else None


def without_parts(app, pagename, templatename, context, doctree):
    """Leave out the theme's lists and buttons, which it would draw for each page to see whether there is anything in them."""
    if pagename.startswith(SOURCE):
        parts = [name for name in context if name == "sidebars" or name.startswith("theme_") and name.endswith(ENDS)]
        context.update(dict.fromkeys(parts, []))
