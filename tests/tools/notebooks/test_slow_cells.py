"""A cell that needs what a slow cell makes is slow itself: "Run this page" would run it where the name is missing."""

import nbformat.v4 as made
import pytest

from tools.notebooks.check import check
from tools.notebooks.files import canonical
from tools.notebooks.slow_cells import needs_slow

SLOW = "models = {}\ndef train(): return rate"


def notebook(*sources, slow=()):
    cells = []
    for at, source in enumerate(sources):
        tags = {"tags": ["slow-5"]} if at in slow else {}
        cells.append(made.new_code_cell(source, id=f"c{at}", metadata=tags, execution_count=at + 1))
    return made.new_notebook(cells=cells)


@pytest.mark.parametrize(
    "needs",
    ["models", "len(models)", "def best():\n    return models", "[m for m in models]", "f = lambda: train()", "import os\nmodels.x = os"],
)
def test_a_cell_that_needs_a_slow_one_is_found(needs, tmp_path):
    bad = notebook("x = 1", SLOW, needs, slow=[1])
    assert list(needs_slow(bad)) == ["c2"]
    path = tmp_path / "bad.ipynb"
    path.write_text(canonical(bad), encoding="utf-8")
    assert [problem.partition("): ")[2][:6] for problem in check(path)] == ["needs "], check(path)


@pytest.mark.parametrize(
    "sources",
    [
        ("x = 1", SLOW, "x + 1"),  # of a cell that runs
        ("models = 0", SLOW, "models = []", "models"),  # made again since
        ("x = 1", SLOW, "def f(models):\n    return models"),  # its own
        ("x = 1", SLOW, "[models for models in x]"),
        ("x = 1", SLOW, "this is no Python"),  # said where it is run
    ],
)
def test_a_cell_that_does_not_need_it_is_in_order(sources):
    assert needs_slow(notebook(*sources, slow=[1])) == {}


def test_slow_itself_it_may_need_what_it_likes():
    assert needs_slow(notebook("x = 1", SLOW, "models", slow=[1, 2])) == {}
