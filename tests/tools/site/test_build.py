"""Building the book: the same site every time, one switch for the buttons, and never half a site."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import small_book
from small_book import ADDRESS, contents, files

from tools.site import build

ROOT = Path(__file__).resolve().parents[3]
HANGS = 600  # seconds after which a process that should have ended is given up: never the measure of anything


# The site that `make book` built


def test_site_holds_what_it_needs_and_no_more(site):
    names = files(site)
    for name in ("index.html", "search.html", "_static/mathjax/woff-v2/MathJax_Main-Regular.woff", "_static/fonts/source-serif-4.woff2", "_static/fonts/OFL.txt", "_static/favicon.svg", "_static/style.css", "_static/book.js"):
        assert name in names
    assert not [name for name in names if name.endswith((".map", ".ipynb", ".md", ".py", ".pickle", ".buildinfo"))]
    python = [name for name in names if name.startswith("_static/live/")]  # there after `make live`
    assert sum((site / name).stat().st_size for name in set(names) - set(python)) < 14.5e6
    model = [name for name in python if name.startswith("_static/live/model-")]  # there after `make model`, too
    assert sum((site / name).stat().st_size for name in set(python) - set(model)) < 33e6  # of which bytecode is 6
    assert sum((site / name).stat().st_size for name in model) < 27e6


def test_first_page_leads_to_the_book(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
    assert "<title>Attention, Derived</title>" in text
    assert 'url=chapters/index.html' in text and '<link rel="canonical" href="chapters/index.html">' in text


def test_without_an_address_no_page_has_a_button_that_needs_one(site):
    for name in files(site):
        if name.endswith(".html"):
            text = (site / name).read_text(encoding="utf-8")
            for button in ("mybinder.org", "/edit/", "issues/new", "btn-source-", "btn-launch-", "/releases/latest/", "executablebooks/jupyter-book"):
                assert button not in text, f"{name}: {button}"


# A small book, built as the real one is


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A small book after its first build, which kept its parts; the site is the folder `html` beside it."""
    book = small_book.written(tmp_path_factory.mktemp("small") / "book")
    build.build(book, book.parent / "html")
    assert sorted(entry.name for entry in book.parent.iterdir()) == ["book", "html"]  # no scratch folder is left
    return book


@pytest.fixture(scope="module")
def addressed(book, tmp_path_factory):
    """The same book after the one setting was given an address."""
    folder = tmp_path_factory.mktemp("addressed")
    build.build(book, folder / "html", small_book.with_address(folder))
    return folder / "html"


def test_a_build_from_kept_parts_is_identical(book, tmp_path, monkeypatch):
    for unneeded in ("py_mini_racer", "fontTools"):  # so no formula is typeset again, and no font is made again
        (tmp_path / f"{unneeded}.py").write_text(f"raise ValueError('{unneeded} was imported')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    build.build(book, tmp_path / "html")
    assert contents(tmp_path / "html") == contents(book.parent / "html")


def test_one_setting_turns_all_buttons_on(addressed):
    check_buttons((addressed / "chapters" / "01_first.html").read_text(encoding="utf-8"), "01_first")


def check_buttons(text, name):
    assert f"{ADDRESS}/edit/main/chapters/{name}.ipynb" in text
    assert f"{ADDRESS}/issues/new" in text
    assert f'href="{ADDRESS}/releases/latest/download/attention-derived.pdf"' in text
    assert f'href="{ADDRESS}/releases/latest/download/attention-derived.zip"' in text
    assert f"https://mybinder.org/v2/gh/somebody/book/main?urlpath=lab/tree/chapters/{name}.ipynb" in text


def test_only_the_buttons_differ(book, addressed):
    assert files(book.parent / "html") == files(addressed)


# The same of the whole book


@pytest.mark.thorough
def test_the_whole_book_is_the_same_made_anew_or_from_kept_parts(tmp_path):
    for name in ("anew", "kept"):
        build.build(ROOT, tmp_path / name, kept=tmp_path / "kept.db")
    assert contents(tmp_path / "anew") == contents(tmp_path / "kept")


@pytest.mark.thorough
def test_with_an_address_the_whole_book_has_the_same_pages_and_all_buttons(site, tmp_path):
    build.build(ROOT, tmp_path / "html", small_book.with_address(tmp_path))
    pages = [name for name in files(site) if not name.startswith("_static/live/")]  # named by its content
    assert [name for name in files(tmp_path / "html") if not name.startswith("_static/live/")] == pages
    check_buttons((tmp_path / "html" / "chapters" / "01_softmax.html").read_text(encoding="utf-8"), "01_softmax")


# A book to break

FAULTS = {
    "{ref}`nowhere`": "'nowhere'",
    "{eq}`eq-nowhere`": "eq-nowhere",
    "{numref}`fig-nowhere`": "fig-nowhere",
    "{cite:p}`nobody2000`": "nobody2000",
    "{term}`no such term`": "no such term",
    "{doc}`no_such_page`": "no_such_page",
    "{py:func}`attnlib.nothing`": "attnlib.nothing",
    "[text](no_such_file.md)": "no_such_file.md",
    "[text](#no-such-anchor)": "no-such-anchor",
    "```{no-such-directive}\n```": "no-such-directive",
    "$\\nosuchmacro$": "Undefined control sequence \\nosuchmacro",
    "```python\n$?\n```": "Lexing literal_block",
}


def test_a_warning_stops_the_build_and_leaves_no_site(tmp_path, capfd):
    book, output = small_book.written(tmp_path / "book", "\n\n".join(FAULTS)), tmp_path / "html"
    output.mkdir()
    (output / "index.html").write_text("the site of yesterday")
    with pytest.raises(build.BuildError, match=r"not built \(exit code 1\)"):
        build.build(book, output)
    warnings = [line for line in capfd.readouterr().err.splitlines() if "WARNING" in line or "ERROR" in line]
    assert all(line.startswith("chapters/index.md:") for line in warnings)  # a path that an editor can open, no colour
    for said in FAULTS.values():
        assert any(said in line for line in warnings), f"{said} is not among\n" + "\n".join(warnings)
    assert not output.exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["book"]


# Stopping a build. In the place of Jupyter Book there is a process that writes half a site, starts another process, and
# waits for ever. Both hold a pipe open: its end says that both are gone.

STAND_IN = """
import os, signal, subprocess, sys
from pathlib import Path
site = Path(sys.argv[sys.argv.index("--path-output") + 1]) / "_build" / "html"
site.mkdir(parents=True)
(site / "index.html").write_text("half a site")
pipe = os.open(os.environ["PIPE"], os.O_WRONLY)
other = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], pass_fds=[pipe])
os.write(pipe, f"{other.pid}".encode())
signal.pause()
"""
BUILD = "import sys; sys.path.insert(0, sys.argv[1]); from tools.site import build; build.PROCESS = sys.argv[2]; sys.exit(build.main(sys.argv[3:]))"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_build_leaves_no_site_and_no_process(tmp_path, number):
    output, stand_in, pipe = tmp_path / "site" / "html", tmp_path / "stand_in.py", tmp_path / "pipe"
    output.mkdir(parents=True)
    (output / "index.html").write_text("the site of yesterday")
    stand_in.write_text(STAND_IN, encoding="utf-8")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-c", BUILD, ROOT, stand_in, "--output", output]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PIPE": str(pipe)})
    ready, _, _ = select.select([reader, process.stderr], [], [], HANGS)
    assert ready == [reader], process.stderr.read()
    other = int(os.read(reader, 20))
    try:
        process.send_signal(number)
        _, message = process.communicate(timeout=HANGS)
        assert process.returncode == 130
        assert message == f"build: stopped by {number.name}; no site was left behind\n"
        assert list((tmp_path / "site").iterdir()) == []
        ready, _, _ = select.select([reader], [], [], HANGS)
        assert ready and os.read(reader, 20) == b""
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(other, signal.SIGKILL)


@pytest.mark.thorough
def test_an_interrupted_build_of_the_whole_book_leaves_no_site(tmp_path):
    command = [sys.executable, "-m", "tools.site.build", "--output", tmp_path / "html"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".building-*/_build")):  # the build is under way
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, message = process.communicate(timeout=HANGS)
    assert (process.returncode, message) == (130, "build: stopped by SIGTERM; no site was left behind\n")
    assert list(tmp_path.iterdir()) == []


# What is wrong before a build begins


def test_a_missing_package_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(build, "NEEDED", ("numpy", "no-such-package"))
    assert build.main(["--output", str(tmp_path / "html")]) == 1
    assert capsys.readouterr().err == "build: the package no-such-package is missing; run: pip install -r requirements.txt\n"


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert build.main(["--output", str(tmp_path / "file" / "html")]) == 1
    assert capsys.readouterr().err == f"build: cannot write {tmp_path / 'file'}: File exists\n"


def test_jupyter_book_2_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(build.importlib.metadata, "version", lambda name: "2.1.7")
    assert build.main(["--output", str(tmp_path / "html")]) == 1
    assert "jupyter-book 2.1.7 cannot build this book, it needs version 1" in capsys.readouterr().err


def test_what_is_not_set_is_told_once(tmp_path):
    config = tmp_path / "_config.yml"
    config.write_text('repository:\n  url: ""\nauthor: the authors of Attention, Derived\n')
    assert [said.split(" (")[0] for said in build.unset(config)] == ["repository.url", "author"]
    config.write_text("repository:\n  url: https://example.org/a/b\nauthor: A. Author\n")
    assert build.unset(config) == []


# The commands around it


def test_serve_and_screenshots_say_that_there_is_no_site(tmp_path):
    command = [sys.executable, "-m", "tools.browser.screenshots", tmp_path, "--site", tmp_path / "gone"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1 and "run: make book" in result.stderr
