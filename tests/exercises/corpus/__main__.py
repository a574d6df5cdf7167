"""`python -m tests.exercises.corpus [WORD …]`: the counts; with a topic, file, exercise or verdict, its messages."""

import sys

from .counts import messages, table

for word in sys.argv[1:]:
    print(messages(word))
print(table())
