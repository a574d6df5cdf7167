"""Sphinx extension: ``{exercise-index}`` is a table of all exercises of the book, by chapter, with their ids.

Titles, levels and minutes are those of `attnexercises`; the places are where the exercise cells stand. An exercise
that stands nowhere, a cell without a label above its heading, and a heading that says another title are warnings.
Which exercises are solved, only the reader's browser knows: `exercise_index.js` shows it.
"""

import html
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.util import logging

from attnexercises.engine.registry import registry
from book.exercises.help import cells_of
from book.pages import reading_order

HEADING = re.compile(r"Exercise(?: (?P<number>[\d.]+))?: (?P<title>.*)")
HEAD = '<tr><th scope="col">Exercise</th><th scope="col">Level</th><th scope="col">Minutes</th><th scope="col" hidden>Solved</th></tr>'
logger = logging.getLogger(__name__)


class exercise_table(nodes.General, nodes.Element):
    """The place of the table, until all pages are known."""


def setup(app):
    app.add_node(exercise_table)
    app.add_directive("exercise-index", ExerciseIndex)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class ExerciseIndex(Directive):
    def run(self):
        return [exercise_table()]


def fill(app, doctree, docname):
    for node in list(doctree.findall(exercise_table)):
        node.replace_self(nodes.raw("", table(app, docname), format="html"))


def table(app, docname):
    """The table as HTML, a body for each page that has exercises, in reading order."""
    env, exercises = app.env, registry()
    order = list(reading_order(env))
    pages = [name for name in order if cells_of(env).get(name)]
    for id in exercises.keys() - {id for name in pages for id in cells_of(env)[name]}:
        logger.warning("the exercise %r stands on no page", id, location=docname, type="exercise")
    bodies = ""
    for name in pages:
        number = ".".join(map(str, env.toc_secnumbers.get(name, {}).get("", ())))
        of_page = [exercises[id] for id in cells_of(env)[name]]
        title = html.escape(f"{number} {env.titles[name].astext()}".strip())
        about = f"{len(of_page)} exercise{'s' * (len(of_page) > 1)}, {sum(each.minutes for each in of_page)} minutes"
        bodies += f'<tbody><tr><th scope="rowgroup" colspan="4">{title} <span>{about}</span></th></tr>\n'
        bodies += "".join(row(app, docname, name, exercise) for exercise in of_page) + "</tbody>\n"
    return f'<table class="values exercise-index"><thead>{HEAD}</thead>\n{bodies}</table>'


def row(app, docname, page, exercise):
    """One exercise with its link."""
    label = f"ex-{exercise.id.replace('_', '-')}"
    place, anchor, heading = app.env.get_domain("std").labels.get(label, ("", "", ""))
    said = HEADING.fullmatch(heading)
    if place != page or not said or said["title"] != exercise.title:
        what = f"{label} is above {heading!r} of {place!r}, not above 'Exercise …: {exercise.title}'"
        logger.warning("the place of an exercise: %s", what, location=page, type="exercise")
        return ""
    address = html.escape(f"{app.builder.get_relative_uri(docname, page)}#{anchor}")
    name = html.escape(f"{said['number'] or ''} {exercise.title}".strip())
    id = exercise.id.replace("_", "_<wbr>")  # where a phone may break it
    return (
        f'<tr data-exercise-row="{exercise.id}" data-level="{exercise.level}" data-minutes="{exercise.minutes}">'
        f'<td><a href="{address}">{name}</a> <code>{id}</code></td><td>{exercise.level}</td><td>{exercise.minutes}</td><td hidden></td></tr>\n'
    )
