"""A notebook that needs the trained model: run where it is, skipped with a sentence where it is not."""

import json
import subprocess
import sys

import nbformat
import pytest

from tools.notebooks import __main__ as notebooks
from tools.notebooks import files, needs


@pytest.fixture
def without_model(monkeypatch, tmp_path):
    monkeypatch.setitem(needs.NEEDED, "model", (tmp_path / "gone", "the trained model is not here; run: make model"))


def stored(folder, **metadata):
    path = folder / "small.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("raise ValueError('it ran')", id="one")])
    notebook.metadata = files.METADATA | metadata
    nbformat.write(notebook, path)
    return path


def test_it_is_not_run_where_the_model_is_missing(tmp_path, capsys, without_model):
    path = stored(tmp_path, needs="model")
    before = path.read_bytes()
    assert notebooks.main(["run", str(path)]) == 0
    assert "skipped, the trained model is not here; run: make model" in capsys.readouterr().out
    assert path.read_bytes() == before


def test_it_runs_where_the_model_is(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(needs.NEEDED, "model", (tmp_path, "never said"))
    assert notebooks.main(["run", str(stored(tmp_path, needs="model"))]) == 1
    assert "it ran" in capsys.readouterr().err


@pytest.mark.parametrize("metadata", [{}, {"needs": "nothing known"}])
def test_any_other_notebook_is_run(tmp_path, without_model, metadata):
    assert needs.missing(stored(tmp_path, **metadata)) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"metadata": 3}'])
def test_a_damaged_file_is_left_to_whoever_runs_it(tmp_path, text):
    (tmp_path / "bad.ipynb").write_text(text, encoding="utf-8")
    assert needs.missing(tmp_path / "bad.ipynb") is None


def test_what_it_needs_stays_in_the_file(tmp_path):
    path = stored(tmp_path, needs="model", other="is dropped")
    assert json.loads(files.canonical(files.read(path)))["metadata"] == files.METADATA | {"needs": "model"}


WITHOUT = """
import sys
from pathlib import Path
import pytest
from tools.notebooks import needs
needs.NEEDED["model"] = (Path("gone"), needs.NEEDED["model"][1])
sys.exit(pytest.main(["-n0", "-q", "-rs", "-p", "no:cacheprovider", "chapters/13_pretrained.ipynb"]))
"""


def test_pytest_skips_the_chapter_where_the_model_is_missing():
    """Every cell, with the sentence; none is run."""
    run = subprocess.run([sys.executable, "-c", WITHOUT], cwd=needs.ROOT, capture_output=True, text=True, timeout=1800)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the trained model is not here; run: make model" in run.stdout
    last = run.stdout.splitlines()[-1]
    assert "skipped" in last and "passed" not in last and "failed" not in last
