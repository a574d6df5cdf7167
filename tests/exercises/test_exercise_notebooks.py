"""The exercises in the chapters: cells and registry match, blanks are blanks, solved notebooks run and pass.

The helpers are tried on a tiny notebook first, so that they are known to see what they should.
"""

import os
import re
from collections import Counter
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from notebook_tools import TAG, exercise_cells, tiny_notebook, with_answer

from attnlib.exercises import grade
from attnlib.exercises._registry import registry
from attnlib.exercises._source import solution_source

CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").rglob("*.ipynb"))
NOTEBOOKS = {path.stem: path for path in CHAPTERS}

# Chapters may show the library's own code and worked examples. A line of a solution in another cell is allowed
# only if it is written down here: (notebook, line, reason).
SHOWN = {}

every_notebook = pytest.mark.parametrize("name", NOTEBOOKS or [pytest.param("", marks=pytest.mark.skip("no chapters"))])


def read(name):
    return nbformat.read(NOTEBOOKS[name], as_version=4)


def execute(notebook, folder, **environment):
    """Run all cells in a fresh kernel; no progress file, and a strict check unless told otherwise."""
    kernel = {**os.environ, "ATTNLIB_PROGRESS": "off", "ATTNLIB_STRICT": "1", "OPENBLAS_NUM_THREADS": "1", **environment}
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute(env=kernel)
    return notebook


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs if output.output_type == "stream")


def solved(notebook, answers=None):
    """Put the solution (or the given code) into every exercise cell."""
    for id, cell in exercise_cells(notebook):
        cell.source = with_answer(cell.source, id, (answers or {}).get(id) or solution_source(registry()[id]))
    return notebook


def wrong_answer(exercise):
    """Code for an answer with the first mistake, taken from the family."""
    bug = exercise.mistakes[0].id
    variant = f'registry()["{exercise.id}"].family(frozenset({{"{bug}"}}))'
    if exercise.value:
        variant += "()"
    return f"from attnlib.exercises._registry import registry\n{exercise.id} = {variant}"


def leaked_lines(notebook):
    """Lines of solutions, longer than 25 characters, that stand in a cell."""
    lines = set()
    for exercise in registry().values():
        for line in solution_source(exercise).splitlines():
            code = line.partition("  #")[0].strip()
            if len(code) > 25 and not code.startswith("def "):
                lines.add(code)
    found = set()
    for cell in notebook.cells:
        found |= {line for line in lines if line in re.sub(r"[ \t]+", " ", cell.source)}
    return found


# --- the helpers, on a tiny notebook ----------------------------------------------------------------------


def test_tags_are_found():
    assert [id for id, _ in exercise_cells(tiny_notebook())] == ["softmax", "delta_sum"]


def test_an_answer_takes_the_place_of_the_stub():
    source = 'import x\n\n\ndef f(a):\n    # blank\n\n    return TODO\n\n\ncheck("f", f)'
    assert with_answer(source, "f", "def f(a):\n    return a") == 'import x\n\n\ndef f(a):\n    return a\ncheck("f", f)'
    assert with_answer('v = TODO\ncheck("val", v)', "val", "val = 3") == 'val = 3\nv = val\ncheck("val", v)'
    with pytest.raises(AssertionError, match="has no check"):
        with_answer("g = 1", "f", "f = 1")
    with pytest.raises(AssertionError, match="defines no f"):
        with_answer('check("f", f)', "f", "f = 1")


def test_the_tiny_notebook_runs_unattempted_solved_and_wrong(tmp_path):
    plain = execute(tiny_notebook(), tmp_path, ATTNLIB_STRICT="0")
    assert [printed(cell) for _, cell in exercise_cells(plain)] == [
        "[ ] softmax: not attempted yet\n",
        "[ ] delta_sum: not attempted yet\n",
    ]
    good = execute(solved(tiny_notebook()), tmp_path)
    assert [printed(cell).split(":")[0] for _, cell in exercise_cells(good)] == ["[x] softmax", "[x] delta_sum"]
    answers = {id: wrong_answer(registry()[id]) for id, _ in exercise_cells(tiny_notebook())}
    bad = execute(solved(tiny_notebook(), answers), tmp_path, ATTNLIB_STRICT="0")
    for id, cell in exercise_cells(bad):
        assert registry()[id].mistakes[0].say in printed(cell)
    assert os.listdir(tmp_path) == []  # nothing was written


def test_a_wrong_answer_stops_a_strict_run(tmp_path):
    answers = {"softmax": "def softmax(x):\n    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)"}
    with pytest.raises(CellExecutionError, match="shift each row by its maximum"):
        execute(solved(tiny_notebook(), answers), tmp_path)


def test_a_leaked_solution_is_seen():
    notebook = tiny_notebook()
    assert leaked_lines(notebook) == set()
    notebook.cells.append(nbformat.v4.new_markdown_cell("Try `shifted = x -  x.max(axis=-1, keepdims=True)`."))
    assert leaked_lines(notebook) == {"shifted = x - x.max(axis=-1, keepdims=True)"}


# --- the chapters -----------------------------------------------------------------------------------------


def test_tags_and_registry_match_one_to_one():
    places = [(id, name) for name in NOTEBOOKS for id, _ in exercise_cells(read(name))]
    count = Counter(id for id, _ in places)
    assert {id: places for id in count if count[id] > 1} == {}, "an exercise stands in the book twice"
    assert set(count) - set(registry()) == set(), "these tags have no exercise"
    assert set(registry()) - set(count) == set(), "these exercises are in no chapter"
    for id, name in places:
        assert name.split("_", 1)[-1] == registry()[id].chapter, f"{id} stands in {name}"


@every_notebook
def test_every_check_stands_in_a_tagged_cell(name):
    tagged = [cell for _, cell in exercise_cells(read(name))]
    for cell in read(name).cells:
        if cell.cell_type == "code" and re.search(r"^check\(", cell.source, re.M):
            assert cell in tagged, cell.source


@every_notebook
def test_every_exercise_cell_is_a_stub_that_is_unattempted(name):
    notebook = read(name)
    namespace = {}
    cells = exercise_cells(notebook)
    if not cells:
        pytest.skip("no exercises here")
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    exec(compile(first.source, f"{name}: first cell", "exec"), namespace)
    for id, cell in cells:
        assert "TODO" in cell.source
        last = cell.source.strip().splitlines()[-1]
        found = re.fullmatch(rf'check\("{id}", (\w+)\)', last)
        assert found, f'the last line of the cell is to be check("{id}", ...); it is {last}'
        assert registry()[id].value or found[1] == id
        namespace["check"] = lambda *args: None
        exec(compile(cell.source, f"{name}: {id}", "exec"), namespace)
        assert grade(id, namespace[found[1]]).status == "unattempted"
        heading = _heading_before(notebook, cell)
        assert heading.startswith("### Exercise "), heading
        assert registry()[id].title in heading, f"the heading of {id} is to name it: {registry()[id].title}"


def _heading_before(notebook, cell):
    text = "\n".join(c.source for c in notebook.cells[: notebook.cells.index(cell)] if c.cell_type == "markdown")
    return re.findall(r"^#+ .*", text, re.M)[-1]


@every_notebook
def test_the_stored_output_is_the_unattempted_line(name):
    for id, cell in exercise_cells(read(name)):
        if cell.execution_count is not None:
            assert printed(cell) == f"[ ] {id}: not attempted yet\n"


@every_notebook
def test_the_solved_notebook_runs_and_passes(name):
    notebook = read(name)
    if not exercise_cells(notebook):
        pytest.skip("no exercises here")
    execute(solved(notebook), NOTEBOOKS[name].parent)
    for id, cell in exercise_cells(notebook):
        assert printed(cell).startswith(f"[x] {id}: ")


@every_notebook
def test_with_wrong_answers_the_notebook_still_runs_and_says_what_is_wrong(name):
    notebook = read(name)
    answers = {id: wrong_answer(registry()[id]) for id, _ in exercise_cells(notebook)}
    if not answers:
        pytest.skip("no exercises here")
    execute(solved(notebook, answers), NOTEBOOKS[name].parent, ATTNLIB_STRICT="0")
    for id, cell in exercise_cells(notebook):
        assert registry()[id].mistakes[0].say in printed(cell)


@every_notebook
def test_no_solution_stands_in_a_notebook(name):
    allowed = {line for (notebook, line), reason in SHOWN.items() if notebook == name and reason}
    assert leaked_lines(read(name)) - allowed == set()


def test_the_list_of_shown_lines_is_up_to_date():
    for notebook, line in SHOWN:
        assert notebook in NOTEBOOKS and line in leaked_lines(read(notebook)), (notebook, line)
    assert TAG == "exercise-" and np is not None
