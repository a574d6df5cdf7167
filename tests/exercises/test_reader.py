"""What a reader calls: check, hint, solution, use."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from notebook_tools import unwrapped
from reader_cases import no_shift, out

from attnexercises import TODO, check, hint, solution, use
from attnexercises.engine.registry import find
from attnexercises.reader.commands import say

CASES = len(find("softmax").probes)


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
        f"    {CASES - 4} of {CASES} cases right; wrong: \"large scores\", \"rows far apart\" and 2 more.\n"
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
    assert unwrapped(out(capsys)).count('For help: hint("softmax") Failing case in short') == 1
    hint("softmax")
    assert "your last try" not in unwrapped(out(capsys))
    hint("softmax")
    assert unwrapped(out(capsys)).endswith('(Hint 3 is about the mistake of your last try: hint("softmax", 3).)')


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


def test_use_does_not_count_as_a_try_and_is_not_strict(progress_file, monkeypatch):
    monkeypatch.setenv("ATTNLIB_STRICT", "1")
    use("softmax", no_shift)
    assert not progress_file.exists()


def test_a_session_as_a_reader_has_it(tmp_path):
    """In an interpreter of its own, with a file of its own."""
    code = """
import numpy as np
from attnexercises import TODO, check, hint, solution, use, progress, reset
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
