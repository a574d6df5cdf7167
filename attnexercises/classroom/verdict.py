"""Judge an answer for points, in a process into which the answer cannot write.

A hidden test runs in the student's own session, whose NumPy may have been replaced on purpose or by accident. So whatever
passes there is compared once more by a Python that this module starts. The new Python has never run a line of the
student's; it gets the answer's outputs as plain data, and compares them with those of the book.

It does not protect the session itself: a notebook that was written to cheat can replace the test that asks.
"""

import os
import subprocess
import sys
from pathlib import Path

from attnexercises.engine import plain_data
from attnexercises.engine.isolation import result_and_outputs
from attnexercises.engine.judge import forged, outputs_are_right
from attnexercises.engine.registry import find

PYTHON, ROOT = sys.executable, Path(__file__).resolve().parents[2]
START = "import sys; sys.path.insert(0, sys.argv[1]); from attnexercises.classroom import verdict; verdict.compare(sys.argv[2])"
SECONDS = 600  # a last resort; comparing takes less than one second of computing


class NoVerdict(RuntimeError):
    """The process that compares the outputs did not say anything. The exception's text says why."""


def grade_for_points(id, answer):
    """Judge an answer as `check` does, and compare the outputs of one that passes in a new Python, too.

    Parameters
    ----------
    id : str
        The exercise.
    answer : callable or value

    Returns
    -------
    Result

    Raises
    ------
    NoVerdict
        If no other Python can be started.
    """
    result, outputs = result_and_outputs(id, answer)
    if result.status != "passed":
        return result
    try:
        text = plain_data.text_of(outputs)
    except plain_data.NotPlain:
        return forged(find(id))
    return result if _found_right(id, text) else forged(find(id))


def _found_right(id, text):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [PYTHON, "-E", "-c", START, str(ROOT), id]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, env=inherited, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoVerdict(f"the answer to {id} could not be compared in a process of its own: {error}") from None
    if done.stdout not in ("right", "wrong"):
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise NoVerdict(f"the answer to {id} could not be compared in a process of its own: {last}")
    return done.stdout == "right"


def compare(id):
    """Read an answer's outputs from the standard input and print "right" or "wrong"."""
    outputs = plain_data.read(sys.stdin.read())
    print("right" if outputs_are_right(find(id), outputs) else "wrong", end="")
