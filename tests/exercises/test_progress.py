"""What the course remembers of a reader's tries: `progress`, `reset`, and the file, whoever may write it or not."""

import json
import os
import subprocess
import sys

import pytest
from notebook_tools import unwrapped
from reader_cases import no_shift, out

from attnexercises import TODO, check, hint, progress, reset
from attnexercises.engine.registry import find, registry
from attnexercises.reader import record


def rows(capsys, *args):
    progress(*args)
    return out(capsys).splitlines()


def test_progress_starts_empty_and_lists_every_exercise_in_the_order_of_the_book(capsys):
    lines = rows(capsys)
    count = len(registry())
    assert [line.split()[1] for line in lines[1 : count + 1]] == list(registry())
    assert all("not attempted" in line for line in lines[1 : count + 1])
    assert lines[0].split() == ["chapter", "exercise", "level", "state", "tries", "hints", "last", "message"]
    assert unwrapped(" ".join(lines[count + 1 :])).startswith(f"0 of {count} solved. Next: matrix_shapes, ")


def test_progress_counts_tries_and_hints_and_is_kept_in_the_file(progress_file, capsys):
    check("softmax", TODO)
    assert not progress_file.exists()
    check("softmax", no_shift)
    hint("softmax")
    out(capsys)
    (line,) = [line for line in rows(capsys, "softmax") if "easy" in line]
    assert line.split()[2:8] == ["easy", "wrong", "1", "1", "on", "the"] and line.endswith("…")
    check("softmax", find("softmax").solution)
    check("softmax", no_shift)
    out(capsys)
    (line,) = [line for line in rows(capsys, "softmax") if "easy" in line]
    assert line.split()[2:6] == ["easy", "solved", "3", "1"]  # passed once is passed
    data = json.loads(progress_file.read_text())
    assert data["version"] == 1 and data["exercises"]["softmax"]["tries"] == 3
    assert os.listdir(progress_file.parent) == ["progress.json"]  # no temporary file is left


def test_progress_of_an_unknown_chapter_is_told():
    with pytest.raises(ValueError, match="no chapter 'sofmax' with exercises; there are: prerequisites, softmax"):
        progress("sofmax")


def test_reset_forgets_one_or_all(progress_file, capsys):
    check("softmax", no_shift)
    check("delta_sum", 3)
    reset("softmax")
    assert set(record.load()) == {"delta_sum"}
    assert out(capsys).endswith("Forgotten: softmax.\n")
    reset()
    assert set(record.load()) == {"delta_sum"}
    assert unwrapped(out(capsys)) == (
        "This would forget the progress of all exercises (1 tried, 0 of them solved). If you are sure: reset(sure=True)"
    )
    reset(sure=True)
    assert record.load() == {}
    reset()
    assert out(capsys) == "Forgotten: everything.\nThere is no progress to forget.\n"
    with pytest.raises(ValueError, match="Did you mean 'softmax'"):
        reset("softmx")


def test_reset_asks_no_question_and_forgets_everything_only_with_sure(progress_file, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("nobody may be there to answer"))
    check("softmax", no_shift)
    for options in ({}, {"saved": True}, {"sure": False}):
        reset(**options)
        assert set(record.load()) == {"softmax"}
    reset(sure=True)
    assert record.load() == {}


def test_without_a_file_progress_lasts_as_long_as_the_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check("softmax", no_shift)
    assert record.load()["softmax"]["tries"] == 1
    assert os.listdir(tmp_path) == []


def test_two_sessions_do_not_overwrite_each_other(progress_file):
    check("softmax", no_shift)
    record._memory.clear()  # another session knows nothing of this one
    check("delta_sum", 3)
    assert set(record.load()) == {"softmax", "delta_sum"}


AT_ONCE = """
import sys
from attnexercises import check
from attnexercises.own_library import lock
lock.SECONDS = 10**6  # on a busy machine the others may have the file for long: wait all the same
print("ready", flush=True)
sys.stdin.readline()
for _ in range(15):
    check(sys.argv[1], 1)
"""


def test_kernels_at_work_at_once_lose_no_try(progress_file):
    sessions = [
        subprocess.Popen([sys.executable, "-c", AT_ONCE, id], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for id in ("delta_sum", "delta_sum", "vjp_cost")
    ]
    for session in sessions:
        assert session.stdout.readline() == "ready\n"
    for session in sessions:
        session.stdin.write("go\n")
        session.stdin.flush()
    for session in sessions:
        session.communicate()
        assert session.returncode == 0
    assert {id: entry["tries"] for id, entry in record.load().items()} == {"delta_sum": 30, "vjp_cost": 15}
    assert os.listdir(progress_file.parent) == ["progress.json"]


def test_a_lock_that_a_dead_session_left_is_broken(progress_file):
    check("delta_sum", 1)
    lock = progress_file.with_name(f".{progress_file.name}.lock")
    lock.touch()
    os.utime(lock, (0, 0))
    check("delta_sum", 1)
    assert record.load()["delta_sum"]["tries"] == 2 and not lock.exists()


BROKEN = {
    "empty": "",
    "not JSON": "{",
    "a list": "[]",
    "no table": "{}",
    "the table is a list": '{"exercises": []}',
    "an entry is a number": '{"exercises": {"softmax": 3}}',
    "hints are a number": '{"exercises": {"softmax": {"hints": 3}}}',
    "tries are a word": '{"exercises": {"softmax": {"tries": "x"}}}',
    "tries are true": '{"exercises": {"softmax": {"tries": true}}}',
    "tries are negative": '{"exercises": {"softmax": {"tries": -1}}}',
    "hints of several kinds": '{"exercises": {"softmax": {"hints": [1, "2"]}}}',
    "hints are lists": '{"exercises": {"softmax": {"hints": [[1]]}}}',
    "a state that is a list": '{"exercises": {"softmax": {"state": ["passed"]}}}',
    "another state": '{"exercises": {"softmax": {"state": "done"}}}',
    "a good entry and a bad one": '{"exercises": {"softmax": {"tries": 3}, "sdpa": {"tries": 1.5}}}',
    "no number": '{"exercises": {"softmax": {"tries": NaN}}}',
    "not UTF-8": b"\xff\xfe\x00",
    "deeply nested": "[" * 100_000,
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_kept_aside_and_a_new_one_begun(case, progress_file, capsys):
    progress_file.parent.mkdir()
    content = BROKEN[case] if isinstance(BROKEN[case], bytes) else BROKEN[case].encode()
    for number in (1, 2):
        progress_file.write_bytes(content)
        check("softmax", no_shift)
        text = out(capsys)
        assert text.startswith("[!] softmax: on the case")
        assert f"it is kept as progress.json.unreadable-{number}, and a new one is begun." in text
        assert (progress_file.parent / f"progress.json.unreadable-{number}").read_bytes() == content
        assert record.load()["softmax"]["tries"] == 1
        progress_file.unlink()


def test_an_entry_from_another_version_is_completed(progress_file):
    progress_file.parent.mkdir()
    progress_file.write_text('{"exercises": {"softmax": {"tries": 4, "more": 1}, "gone": {}}}')
    check("softmax", no_shift)
    assert record.load()["softmax"]["tries"] == 5 and "gone" in record.load()


@pytest.mark.parametrize("obstacle", ["the folder is a file", "the file is a folder"])
def test_a_file_that_cannot_be_written_does_not_stop_a_check(obstacle, progress_file, capsys):
    if obstacle == "the folder is a file":
        progress_file.parent.write_text("")
    else:
        progress_file.mkdir(parents=True)
    check("softmax", no_shift)
    check("softmax", no_shift)
    text = out(capsys)
    assert text.count("[!] softmax: on the case") == 2
    assert text.count("Progress is not saved in this session") == 1
    assert record.load()["softmax"]["tries"] == 2


def test_a_session_that_moves_keeps_to_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "_started_in", str(tmp_path))
    monkeypatch.setenv("ATTNLIB_PROGRESS", "mine/progress.json")
    for folder in (tmp_path, tmp_path.parent):
        monkeypatch.chdir(folder)
        check("softmax", no_shift)
    assert record.load()["softmax"]["tries"] == 2
    assert os.listdir(tmp_path) == ["mine"]


def test_a_folder_that_is_gone_or_may_not_be_written_stops_no_check(tmp_path, monkeypatch, capsys):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    monkeypatch.setenv("ATTNLIB_PROGRESS", "/proc/nowhere/progress.json")
    check("softmax", no_shift)
    check("softmax", no_shift)
    text = out(capsys)
    assert text.count("[!] softmax: on the case") == 2
    assert text.count("Progress is not saved in this session") == 1
    assert record.load()["softmax"]["tries"] == 2


def test_a_full_disk_leaves_the_old_file(progress_file, monkeypatch, capsys):
    check("softmax", no_shift)
    before = progress_file.read_text()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.json, "dump", full)
    check("softmax", no_shift)
    assert "(Progress is not saved in this session: progress.json: No space left on device." in out(capsys)
    assert progress_file.read_text() == before and os.listdir(progress_file.parent) == ["progress.json"]


def test_the_file_lies_where_the_system_keeps_state(monkeypatch, tmp_path):
    monkeypatch.delenv("ATTNLIB_PROGRESS")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert record.location() == tmp_path / "attnlib" / "progress.json"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert record.location() == tmp_path / ".local" / "state" / "attnlib" / "progress.json"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert record.location() == tmp_path / "Local" / "attnlib" / "progress.json"
