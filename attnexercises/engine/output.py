"""Print sentences and display objects for the reader.

Sentences are wrapped, so that neither JupyterLab nor a narrow page on a phone breaks a line inside a word. An object is
displayed as a picture or table in a notebook, and as text in a terminal. `hints_are_off` reads the environment variable
with which a teacher turns off hints.
"""

import os
import sys
import textwrap

WIDTH, LEAST = 76, 20  # the usual and the smallest width of a line, in characters


def width():
    """Return the width of a line: `WIDTH`, or less if a page of the book has set ``ATTNLIB_WIDTH``."""
    told = os.environ.get("ATTNLIB_WIDTH", "")
    return max(LEAST, min(WIDTH, int(told))) if told.isdecimal() else WIDTH


def say(*sentences):
    """Print each line of the sentences, wrapped. Continuation lines are indented so that they align with the first.

    Returns
    -------
    int
        The number of printed lines.
    """
    printed = 0
    for line in "\n".join(sentences).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        below = "    " if line.startswith("[") else indent
        text = textwrap.fill(line, width(), subsequent_indent=below, break_long_words=False, break_on_hyphens=False)
        print(text)
        printed += len(text.splitlines())
    return printed


def shortened(text, most):
    """Return a text of at most so many characters, which ends with "…" after a whole word if it was longer.

    Examples
    --------
    >>> shortened("operands could not be broadcast", 20), shortened("short", 20), shortened("x" * 30, 20)
    ('operands could not …', 'short', 'xxxxxxxxxxxxxxxxxxx…')
    """
    if len(text) <= most:
        return text
    head, space, _ = text[: most - 1].rpartition(" ")
    return f"{head} …" if space and len(head) > most // 2 else f"{text[: most - 1]}…"


def show(thing, indent=""):
    """Display `thing` in a notebook; elsewhere print it, with `indent` before each line."""
    if in_notebook():
        from IPython.display import display

        display(thing)
    else:
        print(textwrap.indent(str(thing), indent))


def in_notebook():
    """Can this session display more than text, because it is a notebook or a page of the book that runs Python?"""
    if sys.platform == "emscripten":
        return "IPython.display" in sys.modules
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    return shell is not None and hasattr(shell, "kernel")


def below_the_cell(id):
    """Do the exercise's hints and its solution stand below the cell that is running? A page of the book says so in ``ATTNLIB_HELP``."""
    return os.environ.get("ATTNLIB_HELP", "") == id


def hints_are_off():
    """Is ``ATTNLIB_HINTS=off`` set? Then there are no hints and no solutions, and no message mentions them."""
    return os.environ.get("ATTNLIB_HINTS", "").lower() == "off"
