"""Read a chapter's notebook for an assignment: its cells, and the exercise that each of them holds."""

import ast
import importlib
import json
import shutil
import symtable
from pathlib import Path
from typing import NamedTuple

from attnexercises.engine.model import Exercise
from attnexercises.engine.registry import registry
from attnexercises.own_library.definitions import names_used
from attnexercises.reader.source import solution_source

PACKAGES = ("attnlib", "attnpage", "attnexercises")  # what the cells of a chapter import
POINTS = {"easy": 1, "medium": 2, "hard": 3}
BESIDE = ("data", "diagrams", "references.bib")  # the files and folders that a chapter opens or shows

# The code that a hidden test runs after the answer. It imports the library again from its files, because the student's
# notebook may have replaced parts of it. On Linux the answer runs in a separate process, so the test cannot hang, and
# on every system a pass is confirmed by a process into which the answer cannot write.
TEST = """\
import sys
for _name in [name for name in sys.modules if name.partition(".")[0] in ("attnlib", "attnexercises")]:
    del sys.modules[_name]
from attnexercises.classroom.verdict import grade_for_points
_result = grade_for_points("{id}", {id})
assert _result.status == "passed", "\\n".join(_result.lines)"""


class Task(NamedTuple):
    """An exercise in a notebook: the code with the blanks, the call of the check, and the book's solution."""

    exercise: Exercise
    blanks: str
    check: str

    @property
    def points(self):
        """The points of an exercise: 1 for an easy one, 2 for a medium one, 3 for a hard one."""
        return POINTS[self.exercise.level]

    @property
    def solution(self):
        """The code of the book's solution."""
        return solution_source(self.exercise)

    @property
    def test(self):
        """The code of the hidden test."""
        return TEST.format(id=self.exercise.id)


def topics():
    """Return the topic words of the chapters that have exercises, in the order of the book."""
    return list(dict.fromkeys(exercise.chapter for exercise in registry().values()))


def notebook_of(topic, book=None):
    """Return the path of a chapter's notebook.

    Parameters
    ----------
    topic : str
        The topic word of the chapter; "softmax" finds ``01_softmax.ipynb``.
    book : path-like, optional
        The folder of the chapters. The default is the one beside the library.

    Raises
    ------
    ValueError
        If there is no such chapter, or no such notebook in the folder.
    """
    if topic not in topics():
        raise ValueError(f"there is no chapter {topic!r} with exercises; there are: {', '.join(topics())}")
    folder = Path(book) if book else Path(__file__).parents[2] / "chapters"
    found = sorted([*folder.glob(f"[0-9][0-9]_{topic}.ipynb"), *folder.glob(f"{topic}.ipynb")])
    if not found:
        raise ValueError(f"the notebook of {topic!r} is not in {folder.name}/: name the book's folder with --book")
    return found[0]


# Programs that run a notebook, as both graders do, leave out a cell with this tag. In a notebook program it has no effect.
NOT_FOR_GRADERS = "skip-execution"


def cells_of(path):
    """Yield each cell of a notebook, without its outputs, together with its `Task` or None.

    A cell that no exercise needs, because it only computes, prints or draws, has the tag `NOT_FOR_GRADERS`.

    Raises
    ------
    ValueError
        If the file is not a notebook, or a cell tagged as an exercise does not end with its check.
    """
    try:
        cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{Path(path).name} is not a notebook: {error}") from None
    found = []
    for cell in cells:
        tags = cell["metadata"].get("tags", [])
        id = next((tag.removeprefix("exercise-") for tag in tags if tag.startswith("exercise-")), None)
        bare = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": {}, "source": "".join(cell["source"])}
        if cell["cell_type"] == "code":
            bare |= {"execution_count": None, "outputs": []}
        found.append((bare, id and _task(path, id, bare["source"])))
    needed = _needed(found)
    for place, (bare, task) in enumerate(found):
        if bare["cell_type"] == "code" and place not in needed:
            bare["metadata"] = {"tags": [NOT_FOR_GRADERS]}
        yield bare, task


def _needed(found):
    """The places of the code cells that exercises or answers may need.

    These are the cells that import or define something, and the cells above them that bind a name which they use.
    """
    needed, asked = set(), []
    names = {place: _names_of(bare, task) for place, (bare, task) in enumerate(found) if bare["cell_type"] == "code"}
    for place, (_, _, defines) in names.items():
        if found[place][1] or defines:
            needed.add(place)
            asked.append(place)
    for place in asked:  # grows meanwhile
        for above in range(place):
            if above in names and above not in needed and names[above][0] & names[place][1]:
                needed.add(above)
                asked.append(above)
    return needed


def _names_of(cell, task=None):
    """The global names that a cell binds, those of other cells that it uses, and whether it imports or defines anything.

    Examples
    --------
    >>> [names if isinstance(names, bool) else sorted(names) for names in _names_of({"source": "n = sum(f(x) for x in rows)"})]
    [['n'], ['f', 'rows', 'sum'], False]
    """
    code = cell["source"] + (f"\n{task.solution}" if task else "")
    try:
        table, statements = symtable.symtable(code, "cell", "exec"), ast.parse(code).body
    except SyntaxError:  # a line for IPython, such as `%matplotlib inline`
        return set(), set(), True
    binds = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    defining = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return binds, set(names_used(code)) - binds, any(isinstance(statement, defining) for statement in statements)


def _task(path, id, source):
    call = f'check("{id}", {id})'
    if id not in registry() or not source.rstrip().endswith(call):
        raise ValueError(f"{Path(path).name}: the cell of exercise {id!r} does not end with {call}")
    return Task(registry()[id], source.rstrip().removesuffix(call).rstrip(), call)


def write_notebook(path, cells):
    """Write the cells to a notebook file of format 4.5."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": cells, "metadata": kernel | {"language_info": {"name": "python"}}, "nbformat": 4}
    text = json.dumps(notebook | {"nbformat_minor": 5}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def put_beside(folder, book):
    """Copy the files that a chapter opens and the packages that it imports into a folder; return their names."""
    names = [name for name in BESIDE if (book / name).exists()]
    for name in names:
        copy = shutil.copytree if (book / name).is_dir() else shutil.copy2
        copy(book / name, folder / name)
    for package in PACKAGES:
        source = Path(importlib.import_module(package).__file__).parent
        shutil.copytree(source, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return [*names, *PACKAGES]
