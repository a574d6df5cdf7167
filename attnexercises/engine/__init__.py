"""Judge a reader's answer to an exercise and write one message about it.

Read the modules in this order:

1. `model` defines what an exercise consists of, `edits` makes its known mistakes by editing its solution, `registry`
   collects all exercises of the book, and `blanks` defines `TODO`.
2. `judge` judges an answer, and `isolation` does so in a separate process. `calls` calls the answer and reads its
   return value, `session` undoes the answer's side effects, `timelimit` stops an endless call, and `crash` finds the
   reader's own line at which an exception was raised.
3. `diagnose` finds out which known mistake an answer makes. `relations` measures how a wrong array differs from the
   right one, and `explanations` describes an answer that matches no known mistake. `transposes` finds out whether
   a `.T` is to blame, using `spies`, which replace NumPy's functions. `partial_answers` judges the outputs of an
   unfinished answer that do not depend on a blank.
"""
