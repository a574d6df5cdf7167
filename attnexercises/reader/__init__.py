"""The functions that a reader calls in a notebook, and the record of the reader's progress.

Read the modules in this order:

1. `commands` holds the functions about one exercise: `check`, `case`, `hint`, `solution` and `use`. `source` returns
   the solution as text.
2. `progress` shows what is solved, `next_steps` says what comes after a right answer, `reset` deletes progress, and
   `report` prints a text to paste into an issue.
3. `record` stores the progress in a file, and keeps the last check of each exercise in memory.
"""
