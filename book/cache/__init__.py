"""Sphinx extension: one build keeps for the next the parts of the book that take long to make.

A part, say a typeset formula, is found by the digest of all that it is made of: its TeX and everything that typesets it. If
any of that changes, the part is made anew, so a kept part is always what this build would have made. `tools/site/build.py`
names the file (`BOOK_KEPT`). Without a name the parts are kept for this build alone.

The file is an SQLite database, for three reasons. A build that is killed leaves it as it was. Two builds at once wait for
each other. And a part that is damaged does not damage the others.
"""

import hashlib
import json
import os
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

BUILDS = 10  # a part that so many builds in a row did not use is removed
FORM = 1  # of the file; increase it whenever the table changes
TABLE = "create table if not exists part (key text primary key, build integer, digest text, value text) without rowid"


def setup(app):
    app.setup_extension("book.cache.highlighting")
    app.kept = Kept(os.environ.get("BOOK_KEPT"))
    app.connect("build-finished", save, priority=999)  # after all that makes parts
    return {"parallel_read_safe": True, "parallel_write_safe": False}


def save(app, exception):
    app.kept.save()  # also after a failure: its cause is seldom a formula, and the next attempt is faster


def digest(*parts):
    """The digest of texts and of the contents of files."""
    found = hashlib.sha256()
    for part in parts:
        content = part.read_bytes() if isinstance(part, Path) else str(part).encode()
        found.update(hashlib.sha256(content).digest())  # of equal lengths, so that no two lists look the same
    return found.hexdigest()


class Kept:
    """The parts in a file; without a file, those of this build."""

    def __init__(self, path=None):
        self.path = Path(path) if path else None
        self.used = {}  # {key: part as JSON}
        try:
            self.found = self.read() if self.path and self.path.is_file() else {}
        except sqlite3.Error:  # not a database any more, or of another form: the parts are made anew
            self.found = {}

    def get(self, make, *what, version):
        """What `make(*what)` returns, from this build or an earlier one. `version` stands for everything else it depends on.

        A fresh part goes through JSON as a kept one does, so the two cannot differ, not even in their types.
        """
        key = digest(sys.version, version, json.dumps(what))
        if key not in self.used:
            self.used[key] = self.found.get(key) or json.dumps(make(*what), ensure_ascii=False)
        return json.loads(self.used[key])

    def connection(self):
        return closing(sqlite3.connect(self.path, timeout=60, isolation_level=None))

    def read(self):
        """The parts of the file that are whole."""
        with self.connection() as file:
            check_form(file)
            rows = file.execute("select key, digest, value from part").fetchall()
        return {key: value for key, said, value in rows if said == digest(key, value)}

    def save(self):
        """Add to the file what this build made, and remove what no build has used for long."""
        if not self.path or not self.used:
            return
        with suppress(OSError, sqlite3.OperationalError):  # the disk is full, say: then the next build makes the parts again
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self.write()
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:  # the file is damaged
                self.found = {}
                for suffix in ("", "-journal"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
                self.write()

    def write(self):
        with self.connection() as file:
            file.execute("begin immediate")  # another build that writes now is waited for
            check_form(file)
            file.execute(TABLE)
            build = 1 + (file.execute("select max(build) from part").fetchone()[0] or 0)
            made = [(key, build, digest(key, value), value) for key, value in self.used.items() if key not in self.found]
            file.executemany("insert or replace into part values (?, ?, ?, ?)", made)
            file.executemany("update part set build = ? where key = ?", [(build, key) for key in self.used])
            file.execute("delete from part where build <= ?", (build - BUILDS,))
            file.execute(f"pragma user_version = {FORM}")
            file.execute("commit")


def check_form(file):
    form = file.execute("pragma user_version").fetchone()[0]
    if form not in (0, FORM):  # a new file says 0
        raise sqlite3.DatabaseError(f"the parts are kept in form {form}, not {FORM}")
