"""Exercises that check themselves and say what is wrong.

For readers::

    from attnexercises import (TODO, case, check, hint, load, my_library, progress, report, reset, save,
                               solution, use)

A notebook cell holds a function with blanks (`TODO`) and, as its last line,
``check("softmax", softmax)``. A wrong answer is compared with known wrong
answers; if it equals one of them, the check names the mistake. It ends with the smallest input
that shows it, which ``case("softmax")`` returns. If a right answer was refused, or a mistake not
named, ``report("softmax")`` prints what to paste into an issue. An accepted
function can be kept: ``save("softmax")`` writes it into a file of the reader's own,
``my_attention.py``, which ``my_library()`` tests and ``load("softmax")`` reads.

For authors, `Exercise, Probe, Mistake, value_exercise, grade` and `Result` are here too; an
exercise is added by writing it into the ``EXERCISES`` of a file in its chapter's folder.

`engine` judges an answer, and `method` watches how it got its result; `failing_case` finds the
smallest input on which it goes wrong; `reader` is what a notebook calls, and `own_library` the
reader's own file; `classroom` makes assignments of chapters (``python -m attnexercises``, which is
the file `__main__`).
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
