"""``python -m attnexercises``: see `attnexercises.classroom`."""

import sys

from attnexercises.classroom import main

if __name__ == "__main__":
    sys.exit(main())
