"""Sphinx extension: predictions, to which a reader commits before the answer is shown.

In a notebook a prediction is a `<div class="predict …">` with a folded answer (`notebook.py` reads it and says what is
wrong: each fault is a warning here). On the site `predictions.js` makes an input of it. For that, this extension writes

* a digest into each block, so that a changed question asks again;
* behind the opener of each chapter the place where the missed predictions of the chapter before come back, and for each
  chapter a script with its blocks, which is fetched only then.

The blocks are taken from the finished pages, with their formulas, and a page opened from a disk can use all of it. The
page *Review* (`book.review`) shows all of them.
"""

import html
import json
import re
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book.pages import HEADING, end_of, reading_order, title_of, words
from book.predictions.notebook import FORM, check_predictions, predictions
from book.static_files import add_script, add_styles

FOLDER = "_static/predictions"
BLOCK = re.compile(r'<div class="predict \w+" id="([\w-]+)"[^>]*>')
COMES_BACK = re.compile(r'<div class="predict-missed"[^>]*></div>')
OWN_ANCHOR = re.compile(r'\bhref="#')
logger = logging.getLogger(__name__)


def setup(app):
    add_styles(app, Path(__file__).parent, "predictions.css")
    for name in ("predict_inputs.js", "predictions.js"):
        add_script(app, Path(__file__).parent, name, used_with="predict|predict-missed")
    app.connect("source-read", read)  # before plain_markdown, which `book` sets up later
    app.add_transform(PlaceForMissed)
    app.connect("env-purge-doc", forget_page)
    app.connect("env-merge-info", merge_pages)
    app.connect("env-check-consistency", warn_of_repetitions)
    app.connect("build-finished", finish, priority=700)  # before the search and light_pages, which read the pages
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def read(app, docname, source):
    """Check a notebook's predictions, and write the digest into each."""
    if not app.env.doc2path(docname).endswith(".ipynb"):
        return
    notebook = nbformat.reads(source[0], as_version=4)
    found, seen = {}, set()
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for problem in check_predictions(cell, notebook, seen):
            logger.warning("cell %s: %s", cell.get("id"), problem, location=docname, type="prediction")
        digests = {each.id: each.digest for each in predictions(cell.source)[0]}
        cell.source = FORM.sub(lambda tag, digests=digests: with_digest(tag, digests), cell.source)
        found |= digests
    if found:
        pages_of(app.env)[docname] = found
        source[0] = json.dumps(notebook)  # nbformat.writes would indent the lines, for which Python has no quick encoder


def with_digest(tag, digests):
    """The first line of a block with its digest; one that is malformed stays as it is, a folded answer."""
    return f'{tag[0][:-1]} data-digest="{digests[tag["id"]]}">' if tag["id"] in digests else tag[0]


class PlaceForMissed(SphinxTransform):
    """Behind the opener of a chapter there is room for what was missed in the chapter before."""

    default_priority = 420  # after openers.Opener

    def apply(self):
        for card in list(self.document.findall(nodes.container)):
            if "opener" in card["classes"]:
                place = nodes.raw("", '<div class="predict-missed" hidden></div>', format="html")
                card.parent.insert(card.parent.index(card) + 1, place)


def pages_of(env):
    """{page: {id: digest}}, kept with the environment between builds."""
    if not hasattr(env, "predictions"):
        env.predictions = {}
    return env.predictions


def forget_page(app, env, docname):
    pages_of(env).pop(docname, None)


def merge_pages(app, env, docnames, other):
    pages_of(env).update({name: found for name, found in pages_of(other).items() if name in docnames})


def warn_of_repetitions(app, env):
    first = {}
    for page in sorted(pages_of(env)):
        for id in pages_of(env)[page]:
            if id in first:
                logger.warning("the prediction %r is in %s and in %s", id, first[id], page, type="prediction")
            first.setdefault(id, page)


def finish(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    env, site = app.env, Path(app.outdir)
    pages = finished_pages(app)
    (site / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, of_page in blocks_of_pages(app, pages).items():
        text = json.dumps(of_page, ensure_ascii=False, indent=0)
        (site / script(name)).write_text(f"predictions.arrived({text});\n", encoding="utf-8")
    chapters = [name for name in pages if COMES_BACK.search(pages[name])]
    for before, name in zip([None, *chapters], chapters, strict=False):
        place = comes_back(env, before, pages.get(before), name)
        path_of(app, name).write_text(COMES_BACK.sub(lambda _, place=place: place, pages[name]), encoding="utf-8")


def path_of(app, name):
    return Path(app.outdir) / app.builder.get_target_uri(name)


def finished_pages(app):
    """{page: its text as it was written}, in reading order."""
    return {name: path_of(app, name).read_text(encoding="utf-8") for name in reading_order(app.env)}


def blocks_of_pages(app, pages):
    """{page: {id: HTML}} of the pages with predictions."""
    return {name: blocks(text, path_of(app, name).name) for name, text in pages.items() if pages_of(app.env).get(name)}


def script(name):
    return f"{FOLDER}/{name.rsplit('/', 1)[-1]}.js"


def blocks(page, address):
    """{id: HTML} of the predictions of a page, each with a link to its place, for another page of the same folder."""
    found, title = {}, title_of(page)
    for tag in BLOCK.finditer(page):
        block = page[tag.start() : end_of(page, tag.start())]
        head, inner = tag[0], block[len(tag[0]) :]
        inner = OWN_ANCHOR.sub(f'href="{address}#', inner)
        inner = re.sub(r'\sid="[^"]*"', "", inner)  # of a numbered formula, say: its place is in the chapter
        section = words(HEADING.findall(page[: tag.start()])[-1])
        place = title if section == title else f"{title}: {section}"
        link = f'<p class="predict-place">From <a href="{address}#{tag[1]}">{place}</a></p>'
        found[tag[1]] = f'<div class="predict-one">{head}{inner}{link}</div>'
    return found


def comes_back(env, before, page, name):
    """The place in a chapter where the missed predictions of the chapter before come back."""
    digests = pages_of(env).get(before)
    if not digests:
        return '<div class="predict-missed" hidden></div>'
    ids = " ".join(f"{id}={digest}" for id, digest in digests.items())
    up = "../" * name.count("/")
    title = html.escape(html.unescape(title_of(page)))
    data = f'data-ids="{ids}" data-script="{up}{script(before)}" data-from="{title}"'
    return f'<div class="predict-missed" hidden {data}></div>'
