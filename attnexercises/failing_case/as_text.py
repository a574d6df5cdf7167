"""Show a failing case as plain text: its arguments, the expected result and the answer's result, with shapes."""

import textwrap

import numpy as np

from attnexercises.failing_case import places
from attnexercises.reader.output import width

# An array with at most this many numbers is printed in full. Of a larger one, the corners and wrong places are shown.
MOST_NUMBERS = 12
MOST_OUTPUTS = 2
ONE_LINE = 44  # characters of an array that is printed in one line


def text(case):
    """Return the case as a small table."""
    rows = [(name, arg, inline(arg)) for name, arg in zip(case.names, case.arguments, strict=True)]
    rows += [(name, array, shown) for name, array, shown, _ in output_rows(case)]
    widths = [max(len(name) for name, *_ in rows), max(len(shape(array)) for _, array, _ in rows)]
    lines = [textwrap.fill(title(case), width() - 4, break_long_words=False, break_on_hyphens=False)]
    for name, array, shown in rows:
        first, *others = shown.splitlines() or [""]
        lines.append(f"  {name:<{widths[0]}}  {shape(array):<{widths[1]}}  {first}".rstrip())
        lines += [" " * (sum(widths) + 6) + other for other in others]
    return "\n".join(lines)


def title(case):
    """Return the line above the table."""
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
            drawn = "" if wrong.all() else places.drawn(wrong)
            yield "", None, places.wrong_entries(wrong) + (f"\n{drawn}" if drawn else ""), None
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
