"""Show a failing case as plain text: its arguments, the expected result and the answer's result, with shapes.

`wrong_entries` and `drawn` show which entries of a matrix are wrong, in words and as a grid of marks.
"""

import textwrap

import numpy as np

from attnexercises.engine.output import shortened, width

# An array with at most this many numbers is printed in full. Of a larger one, the corners and wrong places are shown.
MOST_NUMBERS = 12
MOST_OUTPUTS = 2
RIGHT, WRONG = "·", "×"
LARGEST = 40  # the largest number of rows or columns of a grid
ONE_LINE = 44  # characters of an array that is printed in one line


def text(case, most=None):
    """Return the case as a small table, shortened to `most` lines if they are given."""
    rows = rows_of(case)
    whole = _table(case, rows, title(case))
    if most is None or len(whole) <= most:
        return "\n".join(whole)
    headline = title(case, short=True)
    left = most - len(_title_lines(headline))
    return "\n".join(_table(case, shorter(rows, left), headline) if left > 1 else _title_lines(headline))


def rows_of(case):
    """Return the rows [name, array, lines of text] of the arguments and then of the outputs."""
    rows = [[name, arg, inline(arg)] for name, arg in zip(case.names, case.arguments, strict=True)]
    rows += [[name, array, shown] for name, array, shown, _ in output_rows(case)]
    return [[name, array, shown.splitlines() or [""]] for name, array, shown in rows]


def shorter(rows, most):
    """Return rows that take at most so many lines, if there are few enough rows.

    The arguments become short first, because they are the least telling; then the marks of wrong entries, then the outputs.
    """
    rows = [[name, array, list(lines)] for name, array, lines in rows]
    outputs = next((place for place, row in enumerate(rows) if row[0].endswith(("expected", "got"))), len(rows))

    def too_long():
        return sum(len(lines) for *_, lines in rows) > most

    for kept in (2, 1):
        marks = [row for row in rows[outputs:] if not row[0]]
        for row in [*rows[:outputs], *marks, *rows[outputs:]]:
            if too_long() and len(row[2]) > kept:
                row[2] = [*row[2][: kept - 1], f"{row[2][kept - 1]} …"]
    if too_long() and outputs > 1:  # all arguments in one row, by their shapes
        sizes = [f"{name} {shape(array)}" if shape(array) else f"{name} = {array}" for name, array, _ in rows[:outputs]]
        rows[:outputs] = [["with", None, [shortened(", ".join(sizes), ONE_LINE)]]]
        outputs = 1
    for row in reversed(rows[outputs + 2 :]):  # a second output, and the marks
        if too_long():
            rows.remove(row)
    return rows[outputs:] if too_long() else rows


def _table(case, rows, headline):
    widths = [max(len(name) for name, *_ in rows), max(len(shape(array)) for _, array, _ in rows)]
    lines = _title_lines(headline)
    for name, array, (first, *others) in rows:
        lines.append(f"  {name:<{widths[0]}}  {shape(array):<{widths[1]}}  {first}".rstrip())
        lines += [" " * (sum(widths) + 6) + other for other in others]
    return lines


def _title_lines(headline):
    return textwrap.wrap(headline, width() - 4, break_long_words=False, break_on_hyphens=False)


def title(case, short=False):
    """Return the line above the table; `short` if the table does not show all of the case."""
    if short:
        return f'Failing case in short; all of it: case("{case.exercise}")'
    return f'Smallest case that goes wrong, case("{case.exercise}"), from "{case.label}":'


def output_rows(case):
    """Yield the rows (name, array, text, wrong entries) for the expected and actual outputs, the worst ones first."""
    several = len(case.outputs) > 1
    if case.returned is None:
        for place in range(min(MOST_OUTPUTS, len(case.outputs))):
            yield _named("expected", case, place, several), case.wanted[place], inline(case.wanted[place]), None
        yield "got", None, textwrap.fill(f"nothing: it {case.problem}", ONE_LINE + 8), None
        return
    telling = case.most_telling()
    for place in telling[:MOST_OUTPUTS]:
        want, got, wrong = case.wanted[place], case.returned[place], case.marks[place]
        shown, theirs = told_apart(want, got)
        yield _named("expected", case, place, several), want, shown, None
        yield _named("got", case, place, several), got, theirs, wrong
        if wrong is not None and want.size > MOST_NUMBERS:
            grid = "" if wrong.all() else drawn(wrong)
            yield "", None, wrong_entries(wrong) + (f"\n{grid}" if grid else ""), None
    if not telling:
        yield "got", None, _what_else(case), None


def _named(word, case, place, several):
    return f"{case.outputs[place]}, {word}" if several else word


def _what_else(case):
    return f"the right values, but it {case.problem}" if case.problem else "the right values, but an input is changed"


def shape(array):
    """Return the shape of an array as text, or "" for a single number."""
    return str(array.shape) if isinstance(array, np.ndarray) and array.ndim else ""


def inline(array, digits=4):
    """Return an argument or output as text, in one line if it is short, and abbreviated if it is large."""
    if not isinstance(array, (np.ndarray, np.generic)):
        return repr(array)
    array = np.asarray(array)
    shown = np.array2string(
        array, precision=digits, suppress_small=digits < 10, separator=", ", max_line_width=64,
        threshold=MOST_NUMBERS, edgeitems=2,
    )  # fmt: skip
    one_line = " ".join(shown.split()).replace("[ ", "[")
    if len(one_line) <= ONE_LINE:
        return one_line
    return "\n".join(line.rstrip() for line in shown.splitlines() if line.strip())


def told_apart(want, got):
    """Return both arrays as texts, with as many digits as it takes to see that they differ."""
    for digits in (4, 8, 17):
        pair = inline(want, digits), inline(got, digits)
        if pair[0] != pair[1] or want.size > MOST_NUMBERS:
            return pair
    return (f"{pair[0]} ({want.dtype})", f"{pair[1]} ({got.dtype})")


def wrong_entries(wrong):
    """Return a sentence on which entries of an array are wrong.

    Parameters
    ----------
    wrong : ndarray of bool
        True for each wrong entry.

    Examples
    --------
    >>> wrong_entries(np.array([[False, True], [False, True]]))
    '2 of 4 entries are wrong: column 1'
    >>> wrong_entries(np.triu(np.ones((3, 3), dtype=bool), 1))
    '3 of 9 entries are wrong: those above the diagonal'
    """
    count = int(wrong.sum())
    start = f"{count} of {wrong.size} entries {'is' if count == 1 else 'are'} wrong"
    if wrong.all():
        return "the only entry is wrong" if wrong.size == 1 else f"all {wrong.size} entries are wrong"
    if wrong.ndim == 0 or not count:
        return start
    if wrong.ndim == 1:
        return f"{start}: {_listed('place', np.flatnonzero(wrong))}"
    if (wrong == wrong[..., :1]).all():
        rows = wrong[..., 0]
        return f"{start}: {_listed('row', np.flatnonzero(rows))}" if rows.ndim == 1 else f"{start}, in whole rows"
    if (wrong == wrong[..., :1, :]).all():
        same = (wrong == wrong.reshape(-1, wrong.shape[-1])[0]).all()
        return f"{start}: {_listed('column', np.flatnonzero(wrong.reshape(-1, wrong.shape[-1])[0]))}" if same else start
    lines = np.arange(wrong.shape[-2])[:, None] - np.arange(wrong.shape[-1])
    parts = {"above": lines < 0, "on and above": lines <= 0, "below": lines > 0, "on and below": lines >= 0}
    for where, part in parts.items():
        if (wrong == part).all():
            return f"{start}: those {where} the diagonal"
    if wrong.ndim == 2:
        return f"{start}, in {_listed('row', np.flatnonzero(wrong.any(axis=1)))}"
    elements = np.flatnonzero(wrong.any(axis=tuple(range(1, wrong.ndim))))
    return start if len(elements) == len(wrong) else f"{start}, in {_listed('element', elements)} of the first axis"


def _listed(noun, places):
    if len(places) == 1:
        return f"{noun} {places[0]}"
    if len(places) > 2 and places[-1] - places[0] == len(places) - 1:
        return f"{noun}s {places[0]} to {places[-1]}"
    most = [str(place) for place in places[:6]]
    return f"{noun}s {', '.join(most[:-1])} and {most[-1]}" if len(places) <= 6 else f"{len(places)} {noun}s"


def grids(wrong):
    """Yield (name, matrix) for each matrix of a boolean array; the name is the index on the leading axes."""
    if wrong.ndim < 2:
        yield "", np.atleast_2d(wrong)
        return
    for place in np.ndindex(wrong.shape[:-2]):
        yield (f"[{', '.join(map(str, place))}]" if place else ""), wrong[place]


def drawn(wrong):
    """Return the grid of marks as text, or "" if it would be too large.

    Examples
    --------
    >>> print(drawn(np.eye(2, dtype=bool)))
    × ·
    · ×
    """
    if not fits(wrong):
        return ""
    blocks = []
    for name, matrix in grids(wrong):
        rows = [" ".join(WRONG if entry else RIGHT for entry in row) for row in matrix]
        blocks.append("\n".join([name, *rows] if name else rows))
    return "\n".join(blocks)


def fits(wrong):
    """Is an array small enough to be drawn as a grid?"""
    if wrong.ndim < 2:
        return wrong.size <= LARGEST
    return max(wrong.shape[-2:]) <= LARGEST and int(np.prod(wrong.shape[:-2])) <= 4
