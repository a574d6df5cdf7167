"""Show an object where the reader works: a picture or table in a notebook, text in a terminal."""

import sys
import textwrap


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
