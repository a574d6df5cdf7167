"""A table of results: header cells and aligned figures on a page, aligned text in a terminal."""

import html
import math
import numbers
import re

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


def table(columns, rows, *, caption=None, row_header=True):
    """Lay out rows of values under named columns, one format a column.

    A page shows an HTML table whose header cells a screen reader announces; a
    terminal shows the same in aligned text. A column that holds only numbers is
    aligned to the right.

    Parameters
    ----------
    columns : dict of str or (str, str) to str, callable or None
        For each column its name and the format of its values: a format
        specification (``".3f"``), a function that returns a text, or None for
        `str`. Neighbouring columns named ``(group, name)`` with one group stand
        under a common heading.
    rows : iterable of sequences
        One value for each column. None is shown as a dash, NaN as NaN, True and False
        as yes and no, a text as it is, whatever the format.
    caption : str, optional
        What the table shows.
    row_header : bool, default True
        Whether the first column names the rows.

    Returns
    -------
    table : Table

    Raises
    ------
    TypeError
        If `columns` is not a dictionary.
    ValueError
        If there are no columns, a row has another number of values, or a format
        does not fit a value.

    Examples
    --------
    >>> table({"T": ".2f", "largest weight": ".3f"}, [(0.25, 0.982), (100, 0.337)], caption="Colder is sharper")
    Colder is sharper
         T  largest weight
      0.25           0.982
    100.00           0.337
    """
    if not isinstance(columns, dict):
        raise TypeError(f"table: columns must be a dict from name to format; got {type(columns).__name__}.")
    if not columns:
        raise ValueError("table: columns must name at least one column; got none.")
    rows = [tuple(row) for row in rows]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise ValueError(f"table: row {number} must hold {len(columns)} values, one a column; got {len(row)}.")
    shown = [[_text(name, how, value) for (name, how), value in zip(columns.items(), row, strict=True)] for row in rows]
    right = [bool(rows) and all(_is_number(row[place]) for row in rows) for place in range(len(columns))]
    return Table([_heads(name) for name in columns], shown, right, caption, row_header)


class Table:
    """What `table` returns: shown by a notebook as HTML, printed as text."""

    def __init__(self, heads, rows, right, caption, row_header):
        self._heads, self._rows, self._right = heads, rows, right
        self._caption, self._row_header = caption, row_header

    def __repr__(self):
        names = [name for _, name in self._heads]
        widths = [max(map(len, column)) for column in zip(names, *self._rows, strict=True)]
        groups = self._groups()
        for group, places in groups:  # a group wider than its columns widens the last of them
            inner = sum(widths[place] for place in places) + 2 * (len(places) - 1)
            widths[places[-1]] += max(0, len(group) - inner)
        lines = [self._caption] if self._caption else []
        if any(group for group, _ in groups):
            spans = [(group, sum(widths[p] for p in places) + 2 * (len(places) - 1)) for group, places in groups]
            lines.append("  ".join(group.center(width) for group, width in spans))
        for row in (names, *self._rows):
            cells = zip(row, widths, self._right, strict=True)
            lines.append("  ".join(text.rjust(width) if right else text.ljust(width) for text, width, right in cells))
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self):
        lines = ['<table class="values">']
        if self._caption:
            lines.append(f"<caption>{_marked(self._caption)}</caption>")
        lines.append("<thead>")
        groups, stacked = self._groups(), any(group for group, _ in self._heads)
        if stacked:
            cells = [
                f'<th scope="colgroup" colspan="{len(places)}" style="text-align: center">{_marked(group)}</th>'
                if group
                else self._header(places[0], ' rowspan="2"')
                for group, places in groups
            ]
            lines.append(f"<tr>{''.join(cells)}</tr>")
        below = [place for place, (group, _) in enumerate(self._heads) if group or not stacked]
        lines += [f"<tr>{''.join(map(self._header, below))}</tr>", "</thead>", "<tbody>"]
        for row in self._rows:
            cells = [self._cell(place, text) for place, text in enumerate(row)]
            lines.append(f"<tr>{''.join(cells)}</tr>")
        return "\n".join([*lines, "</tbody>", "</table>"])

    def _groups(self):
        """The first line of headings: each group with its columns; a column of its own has the group ""."""
        groups = []
        for place, (group, _) in enumerate(self._heads):
            if group and groups and groups[-1][0] == group:
                groups[-1][1].append(place)
            else:
                groups.append((group, [place]))
        return groups

    def _header(self, place, extra=""):
        name = self._heads[place][1]
        shown = _typeset(name) if NUMBER.fullmatch(name) else _marked(name)
        return f'<th scope="col"{extra}{self._style(place)}>{shown}</th>'

    def _cell(self, place, text):
        text = _typeset(text) if self._right[place] else _marked(text)
        if place == 0 and self._row_header:
            return f'<th scope="row"{self._style(place)}>{text}</th>'
        return f"<td{self._style(place)}>{text}</td>"

    def _style(self, place):  # in the cell itself: JupyterLab and GitHub have no style sheet of ours
        return f' style="text-align: {"right" if self._right[place] else "left"}"'


def _heads(name):
    return ("", name) if isinstance(name, str) else name


def _is_number(value):
    return value is None or (isinstance(value, numbers.Real) and not _is_truth(value))


def _is_truth(value):
    return isinstance(value, bool) or type(value).__name__ == "bool"  # NumPy's own is not a bool of Python


def _text(name, how, value):
    if _is_truth(value):
        return "yes" if value else "no"
    if value is None:
        return "–"
    if isinstance(value, numbers.Real) and math.isnan(value):
        return "NaN"
    if isinstance(value, str):
        return value
    try:
        return how(value) if callable(how) else format(value, how or "")
    except (TypeError, ValueError) as error:
        raise ValueError(f"table: the format {how!r} of column {name!r} does not fit {value!r}: {error}.") from error


def _typeset(number):
    """2.5e-07 as a person writes it, and a minus that is as wide as a plus."""
    number = re.sub(r"(?<=\d)e\+?(-?)0*(\d+)", r" × 10<sup>\1\2</sup>", html.escape(number))
    return number.replace("-", "\u2212")


def _marked(text):
    """Escaped for HTML; what stands between backticks is code."""
    parts = html.escape(text, quote=False).split("`")
    if len(parts) % 2 == 0:  # a lone backtick is a character like any other
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))
