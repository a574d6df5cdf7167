"""The exercises in the chapters: cells and registry match, blanks are blanks, answers in their cells are judged.

The helpers are tried on a tiny notebook first, so that they are known to see what they should.

Every push runs the exercise cells alone, without a kernel: as they are, solved, and with a wrong answer. That is enough,
because the other cells of a chapter take an answer through `use` or not at all, as a test here holds, and `nbval` runs
them with the book's own functions. The thorough run solves each notebook and runs it as a whole, in a kernel.
"""

import ast
import contextlib
import copy
import dis
import functools
import io
import os
import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from notebook_tools import exercise_cells, readers_names, run_in_kernel, tiny_notebook, unwrapped, uses, with_answer

from attnexercises.engine.registry import registry
from attnexercises.reader.source import solution_source

CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))
NOTEBOOKS = {path.stem: path for path in CHAPTERS}

# Chapters may show the library's own code and worked examples. A line of a solution in another cell is allowed
# only if it is written down here: (notebook, line, reason).
SHOWN = {}

@functools.cache
def stored(name):
    return nbformat.read(NOTEBOOKS[name], as_version=4)


def read(name):
    """The notebook as it is stored: a copy, which a test may change."""
    return copy.deepcopy(stored(name))


WITH_EXERCISES = [name for name in NOTEBOOKS if exercise_cells(stored(name))]
every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)
with_exercises = pytest.mark.parametrize("name", WITH_EXERCISES)


def execute(notebook, folder, strict="1"):
    """Run all cells in a fresh kernel; no progress file, and a strict check unless told otherwise."""
    ours = {"ATTNLIB_PROGRESS": "off", "ATTNLIB_LIBRARY": "off", "OPENBLAS_NUM_THREADS": "1"}
    return run_in_kernel(notebook, folder, ATTNLIB_STRICT=strict, **ours)


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs if output.output_type == "stream")


def solved(notebook, answers=None):
    """Put the solution (or the given code) into every exercise cell."""
    for id, cell in exercise_cells(notebook):
        cell.source = with_answer(cell.source, id, (answers or {}).get(id) or solution_source(registry()[id]))
    return notebook


def wrong_answer(exercise, bug):
    """Code for an answer with a mistake, taken from the family."""
    variant = f'registry()["{exercise.id}"].family(frozenset({{"{bug}"}}))'
    if exercise.value:
        variant += "()"
    return f"from attnexercises.engine.registry import registry\n{exercise.id} = {variant}"


def leaked_lines(notebook):
    """Lines of solutions, longer than 25 characters, that stand in a cell and are not part of the stub."""
    stubs = "\n".join(cell.source for _, cell in exercise_cells(notebook))
    lines = {line for line in lines_of_solutions() if line not in stubs}
    found = set()
    for cell in notebook.cells:
        source = re.sub(r"[ \t]+", " ", cell.source)
        found |= {line for line in lines if line in source}
    return found


@functools.cache
def lines_of_solutions():
    """The lines of all solutions that are longer than 25 characters and stand in no stub."""
    stubs = "\n".join(cell.source for name in NOTEBOOKS for _, cell in exercise_cells(stored(name)))
    lines = (line for exercise in registry().values() for line in solution_source(exercise).splitlines())
    code = {line.partition("  #")[0].strip() for line in lines}
    return {line for line in code if len(line) > 25 and line not in stubs}


def run_exercises(notebook, namespace):
    """Run the first cell and the exercise cells in this process, where notebooks run; return what each check printed."""
    texts = {}
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    with contextlib.chdir(NOTEBOOKS["01_softmax"].parent):
        exec(first.source, namespace)
        for id, cell in exercise_cells(notebook):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(cell.source, namespace)
            texts[id] = out.getvalue()
    return texts


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


def test_a_kernel_runs_the_tiny_notebook_unattempted_solved_and_wrong_and_stops_where_checks_are_strict(tmp_path):
    ids = [id for id, _ in exercise_cells(tiny_notebook())]
    answers = {id: wrong_answer(registry()[id], registry()[id].mistakes[0].id) for id in ids}
    notebook = tiny_notebook()
    notebook.cells += [*solved(tiny_notebook()).cells, *solved(tiny_notebook(), answers).cells]
    notebook.cells.append(nbformat.v4.new_code_cell('import os\nos.environ["ATTNLIB_STRICT"] = "1"'))
    notebook.cells += solved(tiny_notebook(), answers).cells
    with pytest.raises(CellExecutionError, match=f"AssertionError.*{re.escape(registry()['softmax'].mistakes[0].say)}"):
        execute(notebook, tmp_path, strict="0")
    said = [printed(cell) for _, cell in exercise_cells(notebook)]
    assert said[:2] == ["[ ] softmax: not attempted yet\n", "[ ] delta_sum: not attempted yet\n"]
    assert [text.split(":")[0] for text in said[2:4]] == ["[x] softmax", "[x] delta_sum"]
    assert all(registry()[id].mistakes[0].say in unwrapped(text) for id, text in zip(ids, said[4:6], strict=True))
    assert said[7] == ""  # the strict check of softmax was the last thing that ran
    assert os.listdir(tmp_path) == []  # nothing was written


def test_a_leaked_solution_is_seen():
    notebook = tiny_notebook()
    assert leaked_lines(notebook) == set()
    notebook.cells.append(nbformat.v4.new_markdown_cell("Try `shifted = x -  x.max(axis=-1, keepdims=True)`."))
    assert leaked_lines(notebook) == {"shifted = x - x.max(axis=-1, keepdims=True)"}


def test_a_cell_that_reads_an_answer_without_use_is_seen():
    notebook = tiny_notebook()
    assert [ast.unparse(call) for call in uses(notebook)] == ["use('softmax', softmax)"]
    assert readers_names(notebook) == []  # after `use` the name is that of a right function
    notebook.cells.insert(4, nbformat.v4.new_code_cell("for _ in range(3):\n    print(softmax(np.ones(3)))"))
    notebook.cells.append(nbformat.v4.new_code_cell("delta_sum = [delta_sum]\nprint(delta_sum)"))
    assert readers_names(notebook) == ["for _ in range(3):\n    print(softmax(np.ones(3)))", "delta_sum = [delta_sum]"]


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
    for id, text in run_exercises(notebook, {}).items():
        assert text == f"[ ] {id}: not attempted yet\n"
    for id, cell in exercise_cells(notebook):
        assert cell.source.count("TODO") == registry()[id].blanks, f"{id}: `blanks` is the number of TODO in its cell"
        last = cell.source.strip().splitlines()[-1]
        found = re.fullmatch(rf'check\("{id}", (\w+)\)', last)
        assert found, f'the last line of the cell is to be check("{id}", ...); it is {last}'
        assert registry()[id].value or found[1] == id


@every_notebook
def test_heading_label_level_and_minutes_are_those_of_the_registry(name):
    notebook = read(name)
    for id, cell in exercise_cells(notebook):
        exercise = registry()[id]
        before = notebook.cells[: notebook.cells.index(cell)]
        statement = [c.source for c in before if c.cell_type == "markdown" and re.search("^#+ ", c.source, re.M)][-1]
        assert statement.startswith(f'<a id="ex-{id.replace("_", "-")}"></a>\n\n'), statement
        assert re.search(rf"^####? Exercise( [\d.]+)?: {re.escape(exercise.title)}$", statement, re.M), exercise.title
        assert f"*{exercise.level.capitalize()} · {exercise.minutes} minutes*" in statement


@every_notebook
def test_the_stored_output_is_the_unattempted_line(name):
    for id, cell in exercise_cells(read(name)):
        if cell.execution_count is not None:
            assert printed(cell) == f"[ ] {id}: not attempted yet\n"


@with_exercises
def test_the_solution_in_its_cell_passes_and_is_what_the_chapter_goes_on_with(name, monkeypatch):
    monkeypatch.setenv("ATTNLIB_STRICT", "1")
    notebook, namespace = solved(read(name)), {}
    for id, text in run_exercises(notebook, namespace).items():
        assert text.startswith(f"[x] {id}: ")
    for call in uses(notebook):
        assert eval(ast.unparse(call), namespace) is namespace[call.args[1].id], ast.unparse(call)


@with_exercises
def test_other_cells_take_an_answer_through_use_or_not_at_all(name):
    """So they cannot tell the reader's right function from the book's, with which `nbval` runs them."""
    assert readers_names(read(name)) == []


@with_exercises
def test_a_solution_in_its_cell_takes_no_name_that_a_later_cell_needs(name):
    """The solution of `matrix_shapes` once called a product `table`, like the function that shows a later cell's numbers."""
    assert readers_names(solved(read(name))) == []


@with_exercises
def test_a_wrong_answer_in_the_cell_reaches_the_judge(name):
    """One for each cell: what is said to the other mistakes does not depend on the cell (`test_known_mistakes.py`)."""
    mistakes = {id: registry()[id].mistakes[-1] for id, _ in exercise_cells(stored(name))}
    answers = {id: wrong_answer(registry()[id], mistake.id) for id, mistake in mistakes.items()}
    for id, text in run_exercises(solved(read(name), answers), {}).items():
        assert text.startswith(f"[!] {id}: ") and mistakes[id].say in unwrapped(text)
        assert registry()[id].value or f'case("{id}")' in unwrapped(text)


@pytest.mark.thorough
@with_exercises
def test_the_solved_notebook_runs_and_passes(name):
    notebook = read(name)
    execute(solved(notebook), NOTEBOOKS[name].parent)
    for id, cell in exercise_cells(notebook):
        assert printed(cell).startswith(f"[x] {id}: ")


@every_notebook
def test_no_solution_stands_in_a_notebook(name):
    allowed = {line for (notebook, line), reason in SHOWN.items() if notebook == name and reason}
    assert leaked_lines(read(name)) - allowed == set()


def test_the_list_of_shown_lines_is_up_to_date():
    for notebook, line in SHOWN:
        assert notebook in NOTEBOOKS and line in leaked_lines(read(notebook)), (notebook, line)


@with_exercises
def test_what_messages_tell_a_reader_to_call_is_there_and_stays(name):
    """`case`, `report` and the others are imported at the top, and no cell gives their names to something else."""
    code = [cell.source for cell in read(name).cells if cell.cell_type == "code"]
    imports = [node for node in ast.walk(ast.parse(code[0])) if isinstance(node, ast.ImportFrom)]
    imported = {alias.name for node in imports if node.module == "attnexercises" for alias in node.names}
    steps = [step for source in code[1:] for step in dis.get_instructions(compile(source, "cell", "exec"))]
    assigned = {step.argval for step in steps if step.opname == "STORE_NAME"}
    told = {"TODO", "case", "check", "hint", "my_library", "progress", "report", "reset", "save", "solution", "use"}
    assert told - imported == set() and told & assigned == set()
