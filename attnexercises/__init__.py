"""Exercises that check themselves and say what is wrong.

For readers::

    from attnexercises import (TODO, case, check, hint, load, my_library, progress, report, reset, save,
                               solution, use)

A notebook cell holds a function with blanks (`TODO`) and, as its last line,
``check("softmax", softmax)``. The check compares a wrong answer with known wrong answers and names
the mistake if the answer equals one of them. Its message ends with the smallest input on which the
answer goes wrong; ``case("softmax")`` returns this input. If a check refused a right answer or did
not name a mistake, ``report("softmax")`` prints a text to paste into an issue. Readers can keep a
function that passed: ``save("softmax")`` writes it into their own file ``my_attention.py``,
``my_library()`` tests this file, and ``load("softmax")`` loads a function from it.

Authors use `Exercise`, `Probe`, `Mistake`, `value_exercise`, `grade` and `Result`. To add an
exercise, write it into a file in its chapter's folder.

The package has one folder for each chapter with exercises, and these besides: `engine` judges an
answer, `method` observes how an answer computes its result, `failing_case` finds the smallest input
on which an answer goes wrong, `reader` holds the functions that a notebook calls, `own_library`
manages the reader's own file, and `classroom` turns chapters into assignments
(``python -m attnexercises``, which runs `__main__`).
"""

from attnexercises.engine.blanks import TODO
from attnexercises.engine.judge import Exercise, Mistake, Probe, Result, grade, value_exercise
from attnexercises.own_library.commands import load, my_library, save
from attnexercises.reader.commands import case, check, hint, solution, use
from attnexercises.reader.progress import progress
from attnexercises.reader.report import report
from attnexercises.reader.reset import reset

__all__ = [
    "TODO", "check", "case", "hint", "solution", "use", "progress", "report", "reset", "save", "load", "my_library",
    "Exercise", "Mistake", "Probe", "Result", "grade", "value_exercise",
]  # fmt: skip
