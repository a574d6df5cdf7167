"""Sphinx extension: put the hints and the solution after each exercise cell.

A code cell tagged ``exercise-<id>`` is an exercise. Behind it come its hints and its
solution, each folded in a native ``<details>``; their text is taken from
`attnexercises`, so the notebook itself holds no solution. Then a box to tick, which
`solved.js` shows and remembers. The section around the cell gets the class
``exercise``, for the style sheet.

An id that no exercise has, and an id that occurs twice in the book, is a warning.
"""

import html
import inspect
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from attnexercises.engine.registry import registry
from attnexercises.reader.source import solution_source

TAG = "exercise-"
UNATTEMPTED = "not attempted yet"
logger = logging.getLogger(__name__)


class ExerciseHelp(SphinxTransform):
    """Append the folded hints and the solution to every tagged cell of a page."""

    default_priority = 400

    def apply(self):
        cells = [cell for cell in self.document.findall(nodes.container) if cell.get("nb_element") == "cell_code"]
        for cell in cells:
            for tag in cell.get("cell_metadata", {}).get("tags", []):
                if tag.startswith(TAG):
                    self.help(cell, tag.removeprefix(TAG))

    def help(self, cell, id):
        exercise = registry().get(id)
        if exercise is None:
            logger.warning("there is no exercise %r for the tag %r", id, TAG + id, location=cell, type="exercise")
            return
        cells_of(self.env).setdefault(self.env.docname, []).append(id)
        self.env.note_dependency(inspect.getsourcefile(exercise.solution))
        unattempted = [output for output in cell.children if UNATTEMPTED in output.astext()]
        for output in unattempted:  # the state of every exercise on the site says nothing
            cell.remove(output)
        place = cell.parent.index(cell) + 1
        cell.parent[place:place] = [nodes.container("", *folded(exercise), solved(id), classes=["exercise-helps"])]
        section = cell.parent
        while section is not None and not isinstance(section, nodes.section):
            section = section.parent
        if section is not None and "exercise" not in section["classes"]:
            section["classes"].append("exercise")


def folded(exercise):
    """Yield the nodes of the hints and of the solution."""
    count = len(exercise.hints)
    for number, hint in enumerate(exercise.hints, start=1):
        yield from details("exercise-hint", f"Hint {number} of {count}", paragraph(hint))
    code = nodes.literal_block(solution_source(exercise), solution_source(exercise), language="python")
    yield from details("exercise-solution", "Solution", code, paragraph(exercise.why))


def solved(id):
    """The box that a reader ticks; without scripts nothing could remember it, and it stays hidden."""
    box = f'<label class="exercise-solved" hidden><input type="checkbox" data-exercise="{html.escape(id)}"> Solved</label>'
    return nodes.raw("", box, format="html")


def details(name, summary, *content):
    """Yield the nodes of one folded box."""
    start = f'<details class="exercise-help {name}"><summary>{html.escape(summary)}</summary>'
    yield nodes.raw("", start, format="html")
    yield from content
    yield nodes.raw("", "</details>", format="html")


def paragraph(text):
    """Return a paragraph in which `code` between backticks is code and all else plain text."""
    node = nodes.paragraph()
    for plain, code in re.findall(r"([^`]+)|`([^`]*)`", text):
        node += nodes.Text(plain) if plain else nodes.literal(code, code)
    return node


def cells_of(env):
    """Return the exercise ids of each page, kept with the environment between builds."""
    if not hasattr(env, "exercise_cells"):
        env.exercise_cells = {}
    return env.exercise_cells


def forget_page(app, env, docname):
    cells_of(env).pop(docname, None)


def merge_pages(app, env, docnames, other):
    cells_of(env).update({name: ids for name, ids in cells_of(other).items() if name in docnames})


def warn_of_repetitions(app, env):
    first = {}
    for page in sorted(cells_of(env)):
        for id in cells_of(env)[page]:
            if id in first:
                logger.warning("the exercise %r occurs twice: in %s and in %s", id, first[id], page, type="exercise")
            first.setdefault(id, page)


def setup(app):
    app.add_transform(ExerciseHelp)
    app.connect("env-purge-doc", forget_page)
    app.connect("env-merge-info", merge_pages)
    app.connect("env-check-consistency", warn_of_repetitions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
