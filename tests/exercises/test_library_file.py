"""The reader's file on the disk: damaged, forbidden, written by two at once. A sentence, and the file as it was."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from exercise_cases import FUNCTIONS
from library_cases import SDPA, SOFTMAX, solved
from notebook_tools import unwrapped

from attnexercises import TODO, check, load, my_library, progress, reset, save, use
from attnexercises.own_library import change, on_disk
from attnexercises.own_library.definitions import defined

DAMAGED = {
    "not Python": (b"import numpy as np\ndef softmax(x:\n", "is not Python in line 2: "),
    "return outside": (b"return 3\n", "is not Python in line 1: 'return' outside function."),
    "not UTF-8": (b"import numpy as np\nname = '\xfc'\n", "is not a text in UTF-8. It is left as it is."),
    "not UTF-8, further down": (b"\n\n\nname = '\xfc'\n", "is not a text in UTF-8. It is left as it is."),
    "another encoding": ("# coding: latin-1\nname = 'ü'\n".encode("latin-1"), "is written in iso-8859-1, not in UTF-8."),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "is not a text in UTF-8. It is left as it is."),
    "zeros": (b"x = 1\n\x00\x00\n", "is not Python"),
    "nested too deeply": (b"x = " + b"(" * 5000 + b")" * 5000 + b"\n", "is not Python"),
    "stops": (b"import numpy as np\nnumpy_is_not_its_name = numpy.pi\n", "stops when it is imported: NameError: "),
    "ends Python": (b"raise SystemExit\n", "stops when it is imported: SystemExit"),
    "never ends": (b"while True:\n    pass\n", "is still running after "),
    "imports what is not there": (b"import no_such_package\n", "stops when it is imported: ModuleNotFoundError: "),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_gives_a_sentence_and_is_left_as_it_is(case, own_file, capsys, monkeypatch):
    monkeypatch.setattr("attnexercises.own_library.run.SECONDS", 0.2)
    data, words = DAMAGED[case]
    own_file.write_bytes(data)
    solved("softmax", SOFTMAX)
    capsys.readouterr()
    save("softmax")
    assert unwrapped(capsys.readouterr().out).startswith(f"Not saved: softmax. my_attention.py {words}")
    for call in (
        lambda: my_library("softmax"),
        lambda: load("softmax"),
        lambda: use("softmax", TODO),
        lambda: progress("softmax"),
        lambda: reset("softmax"),
    ):
        capsys.readouterr()
        call()
        assert f"my_attention.py {words}" in unwrapped(capsys.readouterr().out)
    assert own_file.read_bytes() == data and os.listdir(own_file.parent) == ["my_attention.py"]


def test_a_damaged_file_can_be_put_away(own_file, capsys):
    own_file.write_text("def")
    reset(saved=True, sure=True)
    assert capsys.readouterr().out == "Forgotten: everything.\nmy_attention.py is my_attention.1.py now.\n"
    assert os.listdir(own_file.parent) == ["my_attention.1.py"]


def test_a_folder_in_its_place(own_file, capsys):
    own_file.mkdir()
    solved("softmax", SOFTMAX)
    capsys.readouterr()
    save("softmax")
    assert capsys.readouterr().out == "Not saved: softmax. my_attention.py cannot be read: is a directory.\n"
    assert os.listdir(own_file.parent) == ["my_attention.py"] and os.listdir(own_file) == []


def test_no_folder_to_lie_in(own_file, capsys):
    own_file.parent.rmdir()
    solved("softmax", SOFTMAX)
    capsys.readouterr()
    save("softmax")
    said = unwrapped(capsys.readouterr().out)
    assert said == (
        "Not saved: softmax. my_attention.py cannot be written: no such file or directory. Nothing was changed."
    )


def test_the_folder_in_which_one_works_is_gone(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.delenv("ATTNLIB_LIBRARY")
    monkeypatch.chdir(folder)
    folder.rmdir()
    solved("softmax", SOFTMAX)
    assert "[x] softmax: " in capsys.readouterr().out
    save("softmax")
    assert "my_attention.py cannot be written: no such file or directory." in unwrapped(capsys.readouterr().out)


def forbidden(*args, **kwargs):
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize("what", ["os.open", "os.replace", "Path.read_bytes"])
def test_no_permission(what, own_file, capsys, monkeypatch):
    """As in a folder that may not be written to; root, as whom tests may run, may write anywhere."""
    solved("softmax", SOFTMAX)
    save("softmax")
    before = own_file.read_bytes()
    solved("softmax", SOFTMAX.replace("e = ", "e =  "))
    capsys.readouterr()
    with monkeypatch.context() as context:
        owner, name = what.split(".")
        context.setattr({"os": on_disk.os, "Path": Path}[owner], name, forbidden)
        save("softmax")
        said = unwrapped(capsys.readouterr().out)
        check("softmax", TODO)
    assert said.startswith("Not saved: softmax. my_attention.py cannot be ") and ": permission denied." in said
    assert own_file.read_bytes() == before
    kept = {"my_attention.1.py"} if what == "os.replace" else set()
    assert set(os.listdir(own_file.parent)) == {"my_attention.py"} | kept  # no lock, nothing temporary


def test_a_file_that_may_not_be_written_is_not_replaced(own_file, capsys, monkeypatch):
    own_file.write_text("import numpy as np\n")
    solved("softmax", SOFTMAX)
    capsys.readouterr()
    monkeypatch.setattr(on_disk.os, "access", lambda path, mode: False)
    save("softmax")
    assert "my_attention.py cannot be written: permission denied." in unwrapped(capsys.readouterr().out)
    assert own_file.read_text() == "import numpy as np\n"


def test_the_permissions_of_the_file_stay(own_file):
    own_file.write_text("import numpy as np\n")
    own_file.chmod(0o640)
    solved("softmax", SOFTMAX)
    save("softmax")
    assert "softmax" in own_file.read_text() and own_file.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(own_file, tmp_path):
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("")
    own_file.symlink_to(elsewhere)
    solved("softmax", SOFTMAX)
    save("softmax")
    assert own_file.is_symlink() and "softmax" in elsewhere.read_text()


# --- two at once ------------------------------------------------------------------------------------------


def test_what_another_notebook_saved_meanwhile_stays(own_file, monkeypatch, capsys):
    """It saves while this one tries its function from the new file."""
    solved("softmax", SOFTMAX)
    solved("sdpa", SOFTMAX + SDPA)
    save("softmax")
    tried = change._try_from_file

    def other_notebook_saves(id, *rest):
        tried(id, *rest)
        if id == "sdpa" and "by_another" not in own_file.read_text():
            own_file.write_text(own_file.read_text() + "\n\ndef by_another():\n    pass\n")

    monkeypatch.setattr(change, "_try_from_file", other_notebook_saves)
    save("sdpa")
    assert list(defined(own_file.read_text())) == ["np", "softmax", "by_another", "sdpa"]
    assert "Saved: sdpa" in capsys.readouterr().out


def test_two_processes_at_once_lose_nothing(own_file):
    code = """
import sys, time, numpy as np
from attnexercises import save
from attnexercises.own_library import accepted
from attnexercises.own_library import lock
from attnexercises.own_library.accepted import Accepted, Piece
from attnexercises.engine.registry import find
from attnexercises.reader.source import solution_source
lock.SECONDS = 10**6  # on a busy machine the other may have the file for long: wait all the same
for id in sys.argv[1:]:
    code = solution_source(find(id)) + "\\n"
    pieces = {id: Piece(id, code, ("np",)), "np": Piece("np", "import numpy as np\\n")}
    accepted._session[id] = Accepted(find(id).solution, pieces, id)
print("ready", flush=True)
sys.stdin.readline()
save()
"""
    ids = [exercise.id for exercise in FUNCTIONS if exercise.chapter in ("prerequisites", "softmax", "masks")]
    halves = ids[::2], ids[1::2]
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, *half], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
        )
        for half in halves
    ]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process, half in zip(both, halves, strict=True):
        said = process.communicate()[0]
        assert process.returncode == 0 and said.count("Saved: ") == len(half)
    assert sorted(defined(own_file.read_text())) == sorted([*ids, "np"])
    assert os.listdir(own_file.parent) == ["my_attention.py"]


def test_a_lock_that_was_left_behind_does_not_hold_for_ever(own_file, capsys):
    lock = own_file.with_name(".my_attention.py.lock")
    lock.touch()
    long_ago = time.time() - 60
    os.utime(lock, (long_ago, long_ago))
    solved("softmax", SOFTMAX)
    save("softmax")
    assert "Saved: softmax" in capsys.readouterr().out and os.listdir(own_file.parent) == ["my_attention.py"]
