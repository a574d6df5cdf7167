"""Judge a reader's answer to an exercise and write one message about it.

This is the path from ``check("softmax", softmax)`` to a message about an answer that matches no known mistake. The files
stand in the order in which the path enters them, and it enters no others:

1. `reader.commands` receives the call. `isolation` judges in a copy of the process where the system allows that.
2. `judge` decides what to say. Everything below answers a question of its.
3. `calls` calls the answer on every input and reads what it returns. Meanwhile `timelimit` stops an endless call, and
   `session` undoes what the answer changes.
4. `diagnose` compares the outcomes with the right ones and with those of all known mistakes, which `edits` makes out of
   the solution.
5. `transposes` finds out whether a `.T` is to blame, and `beside_inputs` what the result has to do with the inputs, of
   which one may go unused. `description` says how a wrong array differs from the right one, which `relations` measures.
6. `failing_case.smallest` searches for the smallest input that goes wrong, of which `failing_case.case` is a record.
7. `output` prints the lines, and `failing_case.as_text` or `as_html` shows that input.

On the way they ask the files that only hold something: `model` (what an exercise consists of), `registry` (all exercises
of the book), `blanks` (what `TODO` is), `claims` (what can be said about a wrong answer, and in which words),
`compared` (an output beside the right one) and `reader.record` (what a reader has done so far).

Some answers take a side path: `guard` says what the copy may not do, `plain_data` is the form in which its result comes,
`crash` finds the reader's own line at which an exception was raised, and `partial_answers` judges the outputs of an
unfinished answer that do not depend on a blank.
"""
