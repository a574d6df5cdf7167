"""The gate sees what it is there for: it is skipped with a reason, and refuses what is not the site's own."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import gate_cases
import nbformat
import pytest
from gate_cases import unlisted_and_stale

from book.live import keep_list
from tools import live_gate
from tools.installing import vendor_pyodide
from tools.live_gate import inside


def test_without_a_python_in_the_pages_it_says_what_to_do(tmp_path):
    assert live_gate.missing(tmp_path) == "the site has no Python in its pages; run: make live"


def test_without_node_or_with_an_old_one_it_says_so(tmp_path, monkeypatch):
    (tmp_path / "_static" / "live" / "python-1").mkdir(parents=True)
    node = tmp_path / "node"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert live_gate.missing(tmp_path) == "there is no node"
    node.write_text("#!/bin/sh\necho v18.1.0\n")
    node.chmod(0o755)
    assert live_gate.missing(tmp_path) == "node v18.1.0 is too old: 20 is the oldest"
    node.write_text("#!/bin/sh\necho v22.0.0\n")
    assert live_gate.missing(tmp_path) == ""


def test_a_file_that_is_not_the_listed_one_is_not_run(tmp_path):
    for folder in ("python-1", "course-1"):
        (tmp_path / "_static" / "live" / folder).mkdir(parents=True)
    (tmp_path / "_static" / "live" / "course-1" / "course.zip").write_bytes(b"")
    first = vendor_pyodide.listed()[0]
    (tmp_path / "_static" / "live" / "python-1" / first.name).write_bytes(b" " * first.size)
    with pytest.raises(live_gate.GateError, match=r"is not the listed file: its SHA-256 is another \(in the site\)"):
        live_gate.places(tmp_path)


def test_the_gate_has_the_model_of_the_pages_or_none(tmp_path):
    (tmp_path / "chapters").mkdir()
    assert live_gate.trained_model(tmp_path) == {}
    (tmp_path / "1.bin").write_bytes(b"one ")
    (tmp_path / "2.bin").write_bytes(b"two")
    parts = [[name, len(data), hashlib.sha256(data).hexdigest()] for name, data in (("1.bin", b"one "), ("2.bin", b"two"))]
    settings = '<script type="application/json" id="live-settings">'
    (tmp_path / "chapters" / "a.html").write_text(f'{settings}{{"model": {{"needs": "a"}}}}</script>')
    (tmp_path / "chapters" / "b.html").write_text(f'{settings}{json.dumps({"model": {"files": {"weights": parts}}})}</script>')
    assert live_gate.trained_model(tmp_path) == {"weights": b"one two"}
    (tmp_path / "2.bin").write_bytes(b"twO")
    with pytest.raises(live_gate.GateError, match=r"2\.bin in the site is not what the page expects"):
        live_gate.trained_model(tmp_path)


def test_pytest_takes_the_options_that_it_gets_in_the_page(tmp_path):
    """With the settings of the project: here, because the page's Python runs on no push."""
    (tmp_path / "test_one.py").write_text("def test_one():\n    assert True\n")
    settings = ["--noconftest", "-p", "no:nbval", "-p", "no:xdist", "-p", "no:hypothesispytest", "-c", str(live_gate.ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "pytest", *settings, *inside.OPTIONS, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("chapter", ["04_masks", "13_pretrained"])
def test_a_notebook_is_read_in_the_page_as_by_nbformat(chapter):
    path = live_gate.ROOT / "chapters" / f"{chapter}.ipynb"
    read = inside.read_notebook(path)
    assert read == nbformat.read(path, as_version=4) and read.cells[0].source.startswith("# ")


def test_the_list_of_differences_may_have_neither_more_nor_less(monkeypatch):
    monkeypatch.setattr(gate_cases, "LISTED", {"test": [{"name": "tests/a.py::one"}, {"name": "tests/b.py"}]})
    assert unlisted_and_stale(["tests/a.py::one[2]", "tests/b.py::two"], "test") == ([], [])
    assert unlisted_and_stale(["tests/c.py::three", "tests/b.py::two"], "test") == (["tests/c.py::three"], ["tests/a.py::one"])
    assert unlisted_and_stale([], "cell") == ([], [])


def test_what_is_kept_for_offline_use_names_every_file_and_its_version_every_change(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "one.html").write_text("one")
    (tmp_path / "404.html").write_text("none")

    def listed():
        keep_list.write(tmp_path)
        return (tmp_path / "keep.json").read_text()

    first = listed()
    assert '"chapters/one.html": 3' in first and '"404.html": 4' in first and listed() == first
    (tmp_path / "chapters" / "one.html").write_text("two")
    assert listed() != first
    assert (tmp_path / "keep.js").read_bytes() == keep_list.WORKER.read_bytes()


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_command_for_running_pages_asks_every_check_of_them():
    tests = {path.relative_to(live_gate.ROOT) for path in (live_gate.ROOT / "tests" / "book").rglob("test_*.py") if "has_python" in path.read_text(encoding="utf-8")}
    asked = subprocess.run(["make", "-n", "-o", "live", "test-live"], cwd=live_gate.ROOT, capture_output=True, text=True).stdout
    assert len(tests) > 4
    given = {Path(word) for word in asked.split() if word.startswith("tests/")}
    assert [path for path in tests if not given & {path, *path.parents}] == []
