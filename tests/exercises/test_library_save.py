"""Saving: what passed and nothing else, a copy of what is replaced, and the reader's own lines as they were."""

import os
import sys

import nbformat
import pytest
from library_cases import SDPA, SOFTMAX, Notebook, solved
from notebook_tools import run_in_kernel, unwrapped

from attnexercises import TODO, check, save
from attnexercises.own_library.definitions import defined

OTHER = SOFTMAX.replace("axis=-1, keepdims=True)\n", "axis=-1, keepdims=True)  # rows sum to one\n")
WRONG = "\ndef softmax(x):\n    return np.exp(x)\n"


def saved(capsys, *ids):
    """What `save` says."""
    capsys.readouterr()
    save(*ids)
    return unwrapped(capsys.readouterr().out)


def files(own_file):
    return sorted(os.listdir(own_file.parent))


def test_the_check_says_how_to_keep_an_answer(own_file, capsys):
    notebook = solved("softmax", SOFTMAX)
    assert '\n    To keep it in my_attention.py: save("softmax")\n' in capsys.readouterr().out
    notebook.run('save("softmax")')
    notebook.passes("softmax", SOFTMAX)
    assert "\n    my_attention.py has it.\n" in capsys.readouterr().out
    notebook.passes("softmax", OTHER)
    said = unwrapped(capsys.readouterr().out)
    assert 'my_attention.py has another one. To keep this one instead: save("softmax") Next: ' in said


def test_the_check_sees_that_a_helper_has_changed(own_file, capsys):
    helper = "def top(x):\n    return x.max(axis=-1, keepdims=True)\n"
    answer = SOFTMAX.replace("x.max(axis=-1, keepdims=True)", "top(x)")
    solved("softmax", helper + answer)
    save("softmax")
    solved("softmax", helper.replace("x.max(", "np.asarray(x).max(") + answer)
    assert "my_attention.py has another one" in unwrapped(capsys.readouterr().out)


@pytest.mark.parametrize("value", [1051.0, TODO, 3])
def test_the_check_of_a_value_and_of_what_does_not_pass_says_nothing_of_the_file(value, own_file, capsys):
    check("delta_sum", value)
    check("softmax", lambda x: x)
    assert "my_attention" not in capsys.readouterr().out


def test_a_function_is_written_with_its_docstring_and_comments(own_file):
    solved("softmax", OTHER)
    save("softmax")
    text = own_file.read_text()
    assert text.startswith('"""My own attention, from the exercises of "Attention, Derived".')
    assert text.count("import numpy as np") == 1
    assert text.endswith(f"\n\n\n# saved: softmax{OTHER}")


def test_what_has_not_passed_or_is_a_value_is_not_saved(own_file, capsys):
    assert saved(capsys) == "No function has passed in this session: there is nothing to save yet."
    said = "Not saved: softmax. It has not passed in this session: run its cell again first."
    assert saved(capsys, "softmax") == said
    notebook = Notebook()
    notebook.run(f'{WRONG}check("softmax", softmax)')
    assert saved(capsys, "softmax") == said
    check("delta_sum", 1051.0)
    assert saved(capsys, "delta_sum") == "Not saved: delta_sum. Its answer is a value; only functions are saved."
    with pytest.raises(ValueError, match="Did you mean 'softmax'"):
        save("softmx")
    assert files(own_file) == []


def test_off_writes_nothing_and_offers_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    solved("softmax", SOFTMAX)
    assert "save" not in capsys.readouterr().out
    assert saved(capsys, "softmax") == "Nothing is saved: ATTNLIB_LIBRARY is off."
    assert os.listdir(tmp_path) == []


def test_without_a_setting_the_file_lies_where_one_works(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("ATTNLIB_LIBRARY")
    monkeypatch.chdir(tmp_path)
    solved("softmax", SOFTMAX)
    save("softmax")
    monkeypatch.syspath_prepend(str(tmp_path))
    import my_attention

    assert my_attention.softmax.__module__ == "my_attention"
    solved("sdpa", SOFTMAX + SDPA)
    save("sdpa")
    import my_attention  # noqa: F811  the module of the old file is forgotten

    assert my_attention.sdpa
    del sys.modules["my_attention"]


# --- what passed, and not what came later -----------------------------------------------------------------


@pytest.mark.parametrize("later", [WRONG, OTHER], ids=["a wrong one", "another right one"])
def test_what_passed_is_saved_not_what_the_name_means_later(later, own_file, capsys):
    notebook = solved("softmax", SOFTMAX)
    notebook.run(later)
    said = saved(capsys, "softmax")
    assert said.endswith("(The softmax of the notebook is another one by now; saved is the one that passed.)")
    assert defined(own_file.read_text())["softmax"] == SOFTMAX.lstrip()


def test_a_helper_is_saved_as_it_was_when_the_answer_passed(own_file, capsys):
    helper = "def top(x):\n    return x.max(axis=-1, keepdims=True)\n"
    notebook = solved("softmax", helper + SOFTMAX.replace("x.max(axis=-1, keepdims=True)", "top(x)"))
    notebook.run("def top(x):\n    return 0")
    assert saved(capsys, "softmax") == "Saved: softmax with top, in my_attention.py, a new file in the folder course."
    assert defined(own_file.read_text())["top"] == helper


@pytest.mark.parametrize("later", ["from attnlib.softmax import softmax", SOFTMAX, "softmax = 3"])
def test_a_name_that_is_imported_or_run_again_has_not_changed(later, own_file, capsys):
    notebook = solved("softmax", SOFTMAX)
    notebook.run(later)
    assert saved(capsys, "softmax") == "Saved: softmax, in my_attention.py, a new file in the folder course."


def test_in_a_kernel_the_source_of_a_cell_is_found(tmp_path):
    cells = [
        "import numpy as np\nfrom attnexercises import check, save, my_library",
        "def top(x):\n    return x.max(axis=-1, keepdims=True)",
        SOFTMAX.replace("x.max(axis=-1, keepdims=True)", "top(x)") + 'check("softmax", softmax)',
        "def softmax(x):\n    return x",
        'save("softmax")',
        "import my_attention\nprint(my_attention.softmax(np.zeros(2)))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    run_in_kernel(notebook, tmp_path, ATTNLIB_LIBRARY=str(tmp_path / "my_attention.py"))
    said = [unwrapped("".join(output.text for output in cell.outputs)) for cell in notebook.cells]
    assert 'To keep it in my_attention.py: save("softmax") Next: ' in said[2]
    assert said[4].startswith("Saved: softmax with top, in my_attention.py, a new file in the folder ")
    assert said[4].endswith("saved is the one that passed.)") and said[5] == "[0.5 0.5]"


# --- what was there ---------------------------------------------------------------------------------------


def test_a_changed_function_replaces_the_old_one_and_the_old_file_is_kept(own_file, capsys):
    solved("softmax", SOFTMAX)
    save("softmax")
    first = own_file.read_bytes()
    solved("softmax", OTHER)
    assert saved(capsys, "softmax") == (
        "Saved: softmax, in my_attention.py. The file as it was before is my_attention.1.py."
    )
    assert (own_file.parent / "my_attention.1.py").read_bytes() == first
    assert own_file.read_text() == first.decode().replace(SOFTMAX, OTHER)
    second = own_file.read_bytes()
    solved("softmax", SOFTMAX)
    save("softmax")
    assert own_file.read_bytes() == first
    assert (own_file.parent / "my_attention.2.py").read_bytes() == second
    assert files(own_file) == ["my_attention.1.py", "my_attention.2.py", "my_attention.py"]


def test_an_added_function_needs_no_copy(own_file):
    solved("softmax", SOFTMAX)
    save("softmax")
    before = own_file.read_text()
    solved("sdpa", SOFTMAX + SDPA)
    save("sdpa")
    assert own_file.read_text() == f"{before}\n\n# saved: sdpa{SDPA}"
    assert files(own_file) == ["my_attention.py"]


BY_HAND = '''from __future__ import annotations

import sys  # mine


def greet():  # not an exercise
    return "\\x0c hello \N{LINE SEPARATOR}"


# saved: softmax
def softmax(x):
    return x  # spoilt by hand


if greet():
    table = {}
    table["softmax"] = softmax
print("here")   # and no line end'''


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_lines_of_ones_own_stay_to_the_byte(ending, mark, own_file, capsys):
    own_file.write_bytes(mark + BY_HAND.replace("\n", ending).encode())
    solved("softmax", SOFTMAX)
    save("softmax")
    new = "\r\n" if ending == "\r\n" else "\n"
    expected = BY_HAND.replace("def softmax(x):\n    return x  # spoilt by hand\n", "#").replace("\n", ending)
    expected = expected.replace("import sys  # mine" + ending, f"import sys  # mine{ending}import numpy as np{new}")
    expected = expected.replace("# saved: softmax" + ending, "# saved: softmax" + new)
    expected = expected.replace("#" + ending + ending + "if", SOFTMAX[1:].replace("\n", new) + ending + ending + "if")
    assert own_file.read_bytes() == mark + expected.encode()
    assert "here" not in capsys.readouterr().out  # what the file prints when it is tried is not shown


def test_a_function_of_ones_own_with_the_name_of_a_helper_is_not_replaced(own_file, capsys):
    own_file.write_text("def top(x):\n    return 3\n")
    helper = "def top(x):\n    return x.max(axis=-1, keepdims=True)\n"
    answer = helper + SOFTMAX.replace("x.max(axis=-1, keepdims=True)", "top(x)")
    solved("softmax", answer)
    assert saved(capsys, "softmax") == (
        "Not saved: softmax. my_attention.py has another `top`, written by hand: rename one of the two."
    )
    assert files(own_file) == ["my_attention.py"] and own_file.read_text() == "def top(x):\n    return 3\n"
    own_file.write_text(f"import numpy as np\n\n{helper}")
    assert saved(capsys, "softmax") == "Saved: softmax, in my_attention.py."
    assert own_file.read_text() == f"import numpy as np\n\n{helper}\n\n# saved: softmax" + answer.removeprefix(helper)


def test_the_exercises_own_name_is_replaced_even_without_the_mark(own_file, capsys):
    own_file.write_text("import numpy as np\ndef softmax(x):\n    return x\nhalf, softmax2 = 0.5, softmax\n")
    solved("softmax", SOFTMAX)
    assert saved(capsys, "softmax").endswith("The file as it was before is my_attention.1.py.")
    text = f"import numpy as np\n# saved: softmax{SOFTMAX}half, softmax2 = 0.5, softmax\n"
    assert own_file.read_text() == text
    own_file.write_text("import numpy as np\nsoftmax, half = None, 0.5\n")
    save("softmax")
    assert own_file.read_text() == f"import numpy as np\nsoftmax, half = None, 0.5\n\n\n# saved: softmax{SOFTMAX}"


def test_a_line_that_writes_into_something_does_not_define_it():
    assert defined("t = {}\nt[x] = y\nt.z: int = 3\n") == {"t": "t = {}\n"}
