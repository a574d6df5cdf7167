"""tools.notebooks.book_order: the order of the exercises and the README's table follow from the contents and the cells."""

import json
from pathlib import Path

import pytest

from tools.notebooks.book_order import TARGET, as_json, book_order, readme_with, up_to_date

ROOT = Path(__file__).resolve().parents[3]
CONTENTS = """
parts:
  - chapters:
      - file: chapters/before
      - file: chapters/text
  - numbered: 1
    chapters:
      - file: chapters/01_first
      - file: chapters/02_second
"""


def notebook(title, *ids):
    cells = [{"source": ["<a id='x'></a>\n", f"# {title}"], "metadata": {}}]
    cells += [{"source": [f'check("{id}", {id})'], "metadata": {"tags": ["hide-input", f"exercise-{id}"]}} for id in ids]
    return json.dumps({"cells": cells})


@pytest.fixture
def root(tmp_path):
    """A book of three notebooks; the second one has no exercise."""
    (tmp_path / "_toc.yml").write_text(CONTENTS, encoding="utf-8")
    for folder in ("chapters", "attnexercises", "attnlib/second"):
        (tmp_path / folder).mkdir(parents=True)
    for name, text in {
        "before": notebook("Look back", "sum"),
        "01_first": notebook("Begin"),
        "02_second": notebook("Go on", "b", "a"),
    }.items():
        (tmp_path / "chapters" / f"{name}.ipynb").write_text(text, encoding="utf-8")
    table = "| Chapter | Room | Exercises |\n|---|---|---|\n| old | | |\n"
    (tmp_path / "README.md").write_text(f"# Book\n\n{table}\nThe end.\n", encoding="utf-8")
    return tmp_path


def test_the_stored_order_and_the_readme_are_up_to_date():
    order, readme = book_order(), (ROOT / "README.md").read_text(encoding="utf-8")
    assert TARGET.read_text(encoding="utf-8") == as_json(order), "run: python -m tools.notebooks format"
    assert readme == readme_with(order, readme), "run: python -m tools.notebooks format"
    assert len(order) > 10 and sum(len(chapter["exercises"]) for chapter in order.values()) > 70


def test_chapters_come_as_in_the_contents_and_exercises_as_in_their_notebook(root):
    order = book_order(root)
    assert list(order) == ["before", "second"] and order["second"]["exercises"] == ["b", "a"]
    assert [(chapter["number"], chapter["title"]) for chapter in order.values()] == [("", "Look back"), ("2", "Go on")]


def test_both_files_are_written_once_and_then_left_alone(root):
    assert up_to_date(root) == ["book_order.json", "README.md"]
    assert up_to_date(root) == []
    assert json.loads((root / "attnexercises" / "book_order.json").read_text(encoding="utf-8")) == book_order(root)
    lines = (root / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[4:6] == [
        "| [Before](chapters/before.ipynb) |  | `sum` |",
        "| [2 Go on](chapters/02_second.ipynb) | [second](attnlib/second/) | `b` `a` |",
    ]
    assert lines[0] == "# Book" and lines[-1] == "The end."


def test_a_new_cell_changes_both(root):
    up_to_date(root)
    (root / "chapters" / "01_first.ipynb").write_text(notebook("Begin", "new"), encoding="utf-8")
    assert up_to_date(root) == ["book_order.json", "README.md"]
    assert list(book_order(root)) == ["before", "first", "second"]
