"""Sphinx extension: the page *Review* with all predictions and all exercises of the book.

The predictions stand there by chapter; in the browser `review.js` sorts them by how they went. The exercises are hidden:
`review_exercises.js` puts those that are not ticked, of the chapters that the reader has been to, among the missed
predictions. Without scripts, and where nothing may be stored, they stay hidden.
"""

import html
import re
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util import logging

from attnexercises.engine.registry import registry
from book.exercises.help import cells_of
from book.formulas import FIRST_FONTS
from book.pages import end_of, reading_order, title_of
from book.predictions import blocks_of_pages, finished_pages, pages_of
from book.static_files import add_script, add_styles

REVIEW = "chapters/review"
ALL = re.compile(r'<div class="predict-all">')
logger = logging.getLogger(__name__)


def setup(app):
    add_styles(app, Path(__file__).parent, "review.css")
    for name in ("review_exercises.js", "review.js"):
        add_script(app, Path(__file__).parent, name, used_with="predict-all")
    app.connect("html-page-context", preload, priority=860)  # after formulas, before look
    app.connect("build-finished", finish, priority=710)  # after predictions, before the search and light_pages
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def preload(app, pagename, templatename, context, doctree):
    """Review has its formulas from other pages, and asks at once for their fonts as these do."""
    if pagename == REVIEW and pages_of(app.env):
        context["formula_fonts"] = [f"mathjax/woff-v2/{name}" for name in FIRST_FONTS]


def finish(app, exception):
    if exception is not None or app.builder.format != "html" or REVIEW not in app.env.found_docs:
        return
    env, site = app.env, Path(app.outdir)
    review = site / app.builder.get_target_uri(REVIEW)
    text = review.read_text(encoding="utf-8")
    if REVIEW in (pages := finished_pages(app)):
        text = with_predictions(pages, blocks_of_pages(app, pages))
    names = [name for name in reading_order(env) if cells_of(env).get(name)]
    shown = "".join(of_page(env, name, site / app.builder.get_target_uri(name)) for name in names)
    review.write_text(with_exercises(text, shown), encoding="utf-8")


def with_predictions(pages, found):
    """The page *Review* with all predictions, by chapter."""
    sections = ""
    for name, of_page in found.items():
        sections += f'<div class="predict-chapter"><h2>{title_of(pages[name])}</h2>\n{"".join(of_page.values())}</div>\n'
    page = pages[REVIEW]
    start = ALL.search(page)
    if not start:
        raise ExtensionError(f"{REVIEW} has no place for the predictions")
    return page[: start.end()] + "\n" + sections + page[end_of(page, start.start()) - len("</div>") :]


def of_page(env, name, path):
    """The exercises of one page, each with its link, level, minutes and the page's title."""
    page = path.read_text(encoding="utf-8")
    title, cards = title_of(page), ""
    for id in cells_of(env)[name]:
        label = f"ex-{id.replace('_', '-')}"
        if f'id="{label}"' not in page:
            logger.warning("the exercise %r has no label %s for the page Review", id, label, location=name, type="exercise")
        cards += card(registry()[id], f"{path.name}#{label}", path.stem, title)
    return cards


def card(exercise, address, page, title):
    """One exercise; `title` is HTML already."""
    about = f"{exercise.level.capitalize()} · {exercise.minutes} minutes · {title}"
    return (
        f'<div class="review-exercise" data-unsolved="{exercise.id}" data-page="{page}"><p>Exercise: '
        f'<a href="{html.escape(address)}">{html.escape(exercise.title)}</a></p><p class="review-about">{about}</p></div>\n'
    )


def with_exercises(page, cards):
    """The page with the hidden exercises behind its predictions; a second time changes nothing."""
    start = ALL.search(page)
    if not start or not cards:
        return page
    place = end_of(page, start.start())
    rest = page[place:]
    if rest.startswith('<div class="review-exercises" hidden>'):
        rest = rest[end_of(rest, 0) :]
    return f'{page[:place]}<div class="review-exercises" hidden>\n{cards}</div>{rest}'
