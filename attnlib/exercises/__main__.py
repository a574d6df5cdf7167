"""``python -m attnlib.exercises``: see `attnlib.exercises.classroom`."""

import sys

from attnlib.exercises.classroom import main

if __name__ == "__main__":
    sys.exit(main())
