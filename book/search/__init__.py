"""Sphinx extension: the search finds sections, puts the chapter that is about the words first, and works from a disk.

Sphinx's own search finds whole pages, and reads each page that it found to quote from it: no browser allows that for a
page opened from a disk, and the quotes hold the TeX of the formulas. Here the text of all sections is one script,
`search_text.js`, which only the search page loads (see `index`); `search.js` beside this file ranks and quotes.
"""

import json
from pathlib import Path

from book.cache import digest
from book.search.index import Places
from book.static_files import add_script, add_styles, add_templates

HERE = Path(__file__).resolve().parent
CODE = HERE / "index.py"
SCRIPT = "search.js"
TEXT = "search_text.js"
UNUSED = "_static/searchtools.js"  # Sphinx's own


def setup(app):
    app.setup_extension("book.cache")
    add_templates(app, HERE)
    add_styles(app, HERE, "search.css")
    add_script(app, HERE, "search_marks.js")
    app.connect("builder-inited", no_index)
    app.connect("html-page-context", choose_template)
    app.connect("build-finished", finish, priority=800)  # before light_pages, which looks at all scripts
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def no_index(app):
    """Sphinx's own index would be thrown away, so it is not made."""
    app.builder.index_page = app.builder.dump_search_index = lambda *page: None


def choose_template(app, pagename, templatename, context, doctree):
    return "search_places.html" if pagename == "search" else None


def finish(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    pages = [page(app, docname, site) for docname in sorted(app.env.found_docs)]
    text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
    (site / TEXT).write_text(f"Search.read({text});\n", encoding="utf-8")
    (site / "_static" / SCRIPT).write_text((HERE / SCRIPT).read_text(encoding="utf-8"), encoding="utf-8")
    (site / UNUSED).unlink(missing_ok=True)


def page(app, docname, site):
    """What is known of a page: its address, its kind, the words of its name (`04_masks` is about masks), its places."""
    address = app.builder.get_target_uri(docname)
    article = (site / address).read_text(encoding="utf-8").split("<article", 1)[1].split("</article>", 1)[0]
    if "" in app.env.toc_secnumbers.get(docname, {}):
        kind = "chapter"
    else:
        kind = "library" if "/api/" in docname else "reference"
    topic = " ".join(word for word in docname.rsplit("/", 1)[-1].split("_") if not word.isdigit())
    return {"address": address, "kind": kind, "topic": topic, "places": app.kept.get(places, article, version=digest(CODE))}


def places(article):
    return Places(article).places
