"""`progress` shows which exercises are solved, what the last checks said and what comes next, as a table and a map."""

import html
import textwrap

from attnexercises.engine.registry import BOOK_ORDER, registry
from attnexercises.own_library.commands import summary, up_to
from attnexercises.own_library.run import library
from attnexercises.reader import record
from attnexercises.reader.next_steps import chapter_name, next_exercise, where_it_is
from attnexercises.engine.output import say, shortened, show, width

STATES = {"": "not attempted", "passed": "solved", "wrong": "wrong", "crashed": "stops"}
MESSAGE = 60  # characters of the last message that are shown in a terminal

_PADDED = "padding: 0.15rem 0.6rem; vertical-align: top"
_ACCENT = "var(--book-accent, var(--jp-brand-color1, #0b4f82))"
_LINE = "var(--book-line, var(--jp-border-color1, #8fb0cb))"
_BOX = "var(--book-box, var(--jp-layout-color1, transparent))"


def progress(chapter=None):
    """Show which exercises are solved and what comes next.

    A table lists the exercises with the number of tries and hints and the last message. In a notebook, a map is shown
    above the table. If you have a file of your own, it also shows which functions are saved and whether they pass.

    Parameters
    ----------
    chapter : str, optional
        The topic word of one chapter, such as "softmax".

    Examples
    --------
    >>> progress("recompute")
    chapter        exercise                 level   state          tries  hints  last message
    recompute      flash_backward           hard    not attempted      0      0
    recompute      merge_partials           medium  not attempted      0      0
    recompute      backward_with_logsumexp  medium  not attempted      0      0
    0 of 3 solved. Next in this chapter: flash_backward, "Compute the weights
    again".
    """
    functions, mine, table = up_to(chapter), library(), record.load()
    exercises = [exercise for exercise in registry().values() if chapter in (None, exercise.chapter)]
    show(Overview(exercises, table, mine.ids if mine else None))
    if mine:
        say(summary(mine, functions))


class Overview:
    """The table as text, and the table and the map as HTML.

    Parameters
    ----------
    exercises : list of Exercise
    table : dict
        The progress, from `record.load`.
    saved : collection of str, optional
        The ids of the functions in the reader's own file, if there is one.
    """

    def __init__(self, exercises, table, saved=None):
        self.exercises, self.saved = exercises, saved
        self.entries = {exercise.id: table.get(exercise.id) or record.blank() for exercise in exercises}
        solved = sum(entry["state"] == "passed" for entry in self.entries.values())
        chapters = {exercise.chapter for exercise in exercises}
        chapter = exercises[0].chapter if len(chapters) == 1 else None
        following = next_exercise(table, chapter)
        self.next = f"{solved} of {len(exercises)} solved."
        if following and chapter:
            self.next += f' Next in this chapter: {following.id}, "{following.title}".'
        elif following:
            self.next += f" Next: {where_it_is(following)}."

    def _columns(self):
        saved = ["saved"] if self.saved is not None else []
        return ["chapter", "exercise", "level", "state", "tries", "hints", *saved, "last message"]

    def _rows(self):
        for exercise in self.exercises:
            entry = self.entries[exercise.id]
            saved = ["yes" if exercise.id in self.saved else ""] if self.saved is not None else []
            state = STATES.get(entry["state"], entry["state"])
            counts = [str(entry["tries"]), str(len(entry["hints"]))]
            yield [exercise.chapter, exercise.id, exercise.level, state, *counts, *saved, entry["said"]]

    def __repr__(self):
        names, rows = self._columns(), list(self._rows())
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        widths[0], widths[3] = max(widths[0], 13), max(widths[3], 13)
        lines = []
        for row in (names, *rows):
            cells = [text.rjust(width) if name in ("tries", "hints", "saved") else text.ljust(width)
                     for name, text, width in zip(names[:-1], row, widths)]  # fmt: skip
            lines.append("  ".join([*cells, shortened(row[-1], MESSAGE)]).rstrip())
        return "\n".join([*lines, textwrap.fill(self.next, width())])

    def _repr_html_(self):
        return f'{self._map()}<p style="margin: 0.5rem 0">{html.escape(self.next)}</p>\n{self._table()}'

    def _map(self):
        """A card for each chapter, as on the book's first page, with a disc for each exercise."""
        chapters = dict.fromkeys(exercise.chapter for exercise in self.exercises)
        cards = "".join(map(self._card, chapters))
        grid = "display: grid; grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr)); gap: 0.6rem"
        style = f"{grid}; list-style: none; margin: 0.5rem 0; padding: 0; max-width: 60rem"
        return f'<ul class="progress-map" style="{style}">{cards}</ul>\n'

    def _card(self, topic):
        exercises = [exercise for exercise in self.exercises if exercise.chapter == topic]
        solved = sum(self.entries[exercise.id]["state"] == "passed" for exercise in exercises)
        tried = sum(self.entries[exercise.id]["state"] in ("wrong", "crashed") for exercise in exercises)
        begun = f", {tried} begun" if tried else ""
        chapter = BOOK_ORDER.get(topic, {"number": "", "title": topic})
        title = html.escape(f"{chapter['number']} {chapter['title']}".strip())
        box = f"border: 1px solid {_LINE}; border-radius: 0.5rem; background: {_BOX}; padding: 0.5rem 0.7rem; margin: 0"
        return (
            f'<li style="{box}"><strong>{title}</strong><br>{self._discs(exercises)}'
            f'<span style="font-size: 0.9em">{solved} of {len(exercises)} solved{begun}</span></li>\n'
        )

    def _discs(self, exercises):
        """A disc for each exercise, full if it is solved, half full if it was tried, and empty otherwise."""
        step, parts = 20, []
        for place, exercise in enumerate(exercises):
            state = self.entries[exercise.id]["state"]
            x = place * step + 10
            fill = _ACCENT if state == "passed" else "none"
            name = html.escape(f"{exercise.id}: {STATES.get(state, state)}")
            style = f"fill: {fill}; stroke: {_ACCENT}; stroke-width: 2"
            parts.append(f'<g><title>{name}</title><circle cx="{x}" cy="10" r="7" style="{style}"/>')
            if state == "passed":
                ground = "var(--pst-color-background, var(--jp-layout-color0, white))"
                style = f"fill: none; stroke: {ground}; stroke-width: 2"
                parts.append(f'<path d="M{x - 3.5} 10.5l2.5 2.5 4.5-5" style="{style}"/>')
            elif state:
                parts.append(f'<path d="M{x} 3a7 7 0 0 0 0 14z" style="fill: {_ACCENT}"/>')
            parts.append("</g>")
        words = html.escape(", ".join(f"{e.id}: {STATES.get(self.entries[e.id]['state'], '')}" for e in exercises))
        width = step * len(exercises)
        return (
            f'<svg role="img" aria-label="{words}" viewBox="0 0 {width} 20" width="{width}" height="20" '
            f'style="display: block; max-width: 100%; margin: 0.3rem 0">{"".join(parts)}</svg>'
        )

    def _table(self):
        """The rows under a heading for each chapter. The level is left out: a phone shows more of the message then."""
        shown = [place for place, name in enumerate(self._columns()) if name not in ("chapter", "level")]
        columns, rows, topic = self._columns(), list(self._rows()), None
        head = "".join(_cell("th", "col", columns[place], columns[place]) for place in shown)
        lines = [f'<div style="overflow-x: auto"><table class="progress"><thead><tr>{head}</tr></thead>']
        for row in rows:
            if row[0] != topic:
                topic = row[0]
                name = html.escape(chapter_name(topic)[:1].upper() + chapter_name(topic)[1:])
                group = f'<th scope="rowgroup" colspan="{len(shown)}" style="{_PADDED}; text-align: left">{name}</th>'
                lines.append(f"{'</tbody>' if len(lines) > 1 else ''}<tbody><tr>{group}</tr>")
            kinds = ("th" if columns[place] == "exercise" else "td" for place in shown)
            cells = [_cell(kind, "row", columns[place], row[place]) for kind, place in zip(kinds, shown, strict=True)]
            lines.append(f"<tr>{''.join(cells)}</tr>")
        return "\n".join([*lines, "</tbody></table></div>"])


def _cell(kind, scope, column, text):
    side = "right" if column in ("tries", "hints") else "left"
    scope = f' scope="{scope}"' if kind == "th" else ""
    width = "min-width: 14rem" if column == "last message" else "white-space: nowrap"
    weight = "; font-weight: normal" if kind == "th" and "row" in scope else ""
    return f'<{kind}{scope} style="{_PADDED}; text-align: {side}; {width}{weight}">{html.escape(text)}</{kind}>'
