"""Building the book: the same site every time, one switch for the buttons, and never half a site."""

import filecmp
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import build
import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = (ROOT / "_config.yml").read_text(encoding="utf-8").replace(": _ext", f": {ROOT / '_ext'}")
ADDRESS = "https://github.com/somebody/book"


def settings(folder, **changes):
    """The book's settings in another folder, with some lines changed."""
    content = SETTINGS
    for old, new in changes.values():
        assert content.count(old) == 1, old
        content = content.replace(old, new)
    (folder / "_config.yml").write_text(content, encoding="utf-8")
    return folder / "_config.yml"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The book as it is in the repository."""
    folder = tmp_path_factory.mktemp("built")
    build.build(ROOT, folder / "html")
    assert [entry.name for entry in folder.iterdir()] == ["html"]  # no scratch folder is left
    return folder / "html"


@pytest.fixture(scope="module")
def with_address(tmp_path_factory):
    """The same book after the one setting was given an address."""
    folder = tmp_path_factory.mktemp("with_address")
    config = settings(folder, url=('url: ""', f'url: "{ADDRESS}"'))
    build.build(ROOT, folder / "html", config)
    return folder / "html"


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_two_builds_are_identical(built, tmp_path):
    build.build(ROOT, tmp_path / "html")
    assert files(built) == files(tmp_path / "html")
    _, different, unread = filecmp.cmpfiles(built, tmp_path / "html", files(built), shallow=False)
    assert not different and not unread


def test_site_holds_what_it_needs_and_no_more(built):
    names = files(built)
    for name in ("index.html", "search.html", "_static/mathjax/woff-v2/MathJax_Main-Regular.woff", "_static/fonts/source-serif-4.woff2", "_static/fonts/OFL.txt", "_static/favicon.svg", "_static/style.css", "_static/book.js"):
        assert name in names
    assert not [name for name in names if name.endswith((".map", ".ipynb", ".md", ".py", ".pickle", ".buildinfo"))]
    python = [name for name in names if name.startswith("_static/live/")]  # there after `make live`
    assert sum((built / name).stat().st_size for name in set(names) - set(python)) < 30e6
    assert sum((built / name).stat().st_size for name in python) < 27e6


def test_first_page_leads_to_the_book(built):
    text = (built / "index.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
    assert "<title>Attention, Derived</title>" in text
    assert 'url=chapters/index.html' in text and '<link rel="canonical" href="chapters/index.html">' in text


def test_without_an_address_no_page_has_a_button_that_needs_one(built):
    for name in files(built):
        if name.endswith(".html"):
            text = (built / name).read_text(encoding="utf-8")
            for button in ("mybinder.org", "/edit/", "issues/new", "btn-source-", "btn-launch-", "/releases/latest/", "executablebooks/jupyter-book"):
                assert button not in text, f"{name}: {button}"


def test_one_setting_turns_all_buttons_on(with_address):
    text = (with_address / "chapters" / "01_softmax.html").read_text(encoding="utf-8")
    assert f"{ADDRESS}/edit/main/chapters/01_softmax.ipynb" in text
    assert f"{ADDRESS}/issues/new" in text
    assert f'href="{ADDRESS}/releases/latest/download/attention-derived.pdf"' in text
    assert f'href="{ADDRESS}/releases/latest/download/attention-derived.zip"' in text
    assert "https://mybinder.org/v2/gh/somebody/book/main?urlpath=lab/tree/chapters/01_softmax.ipynb" in text


def test_only_the_buttons_differ(built, with_address):
    assert files(built) == files(with_address)


# A small book to break

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
}


def small_book(folder, page):
    (folder / "chapters").mkdir(parents=True)
    (folder / "chapters" / "index.md").write_text(f"# Small\n\n{page}\n", encoding="utf-8")
    (folder / "chapters" / "references.bib").write_text("@misc{one, title={One}, author={A. One}, year={2000}}\n", encoding="utf-8")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: chapters/index\n", encoding="utf-8")
    (folder / "_static").symlink_to(ROOT / "_static")
    settings(folder)
    return folder


def test_a_warning_stops_the_build_and_leaves_no_site(tmp_path, capfd):
    book, output = small_book(tmp_path / "book", "\n\n".join(FAULTS)), tmp_path / "html"
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_no_site(tmp_path, number):
    output = tmp_path / "html"
    output.mkdir()
    (output / "index.html").write_text("the site of yesterday")
    command = [sys.executable, ROOT / "tools" / "build.py", "--output", output]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".building-*/_build")):  # the build is under way
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(number)
    _, message = process.communicate(timeout=30)
    assert process.returncode == 130
    assert message == f"build: stopped by {number.name}; no site was left behind\n"
    assert list(tmp_path.iterdir()) == []


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


# The commands around it


def test_serve_and_screenshots_say_that_there_is_no_site(tmp_path):
    command = [sys.executable, ROOT / "tools" / "screenshots.py", tmp_path, "--site", tmp_path / "gone"]
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert result.returncode == 1 and "run: make book" in result.stderr
