"""Sphinx extension: all exercises of the book on the page *Review*, hidden, for `_static/review_exercises.js`.

In the browser those that are not ticked, of the chapters that the reader has been to, stand among the missed
predictions. Without scripts, and where nothing may be stored, they stay hidden.
"""

import html
from pathlib import Path

from exercise_help import cells_of
from predictions import ALL, REVIEW, end_of, reading_order, title_of
from sphinx.util import logging

from attnexercises.engine.registry import registry

logger = logging.getLogger(__name__)


def setup(app):
    app.connect("build-finished", finish, priority=710)  # after predictions, before the search and light_pages
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def finish(app, exception):
    if exception is not None or app.builder.format != "html" or REVIEW not in app.env.found_docs:
        return
    env, site = app.env, Path(app.outdir)
    names = [name for name in reading_order(env, env.config.root_doc) if cells_of(env).get(name)]
    shown = "".join(of_page(env, name, site / app.builder.get_target_uri(name)) for name in names)
    review = site / app.builder.get_target_uri(REVIEW)
    review.write_text(with_exercises(review.read_text(encoding="utf-8"), shown), encoding="utf-8")


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
