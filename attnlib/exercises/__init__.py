"""Exercises that check themselves and say what is wrong.

For readers::

    from attnlib.exercises import TODO, check, hint, solution, use, progress, reset

A notebook cell holds a function with blanks (`TODO`) and, as its last line,
``check("softmax", softmax)``. A wrong answer is compared with known wrong
answers; if it equals one of them, the check names the mistake.

For authors, `Exercise, Probe, Mistake, value_exercise, grade` and `Result` are here too; an
exercise is added by writing it into the ``EXERCISES`` of a module of its topic.
"""

from attnlib.exercises._engine import Exercise, Mistake, Probe, Result, grade, value_exercise
from attnlib.exercises._reader import check, hint, progress, reset, solution, use
from attnlib.exercises._todo import TODO

__all__ = [
    "TODO", "check", "hint", "solution", "use", "progress", "reset",
    "Exercise", "Mistake", "Probe", "Result", "grade", "value_exercise",
]  # fmt: skip
