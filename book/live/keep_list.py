"""What a browser stores when a reader keeps the book for offline use: keep.json, the files with their sizes; keep.js, the
service worker. They lie at the root of a site whose pages have a Python, and nowhere else."""

import hashlib
import json
from pathlib import Path

WORKER = Path(__file__).with_name("keep-worker.js")
LIST, SCRIPT = "keep.json", "keep.js"
NOT_KEPT = {LIST, SCRIPT, "objects.inv"}


def write(site):
    """Add both files to the site, last of all: they speak of every other."""
    files, digest = {}, hashlib.sha256()
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site).as_posix()
        if path.is_file() and name not in NOT_KEPT:
            data = path.read_bytes()
            files[name] = len(data)
            digest.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    size = sum(files.values())
    # The version ends in the size, so that a kept copy says its own without a network.
    said = {"version": f"{digest.hexdigest()[:10]}-{round(size / 1e6)}", "bytes": size, "files": files}
    (site / LIST).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    (site / SCRIPT).write_bytes(WORKER.read_bytes())
