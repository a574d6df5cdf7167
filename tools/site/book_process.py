"""The process that `build.py` starts: Jupyter Book, without two things that cost it half of its time.

* Python's search for objects that refer to each other in a circle. A book is made of such objects, hundreds of megabytes
  of them, nearly all are needed to the end, and Python would look at all of them again and again.
* The grammar of international addresses (RFC 3987). `jsonschema` builds it when it is imported, to check a kind of text
  that the schema of a book's settings does not mention.
"""

import gc
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    gc.disable()
    sys.modules["rfc3987_syntax"] = None  # as if it were not installed, which jsonschema allows
    sys.path.insert(0, str(ROOT))
    from jupyter_book.cli.main import main

    main()
