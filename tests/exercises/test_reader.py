"""What a reader calls: check, hint, solution, use, progress, reset; and the file that remembers."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from notebook_tools import unwrapped

from attnlib.exercises import TODO, check, grade, hint, progress, reset, solution, use
from attnlib.exercises.engine import record
from attnlib.exercises.engine.reader import say
from attnlib.exercises.engine.registry import find, registry


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "state" / "progress.json"
    monkeypatch.setenv("ATTNLIB_PROGRESS", str(path))
    return path


CASES = len(find("softmax").probes)


def out(capsys):
    return capsys.readouterr().out


def no_shift(x):
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)


# --- check ------------------------------------------------------------------------------------------------


def test_check_prints_one_line_when_unattempted_and_returns_nothing(capsys):
    assert check("softmax", TODO) is None
    assert out(capsys) == "[ ] softmax: not attempted yet\n"


def test_check_prints_the_pass_and_an_insight(capsys):
    check("softmax", find("softmax").solution)
    assert out(capsys) == (
        f"[x] softmax: all {CASES} cases right\n"
        "    A shift that changes nothing on paper decides whether the computer gets\n"
        "    an answer at all. Compare with the book's: solution(\"softmax\")\n"
        "    Next: softmax_backward, \"The gradient without the matrix\", in this\n"
        "    chapter.\n"
    )


def test_check_prints_the_mistake_the_place_and_the_hint(capsys):
    check("softmax", no_shift)
    assert out(capsys) == (
        '[!] softmax: on the case "large scores", NaN in 12 of 12 numbers. Large\n'
        "    exponents overflow: shift each row by its maximum before `exp`.\n"
        f"    {CASES - 4} of {CASES} cases right; wrong: large scores; rows far apart; one huge score\n"
        "    and 1 more.\n"
        '    For help: hint("softmax", 2)\n'
        '    Smallest case that goes wrong, case("softmax"), from "large scores":\n'
        "      x         (1,)  [998.]\n"
        "      expected  (1,)  [1.]\n"
        "      got       (1,)  [nan]\n"
    )


@pytest.mark.parametrize("answer", [TODO, no_shift])
def test_strict_mode_raises_for_anything_but_a_pass(answer, monkeypatch, capsys):
    monkeypatch.setenv("ATTNLIB_STRICT", "1")
    with pytest.raises(AssertionError, match="softmax: "):
        check("softmax", answer)
    check("softmax", find("softmax").solution)
    monkeypatch.setenv("ATTNLIB_STRICT", "0")
    check("softmax", answer)


# --- hint, solution, use ----------------------------------------------------------------------------------


def test_hints_come_one_after_the_other(capsys):
    hints = find("softmax").hints
    for number in (1, 2, 3):
        hint("softmax")
        assert unwrapped(out(capsys)) == f"Hint {number} of 3: {hints[number - 1]}"
    hint("softmax")
    text = unwrapped(out(capsys))
    assert text.startswith("You have seen all 3 hints") and text.endswith(f"Hint 3 of 3: {hints[2]}")


FITS = '(Hint 2 is about the mistake of your last try: hint("softmax", 2).)'


def test_a_teacher_can_turn_hints_and_solutions_off(capsys, monkeypatch):
    monkeypatch.setenv("ATTNLIB_HINTS", "Off")
    check("softmax", no_shift)
    check("softmax", find("softmax").solution)
    said = out(capsys)
    assert "[!] softmax" in said and "[x] softmax" in said and "hint" not in said and "solution" not in said
    hint("softmax")
    solution("softmax", really=True)
    assert out(capsys) == 2 * "Hints and solutions are turned off here.\n"
    monkeypatch.setenv("ATTNLIB_HINTS", "on")
    hint("softmax", 1)
    assert out(capsys).startswith("Hint 1 of 3")


def test_hints_come_in_order_after_a_mistake_too_and_the_one_that_fits_is_named(capsys):
    check("softmax", no_shift)
    out(capsys)
    hint("softmax")
    text = unwrapped(out(capsys))
    assert text.startswith("Hint 1 of 3") and text.endswith(FITS)
    for number in (2, 3):  # the one that fits, and one after it
        hint("softmax")
        text = unwrapped(out(capsys))
        assert text.startswith(f"Hint {number} of 3") and FITS not in text


def test_a_hint_that_was_asked_for_by_its_number_is_not_named_again(capsys):
    check("softmax", no_shift)
    hint("softmax", 2)
    assert FITS not in unwrapped(out(capsys))
    for number in (1, 3):
        hint("softmax")
        text = unwrapped(out(capsys))
        assert text.startswith(f"Hint {number} of 3") and FITS not in text


def no_keepdims(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1)


def test_the_last_hint_is_named_only_after_all_others(capsys):
    check("softmax", no_keepdims)  # hint 3 fits, and it is almost the answer
    assert unwrapped(out(capsys)).count('For help: hint("softmax") Smallest') == 1
    hint("softmax")
    assert "your last try" not in unwrapped(out(capsys))
    hint("softmax")
    assert unwrapped(out(capsys)).endswith('(Hint 3 is about the mistake of your last try: hint("softmax", 3).)')


@pytest.mark.parametrize("id", registry())
def test_no_message_offers_the_last_hint(id):
    exercise = find(id)
    for mistake in exercise.mistakes:
        answer = exercise.family(frozenset({mistake.id}))
        assert f'hint("{id}", {len(exercise.hints)})' not in grade(id, answer() if exercise.value else answer).lines[-1]


def test_no_hint_is_named_before_a_try_or_after_a_pass(capsys):
    hint("softmax")
    check("softmax", no_shift)
    check("softmax", find("softmax").solution)
    hint("softmax")
    assert "last try" not in out(capsys)


@pytest.mark.parametrize("n", [0, 4, -1, True, "2", 1.0])
def test_a_hint_that_does_not_exist_is_told(n, capsys):
    hint("softmax", n)
    assert out(capsys) == "softmax has 3 hints: ask for 1 to 3.\n"


def test_the_solution_comes_after_a_try(capsys):
    solution("softmax")
    assert out(capsys) == (
        "softmax is not attempted yet. To see the solution all the same:\n"
        'solution("softmax", really=True)\n'
    )  # fmt: skip
    check("softmax", TODO)
    solution("softmax")
    assert "softmax is not attempted yet" in out(capsys)
    solution("softmax", really=True)
    assert out(capsys).startswith("def softmax(x):\n    shifted = ")
    check("softmax", no_shift)
    out(capsys)
    solution("softmax")
    text = out(capsys)
    assert text.startswith("def softmax(x):\n") and unwrapped(text).endswith(find("softmax").why)


def test_use_keeps_a_right_answer_and_replaces_any_other(capsys):
    def mine(x):
        return find("softmax").solution(x)

    assert use("softmax", mine) is mine
    assert out(capsys) == ""
    for answer in (TODO, no_shift, None):
        assert use("softmax", answer) is find("softmax").solution
        assert out(capsys) == "(From here on the book's own softmax is used, until yours passes.)\n"
    assert use("delta_sum", 1051.0) == 1051.0
    assert use("delta_sum", TODO) == 1051
    assert use("matrix_shapes", (1, 2)) == (2, 3, 4)


def test_use_does_not_count_as_a_try_and_is_not_strict(file, monkeypatch):
    monkeypatch.setenv("ATTNLIB_STRICT", "1")
    use("softmax", no_shift)
    assert not file.exists()


# --- progress ---------------------------------------------------------------------------------------------


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


def test_progress_counts_tries_and_hints_and_is_kept_in_the_file(file, capsys):
    check("softmax", TODO)
    assert not file.exists()
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
    data = json.loads(file.read_text())
    assert data["version"] == 1 and data["exercises"]["softmax"]["tries"] == 3
    assert os.listdir(file.parent) == ["progress.json"]  # no temporary file is left


def test_progress_of_an_unknown_chapter_is_told():
    with pytest.raises(ValueError, match="no chapter 'sofmax' with exercises; there are: prerequisites, softmax"):
        progress("sofmax")


def test_reset_forgets_one_or_all(file, capsys):
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


def test_without_a_file_progress_lasts_as_long_as_the_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check("softmax", no_shift)
    assert record.load()["softmax"]["tries"] == 1
    assert os.listdir(tmp_path) == []


def test_two_sessions_do_not_overwrite_each_other(file):
    check("softmax", no_shift)
    record._memory.clear()  # another session knows nothing of this one
    check("delta_sum", 3)
    assert set(record.load()) == {"softmax", "delta_sum"}


def test_kernels_at_work_at_once_lose_no_try(file):
    code = "from attnlib.exercises import check\nfor _ in range(40): check({!r}, 1)"
    sessions = [
        subprocess.Popen([sys.executable, "-c", code.format(id)], stdout=subprocess.DEVNULL)
        for id in ("delta_sum", "delta_sum", "vjp_cost")
    ]
    assert [session.wait(timeout=120) for session in sessions] == [0, 0, 0]
    assert {id: entry["tries"] for id, entry in record.load().items()} == {"delta_sum": 80, "vjp_cost": 40}
    assert os.listdir(file.parent) == ["progress.json"]


def test_a_lock_that_a_dead_session_left_is_broken(file):
    check("delta_sum", 1)
    lock = file.with_name(f".{file.name}.lock")
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
def test_a_broken_file_is_kept_aside_and_a_new_one_begun(case, file, capsys):
    file.parent.mkdir()
    content = BROKEN[case] if isinstance(BROKEN[case], bytes) else BROKEN[case].encode()
    for number in (1, 2):
        file.write_bytes(content)
        check("softmax", no_shift)
        text = out(capsys)
        assert text.startswith("[!] softmax: on the case")
        assert f"it is kept as progress.json.unreadable-{number}, and a new one is begun." in text
        assert (file.parent / f"progress.json.unreadable-{number}").read_bytes() == content
        assert record.load()["softmax"]["tries"] == 1
        file.unlink()


def test_an_entry_from_another_version_is_completed(file):
    file.parent.mkdir()
    file.write_text('{"exercises": {"softmax": {"tries": 4, "more": 1}, "gone": {}}}')
    check("softmax", no_shift)
    assert record.load()["softmax"]["tries"] == 5 and "gone" in record.load()


@pytest.mark.parametrize("obstacle", ["the folder is a file", "the file is a folder"])
def test_a_file_that_cannot_be_written_does_not_stop_a_check(obstacle, file, capsys):
    if obstacle == "the folder is a file":
        file.parent.write_text("")
    else:
        file.mkdir(parents=True)
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


def test_a_full_disk_leaves_the_old_file(file, monkeypatch, capsys):
    check("softmax", no_shift)
    before = file.read_text()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.json, "dump", full)
    check("softmax", no_shift)
    assert "(Progress is not saved in this session: progress.json: No space left on device." in out(capsys)
    assert file.read_text() == before and os.listdir(file.parent) == ["progress.json"]


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


def test_a_session_as_a_reader_has_it(tmp_path):
    """In an interpreter of its own, with a file of its own."""
    code = """
import numpy as np
from attnlib.exercises import TODO, check, hint, solution, use, progress, reset
def softmax(x):
    shifted = TODO
    exponentials = TODO
    return TODO
check("softmax", softmax)
softmax = use("softmax", softmax)
check("softmax", softmax)
"""
    environment = {**os.environ, "ATTNLIB_PROGRESS": str(tmp_path / "p.json")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[:3] == [
        "[ ] softmax: not attempted yet",
        "(From here on the book's own softmax is used, until yours passes.)",
        f"[x] softmax: all {CASES} cases right",
    ]
    assert json.loads((tmp_path / "p.json").read_text())["exercises"]["softmax"]["state"] == "passed"


# --- Lines ------------------------------------------------------------------------------------------------


def test_no_line_is_so_wide_that_jupyterlab_would_break_a_word(capsys):
    say("[!] softmax: " + "word " * 40 + "a-hyphen", "    " + "x " * 60 + "0.1", "z" * 100)
    lines = out(capsys).splitlines()
    assert max(map(len, lines[:-1])) <= 76 and lines[-1] == "z" * 100
    assert unwrapped("\n".join(lines)) == unwrapped("[!] softmax: " + "word " * 40 + "a-hyphen " + "x " * 60 + "0.1 " + "z" * 100)
    assert all(line.startswith("    ") for line in lines[1:-1]) and not any(line.endswith("-") for line in lines)
