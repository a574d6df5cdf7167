"""The zip file, unpacked and opened by a double click: chapters run without a network and without a server."""

import re
import subprocess
import sys
import zipfile

import pytest
from running import BEGUN, TEXTS, Running, expect, has_python
from watched import Watched

from tools.notebooks.compare import text
from tools.site import pack

CHAPTER = "chapters/01_softmax.html"


@pytest.fixture(scope="module")
def folder(site, tmp_path_factory):
    has_python(site)
    place = tmp_path_factory.mktemp("taken along")  # a blank in the path, as on many a desk
    pack.pack(site, place / "book.zip")
    with zipfile.ZipFile(place / "book.zip") as archive:
        archive.extractall(place)
    return place / "book"


@pytest.fixture
def disk(chromium, folder):
    with Watched(chromium, f"{folder.as_uri()}/", 1440) as watched:
        yield watched
        assert not watched.faults


def test_chapter_1_runs_whole_and_shows_what_is_stored(disk, record_property):
    running = Running(disk.open(CHAPTER))
    before = disk.page.evaluate(TEXTS)
    running.run_all()
    after = disk.page.evaluate(TEXTS)
    assert running.said == f"All {len(before) - 1} cells ran."
    assert {number: said for number, pair in enumerate(zip(before, after), start=1) if (said := text.difference(*pair))} == {}
    record_property("checked cells that run from a disk", len(after))


def test_stop_starts_python_anew_and_nothing_typed_is_lost(disk):
    running = Running(disk.open(CHAPTER))
    cell = running.cell(2)
    running.type(cell, "while True:\n    pass")
    cell.locator(".live-button").first.click()
    expect(cell.locator(".live-row > .live-said")).to_contain_text("running")
    cell.locator(".live-button").first.click()
    running.idle()
    assert "Python was started anew" in running.shown(cell)
    assert cell.locator("textarea").input_value() == "while True:\n    pass"
    assert "2" in running.run(cell, "print(1 + 1)")
    running = Running(disk.open(CHAPTER))  # what was typed last is still there
    assert running.cell(2).locator("textarea").input_value() == "print(1 + 1)"


def test_without_its_script_it_says_so(folder, chromium):
    (script,) = folder.glob("_static/live/course-*/offline.js")
    whole = script.read_bytes()
    script.unlink()
    try:
        with Watched(chromium, f"{folder.as_uri()}/", 1440) as watched:
            running = Running(watched.open(CHAPTER))
            running.run(running.cell(2))
            assert running.said == "The file offline.js is missing or broken: unpack the whole zip file again."
            script.write_bytes(whole)
            assert "mat" in running.run(running.cell(2), "print('mat')")
    finally:
        script.write_bytes(whole)


def test_start_py_serves_it_and_stop_keeps_variables(folder, chromium):
    process = subprocess.Popen([sys.executable, "-u", folder / "start.py", "--no-open"], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
        with Watched(chromium, address, 1440) as watched:
            running = Running(watched.open(CHAPTER))
            cell = running.cell(2)
            running.begin(cell, f"kept = 7\n{BEGUN}while True:\n    pass")
            cell.locator(".live-button").first.click()
            running.idle()
            assert "Stopped in line" in running.shown(cell)
            assert running.run(cell, "print(kept)").strip() == "7"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
