"""The notebooks of the book are in order, and the tool that says so would notice if they were not."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.notebooks import __main__ as notebooks
from tools.notebooks.check import check
from tools.notebooks.files import METADATA

ROOT = Path(__file__).resolve().parents[3]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
HANGS = 600  # seconds after which a process that should have ended is given up: never the measure of anything
PICTURE = {
    "tags": ["hide-input"],
    "mystnb": {
        "figure": {"caption": "A line that rises.", "name": "fig-line"},
        "image": {"alt": "A straight line rises."},
    },
}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name)
def test_notebook_is_in_order(path):
    assert not (problems := check(path)), "\n" + "\n".join(problems)


# A small notebook to break


def code(source, count, outputs=(), **metadata):
    return {
        "cell_type": "code", "id": f"code-{count}", "metadata": metadata, "source": source,
        "outputs": list(outputs), "execution_count": count,
    }  # fmt: skip


def text(source):
    return {"cell_type": "markdown", "id": "text", "metadata": {}, "source": source}


def printed(words, name="stdout"):
    return {"output_type": "stream", "name": name, "text": words}


def shown(kind, content):
    return {"output_type": "display_data", "metadata": {}, "data": {kind: content}}


def svg(alt=None, caption=None, times=1):
    """A cell that shows pictures, with what `mystnb` is told about them."""
    about = {"figure": {"caption": caption}} if caption else {}
    about |= {"image": {"alt": alt}} if alt else {}
    return code("1", 1, [shown("image/svg+xml", "<svg/>")] * times, mystnb=about)


def store(path, *cells, canonical=True):
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": METADATA, "cells": list(cells)}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    if canonical:
        assert notebooks.main(["format", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A notebook with a number, a table and a figure, run by the tool."""
    path = store(
        tmp_path_factory.mktemp("ran") / "small.ipynb",
        text("# Small\n\nHalf of a half is 0.25."),
        code("import matplotlib.pyplot as plt\n\nfrom attnpage import plotting\n\nplotting.setup()", 1),
        code("print(f'{0.5 * 0.5:.2f}')", 2),
        code("from IPython.display import HTML\n\nHTML(f'<table><tr><td>{3 * 4}</td></tr></table>')", 3),
        code("fig, ax = plt.subplots(figsize=(2, 1))\n_ = ax.plot([0, 1], color='#123456')", 4, **PICTURE),
    )
    assert notebooks.main(["run", str(path)]) == 0
    return path


def test_running_twice_gives_the_same_bytes(ran, capsys):
    before = ran.read_bytes()
    assert notebooks.main(["run", str(ran)]) == 0
    assert "unchanged" in capsys.readouterr().out
    assert ran.read_bytes() == before
    assert notebooks.main(["format", str(ran)]) == 0
    assert ran.read_bytes() == before
    assert check(ran) == []


def test_stored_form_is_canonical(ran):
    content = ran.read_bytes()
    assert content.endswith(b"}\n") and b"\r" not in content
    notebook = json.loads(content)
    assert content.decode() == json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert notebook["metadata"] == METADATA
    assert [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"] == [1, 2, 3, 4]
    assert {key for cell in notebook["cells"] for key in cell["metadata"]} == {"tags", "mystnb"}


def test_a_stale_number_table_or_figure_fails(ran, tmp_path):
    notebook = json.loads(ran.read_text(encoding="utf-8"))
    changes = [("0.25", "0.26"), ("<td>12</td>", "<td>13</td>"), ("stroke: #123456", "stroke: #123457")]
    for cell, (old, new) in zip(notebook["cells"][-3:], changes, strict=True):
        stored = json.dumps(cell["outputs"])
        assert old in stored
        notebook["cells"].append(cell | {"id": f"stale-{cell['id']}", "outputs": json.loads(stored.replace(old, new))})
    (tmp_path / "both.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-q", "-p", "no:cacheprovider", "."]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HANGS)
    assert result.returncode == 1, result.stdout + result.stderr
    failed = {line.split(" - ")[0] for line in result.stdout.splitlines() if line.startswith("FAILED")}
    assert failed == {f"FAILED both.ipynb::Cell {number}" for number in (4, 5, 6)}, result.stdout
    assert "3 failed, 4 passed" in result.stdout  # as they were stored, the same cells pass


# Each kind of fault is found

LINES = "x = 1\n" * 24
COLUMNS = """\
     T  largest  smallest
  0.25     0.98      0.00
100.00     0.34      0.33
"""
ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (code("1", 2), "execution count 2, expected 1"),
        (code("1", None), "execution count None, expected 1"),
        (code("", 1), "empty code cell"),
        (code("1;", 1), "a semicolon at the end"),
        (code("table({'T': [1]})\nprint(1)", 1), "what table(…) gives is not shown"),
        (code("1", 1, tags=["raises-exception"]), "tag 'raises-exception' is not on the list"),
        (code("1", 1, [printed("<object at 0x7f3a5c2d1e80>")]), "an object's address: 0x7f3a5c2d1e80"),
        (code("1", 1, [printed("in /home/someone/book")]), "a path of this machine: /home/s"),
        (code("1", 1, [printed("File C:\\Users\\x")]), "a path of this machine"),
        (code("1", 1, [printed("Warning: careful", "stderr")]), "output on stderr: Warning: careful"),
        (code("1", 1, [ERROR]), "stored error ValueError: no"),
        (code("1", 1, [shown("image/png", "iVBORw0KGgo=")], **PICTURE), "stored as image/png only"),
        (svg(caption="A."), "no alternative text"),
        (svg(alt="A line."), "no caption"),
        (svg(alt="A line.", caption="A.", times=2), "2 figures in one cell"),
        (svg(alt="12", caption="A."), "does not describe the figure"),
        (svg(alt="0.5, 0.5", caption="A."), "does not describe the figure"),
        (svg(alt="_images/a.svg", caption="A."), "does not describe the figure"),
        (svg(alt="figure.png", caption="A."), "does not describe the figure"),
        (code(LINES + "x = 1", 1), "25 lines of code in view, at most 24"),
        (code("1", 1, [printed(f"Rising:\n{COLUMNS}")]), "a table made of spaces, from 'T  largest  smallest'"),
        (code("1", 1, [printed(COLUMNS)], tags=["hide-input", "nbval-ignore-output"]), "a table made of spaces"),
        (text("The weight is 0.659."), "the text says 0.659"),
        (text("It overflows at $x = 709.78$."), "the text says 709.78"),
        (text("(ex-softmax)=\n### Exercise"), "a label that only the site can show: (ex-softmax)="),
        (text("$$ x $$ (eq-x)"), "the label of a formula that only the site can show: $$ (eq-x)"),
        (text("By {eq}`eq-x` and so on."), "a role that only the site can show: {eq}`eq-x`"),
        (text("```{note}\nSee.\n```"), "a directive that only the site can show: ```{note}"),
        (text(":::{note}\nSee.\n:::"), "a directive that only the site can show: :::{note}"),
        (text('<svg viewBox="0 0 1 1"></svg>'), "a drawing that only the site can show: <svg"),
        ({**text("x"), "cell_type": "raw"}, "raw cells are not used"),
    ],
)
def test_each_fault_is_found(tmp_path, capsys, cell, said):
    path = store(tmp_path / "bad.ipynb", cell)
    before = path.read_bytes()
    problems = check(path)
    assert len(problems) == 1 and said in problems[0], problems
    assert "bad.ipynb: cell 1 (" in problems[0]
    assert notebooks.main(["check", str(path)]) == 1
    assert said in capsys.readouterr().out
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "prose",
    [
        "The weights are 0.659 and $0.24$, not 709.780.",  # shown below, up to trailing zeros
        "Small numbers: 3, 0.5, 1.5 and 2.0 are free.",
        "Version 3.11.2, chapter 1.2.3 and `0.777` in code.",
        "```python\nx = 0.777\n```\n\nand\n\n~~~\nx = 0.777\n~~~",
        "[section 0.777](https://example.org/0.777) $$ x \\tag{1.77} $$ <https://example.org/0.777>",
        "arXiv:1706.03762 <!-- 0.777 -->",
    ],
)
def test_numbers_in_prose_may_be_printed_ones_and_what_is_no_prose(tmp_path, prose):
    path = store(tmp_path / "good.ipynb", text(prose), code("1", 1, [printed("[0.659 0.24 ] 709.78\n")]))
    assert check(path) == []


@pytest.mark.parametrize(
    "cell",
    [
        code(LINES, 1),
        *[code(LINES + "x = 1", 1, tags=[tag]) for tag in ("hide-input", "hide-cell", "remove-input")],
        *[code("1", 1, [printed(COLUMNS)], tags=[tag]) for tag in ("hide-output", "hide-cell")],
        code("1", 1, [{"output_type": "display_data", "metadata": {}, "data": {"text/plain": COLUMNS}}]),
        code("1", 1, [printed("T  largest  smallest\n0.25  0.98  0.00\nThe row above is cold.\n1  2  3\n4  5  6\n")]),
        code("1", 1, [printed("right:   yes\nsmall:   no\nsteps:   12 of 20\n")]),
        code("1", 1, [printed("[[ 1.   0.5  2. ]\n [ 3.  -4.   0. ]\n [ 0.   0.   1. ]]\n")]),
    ],
    ids=["24 lines", "hide-input", "hide-cell", "remove-input", "hide-output", "hide-cell, columns", "a display",
         "two rows twice", "two columns", "an array"],
)  # fmt: skip
def test_short_or_folded_code_and_what_is_no_table_are_in_order(tmp_path, cell):
    assert check(store(tmp_path / "good.ipynb", cell)) == []


def test_a_notebook_in_another_form_is_found_and_repaired(tmp_path):
    cell = code("1", 1, [printed("a"), printed("b")], collapsed=True, tags=["hide-input", "hide-input"])
    path = store(tmp_path / "form.ipynb", cell, canonical=False)
    assert "not in canonical form" in check(path)[0]
    assert notebooks.main(["format", str(path)]) == 0
    assert check(path) == []
    (cell,) = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cell["metadata"] == {"tags": ["hide-input"]}
    assert cell["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["ab"]}]
    assert cell["id"] == "code-1"


def test_missing_and_repeated_ids_are_made_from_place_and_text(tmp_path):
    cells = [text("a"), text("a"), {**text("b"), "id": None}]
    del cells[2]["id"]
    paths = [store(tmp_path / name, *cells) for name in ("one.ipynb", "two.ipynb")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    ids = [cell["id"] for cell in json.loads(paths[0].read_text(encoding="utf-8"))["cells"]]
    assert ids[0] == "text" and len(set(ids)) == 3


# When it goes wrong: one message, an exit code, and the file as it was


def fails(capsys, path, *said, command="run", code=1):
    before = path.read_bytes()
    assert notebooks.main([command, str(path)]) == code
    message = capsys.readouterr().err
    assert message.startswith("notebooks: ") and message.count("\n") == 1, message
    for part in (path.name, *said):
        assert part in message, message
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_cell_that_raises(tmp_path, capsys):
    path = store(tmp_path / "raises.ipynb", code("1", 1), code("raise ValueError('no such luck')", 2))
    fails(capsys, path, "cell 2 (code-2) raised ValueError: no such luck")


@pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning")
def test_a_kernel_that_dies(tmp_path, capsys):
    path = store(tmp_path / "dies.ipynb", code("1", 1), code("import os; os._exit(1)", 2))
    fails(capsys, path, "the kernel died in cell 2 (code-2)")


def test_a_cell_that_does_not_end(tmp_path, capsys):
    path = store(tmp_path / "slow.ipynb", code("while True: pass", 1))
    before = path.read_bytes()
    assert notebooks.main(["run", "--timeout", "1", str(path)]) == 1
    assert "slow.ipynb: cell 1 (code-1) took longer than 1 s" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", ["run", "format", "check"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"cells": [', "not valid JSON: line 1, column 12"),
        (b"<<<<<<< HEAD\n", "not valid JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "not a notebook of format 4"),
        (b'{"nbformat": 3, "worksheets": []}', "not a notebook of format 4"),
        (b'{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code"}]}', "not a valid notebook"),
        (b'{"nbformat": 4, "metadata": {}, "cells": [7]}', "not a valid notebook"),
    ],
)
def test_a_broken_file(tmp_path, capsys, command, content, said):
    path = tmp_path / "broken.ipynb"
    path.write_bytes(content)
    fails(capsys, path, said, command=command)


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert notebooks.main(["run", str(tmp_path / "gone.ipynb")]) == 1
    assert "gone.ipynb: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["nbclient", "nbformat", "ipykernel"])
def test_a_missing_package(tmp_path, capsys, monkeypatch, package):
    path = store(tmp_path / "small.ipynb", code("1", 1))
    monkeypatch.setitem(sys.modules, package, None)
    before = path.read_bytes()
    assert notebooks.main(["run", str(path)]) == 1
    assert f"the package {package} is missing; run: pip install -r requirements.txt" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_missing_kernel(tmp_path, capsys, monkeypatch):
    from jupyter_client import kernelspec

    def gone(self, name):
        raise kernelspec.NoSuchKernel(name)

    monkeypatch.setattr(kernelspec.KernelSpecManager, "get_kernel_spec", gone)
    fails(capsys, store(tmp_path / "small.ipynb", code("1", 1)), "there is no kernel named 'python3'")


def test_one_bad_notebook_does_not_stop_the_others(tmp_path, capsys):
    bad, good = tmp_path / "a.ipynb", store(tmp_path / "b.ipynb", code("print(6 * 7)", 1))
    bad.write_text("{")
    assert notebooks.main(["run", str(bad), str(good)]) == 1
    assert json.loads(good.read_text(encoding="utf-8"))["cells"][0]["outputs"][0]["text"] == ["42\n"]


def test_an_interrupt_leaves_the_file_as_it_was(tmp_path):
    path = store(tmp_path / "slow.ipynb", code("import time\n\nopen('running', 'w').close()\ntime.sleep(3600)", 1))
    before = path.read_bytes()
    command = [sys.executable, "-m", "tools.notebooks", "run", path]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "running").exists():  # the cell is under way
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    try:
        _, message = process.communicate(timeout=HANGS)
    finally:
        process.kill()
    assert process.returncode == 130, message
    assert "interrupted" in message and "slow.ipynb is as it was" in message
    assert path.read_bytes() == before
