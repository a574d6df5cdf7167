"""Predictions in the notebooks: each has the form, and each fault of one would be named."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from book import predictions
from book.predictions import notebook as in_notebooks
from book.predictions.notebook import check_predictions
from tools.notebooks import __main__ as notebooks

ROOT = Path(__file__).resolve().parents[3]

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))


def block(kind, question, answer, id="predict-x", more=""):
    return (
        f'<div class="predict {kind}" id="{id}"{more}>\n\n{question}\n\n<details class="answer">\n'
        f"<summary>Answer</summary>\n\n{answer}\n\n</details>\n\n</div>"
    )


CHOOSE = block("choose", "**Predict first.** Which?\n\n* **A** one\n* **B** two", "**B.** Because.\n\n* **A** No.")
ORDER = block("order", "**Predict first.** How?\n\n* **A** one\n* **B** two\n* **C** $c * d$",
              "**B, A, C.** Because.\n\n* **A, C, B** No.\n* **any other** No.")  # fmt: skip
NUMBER = block("number", "**Quick check.** How many?\n\n$$\n= x\n$$", "**0.64.** Because.\n\n* **0.5** No.\n* **any other** No.",
               more=' data-cell="shows" data-within="0.01"')  # fmt: skip
CELL = block("point", "**Quick check.** Where?\n\n| | a | b |\n|---|---|---|\n| c | 1 | 2 |\n| d | 3 | 4 |",
             "**row 1, column 0.** Because.\n\n* **row 0, column 1** No.\n* **any other** No.")  # fmt: skip
KINDS = {"choose": CHOOSE, "order": ORDER, "number": NUMBER, "point": CELL}
FAULTS = [
    (CHOOSE, "predict choose", "predict pick", "its first line is not"),
    (CHOOSE, 'id="predict-x"', 'id="x"', "its first line is not"),
    (CHOOSE, "\n\n</div>", "", "no </div> on a line of its own ends it"),
    (CHOOSE, '<div class="predict choose"', 'So <div class="predict choose"', "does not begin at the start of a line"),
    (CHOOSE, "<summary>Answer</summary>\n\n", "<summary>Answer</summary>\n", "its lines of HTML are not"),
    (CHOOSE, "<summary>Answer</summary>", "<summary>Solution</summary>", "near <summary>Solution</summary>"),
    (CHOOSE, "</details>\n", "</details>\n\nMore.\n", "where nothing may"),
    (CHOOSE, "**Predict first.**", "**Guess.**", "does not begin with **Predict first.**"),
    (CHOOSE, "Which?", "Which?\n\n## So", "it holds a heading"),
    (CHOOSE, "* **A** one\n* **B** two", "One or two?", "stands not one list"),
    (CHOOSE, "* **B** two", "* **C** two", "its options are not **A**, **B**"),
    (CHOOSE, "\n* **B** two", "", "its options are not **A**, **B**"),
    (CHOOSE, "* **B** two", "* two", "not one paragraph that begins with its name in bold: two"),
    (CHOOSE, "* **B** two", "* **B** two\n  * three", "not one paragraph"),
    (CHOOSE, "**B.** Because", "B. Because", "does not begin with the right one in bold"),
    (CHOOSE, "**B.** Because.", "**B.**", "gives no reason"),
    (CHOOSE, "\n\n* **A** No.", "", "no note on a wrong answer"),
    (CHOOSE, "**B.** Because.\n\n* **A**", "**C.** Because.\n\n* **B** No.\n* **A**", "the right answer C is none of the options"),
    (CHOOSE, "* **B** two", "* **B** two\n* **C** three", "no note on C"),
    (CHOOSE, "* **A** No.", "* **A** No.\n* **D** No.", "a note on D, which is no option"),
    (CHOOSE, "* **A** No.", "* **A** No.\n* **A** No.", "two notes on A"),
    (CHOOSE, "* **A** No.", "* **A** No.\n* **B** No.", "a note on B, the right answer"),
    (CHOOSE, '"predict-x"', '"predict-x" data-within="1"', "the attribute data-within is not known"),
    (ORDER, "**B, A, C.**", "**B, A.**", "B, A is no order of A, B, C"),
    (ORDER, "**A, C, B** No", "**A, C, C** No", "A, C, C is no order"),
    (ORDER, "**B, A, C.**", "**A, B, C.**", "stand in the right order already"),
    (ORDER, "* **A, C, B** No.\n* **any other** No.", "* **any other** No.\n* **A, C, B** No.", "is not the last"),
    (NUMBER, "How many?", "How many?\n\n* **A** one\n* **B** two", "stands not text alone"),
    (NUMBER, "**0.64.**", "**many.**", "many is not a number"),
    (NUMBER, "**0.5** No", "**half** No", "half is not a number"),
    (NUMBER, "**0.64.**", "**0.65.**", "the cell 'shows' does not print 0.65"),
    (NUMBER, "**0.64.**", "**0.640.**", "the cell 'shows' does not print 0.640"),
    (NUMBER, 'data-cell="shows"', 'data-cell="gone"', "names no code cell of this notebook: 'gone'"),
    (NUMBER, ' data-cell="shows"', "", "names no code cell of this notebook: ''"),
    (NUMBER, 'data-within="0.01"', 'data-within="0"', "not a positive number: '0'"),
    (NUMBER, "**0.5** No", "**0.65** No", "the note on 0.65 is about an answer that counts as right"),
    (CELL, "| d | 3 | 4 |", "| d | 3 | 4 |\n\nSo?", "stands not one table"),
    (CELL, "\n| c | 1 | 2 |\n| d | 3 | 4 |", "", "its table has no cell"),
    (CELL, "**row 1, column 0.**", "**row 2, column 0.**", "row 2, column 0 is outside the table of 2 rows and 2 columns"),
    (CELL, "**row 0, column 1**", "**row 0, column 2**", "row 0, column 2 is outside"),
    (CELL, "**row 0, column 1**", "**0, 1**", "0, 1 is not of the form row 0, column 0"),
]


def notebook(*sources):
    shows = v4.new_code_cell("1", id="shows", outputs=[v4.new_output("stream", text="so 0.6383 it is\n")])
    return v4.new_notebook(cells=[*(v4.new_markdown_cell(source) for source in sources), shows])


def problems(*sources):
    seen, whole = set(), notebook(*sources)
    return [text for cell in whole.cells[:-1] for text in check_predictions(cell, whole, seen)]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_read(kind):
    assert problems(f"Before.\n\n{KINDS[kind]}\n\nAfter.") == []
    (found,), _ = in_notebooks.predictions(KINDS[kind])
    assert (found.kind, found.id) == (kind, "predict-x")
    assert found.answer == {"choose": "B", "order": "B, A, C", "number": "0.64", "point": "row 1, column 0"}[kind]
    assert found.notes[0][1] == "No."


@pytest.mark.parametrize(("whole", "old", "new", "said"), FAULTS, ids=[said for *_, said in FAULTS])
def test_each_fault_is_named_once_with_its_prediction(whole, old, new, said):
    assert whole.count(old) == 1
    (found,) = problems(whole.replace(old, new))
    assert said in found
    assert found.startswith("prediction ") or said.startswith("does not begin at the start")


def test_an_id_that_is_there_twice_is_found():
    assert problems(CHOOSE, ORDER) == ["prediction 'predict-x': its id is there twice"]


def test_the_check_of_a_notebook_names_file_cell_and_prediction(tmp_path, capsys):
    path = tmp_path / "chapter.ipynb"
    nbformat.write(notebook(CHOOSE.replace("**B.**", "**C.**")), path)
    notebooks.main(["format", str(path)])
    assert notebooks.main(["check", str(path)]) == 1
    said = capsys.readouterr().out
    assert re.search(r"chapter\.ipynb: cell 1 \(\w+\): prediction 'predict-x': the right answer C is none", said), said


def test_a_wrong_number_of_a_note_need_not_be_printed(tmp_path):
    path = tmp_path / "chapter.ipynb"
    source = NUMBER.replace("* **0.5** No", "* **0.555** No").replace("**0.64.** Because", "**0.6383.** Because")
    nbformat.write(notebook(source), path)
    notebooks.main(["format", str(path)])
    assert not [said for said in notebooks.check(path) if "0.555" in said]
    path.write_text(path.read_text(encoding="utf-8").replace("** No", "** No, 0.777"), encoding="utf-8")
    assert [said for said in notebooks.check(path) if "0.777" in said]


def test_a_digest_changes_with_the_question_and_not_with_a_note():
    def digest(source):
        return in_notebooks.predictions(source)[0][0].digest

    assert digest(CHOOSE.replace("No.", "No!")) == digest(CHOOSE)
    changed = [CHOOSE.replace("Which", "What"), CHOOSE.replace("two", "three"), NUMBER, NUMBER.replace("0.01", "0.02")]
    assert len({digest(source) for source in [CHOOSE, *changed]}) == 5


# In the book


def ids_of(path):
    cells = nbformat.read(path, as_version=4).cells
    found = [in_notebooks.predictions(cell.source)[0] for cell in cells if cell.cell_type == "markdown"]
    return [each.id for group in found for each in group]


def test_every_id_is_unique_in_the_book(record_property):
    ids = [id for path in CHAPTERS for id in ids_of(path)]
    assert len(ids) >= 8 and len(ids) == len(set(ids))
    record_property("checked predictions", len(ids))


def test_the_site_has_every_prediction_in_its_chapter_and_on_review(site):
    review = (site / "chapters" / "review.html").read_text(encoding="utf-8")
    expected = [(path, id) for path in CHAPTERS for id in ids_of(path)]
    for path, id in expected:
        page = (site / "chapters" / f"{path.stem}.html").read_text(encoding="utf-8")
        tag = re.search(rf'<div class="predict \w+" id="{id}"[^>]* data-digest="[0-9a-f]{{8}}">', page)
        assert tag and tag[0] in review, id
        assert f'href="{path.stem}.html#{id}"' in review
        script = (site / "_static" / "predictions" / f"{path.stem}.js").read_text(encoding="utf-8")
        assert f'"{id}": ' in script
    assert review.count('<div class="predict ') == len(expected)
    box = review[review.index('<div class="predict-all">') : review.index("</article>")]
    inner = re.findall(r'\sid="([^"]*)"', box)
    assert sorted(inner) == sorted(id for _, id in expected)
    assert 'href="#' not in box


def test_a_chapter_asks_again_only_what_the_chapter_before_asked(site):
    seen = 0
    for path in CHAPTERS:
        page = (site / "chapters" / f"{path.stem}.html").read_text(encoding="utf-8")
        places = re.findall(r'<div class="predict-missed"[^>]*></div>', page)
        assert len(places) == page.count('class="opener docutils container"')
        if places and (source := re.search(r'data-script="([^"]*)"', places[0])):
            script = (site / "chapters" / source[1]).resolve()
            asked = re.findall(r"(predict-[\w-]+)=", places[0].split('data-ids="')[1].split('"')[0])
            assert asked == re.findall(r'^"(predict-[\w-]+)": ', script.read_text(encoding="utf-8"), re.M)
            assert script.stem < path.stem or script.stem == "prerequisites"
            seen += 1
    assert seen


def test_links_and_ids_inside_a_block_are_made_for_another_page():
    inside = '<a href="#eq">(1)</a><a href="two.html#eq">(2)</a><div id="eq"></div>'
    page = f'<article><h1>One</h1><h2>Part</h2><div class="predict choose" id="predict-x">{inside}</div></article>'
    (block,) = predictions.blocks(page, "one.html").values()
    assert '<a href="one.html#eq">(1)</a><a href="two.html#eq">(2)</a><div></div>' in block
    assert block.count(" id=") == 1 and 'From <a href="one.html#predict-x">One: Part</a>' in block
