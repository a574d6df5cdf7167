"""The reader's own file as `use`, `load`, `progress`, `my_library` and `reset` see it."""

import os

import numpy as np
import pytest
from library_cases import SDPA, SOFTMAX, solved
from notebook_tools import unwrapped

from attnexercises import TODO, load, my_library, progress, reset, save, use
from attnexercises.engine.registry import find, registry
from attnexercises.own_library.definitions import defined, names_used
from attnexercises.reader import record

HELPED = "def top(x):\n    return x.max(axis=-1, keepdims=True)\n" + SOFTMAX.replace(
    "x.max(axis=-1, keepdims=True)", "top(x)"
)
WRONG = "def softmax(x):\n    return np.exp(x)\n"


@pytest.fixture
def saved(own_file, capsys):
    """A file with softmax, its helper, and sdpa, which uses it."""
    solved("softmax", HELPED)
    solved("sdpa", "from attnlib.softmax import softmax" + SDPA)
    save("softmax", "sdpa")
    capsys.readouterr()
    return own_file


@pytest.fixture
def spoilt(saved):
    """The same; softmax was changed by hand and does not pass any more."""
    saved.write_text(saved.read_text().replace("e / e.sum", "2 * e / e.sum"))
    return saved


def out(capsys):
    return unwrapped(capsys.readouterr().out)


# --- use, load --------------------------------------------------------------------------------------------


def test_use_takes_the_answer_then_the_saved_one_then_the_books(saved, capsys):
    right = find("softmax").solution
    assert use("softmax", right) is right and out(capsys) == ""
    mine = use("softmax", TODO)
    assert mine.__module__ == "my_attention" and np.allclose(mine(np.zeros(4)), 0.25)
    assert out(capsys) == "(From here on your softmax from my_attention.py is used.)"
    assert use("mha", TODO) is find("mha").solution
    assert out(capsys) == "(From here on the book's own mha is used, until yours passes.)"
    assert use("delta_sum", TODO) == 1051
    reset(saved=True, sure=True)
    assert use("softmax", TODO) is right


def test_use_does_not_take_a_saved_one_that_does_not_pass(spoilt, capsys):
    assert use("softmax", TODO) is find("softmax").solution
    assert out(capsys) == (
        "(The softmax in my_attention.py does not pass: my_library() says why.) "
        "(From here on the book's own softmax is used, until yours passes.)"
    )


def test_load_returns_yours_where_it_passes(saved, capsys):
    softmax, mha, gqa = load("softmax", "mha", "gqa")
    assert softmax.__module__ == "my_attention" and (mha, gqa) == (find("mha").solution, find("gqa").solution)
    assert out(capsys) == "Yours, from my_attention.py: softmax. The book's, until yours are saved: mha, gqa."
    assert load("sdpa").__name__ == "sdpa"
    with pytest.raises(ValueError, match="delta_sum is a value, not a function"):
        load("delta_sum")
    with pytest.raises(ValueError, match="Did you mean 'softmax'"):
        load("softmx")


def test_load_does_not_take_one_that_does_not_pass(spoilt, capsys):
    assert load("softmax") is find("softmax").solution
    assert out(capsys) == "The book's, as yours does not pass: softmax."


# --- my_library, progress ---------------------------------------------------------------------------------


def test_my_library_tests_the_functions_up_to_a_chapter(saved, capsys):
    my_library("softmax")
    assert capsys.readouterr().out.splitlines() == [
        "[ ] product_transpose: not saved yet",
        "[ ] linear_backward: not saved yet",
        "[ ] used_twice: not saved yet",
        f"[x] softmax: all {len(find('softmax').probes)} cases right",
        "[ ] softmax_backward: not saved yet",
        "[ ] score_table_step: not saved yet",
        "[ ] temperature_gradient: not saved yet",
        "my_attention.py: 1 of 7 functions; all pass.",
    ]
    my_library()
    functions = [id for id, exercise in registry().items() if not exercise.value]
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[")]
    assert [line[4:].split(":")[0] for line in lines] == functions
    with pytest.raises(ValueError, match="no chapter 'sofmax' with exercises; there are: prerequisites, softmax"):
        my_library("sofmax")


def test_my_library_says_what_is_wrong(spoilt, capsys):
    my_library("attention")
    said = out(capsys)
    assert "[!] softmax: every number is 2 times the right one." in said
    assert said.endswith("my_attention.py: 2 of 9 functions; 0 of them pass.")


@pytest.mark.parametrize("setting", ["off", "a file that is not there"])
def test_without_a_file_my_library_says_how_to_begin_one(setting, own_file, monkeypatch, capsys):
    if setting == "off":
        own_file.write_text("def")
        monkeypatch.setenv("ATTNLIB_LIBRARY", "OFF")
    my_library("softmax")
    assert out(capsys) == 'No file of your own yet. Once softmax passes, save("softmax") begins one.'
    my_library("attention")  # a function of this chapter, one of those that can be saved
    assert out(capsys) == (
        'No file of your own yet. Once sdpa passes, save("sdpa") begins one.'
    )


def test_progress_shows_what_is_saved_and_whether_the_file_passes(saved, capsys):
    progress("attention")
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split()[-3:] == ["saved", "last", "message"]
    assert [row.split()[1] for row in rows if " yes " in row] == ["sdpa"]
    assert last == "my_attention.py: 2 of 9 functions; all pass."
    reset(saved=True, sure=True)
    capsys.readouterr()
    progress("attention")
    assert "saved" not in out(capsys)


# --- reset ------------------------------------------------------------------------------------------------


def test_reset_leaves_the_file_and_says_so(saved, capsys):
    before = saved.read_bytes()
    reset("softmax")
    assert out(capsys) == (
        "Forgotten: softmax. my_attention.py is as it was, with softmax in it: "
        'reset("softmax", saved=True) would change it, and keep a copy.'
    )
    reset(sure=True)
    assert out(capsys) == (
        "Forgotten: everything. my_attention.py is as it was: reset(saved=True) would change it, and keep a copy."
    )
    reset("mha")
    assert out(capsys) == "Forgotten: mha."
    assert saved.read_bytes() == before and os.listdir(saved.parent) == ["my_attention.py"]
    save("softmax")
    assert "It has not passed in this session" in out(capsys)  # forgotten, too


def test_reset_takes_a_function_out_with_its_helpers_and_keeps_the_file(saved, capsys):
    full = saved.read_bytes()
    reset("softmax", saved=True)
    assert out(capsys) == "Forgotten: softmax. my_attention.py is as it was: sdpa in it uses softmax."
    assert saved.read_bytes() == full
    reset("sdpa", saved=True)
    assert out(capsys) == (
        "Forgotten: sdpa. sdpa is taken out of my_attention.py; the file with it is my_attention.1.py."
    )
    assert list(defined(saved.read_text())) == ["np", "top", "softmax"]
    assert (saved.parent / "my_attention.1.py").read_bytes() == full
    reset("softmax", saved=True)
    assert list(defined(saved.read_text())) == ["np"]
    assert sorted(os.listdir(saved.parent)) == ["my_attention.1.py", "my_attention.2.py", "my_attention.py"]


def test_reset_of_everything_puts_the_file_away(saved, capsys):
    full = saved.read_bytes()
    reset(saved=True)
    assert out(capsys) == (
        "This would forget the progress of all exercises (2 tried, 2 of them solved), and take my_attention.py away, "
        "with a copy. If you are sure: reset(saved=True, sure=True)"
    )
    assert saved.read_bytes() == full and record.load()["softmax"]["state"] == "passed"
    reset(saved=True, sure=True)
    assert out(capsys) == "Forgotten: everything. my_attention.py is my_attention.1.py now."
    assert os.listdir(saved.parent) == ["my_attention.1.py"]
    assert (saved.parent / "my_attention.1.py").read_bytes() == full


def test_reset_does_not_take_out_what_was_written_by_hand(own_file, capsys):
    text = f"import numpy as np\n{WRONG}"
    own_file.write_text(text)
    reset("softmax", saved=True)
    assert out(capsys) == "Forgotten: softmax. my_attention.py is as it was: its softmax was written by hand."
    assert own_file.read_text() == text


def test_reset_does_not_break_what_was_written_by_hand(saved, capsys):
    reset("sdpa", saved=True)
    saved.write_text(saved.read_text() + "\nrows = softmax\n")
    before = saved.read_bytes()
    capsys.readouterr()
    reset("softmax", saved=True)
    assert out(capsys).endswith("is as it was: something that you have written there uses softmax.")
    assert saved.read_bytes() == before


def test_names_are_found_wherever_they_are_used():
    source = "@deco\ndef f(x, n=N) -> A:\n    y = [g(i) for i in x]\n    class B(C):\n        d = D\n    return lambda: h(y)\n"
    assert names_used(source) == ["A", "C", "D", "N", "deco", "g", "h"]
