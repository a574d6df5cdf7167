"""Write a chapter for nbgrader: `nbgrader generate_assignment` makes the students' notebook from it."""

from pathlib import Path

from attnexercises.classroom.chapters import cells_of, notebook_of, put_beside, write_notebook

CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "attention_derived"
# The blanks stay: nothing is put where a solution was taken out.
c.ClearSolutions.code_stub = {"python": "# run this cell: the check says what is wrong"}
c.ClearHiddenTests.begin_test_delimeter = "BEGIN HIDDEN TESTS"  # spelled so in nbgrader
c.ClearHiddenTests.end_test_delimeter = "END HIDDEN TESTS"
c.ExecutePreprocessor.timeout = 300
"""


def export(topic, folder, book=None):
    """Write the assignment of one chapter to ``folder/source/topic`` and return the path of its notebook.

    The file ``nbgrader_config.py`` in `folder` serves all chapters. An existing one is left unchanged.

    Parameters
    ----------
    topic : str
        The topic word of the chapter.
    folder : path-like
        The folder of the course; ``folder/source/topic`` must not exist yet.
    book : path-like, optional
        The folder of the chapters.
    """
    source = notebook_of(topic, book)
    cells = [cell for bare, task in cells_of(source) for cell in (_graded(bare, task) if task else [bare])]
    target = Path(folder) / "source" / topic
    target.mkdir(parents=True)
    put_beside(target, source.parent)
    write_notebook(target / source.name, cells)
    config = Path(folder) / "nbgrader_config.py"
    if not config.exists():
        config.write_text(CONFIG, encoding="utf-8")
    return target / source.name


def _graded(cell, task):
    """Return the cell that students fill in, and the locked cell that grades it."""
    id = task.exercise.id
    answer = f"{task.blanks}\n### BEGIN SOLUTION\n{task.solution}\n### END SOLUTION\n\n{task.check}"
    hidden = f"# hidden test of {id}\n### BEGIN HIDDEN TESTS\n{task.test}\n### END HIDDEN TESTS"
    test = cell | {"id": f"{id}-test".replace("_", "-"), "source": hidden}
    return [
        cell | {"source": answer, "metadata": _metadata(id, solution=True)},
        test | {"metadata": _metadata(f"test_{id}", grade=True, locked=True, points=task.points)},
    ]


def _metadata(id, *, grade=False, solution=False, locked=False, **points):
    kind = {"grade": grade, "solution": solution, "locked": locked, "task": False, "cell_type": "code"}
    return {"nbgrader": {"schema_version": 3, "grade_id": id} | kind | points}
