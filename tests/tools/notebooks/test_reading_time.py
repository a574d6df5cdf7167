"""A chapter says how long it takes to read, and that is true."""

import nbformat
import pytest

from tools.notebooks.check import check
from tools.notebooks.files import METADATA, canonical
from tools.notebooks.reading_time import LINES, LONGEST, WORDS, check_time, core_and_further, minutes

TIME = "**Time** about {} minutes of reading, and an hour for the exercises."


def chapter(folder, opener, words=0, lines=0, name="07_small"):
    """Store a chapter whose opener, words and lines are given, and return its path."""
    cells = [nbformat.v4.new_markdown_cell(opener, id="title"), nbformat.v4.new_markdown_cell("word " * words, id="text")]
    for part in range(lines // LINES):  # as many lines as are read in a minute
        source = "\n\n".join(["x = 1"] * LINES)
        cells.append(nbformat.v4.new_code_cell(source, id=f"code-{part}", execution_count=part + 1))
    path = folder / f"{name}.ipynb"
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA, nbformat_minor=5)
    path.write_text(canonical(notebook), encoding="utf-8")
    return path


def said(path):
    return [problem.partition(": ")[2] for problem in check(path)]


def test_words_and_lines_are_counted_and_empty_lines_are_not(tmp_path):
    path = chapter(tmp_path, "two words", words=20 * WORDS - 2, lines=10 * LINES)
    assert minutes(nbformat.read(path, as_version=4).cells) == 20 + 10


def test_code_that_is_folded_is_not_read(tmp_path):
    notebook = nbformat.read(chapter(tmp_path, "two words", lines=3 * LINES), as_version=4)
    for cell, tag in zip(notebook.cells[2:], ["hide-input", "hide-cell", "remove-input"], strict=True):
        cell.metadata.tags = [tag]
    assert minutes(notebook.cells) == 2 / WORDS
    notebook.cells[2].metadata.tags = ["hide-output", "exercise-softmax"]  # its code is in view
    assert minutes(notebook.cells) == 2 / WORDS + 1


def further(*sections):
    """A chapter with a core of ten minutes, and *Further* with these sections."""
    texts = [TIME.format(10), "word " * 10 * WORDS + "\n## Further\nFor the curious.", *sections]
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text) for text in texts])


def test_what_stands_under_further_is_no_part_of_the_core():
    code = nbformat.v4.new_code_cell("x = 1\n" * LINES)
    notebook = further("### One\n\n*About 3 minutes.*\n\n" + "word " * 2 * WORDS)
    notebook.cells += [code, nbformat.v4.new_markdown_cell("### Two\n\n*About one minute.*\n\nShort.")]
    core, sections = core_and_further(notebook)
    assert round(minutes(core)) == 10
    assert [(heading, round(minutes(cells))) for heading, cells in sections] == [("One", 3), ("Two", 0)]
    assert check_time("01_small.ipynb", notebook) == []


def test_an_exercise_of_further_is_read_in_the_section_before_it():
    text = "### One\n\n*About 3 minutes.*\n\n" + "word " * 2 * WORDS
    notebook = further(text + "\n\n### Exercise 2.5: Hard\n\n*Hard · 20 minutes*\n\n" + "word " * WORDS)
    assert [(heading, round(minutes(cells))) for heading, cells in core_and_further(notebook)[1]] == [("One", 3)]
    assert check_time("01_small.ipynb", notebook) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("### One\n\nNothing.", "the section 'One' does not begin with its minutes; write: *About 1 minute.*"),
        ("### One\n\n*About 5 minutes.*", "the section 'One' says 5 minutes, computed are 0.1; write: *About 1 minute.*"),
        (
            "### One\n\n*About two minutes.*\n\n" + "word " * 4 * WORDS,
            "the section 'One' says two minutes, computed are 4.1; write: *About 4 minutes.*",
        ),
    ],
)
def test_a_section_of_further_says_its_minutes(text, said):
    assert check_time("01_small.ipynb", further(text)) == [said]


@pytest.mark.parametrize(("more", "problems"), [("5 more minutes", []), ("4 more minutes", ["4"]), ("Further", [])])
def test_the_opener_gives_further_the_minutes_of_its_sections(more, problems):
    three, two = (f"### {name}\n\n*About {name} minutes.*\n\n" + "word " * n * WORDS for name, n in (("three", 3), ("two", 2)))
    notebook = further(three, two)
    notebook.cells[0].source += f" It takes {more}."
    expected = [f"the first cell says {said} more minutes, the sections of *Further* say 5 in all" for said in problems]
    assert check_time("01_small.ipynb", notebook) == expected


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
