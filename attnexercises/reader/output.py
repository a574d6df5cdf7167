"""Print sentences in lines that JupyterLab, or a page on a phone, does not break inside a word.

Show an object where the reader works: a picture or table in a notebook, text in a terminal.

What a teacher decides in the environment.
"""

import os
import sys
import textwrap

WIDTH, LEAST = 76, 20  # letters


def width():
    """How many letters a line may have: ``ATTNLIB_WIDTH``, which a running page sets, where that is less than usual."""
    told = os.environ.get("ATTNLIB_WIDTH", "")
    return max(LEAST, min(WIDTH, int(told))) if told.isdecimal() else WIDTH


def say(*sentences):
    """Print each line in lines that are not too wide; those that follow stand under the first one's words."""
    for line in "\n".join(sentences).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        below = "    " if line.startswith("[") else indent
        print(
            textwrap.fill(line, width(), subsequent_indent=below, break_long_words=False, break_on_hyphens=False)
        )


def show(thing, indent=""):
    """Display `thing` if this is a notebook, otherwise print it, with `indent` before each line."""
    if in_notebook():
        from IPython.display import display

        display(thing)
    else:
        print(textwrap.indent(str(thing), indent))


def in_notebook():
    """Is there an IPython that shows more than text, or a page of the book that runs Python itself?"""
    if sys.platform == "emscripten":
        return "IPython.display" in sys.modules
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    return shell is not None and hasattr(shell, "kernel")


def hints_are_off():
    """Whether ``ATTNLIB_HINTS=off``: then there are no hints and no solutions, and no message names them."""
    return os.environ.get("ATTNLIB_HINTS", "").lower() == "off"
