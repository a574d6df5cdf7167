"""Chapters as assignments: what is written for each grader, and what is said where it cannot be written."""

import builtins
import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attnexercises.classroom import chapters, main, nbgrader, otter, scores
from attnexercises.engine.registry import registry

every_topic = pytest.mark.parametrize("topic", chapters.topics())
both = pytest.mark.parametrize("grader", ["otter", "nbgrader"])


def of(topic):
    return {id: exercise for id, exercise in registry().items() if exercise.chapter == topic}


def sources(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


@every_topic
def test_each_exercise_is_one_question_with_its_blanks_solution_and_test(topic, tmp_path):
    text = "\n".join(sources(otter.export(topic, tmp_path)))
    questions = [part.split("# END QUESTION")[0] for part in text.split("# BEGIN QUESTION\n")[1:]]
    assert {part.split("\n")[0] for part in questions} == {f"name: {id}" for id in of(topic)}
    for part in questions:
        prompt = part.split("BEGIN PROMPT\n")[1].split('"""; # END PROMPT')[0]
        assert "TODO" in prompt and '"""' not in prompt
        compile(part.split("# BEGIN SOLUTION NO PROMPT\n")[1].split("# END SOLUTION")[0], topic, "exec")
        compile(part.split("# END TEST CONFIG\n")[1].split("# END TESTS")[0], topic, "exec")


@every_topic
def test_each_exercise_is_one_graded_cell_worth_its_level(topic, tmp_path):
    path = nbgrader.export(topic, tmp_path)
    marks = [cell["metadata"]["nbgrader"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
             if "nbgrader" in cell["metadata"]]  # fmt: skip
    worth = {mark["grade_id"].removeprefix("test_"): mark["points"] for mark in marks if mark["grade"]}
    assert worth == {id: {"easy": 1, "medium": 2, "hard": 3}[exercise.level] for id, exercise in of(topic).items()}
    assert {mark["grade_id"] for mark in marks if mark["solution"]} == set(worth)
    assert all(mark["locked"] for mark in marks if mark["grade"])


@every_topic
def test_graders_run_every_cell_that_an_answer_may_need(topic):
    """They leave the others out: what is only computed, printed or drawn. Each name that a kept cell uses is bound before."""
    bound, kept, left_out = set(dir(builtins)) | {"get_ipython"}, [], 0
    for cell, task in chapters.cells_of(chapters.notebook_of(topic)):
        if cell["cell_type"] != "code":
            continue
        if cell["metadata"] == {"tags": ["skip-execution"]}:
            assert not task and not re.search(r"^(def|class|import|from) ", cell["source"], re.MULTILINE)
            left_out += 1
            continue
        binds, uses, _ = chapters._names_of(cell, task)
        missing = uses - bound - ({"TODO"} if task else set())
        assert not missing, (cell["id"], missing)
        bound |= binds
        kept.append(cell["id"])
    assert left_out and kept


def test_otter_claims_nothing_of_public_tests_and_runs_no_solution(tmp_path):
    """There are none, and Otter would say of none of them that all passed. `otter assign` needs 5 seconds of computing, not 14."""
    settings = sources(otter.export("softmax", tmp_path))[0].splitlines()
    assert {"    show_hidden: true", "    force_public_test_summary: false", "run_tests: false"} <= set(settings)


@both
def test_an_assignment_holds_what_its_notebook_opens(grader, tmp_path):
    path = {"otter": otter, "nbgrader": nbgrader}[grader].export("gradients", tmp_path)
    beside = {item.name for item in path.parent.iterdir()}
    assert {"data", "diagrams", "attnlib", "attnpage", "attnexercises"} <= beside
    assert not list(path.parent.rglob("__pycache__"))
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == len(ids) and all(id.replace("-", "").isalnum() and len(id) <= 64 for id in ids)


def test_settings_of_the_course_are_written_once(tmp_path):
    nbgrader.export("softmax", tmp_path)
    (tmp_path / "nbgrader_config.py").write_text("mine", encoding="utf-8")
    nbgrader.export("masks", tmp_path)
    assert (tmp_path / "nbgrader_config.py").read_text(encoding="utf-8") == "mine"


@both
@pytest.mark.parametrize("chapter, book, says", [
    ("softmacks", None, "no chapter 'softmacks' with exercises; there are: prerequisites, softmax"),
    ("softmax", "empty", "the notebook of 'softmax' is not in empty/: name the book's folder with --book"),
    ("softmax", "broken", "01_softmax.ipynb is not a notebook: "),
    ("softmax", "changed", "01_softmax.ipynb: the cell of exercise 'softmax' does not end with check("),
])  # fmt: skip
def test_what_cannot_be_exported_is_one_sentence(grader, chapter, book, says, tmp_path, capsys):
    if book:
        (tmp_path / book).mkdir()
    stub = {"cell_type": "code", "id": "a", "metadata": {"tags": ["exercise-softmax"]}, "source": "softmax = 1"}
    text = {"broken": "{", "changed": json.dumps({"cells": [stub]})}.get(book)
    if text:
        (tmp_path / book / "01_softmax.ipynb").write_text(text, encoding="utf-8")
    named = ["--book", str(tmp_path / book)] if book else []
    assert main(["export", f"--{grader}", *named, chapter, str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("attnexercises: ") and says in said.err and said.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@both
def test_an_assignment_that_is_there_is_left_alone(grader, tmp_path, capsys):
    path = {"otter": otter, "nbgrader": nbgrader}[grader].export("masks", tmp_path)
    path.write_text("mine", encoding="utf-8")
    assert main(["export", f"--{grader}", "masks", str(tmp_path)]) == 2
    assert "File exists" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name, text, says", [
    ("results.json", "[]", "results.json is not a results.json of Otter-Grader"),
    ("results.json", '{"tests": [{"score": 1}]}', "results.json is not a results.json of Otter-Grader"),
    ("grades.csv", "a,b\n1,2\n", "has no columns assignment, max_score, score, student_id"),
    ("grades.csv", "", "has no columns"),
    ("grades.txt", "", "expected Otter's results.json or nbgrader's grades.csv"),
    ("missing.json", None, "No such file"),
])  # fmt: skip
def test_what_is_no_result_is_one_sentence(name, text, says, tmp_path, capsys):
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["scores", str(tmp_path / name)]) == 2
    assert says in capsys.readouterr().err


def test_scores_are_a_table_that_reads_back(tmp_path, capsys):
    path = tmp_path / "grades.csv"
    path.write_text('assignment,student_id,score,max_score\nmasks,"Curie, Marie",3,9\nmasks,bo,,9\n', encoding="utf-8")
    assert main(["scores", str(path)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["student"], float(row["points"]), float(row["of"])) for row in rows] == [
        ("Curie, Marie", 3, 9), ("bo", 0, 9),
    ]  # fmt: skip
    assert main(["scores", str(path), "--as", "json"]) == 0
    assert [row["student"] for row in json.loads(capsys.readouterr().out)] == ["Curie, Marie", "bo"]
    assert [score.task for score in scores.read(path)] == ["masks", "masks"]


def test_the_module_is_a_command(tmp_path):
    command = [sys.executable, "-m", "attnexercises", "export", "--otter", "nothing", str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("attnexercises: there is no chapter 'nothing'")
