"""What the build prepares for the pages' Python: bytecode of the very sources beside it, for the very Python that is there."""

import _imp
import io
import json
import re
import zipfile
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

from book.live import prepare
from tools import live_gate
from tools.installing import vendor_pyodide

MAGIC = 3627  # of the bytecode of CPython 3.14, as its importlib/_bootstrap_external.py says


@pytest.fixture
def python(site):
    found = [*site.glob("_static/live/python-*")]
    if not found or not (found[0] / "prepared-numpy.zip").is_file():
        pytest.skip("the site has no Python in its pages, or was built without node")
    return found[0]


def bytecode(archive):
    """{name: content} of the bytecode in a zip file, and of its sources."""
    with zipfile.ZipFile(archive) as members:
        contents = {name: members.read(name) for name in members.namelist()}
    return {name: content for name, content in contents.items() if name.endswith(".pyc")}, contents


def source_of(name):
    return re.sub(r"__pycache__/(\w+)\.cpython-314\.pyc$", r"\1.py", name).removesuffix("c" if "__pycache__" not in name else "")


def check(compiled, sources):
    for name, content in compiled.items():
        source = sources[source_of(name)]
        magic, flags = int.from_bytes(content[:2], "little"), int.from_bytes(content[4:8], "little")
        assert (magic, flags) == (MAGIC, 1), name  # flags 1: found by the hash of the source, and not compared again
        assert content[8:16] == _imp.source_hash(int.from_bytes(content[:4], "little"), source), name


def test_the_bytecode_is_that_of_the_sources_beside_it(python, site):
    (course,) = site.glob("_static/live/course-*/course.zip")
    for archive, at_least in ((course, 100), (python / "python_stdlib.zip", 150)):
        compiled, sources = bytecode(archive)
        assert len(compiled) > at_least
        check(compiled, sources)
    for package in ("numpy", "matplotlib"):
        compiled, _ = bytecode(python / f"prepared-{package}.zip")
        sources = {}
        for wheel in python.glob("*.whl"):
            with zipfile.ZipFile(wheel) as members:
                sources |= {f"lib/python3.14/site-packages/{name}": members.read(name) for name in members.namelist() if name.endswith(".py")}
        assert len(compiled) > 50
        check(compiled, sources)


def test_the_versions_are_those_of_the_vendored_python():
    from book import live

    assert live.versions(vendor_pyodide.listed()).startswith("Python 3.14.")


def test_the_list_of_files_has_what_was_prepared(python, site):
    (folder,) = site.glob("_static/live/course-*")
    listed = json.loads((folder / "files.json").read_text())
    for name in ("python_stdlib.zip", "prepared-numpy.zip", "prepared-matplotlib.zip"):
        assert listed[name][0] == (python / name).stat().st_size


def test_the_standard_library_has_more_only_by_bytecode(python, tmp_path):
    assert live_gate.only_bytecode_more(python / live_gate.STDLIB)
    altered = tmp_path / live_gate.STDLIB
    with zipfile.ZipFile(python / live_gate.STDLIB) as whole, zipfile.ZipFile(altered, "w") as copy:
        for entry in whole.infolist():
            copy.writestr(entry, whole.read(entry) + (b"# more" if entry.filename == "json/__init__.py" else b""))
    assert not live_gate.only_bytecode_more(altered)


def test_without_node_nothing_is_prepared(monkeypatch):
    monkeypatch.setattr(prepare.shutil, "which", lambda name: None)
    assert prepare.prepared(None, b"", []) == {}
    monkeypatch.setattr(prepare.shutil, "which", lambda name: "/bin/node")
    monkeypatch.setattr(prepare.subprocess, "run", lambda *command, **options: SimpleNamespace(stdout="v18.1.0\n"))
    assert prepare.prepared(None, b"", []) == {}


def test_a_node_that_breaks_down_stops_the_build_with_its_words(tmp_path):
    if prepare.node() is None:
        pytest.skip("there is no node")
    with pytest.raises(ExtensionError, match="node could not prepare the Python of the pages: .*pyodide.mjs"):
        prepare.run(prepare.node(), tmp_path, b"")


def test_members_are_found_by_their_path_below_a_folder():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("course/a/b.pyc", b"1")
    assert prepare.unpacked(packed.getvalue(), "course/") == {"a/b.pyc": b"1"}
    assert prepare.unpacked(None, "course/") == {}
