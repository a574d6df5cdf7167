"""Sphinx extension: the list of chapters beside the library's source is made once for each folder of source pages.

Sphinx makes this list anew for each page, because it shows which of its entries is open. There are twice as many pages
with source as other pages, and none of them is an entry.
"""

from functools import cache

SOURCE = "_modules/"  # where sphinx.ext.viewcode puts its pages


def setup(app):
    app.connect("builder-inited", start)
    app.connect("html-page-context", share, priority=400)  # before the theme, which shows the list
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def start(app):
    app.source_page_lists = {}


def share(app, pagename, templatename, context, doctree):
    if pagename.startswith(SOURCE):
        folder = pagename.rpartition("/")[0]
        context["toctree"] = app.source_page_lists.setdefault(folder, cache(context["toctree"]))
