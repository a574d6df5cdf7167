"""A name means one thing in a chapter, and a cell that is run again changes nothing of another cell."""

import nbformat
import pytest

from tools.notebooks.check import check
from tools.notebooks.files import METADATA, canonical
from tools.notebooks.names import check_names


def said(*sources):
    """What is said of cells a, b, c, … with these sources, without the cells of which nothing is said."""
    cells = [nbformat.v4.new_code_cell(source, id="abcdef"[place]) for place, source in enumerate(sources)]
    return {id: texts for id, texts in check_names(nbformat.v4.new_notebook(cells=cells)).items() if texts}


@pytest.mark.parametrize(
    "sources",
    [
        ["x = 1", "y = x + 1", "z = x + y"],
        ["x = 1\nprint(x)", "x = 2\nprint(x)"],  # each uses its own
        ["for i in range(3):\n    print(i)", "for i in range(4):\n    print(i)"],
        ["rng = np.random.default_rng(0)\nx = rng.normal()", "rng = np.random.default_rng(1)\ny = rng.normal() + x"],
        ["x = [1]\nx.append(2)\nx[0] = 3\nx += [4]"],
        ["def f(ax):\n    x = ax\n    return x", "ax = f(1)", "x = f(2)"],
        ["def f():\n    return ax\nax = 1\nf()", "ax = 2\nprint(ax)"],  # the function finds the ax of its own cell
        ["y = [x for x in range(3)]", "x = 3", "w = {x: x for x in y}", "v = x"],
        ["f = lambda x, *, y=1: x + y", "x = 1", "y = 2", "f(x)", "f(y)"],
        ["sum = 3\nprint(sum)", "print(sum([1]))", "sum = 4"],
        ["x = {}", "y = sorted(x.items())", "y2 = x.get(1)"],
        ["import numpy as np", "np.add(1, 2)"],
        ["class A:\n    b = 1\n    def c(self):\n        return self.b", "b = A().c()", "b2 = b"],
        ["x = 1", "if (n := x) > 0:\n    print(n)", "if (n := 3) > 0:\n    print(n)"],
    ],
)
def test_cells_that_can_be_run_again_are_right(sources):
    assert said(*sources) == {}


@pytest.mark.parametrize(
    ("sources", "cell", "what"),
    [
        (["x = 1", "x = 2", "print(x)"], "c", "takes 'x', which 2 cells bind: a, b"),
        (["x = 1", "x = x + 1"], "b", "takes 'x', which 2 cells bind: a, b"),
        (["x = 1", "for x in range(3):\n    pass", "def f():\n    return x"], "c", "takes 'x', which 2 cells bind: a, b"),
        (["x = 1", "with open(x) as x:\n    pass"], "b", "takes 'x', which 2 cells bind: a, b"),
        (["from m import x", "def x():\n    pass", "x()"], "c", "takes 'x', which 2 cells bind: a, b"),
        (["x = [1]", "x.append(2)"], "b", "changes 'x' of cell a; run again it changes it twice"),
        (["x = [1]", "x[0] = 2"], "b", "changes 'x' of cell a; run again it changes it twice"),
        (["x = {}", "x['a']['b'] += 2"], "b", "changes 'x' of cell a; run again it changes it twice"),
        (["x = 1", "x += 1"], "b", "changes 'x' of cell a; run again it changes it twice"),
        (
            ["rng = np.random.default_rng(0)", "y = rng.normal()"],
            "b",
            "draws from 'rng' of cell a; run again it draws other numbers",
        ),
    ],
)
def test_what_depends_on_the_order_of_runs_is_found(sources, cell, what):
    assert what in said(*sources)[cell]


@pytest.mark.parametrize("method", "append extend insert update pop clear sort reverse add remove setdefault".split())
def test_every_method_that_changes_what_it_is_called_on_is_known(method):
    assert said("x = make()", f"x.{method}(1)") == {"b": ["changes 'x' of cell a; run again it changes it twice"]}
    assert said("x = make()", f"y = x.{method}ed(1)") == {}


def test_the_check_of_notebooks_says_it(tmp_path):
    cells = [nbformat.v4.new_markdown_cell("**Time** about 0 minutes of reading, and 0 for the exercises.", id="title")]
    for count, source in enumerate(["x = 1", "x = 2", "y = x"], start=1):
        cells.append(nbformat.v4.new_code_cell(source, id=f"cell-{count}", execution_count=count))
    path = tmp_path / "01_small.ipynb"
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA, nbformat_minor=5)
    path.write_text(canonical(notebook), encoding="utf-8")
    assert [problem.partition(": ")[2] for problem in check(path)] == [
        "cell 4 (cell-3): takes 'x', which 2 cells bind: cell-1, cell-2"
    ]
