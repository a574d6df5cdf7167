"""Turn chapters into assignments for a class, for the graders Otter-Grader and nbgrader.

Read `chapters` first: it finds the exercises in the notebook of a chapter. `otter` and `nbgrader` write the notebook in
the format of each grader. `verdict` is what their hidden tests call. `scores` turns the results of a grader into a table for a learning platform. `command` is the
command line.
"""

from attnexercises.classroom.command import main

__all__ = [
    "main",
]
