"""tools/installing/vendor_pyodide.py and book/live: exactly the listed files or none, and a course of always the same bytes."""

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from book import live
from tools.installing import vendor_pyodide as vendor
from tools.site import build

ROOT = Path(__file__).resolve().parents[3]

HANGS = 600  # seconds after which a process that should have ended is given up: never the measure of anything
DATA = {"pyodide.mjs": b"engine", "numpy-1.whl": b"arrays"}


@pytest.fixture
def files(monkeypatch, tmp_path):
    """A list of three small files, one of them the lock."""
    lock = tmp_path / "pyodide-lock.json"
    lock.write_bytes(b"{}")
    monkeypatch.setattr(vendor, "LOCK", lock)
    return [vendor.Listed(hashlib.sha256(data).hexdigest(), len(data), name) for name, data in {**DATA, lock.name: b"{}"}.items()]


@pytest.fixture
def release(tmp_path):
    """An unpacked release with more in it than is listed."""
    folder = tmp_path / "release" / "pyodide"
    folder.mkdir(parents=True)
    for name, data in {**DATA, "more.whl": b"unwanted"}.items():
        (folder / name).write_bytes(data)
    return folder.parent


def carrier(path, contents):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents.items():
            archive.writestr(vendor.INSIDE + name, data)
        archive.writestr("open_webui/main.py", "raise SystemExit")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_release_gives_the_listed_files_and_no_others(files, release, tmp_path):
    target = tmp_path / "_vendor" / "pyodide"
    vendor.vendor(target, files, vendor.from_folder(release))
    assert names(target) == ["numpy-1.whl", "pyodide-lock.json", "pyodide.mjs"] and vendor.problem(target, files) == ""
    assert names(target.parent) == ["pyodide"]


def test_the_carrier_gives_the_same(files, tmp_path):
    wheel = carrier(tmp_path / "carrier.whl", {**DATA, "pyodide-lock.json": b"another"})
    vendor.vendor(tmp_path / "a" / "pyodide", files, vendor.from_wheel(wheel))
    assert vendor.problem(tmp_path / "a" / "pyodide", files) == ""


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("numpy-1.whl", b"Arrays", "numpy-1.whl is not the listed file: its SHA-256 is another"),
        ("numpy-1.whl", b"array", "numpy-1.whl has 5 bytes where the list has 6"),
        ("pyodide.mjs", None, "pyodide.mjs is missing in"),
    ],
)
def test_a_wrong_file_is_named_and_what_was_there_stays(files, release, tmp_path, name, data, words):
    target = tmp_path / "_vendor" / "pyodide"
    vendor.vendor(target, files, vendor.from_folder(release))
    path = release / "pyodide" / name
    path.unlink() if data is None else path.write_bytes(data)
    read = vendor.from_folder(release / "pyodide")
    with pytest.raises(vendor.VendorError, match=re.escape(words)):
        vendor.vendor(target, files, read)
    assert vendor.problem(target, files) == "" and names(target.parent) == ["pyodide"]


def test_a_broken_carrier_is_one_sentence(files, tmp_path):
    (tmp_path / "half.whl").write_bytes(b"PK half")
    with pytest.raises(vendor.VendorError, match="half.whl is not a whole zip file"):
        vendor.from_wheel(tmp_path / "half.whl")
    with pytest.raises(vendor.VendorError, match="numpy-1.whl is missing in carrier.whl"):
        vendor.vendor(tmp_path / "p", files, vendor.from_wheel(carrier(tmp_path / "carrier.whl", {"pyodide.mjs": b"engine"})))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "numpy-1.whl").write_bytes(b"Arrays"), "its SHA-256 is another"),
        (lambda folder: (folder / "numpy-1.whl").unlink(), "the file numpy-1.whl is missing"),
        (lambda folder: (folder / "own.py").write_bytes(b""), "own.py is not on the list"),
    ],
)
def test_a_spoiled_folder_is_seen(files, release, tmp_path, spoil, words):
    target = tmp_path / "pyodide"
    vendor.vendor(target, files, vendor.from_folder(release))
    spoil(target)
    assert words in vendor.problem(target, files)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("import sys; print('ERROR: No matching distribution', file=sys.stderr); sys.exit(1)", "(No matching distribution)"),
        ("import sys; sys.exit('No module named pip')", "has no pip"),
        ("import sys; sys.exit('OSError: [Errno 28] No space left on device')", "the disk is full"),
    ],
)
def test_what_pip_says_becomes_a_sentence(said, words, tmp_path, monkeypatch):
    monkeypatch.setattr(vendor, "PIP", ("-c", said))
    with pytest.raises(vendor.VendorError, match=re.escape(words)) as error:
        vendor.download(tmp_path)
    assert "\n" not in str(error.value)


def test_the_command_fails_with_one_line_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-m", "tools.installing.vendor_pyodide", "--target", tmp_path / "v" / "pyodide", "--from", tmp_path / "none"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("vendor: there is no folder") and done.stderr.count("\n") == 1
    assert not (tmp_path / "v" / "pyodide").exists()


def test_an_interrupt_leaves_nothing(tmp_path):
    (tmp_path / "release").mkdir()
    pipe = tmp_path / "release" / "pyodide.mjs"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "tools.installing.vendor_pyodide", "--target", tmp_path / "v" / "pyodide", "--from", tmp_path / "release"]
    writer = None
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while writer is None:  # it can be opened when the command has opened it; then nothing comes, and the command waits
            assert process.poll() is None, process.stderr.read()
            try:
                writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.02)
        assert list((tmp_path / "v").iterdir())
        process.send_signal(signal.SIGINT)
        # Python looks for a signal between two of its own steps: one that comes just before the call that reads would
        # wait in there for ever. Closing the pipe ends that call; without the signal the command would call the file short.
        os.close(writer)
        try:
            said = process.communicate(timeout=HANGS)[1]
        finally:
            process.kill()
    assert (process.returncode, said) == (130, "vendor: interrupted; nothing was changed\n")
    assert list((tmp_path / "v").iterdir()) == []


def test_a_build_with_a_spoiled_python_stops_before_the_site_is_touched(tmp_path):
    (tmp_path / "_vendor" / "pyodide").mkdir(parents=True)
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "index.html").write_text("the site")
    with pytest.raises(build.BuildError, match="the Python for the pages is not whole: the file pyodide.mjs is missing; run: make live"):
        build.build(tmp_path, tmp_path / "html")
    assert (tmp_path / "html" / "index.html").read_text() == "the site"


# The list in the repository


def test_the_list_the_lock_and_the_table_agree():
    files = {file.name: file for file in vendor.listed()}
    packages = json.loads(vendor.LOCK.read_text(encoding="utf-8"))["packages"]
    assert vendor.difference(files["pyodide-lock.json"], vendor.LOCK.read_bytes()) == ""
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
    packages = json.loads(vendor.LOCK.read_text(encoding="utf-8"))["packages"]
    numpy, matplotlib = packages["numpy"]["version"], packages["matplotlib"]["version"]
    assert re.fullmatch(rf"Python 3\.\d+\.\d+ \(Pyodide [\d.]+\d\), NumPy {numpy}, Matplotlib {matplotlib}", live.versions(vendor.listed()))


def test_the_packed_course_has_always_the_same_bytes_and_what_pages_need():
    packed = live.course()
    assert packed == live.course()
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        inside = archive.namelist()
        assert {entry.date_time for entry in archive.infolist()} == {live.FIRST_DAY}
    for name in ("attnlib/softmax/weights.py", "chapters/data/masks.npz", "book/live/python/runtime.py", "book/live/python/IPython/display.py"):
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
