"""The reader's own file, `my_attention.py`, into which accepted answers go.

Read in this order:

1. `commands`: what a reader calls, `save`, `load` and `my_library`.
2. `accepted`: the source of each accepted answer, and where each name in it comes from.
3. `change`: a function put into the file or taken out of it; `definitions`: what the text of the
   file defines, and where; `on_disk`: the file read and written;
   `run`: its functions, judged.
"""
