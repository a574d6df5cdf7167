"""What the pages' Python would do at each start is done once, while the book is built: it compiles its modules.

That is two thirds of a start. It takes the very Python of the pages, so node runs it (`boot.mjs`, `inside.py`). Without node the site
is as it would be: its Python compiles what it imports.
"""

import base64
import io
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from sphinx.errors import ExtensionError

from book.cache import Kept, digest

HERE = Path(__file__).parent
OLDEST_NODE = 20
PATIENCE = 1800  # seconds, for a very busy machine


def node():
    """The path of a node that is new enough, or None."""
    path = shutil.which("node")
    if path is None:
        return None
    said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    return path if int((re.match(r"v(\d+)", said) or [0, 0])[1]) >= OLDEST_NODE else None


def prepared(folder, course, files, kept=None):
    """{file name: bytes} of what `inside.py` prepares; {} without node.

    Parameters
    ----------
    folder : Path of the vendored Python
    course : bytes of course.zip
    files : the vendored files, with their hashes
    kept : book.cache.Kept, of what an earlier build has prepared
    """
    engine = node()
    if engine is None:
        return {}
    version = digest(*sorted(HERE.glob("*.*")), *(file.sha256 for file in files), base64.b64encode(course))
    found = (kept or Kept()).get(lambda: run(engine, folder, course), version=version)
    return {name: base64.b64decode(content) for name, content in found.items()}


def run(engine, folder, course):
    """{file name: bytes in base64} of what node has written."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "course.zip").write_bytes(course)
        to = Path(place) / "to"
        to.mkdir()
        command = [engine, str(HERE / "boot.mjs"), str(folder), str(Path(place) / "course.zip"), str(to)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise ExtensionError(f"node could not prepare the Python of the pages: {(done.stderr or done.stdout).strip()[-1000:]}")
        return {path.name: base64.b64encode(path.read_bytes()).decode("ascii") for path in sorted(to.iterdir())}


def unpacked(archive, below):
    """{path: bytes} of the members of a zip file, by their path below a folder; {} of none."""
    if archive is None:
        return {}
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        return {name.removeprefix(below): members.read(name) for name in members.namelist()}
