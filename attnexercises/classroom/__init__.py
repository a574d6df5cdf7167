"""Assignments for a class, in the forms of the graders that teachers use; no grader of our own.

Read `chapters` (a chapter as a notebook to hand out), then `otter` and `nbgrader` (the same notebook in the words
of each), then `scores` (what a grader found, as a table for a learning platform). `command` is the command line.
"""

from attnexercises.classroom.command import main

__all__ = [
    "main",
]
