"""How an answer is judged: the path from what a reader hands over to one message.

Read in this order:

1. `model`: what an exercise consists of; `edits`: its known mistakes, as edits of its solution; `registry`: all
   exercises of the book; `blanks`: `TODO`.
2. `judge`: an answer is judged; `isolation`: in a process of its own. `calls`, `session`, `timelimit`: it is called
   safely, and what it returned is read; `crash`: the reader's own line at which it stopped.
3. `diagnose`: which known mistake it is. `relations`: what is measured on a wrong answer and said of it;
   `explanations`: what is said if no known mistake fits; `transposes`: whether a `.T` is to blame, found with `spies`
   in the place of NumPy's functions; `partial_answers`: outputs that no blank touches.
"""
