"""How an answer is judged, from the cell of a reader to one message.

Read in this order:

1. `todo`, `model`, `edits`, `judged`, `registry`: a blank, an exercise, its known mistakes as edits of its solution, one
   whose answer is run, all of the book.
2. `reader`: what a reader calls about one exercise; `overview`, `forget`: about all of them; `report`: to tell us.
   `record`: what is remembered, `checked`: the last checks; `source`: the solution as text; `settings`: what a
   teacher decides.
3. `judge`: an answer judged; `apart`, `guard`: in a process of its own; `calls`, `session`, `timelimit`: called
   safely; `returned`: what came back. How it got its result: `watch`, `stream`, `tiles`, by `spies` in the place of
   NumPy's functions; `memory`.
4. `diagnose`: which mistake it is; `symptoms`: what is said of what is seen, by `claims` that are measured; `turned`,
   `relations`: what can be said if none; `partly`: the outputs without blanks.
5. `details`: what a check shows beside its sentence. `shrink`: the smallest failing case, a `case`, in `case_text`
   and `case_html`, with a picture of `where` it is wrong; `crash`: the reader's own line. `after`: what comes after
   a right answer; `show`: in a notebook or a terminal.
6. `library`: the reader's own file. `accepted`, `names`: an answer's source and what it needs; `library_change`:
   put into the file; `library_text`, `library_file`, `library_run`: its text, the file on the disk, its functions
   judged.

`lines` prints whatever is said; `lock` lets one session at a time at a file.
"""
