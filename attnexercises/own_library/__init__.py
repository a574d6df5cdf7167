"""Manage the reader's own file, `my_attention.py`, in which readers save the answers that have passed.

Read the modules in this order:

1. `commands` holds the functions that a reader calls: `save`, `load` and `my_library`.
2. `accepted` keeps the source of each accepted answer, and finds out where each name in it comes from.
3. `change` adds a function to the file or removes one. `definitions` finds and edits the definitions in the file's
   text, `on_disk` reads and writes the file, and `run` runs the file and judges its functions. `lock` lets only one
   session at a time use a file.
"""
