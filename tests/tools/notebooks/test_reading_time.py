"""A chapter says how long it takes to read, and that is true."""

import nbformat
import pytest

from tools.notebooks.check import check
from tools.notebooks.files import METADATA, canonical
from tools.notebooks.reading_time import LINES, LONGEST, WORDS, check_time, minutes

TIME = "**Time** about {} minutes of reading, and an hour for the exercises."


def chapter(folder, opener, words=0, lines=0, name="07_small"):
    """Store a chapter whose opener, words and lines are given, and return its path."""
    cells = [nbformat.v4.new_markdown_cell(opener, id="title"), nbformat.v4.new_markdown_cell("word " * words, id="text")]
    if lines:
        code = nbformat.v4.new_code_cell("\n\n".join(["x = 1"] * lines), id="code", execution_count=1)
        code.metadata.tags = ["hide-input"]  # no limit for one cell
        cells.append(code)
    path = folder / f"{name}.ipynb"
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA, nbformat_minor=5)
    path.write_text(canonical(notebook), encoding="utf-8")
    return path


def said(path):
    return [problem.partition(": ")[2] for problem in check(path)]


def test_words_and_lines_are_counted_and_empty_lines_are_not(tmp_path):
    path = chapter(tmp_path, "two words", words=20 * WORDS - 2, lines=10 * LINES)
    assert minutes(nbformat.read(path, as_version=4)) == 20 + 10


def test_a_true_time_is_right(tmp_path):
    for stated in (25, 30, 35):
        path = chapter(tmp_path, TIME.format(stated), words=20 * WORDS - len(TIME.split()), lines=10 * LINES)
        assert said(path) == []


@pytest.mark.parametrize("stated", [20, 24, 36, 45])
def test_a_wrong_time_is_found(stated, tmp_path):
    path = chapter(tmp_path, TIME.format(stated), words=20 * WORDS - len(TIME.split()), lines=10 * LINES)
    assert said(path) == [
        f"the first cell says {stated} minutes of reading, computed are 30.0; "
        "write: **Time** about 30 minutes of reading, and ... for the exercises."
    ]


@pytest.mark.parametrize(
    "opener", ["", "**Time** 30 minutes.", "**Time** about 30 minutes of reading.", "About 30 minutes of reading"]
)
def test_a_time_that_is_not_stated_is_missed(opener, tmp_path):
    (problem,) = said(chapter(tmp_path, opener, words=30 * WORDS))
    assert problem.startswith("the first cell does not say how long reading takes; write: **Time** about 30 minutes")


@pytest.mark.parametrize(("cells", "word"), [(2, "two"), (1, "one"), (0, "no")])
def test_the_number_of_exercises_is_that_of_their_cells(cells, word, tmp_path):
    exercises = [nbformat.v4.new_code_cell("x = 1", metadata={"tags": [f"exercise-e{i}", "hide-input"]}) for i in range(cells)]
    for stated in ("no", "one", "two"):
        opener = TIME.format(0).replace("the exercises", f"the {stated} exercises")
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(opener), *exercises])
        right = [] if stated == word else [f"the first cell says {stated} exercises; write: {word}"]
        assert check_time(tmp_path / "07_small.ipynb", notebook) == right


def test_a_chapter_that_is_too_long_is_found(tmp_path):
    path = chapter(tmp_path, TIME.format(LONGEST), words=LONGEST * WORDS)  # and the opener
    assert said(path) == [f"{LONGEST}.2 minutes of reading, at most {LONGEST}"]


def test_any_other_notebook_may_say_nothing(tmp_path):
    assert said(chapter(tmp_path, "# Published mistakes", words=2 * LONGEST * WORDS, name="mistakes")) == []
