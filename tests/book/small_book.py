"""A book of four small pages with something of each kind that the real one has, for tests that build."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = (ROOT / "_config.yml").read_text(encoding="utf-8").replace("{book: .}", f"{{book: {ROOT}}}")
ADDRESS = "https://github.com/somebody/book"
CONTENTS = "format: jb-book\nroot: chapters/index\nchapters:\n- file: chapters/01_first\n- file: chapters/api\n- file: chapters/bibliography\n"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>'
WORK = "@misc{one, title={One}, author={A. One}, year={2000}}\n"
FIRST = """# First

A formula, $\\softmax(x)_i$, and a numbered one, [(1)](#eq-sum), after [One [2000]](references.bib#one).

<a id="eq-sum"></a>

$$\\sum_i p_i = 1, \\quad p_i = \\frac{e^{x_i}}{\\sum_j e^{x_j}} \\tag{1}$$
"""
API = "# Library\n\n```{eval-rst}\n.. automodule:: attnlib.positions.sinusoidal_encoding\n   :members:\n\n.. automodule:: attnlib.positions.interpolation\n   :members:\n```\n"
BIBLIOGRAPHY = "# Works\n\n```{bibliography}\n:style: author_year\n```\n"


def settings(folder, **changes):
    """The book's settings in another folder, with some lines changed."""
    content = SETTINGS
    for old, new in changes.values():
        assert content.count(old) == 1, old
        content = content.replace(old, new)
    (folder / "_config.yml").write_text(content, encoding="utf-8")
    return folder / "_config.yml"


def with_address(folder):
    """The settings after the one setting was given an address."""
    return settings(folder, url=('url: ""', f'url: "{ADDRESS}"'))


def written(folder, page="", contents=CONTENTS):
    """Write the book to a folder and return it. `page` stands on its first page."""
    chapters = folder / "chapters"
    chapters.mkdir(parents=True)
    (chapters / "index.md").write_text(f"# Small\n\n{page}\n", encoding="utf-8")
    (chapters / "01_first.ipynb").write_text(json.dumps(notebook()), encoding="utf-8")
    (chapters / "api.md").write_text(API, encoding="utf-8")
    (chapters / "bibliography.md").write_text(BIBLIOGRAPHY, encoding="utf-8")
    (chapters / "references.bib").write_text(WORK, encoding="utf-8")
    (folder / "_toc.yml").write_text(contents, encoding="utf-8")
    settings(folder)
    return folder


def notebook():
    """A chapter: text with formulas, and a cell that shows a text and a figure."""
    shown = [
        {"output_type": "stream", "name": "stdout", "text": "two words\n"},
        {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": PICTURE}},
    ]
    cells = [
        {"cell_type": "markdown", "id": "text", "metadata": {}, "source": FIRST},
        {"cell_type": "code", "id": "code", "metadata": {}, "execution_count": 1, "outputs": shown, "source": "print('two words')"},
    ]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def files(folder):
    """The names of all files in a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def contents(folder):
    """{name: content} of all files in a folder."""
    return {name: (folder / name).read_bytes() for name in files(folder)}
