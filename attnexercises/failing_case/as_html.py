"""Show a failing case in a notebook: the table of `as_text` in HTML, and a picture of where a matrix is wrong.

The styles are attributes of the elements, because we cannot add a style sheet to JupyterLab. They derive their colours
from the surrounding text, so that they suit the light and the dark theme.
"""

import html

import numpy as np

from attnexercises.failing_case import as_text

_CELL = "padding: 0.15rem 0.6rem; text-align: {}; vertical-align: top"
_WRONG = "background: color-mix(in srgb, #b98a00 34%, transparent); font-weight: 700"
_PLAIN = "margin: 0; padding: 0; border: 0; background: none; white-space: pre; font-family: monospace"
_LINE = "1px solid color-mix(in srgb, currentColor 30%, transparent)"


def html_of(case, most=None):
    """Return the HTML of a case: a table under its title. If it has more than `most` lines, they are as in the text."""
    if most is not None and as_text.text(case) != as_text.text(case, most):
        text = html.escape(as_text.text(case, most))
        return f'<figure class="failing-case" style="margin: 0.3rem 0; overflow-x: auto"><pre style="{_PLAIN}">{text}</pre></figure>'
    rows = [_row(name, arg, _numbers(arg)) for name, arg in zip(case.names, case.arguments, strict=True)]
    for name, array, shown, wrong in as_text.output_rows(case):
        if array is None and not name:
            continue  # a row of marks as text, in place of which HTML has a grid
        content = html.escape(shown) if array is None else _numbers(array, shown, wrong)
        rows.append(_row(name, array, content))
    title, call = html.escape(as_text.title(case)), html.escape(f'case("{case.exercise}")')
    return (
        f'<figure class="failing-case" style="margin: 0.3rem 0; overflow-x: auto">\n'
        f'<figcaption style="padding: 0.15rem 0.6rem">{title.replace(call, f"<code>{call}</code>")}</figcaption>\n'
        f'<table style="border-collapse: collapse; margin: 0"><tbody>\n{"".join(rows)}</tbody></table>\n</figure>'
    )


def _row(name, array, content):
    left = _CELL.format("left")
    shape = html.escape(as_text.shape(array))
    return (
        f'<tr style="background: none; border-top: {_LINE}"><th scope="row" style="{left}">{html.escape(name)}</th>'
        f'<td style="{left}; white-space: nowrap">{shape}</td><td style="{left}">{content}</td></tr>\n'
    )


def _numbers(array, shown=None, wrong=None):
    """Show an array as a table with the wrong numbers marked. Of a large array, only the marks are shown."""
    shown = as_text.inline(array) if shown is None else shown
    if wrong is not None and np.size(array) > as_text.MOST_NUMBERS and not wrong.all():
        return _picture(wrong)
    if wrong is None or wrong.ndim > 2 or wrong.all() or not wrong.any():
        return f'<pre style="{_PLAIN}">{html.escape(shown)}</pre>'
    texts = _each(shown, array)
    if texts is None:
        return f'<pre style="{_PLAIN}">{html.escape(shown)}</pre>'
    rows = []
    for numbers, marks in zip(np.atleast_2d(texts), np.atleast_2d(wrong), strict=True):
        cells = [_marked(number, mark) for number, mark in zip(numbers, marks, strict=True)]
        rows.append(f'<tr style="background: none">{"".join(cells)}</tr>')
    return f'<table style="border-collapse: collapse; margin: 0"><tbody>{"".join(rows)}</tbody></table>'


def _each(shown, array):
    """Return the texts of the numbers of a printed array, in its shape; None if NumPy has abbreviated it."""
    parts = shown.replace("[", " ").replace("]", " ").replace(",", " ").split()
    return np.array(parts).reshape(array.shape) if len(parts) == array.size else None


def _marked(number, wrong):
    style = "padding: 0 0.4rem; text-align: right; font-family: monospace" + (f"; {_WRONG}" if wrong else "")
    mark = f'<span role="img" aria-label="wrong">{as_text.WRONG}</span> ' if wrong else ""
    return f'<td style="{style}">{mark}{html.escape(number)}</td>'


def _picture(wrong):
    """Return a grid of marks. It is hidden from screen readers, which read the sentence below it."""
    words = html.escape(as_text.wrong_entries(wrong))
    if not as_text.fits(wrong):
        return words
    parts = []
    for name, matrix in as_text.grids(wrong):
        rows = "".join(f'<tr style="background: none">{"".join(map(_mark, row))}</tr>' for row in matrix)
        label = f"{html.escape(name)} " if name else ""
        table = f'<table style="border-collapse: collapse"><tbody>{rows}</tbody></table>'
        parts.append(f'<div style="margin-right: 1rem">{label}{table}</div>')
    picture = f'<div aria-hidden="true" style="display: flex; flex-wrap: wrap; line-height: 1">{"".join(parts)}</div>'
    return f"{picture}{words} ({as_text.WRONG})"


def _mark(wrong):
    style = f"border: {_LINE}; width: 1.1em; height: 1.1em; padding: 0; text-align: center; font-family: monospace"
    return f'<td style="{style}{f"; {_WRONG}" if wrong else ""}">{as_text.WRONG if wrong else as_text.RIGHT}</td>'
