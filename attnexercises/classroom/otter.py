"""Write a chapter for Otter-Grader: `otter assign` makes the students' notebook and the autograder from it."""

import textwrap
from pathlib import Path

from attnexercises.classroom.chapters import cells_of, notebook_of, put_beside, write_notebook


def export(topic, folder, book=None):
    """Write the assignment of one chapter to ``folder/topic`` and return the path of its notebook.

    Parameters
    ----------
    topic : str
        The topic word of the chapter.
    folder : path-like
        The folder to write to; ``folder/topic`` must not exist yet.
    book : path-like, optional
        The folder of the chapters.
    """
    source = notebook_of(topic, book)
    cells = [cell for bare, task in cells_of(source) for cell in (_question(bare, task) if task else [bare])]
    target = Path(folder) / topic
    target.mkdir(parents=True)
    beside = put_beside(target, source.parent)
    (target / "requirements.txt").write_text("numpy>=2.1,<3\nmatplotlib\n", encoding="utf-8")
    settings = ["# ASSIGNMENT CONFIG", "requirements: requirements.txt", "export_cell: false", "check_all_cell: false"]
    settings += ["run_tests: false"]  # of the book's solutions, in a kernel: this would take most of the time of `otter assign`
    settings += ["tests:", "    ok_format: false", "files:", *(f"    - {name}" for name in beside), "generate:", "    show_stdout: true"]
    # Every test is hidden. Of no public test at all, Otter would say "All test cases passed!", and say so to students.
    settings += ["    show_hidden: true", "    force_public_test_summary: false"]
    write_notebook(target / source.name, [_raw("assignment", *settings), *cells])
    return target / source.name


def _question(cell, task):
    """Return the cells of one exercise."""
    id = task.exercise.id
    answer = ["# BEGIN SOLUTION NO PROMPT", task.solution, "# END SOLUTION"]
    answer += ['""" # BEGIN PROMPT', task.blanks, '"""; # END PROMPT']
    config = ['""" # BEGIN TEST CONFIG', "hidden: true", f"points: {task.points}", '""" # END TEST CONFIG']
    return [
        _raw(f"{id}-begin", "# BEGIN QUESTION", f"name: {id}", "check_cell: false"),
        _raw(f"{id}-solution", "# BEGIN SOLUTION"),
        cell | {"source": "\n".join(answer)},
        _raw(f"{id}-solved", "# END SOLUTION"),
        _raw(f"{id}-tests", "# BEGIN TESTS"),
        _code(f"{id}-test", *config, f"def test_{id}({id}):", textwrap.indent(task.test, "    ")),
        _raw(f"{id}-tested", "# END TESTS"),
        _raw(f"{id}-end", "# END QUESTION"),
        _code(f"{id}-check", task.check),
    ]


def _raw(id, *lines):
    return {"cell_type": "raw", "id": id.replace("_", "-"), "metadata": {}, "source": "\n".join(lines)}


def _code(id, *lines):
    return _raw(id, *lines) | {"cell_type": "code", "execution_count": None, "outputs": []}
