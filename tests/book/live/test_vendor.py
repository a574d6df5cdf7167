"""The Python of the pages, what is fetched of it and what is packed beside it: the listed files, a course of always the same bytes."""

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from book import live
from tools.installing import vendor_pyodide, vendored
from tools.installing.vendored import Listed
from tools.site import build

ROOT = Path(__file__).resolve().parents[3]

DATA = {"pyodide.mjs": b"engine", "numpy-1.whl": b"arrays"}


@pytest.fixture
def files(monkeypatch, tmp_path):
    """A list of three small files, one of them the lock."""
    lock = tmp_path / "pyodide-lock.json"
    lock.write_bytes(b"{}")
    monkeypatch.setattr(vendor_pyodide, "LOCK", lock)
    return [Listed(hashlib.sha256(data).hexdigest(), len(data), name) for name, data in {**DATA, lock.name: b"{}"}.items()]


@pytest.mark.parametrize("inner", ["", "pyodide"])
def test_a_release_gives_the_listed_files_and_our_own_lock(files, tmp_path, inner):
    folder = tmp_path / "release" / inner
    folder.mkdir(parents=True)
    for name, data in {**DATA, "pyodide-lock.json": b"another", "more.whl": b"unwanted"}.items():
        (folder / name).write_bytes(data)
    target = tmp_path / "_vendor" / "pyodide"
    vendored.vendor(target, files, vendor_pyodide.from_folder(tmp_path / "release"))
    assert vendored.problem(target, files) == ""


def test_the_carrier_gives_the_same(files, tmp_path):
    wheel = tmp_path / "carrier.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in {**DATA, "pyodide-lock.json": b"another"}.items():
            archive.writestr(vendor_pyodide.INSIDE + name, data)
        archive.writestr("open_webui/main.py", "raise SystemExit")
    vendored.vendor(tmp_path / "a" / "pyodide", files, vendor_pyodide.from_wheel(wheel))
    assert vendored.problem(tmp_path / "a" / "pyodide", files) == ""


def test_a_build_with_a_spoiled_python_stops_before_the_site_is_touched(tmp_path):
    (tmp_path / "_vendor" / "pyodide").mkdir(parents=True)
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "index.html").write_text("the site")
    with pytest.raises(build.BuildError, match="the Python for the pages is not whole: the file pyodide.mjs is missing; run: make live"):
        build.build(tmp_path, tmp_path / "html")
    assert (tmp_path / "html" / "index.html").read_text() == "the site"


# The list in the repository


def test_the_list_the_lock_and_the_table_agree():
    files = {file.name: file for file in vendor_pyodide.listed()}
    packages = json.loads(vendor_pyodide.LOCK.read_text(encoding="utf-8"))["packages"]
    assert vendored.difference(files["pyodide-lock.json"], vendor_pyodide.LOCK.read_bytes()) == ""
    assert {entry["file_name"]: entry["sha256"] for entry in packages.values()} == {
        name: file.sha256 for name, file in files.items() if name.endswith(".whl")
    }
    assert {need for entry in packages.values() for need in entry["depends"]} <= packages.keys()
    table = (ROOT / "book" / "live" / "README.md").read_text(encoding="utf-8")
    for entry in packages.values():
        assert f"{entry['file_name'].split('-')[0]}-{entry['version']}-….whl" in table
    for name in files:
        assert name.endswith(".whl") or f"`{name}`" in table


def test_the_versions_that_run_are_read_from_what_is_listed():
    packages = json.loads(vendor_pyodide.LOCK.read_text(encoding="utf-8"))["packages"]
    numpy, matplotlib = packages["numpy"]["version"], packages["matplotlib"]["version"]
    assert re.fullmatch(rf"Python 3\.\d+\.\d+ \(Pyodide [\d.]+\d\), NumPy {numpy}, Matplotlib {matplotlib}", live.versions(vendor_pyodide.listed()))


def test_the_packed_course_has_always_the_same_bytes_and_what_pages_need():
    packed = live.course()
    assert packed == live.course()
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        inside = archive.namelist()
        assert {entry.date_time for entry in archive.infolist()} == {live.FIRST_DAY}
    for name in ("attnlib/softmax/weights.py", "chapters/data/cheating.npz", "book/live/python/runtime.py", "book/live/python/IPython/display.py"):
        assert name in inside
    assert any(name.startswith("benchmarks/runs/") for name in inside) and not [name for name in inside if "__pycache__" in name]


def test_scripts_lose_their_comments_and_indentation_and_nothing_else():
    text = 'if (a) {\n  // why\n  b = "//c"; // then\n\n    d();\n}\n'
    assert live.lean({"a.mjs": text}) == {"a.mjs": 'if (a) {\nb = "//c"; // then\nd();\n}\n'}
    with pytest.raises(live.ExtensionError, match="live/a.mjs has a text of several lines"):
        live.lean({"a.mjs": "a = `\n  b`;\n"})


def test_folders_are_named_by_their_content(tmp_path):
    first = live.write(tmp_path, "course", {"page.mjs": b"1"})
    assert live.write(tmp_path, "course", {"page.mjs": b"2"}) != first
    assert re.fullmatch(r"_static/live/course-[0-9a-f]{10}/", first)


def test_places_stand_in_every_cell_and_once_at_head_and_foot():
    cell = '<div class="cell_input docutils container">\n<div class="highlight-python notranslate"><div class="highlight"><pre>x\n</pre></div>\n</div>\n</div>'
    page = f"<head></head><article class='bd'><h1>A</h1>{cell}{cell}</article>"
    made = live.with_places(page, {"folder": "_static/live/c/", "megabytes": 1}, "one")
    assert made.count('<div class="live-row"></div>\n</div>') == 2
    assert made.count("live-head d-print-none") == made.count("live-foot d-print-none") == made.count("page.js") == 1
    with pytest.raises(live.ExtensionError, match="page one has no title"):
        live.with_places(cell, {"folder": ""}, "one")
