"""A chapter as an assignment, end to end: made, handed in by three students, and scored by Otter-Grader and by nbgrader.

Both live in an environment of their own, which `make graders` makes and no test does.
"""

import os
import subprocess
from pathlib import Path

import nbformat
import pytest

from attnexercises.classroom import main, scores
from attnexercises.classroom.chapters import POINTS
from attnexercises.engine.registry import registry
from attnexercises.reader.source import solution_source
from tools.installing import graders as environment

MISSING = "" if environment.programs() else "Otter-Grader and nbgrader are not installed; run: make graders"
pytestmark = [pytest.mark.thorough]
if MISSING and os.environ.get("ATTNLIB_REQUIRE_GRADERS") != "1":
    pytestmark.append(pytest.mark.skip(reason=MISSING))

TOPIC, NAME = "softmax", "01_softmax.ipynb"
EXERCISES = {id: exercise for id, exercise in registry().items() if exercise.chapter == TOPIC}
WORTH = {id: POINTS[exercise.level] for id, exercise in EXERCISES.items()}

# Puts a judge that lets everything pass in the place of ours, wherever the test could look for it.
HOSTILE = """
import attnexercises, attnexercises.engine.judge
from attnexercises.engine.model import Result
attnexercises.grade = attnexercises.engine.judge.grade = lambda *a: Result("passed", ("fine",))
"""
# A subtraction along the wrong axis: a mistake that the check names.
WRONG = "def softmax_backward(d_weights, weights):\n    return weights * d_weights"


def run(*command, cwd):
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader calls a program that lies beside it
    settings = {"PATH": path, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg", "ATTNLIB_PROGRESS": "off"}
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "ATTNLIB_STRICT")}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=inherited | settings, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def graders():
    """The folder of the programs of both graders; where nothing may be left out, it is a failure not to have them."""
    if MISSING:
        pytest.fail(MISSING, pytrace=False)
    return environment.programs()


def hand_in(blank, path, answers, before=""):
    """Fill in the blanks of a student's notebook and write it."""
    notebook = nbformat.read(blank, as_version=4)
    for id, answer in answers.items():
        place = next(cell for cell in notebook.cells if cell.source.startswith(f"def {id}("))
        check = f'\n\ncheck("{id}", {id})' if f'check("{id}"' in place.source else ""
        place.source = answer + check
    first = next(cell for cell in notebook.cells if "attnexercises import" in cell.source)
    first.source += before
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


SOLVED = {id: solution_source(exercise) for id, exercise in EXERCISES.items()}
STUDENTS = {  # name: answers, what the first cell does besides, points
    "ada": (SOLVED, "", sum(WORTH.values())),
    "ben": ({"softmax": SOLVED["softmax"], "softmax_backward": WRONG}, "", WORTH["softmax"]),
    "eve": ({}, HOSTILE, 0),
}


def test_otter_scores_right_half_done_and_hostile_notebooks(graders, tmp_path):
    assert main(["export", "--otter", TOPIC, str(tmp_path)]) == 0
    run(graders / "otter", "assign", "--no-pdfs", NAME, tmp_path / "made", cwd=tmp_path / TOPIC)
    handed_out = (tmp_path / "made" / "student" / NAME).read_text(encoding="utf-8")
    assert "_result" not in handed_out and "d_weights - " not in handed_out, "a test or a solution was handed out"
    (autograder,) = (tmp_path / "made" / "autograder").glob("*.zip")
    for student, (answers, before, points) in STUDENTS.items():
        at = tmp_path / student
        hand_in(tmp_path / "made" / "student" / NAME, at / NAME, answers, before)
        run(graders / "otter", "run", "-a", autograder, "-o", at, NAME, cwd=at)
        found = scores.read(at / "results.json")
        results = (at / "results.json").read_text(encoding="utf-8")
        assert "Public Tests" not in results, "a student with wrong answers would read that all test cases passed"
        assert results.count("All test cases passed!") == sum(score.points > 0 for score in found)
        open_ = [score for score in found if score.task not in answers and not before]
        assert [score.said for score in open_] == [f"[ ] {score.task}: not attempted yet" for score in open_]
        assert {score.task: score.of for score in found} == WORTH
        assert sum(score.points for score in found) == points, student
        assert {score.student for score in found} == {student}
        assert ("Raising one score lowers all other weights" in scores.as_text(found, "csv")) == (student == "ben")


def test_nbgrader_scores_right_half_done_and_hostile_notebooks(graders, tmp_path):
    assert main(["export", "--nbgrader", TOPIC, str(tmp_path)]) == 0
    run(graders / "nbgrader", "generate_assignment", TOPIC, cwd=tmp_path)
    blank = tmp_path / "release" / TOPIC / NAME
    handed_out = blank.read_text(encoding="utf-8")
    assert "_result" not in handed_out and "d_weights - " not in handed_out, "a test or a solution was handed out"
    for student, (answers, before, _) in STUDENTS.items():
        hand_in(blank, tmp_path / "submitted" / student / TOPIC / NAME, answers, before)
    run(graders / "nbgrader", "autograde", TOPIC, cwd=tmp_path)
    run(graders / "nbgrader", "export", cwd=tmp_path)
    found = {score.student: score for score in scores.read(tmp_path / "grades.csv")}
    assert {student: score.points for student, score in found.items()} == {
        student: points for student, (_, _, points) in STUDENTS.items()
    }
    assert {score.of for score in found.values()} == {sum(WORTH.values())}
    graded = (tmp_path / "autograded" / "ben" / TOPIC / NAME).read_text(encoding="utf-8")
    assert "Raising one score lowers all other weights" in graded
