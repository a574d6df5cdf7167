"""How an answer is judged, from the cell of a reader to one message.

Read in this order:

1. `todo`, `model`, `registry`: a blank, an exercise, all exercises of the book.
2. `reader`: what a reader calls; `record`: what is remembered; `source`: the solution as text;
   `settings`: what a teacher decides.
3. `judge`: an answer judged; `calls`, `timelimit`: called safely; `watch`, `stream`: how it got its result.
4. `diagnose`: which mistake it is; `turned`, `relations`: what can be said if none.
5. `library`: the reader's own file. `accepted`, `names`: an answer's source and what it needs; `library_change`:
   put into the file; `library_text`, `library_file`, `library_run`: its text, the file on the disk, its functions
   judged.

`lines` prints whatever is said; `lock` lets one session at a time at a file.
"""
