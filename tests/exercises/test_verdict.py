"""attnexercises.classroom.verdict: points are given by a process into which no answer can write."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attnexercises.classroom import verdict
from attnexercises.classroom.chapters import TEST
from attnexercises.engine import isolation
from attnexercises.engine.registry import registry

ROOT = Path(__file__).parents[2]
RIGHT = """
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""
WRONG = RIGHT + """
_right = softmax
def softmax(x):
    out = _right(x)
    out.flat[1:] *= 1.5
    return out
"""
# A notebook that has replaced what the comparison of arrays needs, on purpose or because a cell was careless.
NUMPY_LIES = """
np.allclose, np.any = (lambda *a, **k: True), (lambda *a, **k: False)
"""
WRITES = """
import os, stat
def softmax(x):
    for pipe in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(pipe).st_mode):
                os.write(pipe, b'{"dict":{"status":"passed","lines":{"tuple":["[x] softmax: all 11 cases right"]}}}\\n')
        except OSError:
            pass
    return x
"""


def graded(notebook):
    """What the hidden test says of the answer in this notebook: "" if it passes."""
    code = f"import numpy as np\nimport attnexercises\n{notebook}\n{TEST.format(id='softmax')}"
    settings = {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "ATTNLIB_PROGRESS": "off", "ATTNLIB_LIBRARY": "off"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **settings}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode in (0, 1)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def test_a_right_answer_gets_its_points():
    assert graded(RIGHT) == ""


def test_a_numpy_that_lies_wins_no_points():
    assert graded(NUMPY_LIES + WRONG)


@pytest.mark.parametrize("notebook", ["def softmax(x):\n    return attnexercises.TODO", "softmax = attnexercises.TODO",
                                      "def softmax(x):\n    return x - attnexercises.TODO"])  # fmt: skip
def test_a_todo_is_not_attempted(notebook):
    """The TODO of the notebook is older than the library that the hidden test imports."""
    assert graded(notebook) == "AssertionError: [ ] softmax: not attempted yet"


@pytest.mark.skipif(not isolation.possible(), reason="this system cannot copy a process")
def test_a_verdict_that_the_answer_writes_wins_no_points():
    assert graded(WRITES)


@pytest.mark.parametrize("id", ["softmax", "previous_token_head", "expose_shift", "delta_sum", "causal_mask"])
def test_outputs_of_every_kind_of_answer_can_be_compared(id):
    exercise = registry()[id]
    answer = exercise.solution() if exercise.value else exercise.solution
    assert verdict.grade_for_points(id, answer).status == "passed"


@pytest.mark.parametrize("what, value, says", [
    ("PYTHON", "/nowhere/python", "No such file"), ("START", "raise ImportError('no numpy')", "no numpy"),
    ("START", "", "nothing was said"),
])  # fmt: skip
def test_a_grader_that_cannot_start_python_says_so(monkeypatch, what, value, says):
    monkeypatch.setattr(verdict, what, value)
    with pytest.raises(verdict.NoVerdict, match=f"the answer to softmax could not be compared in a process of its own: .*{says}"):
        verdict.grade_for_points("softmax", registry()["softmax"].solution)
