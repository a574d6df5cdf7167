"""Print sentences in lines that JupyterLab, or a page on a phone, does not break inside a word."""

import os
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
