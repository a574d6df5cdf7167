"""A table of results: header cells and aligned figures on a page, aligned text in a terminal."""

import html
import math
import numbers
import re

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


def table(columns, rows=None, *, formats=None, caption=None, row_header=True):
    """Lay out columns of values under their names, with formats that suit the values.

    A page shows an HTML table whose header cells a screen reader announces; a
    terminal shows the same in aligned text. A column that holds only numbers is
    aligned to the right.

    Parameters
    ----------
    columns : dict of str or (str, str) to a sequence
        For each column its name and its values. Neighbouring columns named
        ``(group, name)`` with one group stand under a common heading. If `rows` is
        given, each name has a format instead of values: a format specification
        (``".3f"``), a function that returns a text, or None for `str`.
    rows : iterable of sequences, optional
        One value for each column, where it is easier to write rows than columns.
    formats : dict, optional
        The format of each column that shall not have the default one. By default,
        whole numbers are shown in full, with commas from 10,000 on. Other numbers have
        as many decimals as the smallest of the column needs for three digits, at most
        four, and powers of ten where the column holds very large or very small numbers.
        A value that is itself a sequence of numbers, one for each of several runs, is
        shown as its lowest and its highest number, each with the column's format
        specification; a function gets the whole sequence.
    caption : str, optional
        What the table shows.
    row_header : bool, default True
        Whether the first column names the rows.

    Returns
    -------
    table : Table
        None is shown as a dash, NaN as NaN, True and False as yes and no, a text as it
        is, whatever the format.

    Raises
    ------
    TypeError
        If `columns` is not a dictionary, or a column is not a sequence of values.
    ValueError
        If there are no columns, columns differ in length, a row has another number of
        values, a format belongs to no column, or a format does not fit a value.

    Examples
    --------
    >>> table({"T": [0.25, 1, 100], "largest weight": [0.98168, 0.66524, 0.33678]}, caption="Colder is sharper")
    Colder is sharper
         T  largest weight
      0.25           0.982
      1.00           0.665
    100.00           0.337
    >>> table({"T": [0.25, 1, 100], "largest weight": [0.98168, 0.66524, 0.33678]}, formats={"largest weight": ".0%"})
         T  largest weight
      0.25             98%
      1.00             67%
    100.00             34%
    >>> table({"steps": [10, 100], "error": [[0.31, 0.24, 0.29], [0.02, 0.02, 0.02]]}, caption="Lowest and highest of three starts")
    Lowest and highest of three starts
    steps  error
       10  0.24 to 0.31
      100  0.02
    """
    if not isinstance(columns, dict):
        raise TypeError(f"table: columns must be a dict from name to values or formats; got {type(columns).__name__}.")
    if not columns:
        raise ValueError("table: columns must name at least one column; got none.")
    if rows is None:
        columns, rows = _from_values(columns)
    for name in formats or {}:
        if name not in columns:
            raise ValueError(f"table: formats must name columns; {name!r} is none of {', '.join(map(repr, columns))}.")
    columns = {**columns, **(formats or {})}
    rows = [tuple(row) for row in rows]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise ValueError(f"table: row {number} must hold {len(columns)} values, one a column; got {len(row)}.")
    shown = [[_text(name, how, value) for (name, how), value in zip(columns.items(), row, strict=True)] for row in rows]
    right = [bool(rows) and all(_is_number(row[place]) for row in rows) for place in range(len(columns))]
    return Table([_heads(name) for name in columns], shown, right, caption, row_header)


def _from_values(columns):
    """The default format of each column, and the rows."""
    values = {}
    for name, column in columns.items():
        if isinstance(column, str) or callable(column) or not hasattr(column, "__iter__"):
            expected = "without rows, each column must be a sequence of values"
            raise TypeError(f"table: {expected}; column {name!r} is {column!r}.")
        values[name] = list(column.tolist() if hasattr(column, "tolist") else column)
    lengths = {name: len(column) for name, column in values.items()}
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise ValueError(f"table: all columns must have the same number of values; {got}.")
    return {name: _default_format(column) for name, column in values.items()}, zip(*values.values(), strict=True)


def _default_format(column):
    every = [number for value in column for number in (value if _is_range(value) else [value])]
    known = [abs(value) for value in every if isinstance(value, numbers.Real) and not _is_truth(value)]
    known = [value for value in known if math.isfinite(value)]
    if all(isinstance(value, numbers.Integral) for value in known):
        whole = ",d" if max(known, default=0) >= 10_000 else "d"
        return lambda value: _ends(value, lambda number: format(number, whole if isinstance(number, numbers.Integral) else ""))
    smallest, largest = min((value for value in known if value), default=1), max(known)
    if smallest < 1e-4 or largest >= 1e6:
        return lambda value: _ends(value, lambda number: format(number, ".1e") if number else "0")
    most = min(4, max(0, 2 - math.floor(math.log10(smallest))))
    enough = (places for places in range(most) if all(round(value, places) == round(value, most) for value in known))
    shown = f",.{next(enough, most)}f" if largest >= 10_000 else f".{next(enough, most)}f"
    return lambda value: _ends(value, lambda number: format(number, shown))


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


def _is_range(value):
    """Whether a value is a sequence of numbers, of which the lowest and the highest are shown."""
    if isinstance(value, (str, dict)) or not hasattr(value, "__iter__"):
        return False
    found = list(value)
    return bool(found) and all(isinstance(number, numbers.Real) and not _is_truth(number) for number in found)


def _ends(value, how):
    """A number; or of several the lowest and the highest, once if they look alike. A run that failed is not hidden."""
    if not _is_range(value):
        return how(value)
    if any(map(math.isnan, value)):
        return "NaN"
    return " to ".join(dict.fromkeys(map(how, (min(value), max(value)))))


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
        if callable(how):
            return how(value)
        return _ends(value, lambda number: format(number, how)) if how else format(value, "")
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
