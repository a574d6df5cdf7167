"""A failing case in plain text: input, expected, got, with shapes."""

import textwrap

import numpy as np

from attnexercises.failing_case import places
from attnexercises.reader.output import width

MOST_NUMBERS = 12  # of an array that is printed whole; of a larger one the corners, and where it is wrong
MOST_OUTPUTS = 2
ONE_LINE = 44  # letters


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
    """What stands above the table."""
    return f'Smallest case that goes wrong, case("{case.exercise}"), from "{case.label}":'


def output_rows(case):
    """Yield (name, array, text, wrong entries) for what was expected and got; the most telling output first."""
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
    """The shape as text; "" where there is none."""
    return str(array.shape) if isinstance(array, np.ndarray) and array.ndim else ""


def inline(array, digits=4):
    """An argument or output as text, in one line if it is short; of a large one the corners."""
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
    """Two arrays in as many digits as it takes to see that they differ."""
    for digits in (4, 8, 17):
        pair = inline(want, digits), inline(got, digits)
        if pair[0] != pair[1] or want.size > MOST_NUMBERS:
            return pair
    return (f"{pair[0]} ({want.dtype})", f"{pair[1]} ({got.dtype})")
