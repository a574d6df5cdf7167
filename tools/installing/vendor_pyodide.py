"""Put the Python that runs in the reader's browser into _vendor/pyodide: exactly the files of
book/live/pyodide.sha256. `vendored` says how.

    python -m tools.installing.vendor_pyodide                 fetch with pip the package that carries them, unpack these files alone
    python -m tools.installing.vendor_pyodide --from FOLDER   take them from an unpacked official release of Pyodide
    python -m tools.installing.vendor_pyodide --check         say whether what is there is whole
"""

import sys
from pathlib import Path

from tools.installing import vendored

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "book" / "live" / "pyodide.sha256"
LOCK = ROOT / "book" / "live" / "pyodide-lock.json"  # our own: the official entries of what is listed
INSIDE = "open_webui/frontend/pyodide/"


def from_folder(folder):
    """A reader of the files of an unpacked release, which may lie in its folder `pyodide`."""
    inner = Path(folder) / "pyodide"
    return with_our_lock(vendored.from_folder(inner if (inner / "pyodide.mjs").is_file() else folder))


def from_wheel(path):
    """A reader of the files in the carrier."""
    return with_our_lock(vendored.from_zip(path, INSIDE, path.name))


def with_our_lock(read):
    """The same reader, but for the lock: the release's lists many more packages, ours lies in the repository."""
    return lambda name: LOCK.read_bytes() if name == LOCK.name else read(name)


SOURCE = vendored.Source(
    word="vendor",
    listing=LIST,
    target=ROOT / "_vendor" / "pyodide",
    carrier="open-webui==0.12.4",
    megabytes=106,
    needed=150,
    release="an unpacked release of Pyodide",
    from_path=from_folder,
    from_wheel=from_wheel,
)


def listed():
    """The lines of the list, in order."""
    return vendored.listed(LIST)


def main(arguments=None):
    return vendored.main(SOURCE, "Put the Python that runs in the browser into _vendor/pyodide.", arguments)


if __name__ == "__main__":
    sys.exit(main())
