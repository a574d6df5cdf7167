"""Print sentences in lines that JupyterLab does not break inside a word."""

import textwrap

WIDTH = 76  # letters


def say(*sentences):
    """Print each line in lines that are not too wide; those that follow stand under the first one's words."""
    for line in "\n".join(sentences).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        below = "    " if line.startswith("[") else indent
        print(
            textwrap.fill(line, WIDTH, subsequent_indent=below, break_long_words=False, break_on_hyphens=False)
        )
