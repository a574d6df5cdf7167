"""The process that `build.py` starts: Jupyter Book, without something that costs it much of its time.

That is Python's search for objects that refer to each other in a circle. A book is made of such objects, hundreds of
megabytes of them, nearly all are needed to the end, and Python would look at all of them again and again.
"""

import gc
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    gc.disable()
    sys.path.insert(0, str(ROOT))
    from jupyter_book.cli.main import main

    main()
