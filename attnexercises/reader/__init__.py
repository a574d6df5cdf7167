"""What a reader calls in a notebook, and what is remembered of it.

Read in this order:

1. `commands`: `check`, `case`, `hint`, `solution` and `use`, about one exercise; `source`: the solution as text.
2. `progress`: what is solved; `next_steps`: what comes after a right answer; `reset`: forget what was done; `report`: a
   text to paste into an issue.
3. `record`: what is remembered, in a file that `lock` keeps for one session at a time; `last_checks`: the last check of
   each exercise, in memory alone.
4. `output`: how all of it is printed and shown.
"""
