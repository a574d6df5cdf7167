"""Turn the results of a grader into a table for a learning platform.

The columns are the student, the task, the points, the possible points and the message of the check.
"""

import csv
import io
import json
import re
from pathlib import Path
from typing import NamedTuple

from attnexercises.engine.registry import registry


class Score(NamedTuple):
    """The points of one student for one task: an exercise, or an assignment where the file has only totals."""

    student: str
    task: str
    points: float
    of: float
    said: str


def read(path):
    """Read the scores from a file that a grader has written.

    Parameters
    ----------
    path : path-like
        Either ``results.json`` of Otter-Grader, which holds one student, whose name is that of the file's folder; or
        ``grades.csv`` of ``nbgrader export``, which holds one total for each student and assignment.

    Returns
    -------
    list of Score

    Raises
    ------
    ValueError
        If the file is neither of them.
    """
    path = Path(path)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return _of_otter(path, text)
    if path.suffix == ".csv":
        return _of_nbgrader(path, text)
    raise ValueError(f"{path.name}: expected Otter's results.json or nbgrader's grades.csv")


def as_text(found, form):
    """Return scores as the text of a file; `form` is "csv" or "json"."""
    if form == "json":
        return json.dumps([score._asdict() for score in found], indent=1, ensure_ascii=False) + "\n"
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(Score._fields)
    table.writerows(found)
    return out.getvalue()


def _of_otter(path, text):
    try:
        tests = json.loads(text)["tests"]
        rows = [(test["name"], test["score"], test["max_score"], test["output"]) for test in tests if "score" in test]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path.name} is not a results.json of Otter-Grader") from None
    student = path.absolute().parent.name
    return [Score(student, id, *points, _what_the_check_said(output)) for id, *points, output in rows if id in registry()]


def _what_the_check_said(output):
    said = re.search(r"\[[ x!]\] \w+: .*", output)
    return said[0] if said else ""


def _of_nbgrader(path, text):
    rows = list(csv.DictReader(io.StringIO(text)))
    wanted = {"student_id", "assignment", "score", "max_score"}
    if not rows or not wanted <= set(rows[0]):
        raise ValueError(f"{path.name} is not a grades.csv of nbgrader: it has no columns {', '.join(sorted(wanted))}")
    return [
        Score(row["student_id"], row["assignment"], float(row["score"] or 0), float(row["max_score"]), "")
        for row in rows
    ]
