"""attnexercises.engine.crash: the reader's own line, and the exception in words; and what the function printed."""

import functools
import os

import nbformat
import numpy as np
import pytest
from answers import right
from library_cases import Notebook
from nbclient import NotebookClient
from notebook_tools import unwrapped

from attnexercises import check, grade
from attnexercises.engine.crash import error_in_words
from attnexercises.engine.registry import find


def stopped(answer, id="softmax"):
    return grade(id, answer, details=True).stopped


def in_a_cell(source):
    notebook = Notebook()
    notebook.run(source)
    return notebook.space["softmax"]


def test_the_line_of_the_cell_is_quoted():
    answer = in_a_cell("# mine\ndef softmax(x):\n    e = np.exp(x)\n    return e / e.sum(-1)\n")
    start = "It stops in your line 4, `return e / e.sum(-1)`. Shapes (2, 3) and (2,) do not fit"
    assert stopped(answer).startswith(start)


def test_the_innermost_line_that_is_the_readers_is_taken():
    helper = "def total(e):\n    return e.sum(axis=5)\ndef softmax(x):\n    return np.exp(x) / total(np.exp(x))\n"
    start = "It stops in your line 2, `return e.sum(axis=5)`. This array has 3 axes;"
    assert stopped(in_a_cell(helper)).startswith(start)
    inside = "def softmax(x):\n    return np.apply_along_axis(lambda row: row @ row[:1], -1, x)\n"
    assert stopped(in_a_cell(inside)).startswith("It stops in your line 2, `return np.apply_along_axis(")


def test_a_line_of_the_library_is_not_the_readers():
    answer = in_a_cell("from attnlib.softmax import softmax as S\ndef softmax(x):\n    return S(x, axis=7)\n")
    assert stopped(answer).startswith("It stops in your line 3, `return S(x, axis=7)`.")
    assert stopped(functools.partial(np.linalg.inv)) == ""  # no line of theirs at all


def test_without_the_text_of_a_line_its_number_is_said():
    space = {}
    exec("def softmax(x):\n    return nothing", space)
    assert stopped(space["softmax"]) == (
        "It stops in your line 2. Nothing is called `nothing` there: a slip of the pen, or a cell that has not run?"
    )


def test_what_does_not_stop_has_no_line():
    assert stopped(lambda x: 2 * right(x)) == "" and stopped(right) == "" and stopped(lambda: 1) == ""


SUMS = "A product sums over the last axis of its left array, here {} long, and the last but one of its right, here {}."

RAISING = {
    "broadcast": (lambda: np.ones((2, 3)) + np.ones(2), "Shapes (2, 3) and (2,) do not fit: NumPy lines them up at their ends, and the last axes have the sizes 3 and 2."),
    "broadcast of three": (
        lambda: np.where(np.ones((2, 3)), np.ones((4, 1)), 1) + np.ones(3),
        "Shapes (2, 3) and (4, 1) and () do not fit: NumPy lines them up at their ends, and the axes before the last have the sizes 2 and 4.",
    ),
    "einsum": (
        lambda: np.einsum("ij,jk->ik", np.ones((2, 3)), np.ones((4, 5))),
        "In this `einsum` one letter stands for axes of different sizes. The shapes are (2, 3) and (4, 5).",
    ),
    "leading axes of a product": (
        lambda: np.ones((3, 6, 2, 4)) @ np.ones((3, 2, 4, 5)),
        "Shapes (3, 6, 2, 4) and (3, 2, 4, 5) do not fit: a product `@` lines up all axes but the last two, and these differ.",
    ),
    "subscripts": (
        lambda: np.einsum("i,ij->i", np.ones(3), np.ones(3)),
        "The subscripts of this `einsum` name more axes than its array number 2 has.",
    ),
    "joined": (
        lambda: np.concatenate([np.ones((2, 3)), np.ones((2, 4))]),
        "The arrays that are joined differ in axis 1, too: array 0 has 3 places there, and array 1 has 4.",
    ),
    "stacked": (lambda: np.stack([np.ones(2), np.ones(3)]), "Only arrays of the same shape can be stacked."),
    "transposed": (lambda: np.ones((2, 3, 4)).transpose(0, 1), "`transpose` needs the number of each axis of the array exactly once."),
    "in place": (
        lambda: np.add(np.ones(3), np.ones((2, 3)), out=np.ones(3)),
        "The result has the shape (2, 3), and where it is to be written (3,).",
    ),
    "into a place": (
        lambda: np.ones((2, 3)).__setitem__(0, np.ones(2)),
        "An array of shape (2,) does not fit into a place of shape (3,).",
    ),
    "product": (lambda: np.ones((2, 3)) @ np.ones((4, 5)), SUMS.format(3, 4)),
    "vector": (lambda: np.ones(2) @ np.ones((4, 5)), SUMS.format(2, 4)),
    "number": (lambda: np.ones(2) @ np.float64(1.0), "A product `@` takes arrays with at least one axis"),
    "dot": (lambda: np.dot(np.ones((2, 3)), np.ones((4, 5))), SUMS.format(3, 4)),
    "reshape": (lambda: np.ones(6).reshape(4, 2), "4 × 2 makes 8, and the array has 6 numbers."),
    "reshape -1": (lambda: np.ones(6).reshape(-1, 4), "4 in a row, and the array has 6 numbers."),
    "reshape -1 inside": (lambda: np.ones(9).reshape(2, -1, 3), "2 × 3 makes 6, and the array has 9 numbers."),
    "axis": (lambda: np.ones((2, 3)).sum(axis=2), "This array has 2 axes; axis 2 is not among them."),
    "index": (lambda: np.ones((2, 3))[:, 3], "Axis 1 has 3 places, numbered from 0; place 3 is not among them."),
    "empty": (lambda: np.ones((2, 0))[:, 0], "Axis 1 of this array is empty: it has no place 0."),
    "indices": (lambda: np.ones(2)[0, 0], "2 indices for an array of 1 axis."),
    "truth": (lambda: bool(np.ones(2)), "`if`, `while`, `and`, `or`, `not` need one True or False;"),
    "list": (lambda: [][0], "The list is shorter than this index."),
    "zero": (lambda: 1 / 0, "Something is divided by 0."),
    "attribute": (lambda: np.ones(1).softmax, "An array has nothing called `.softmax`."),
    "numpy": (lambda: np.softmax, "NumPy has nothing called `softmax`."),
    "operator": (lambda: None + 1, "`+` does not work between None and an int."),
    "call": (lambda: float(1)(2), "Round brackets call a function, but this is a float."),
    "subscript": (lambda: np.exp[0], "Square brackets pick from an array or list, but this is a numpy.ufunc."),
    "iterate": (lambda: list(1.5), "This is a float: there is nothing in it to go through."),
    "sequence": (lambda: np.zeros(2).__setitem__(0, [1, 2]), "One place of an array takes one number, not several."),
    "cast": (
        lambda: np.ones(2, dtype=int).__isub__(0.5),
        "The result has decimals, and the array it is to be written into holds int64 only.",
    ),
    "name": (lambda: wieghts, "Nothing is called `wieghts` there:"),  # noqa: F821
    "unbound": (lambda: _unbound(), "`early` is used before this function has given it a value."),
}  # fmt: skip


def _unbound():
    print(early)
    early = 1
    return early


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", RAISING)
def test_python_and_numpy_in_words(case):
    raising, words = RAISING[case]
    problem = grade("softmax", lambda x: raising()).lines[0]
    assert error_in_words(problem).startswith(words)


def test_what_is_not_known_is_not_put_in_words():
    assert error_in_words("stops with RuntimeError: generator raised StopIteration") == error_in_words("returns None") == ""


def test_the_line_stands_below_the_sentence(capsys):
    check("softmax", in_a_cell("def softmax(x):\n    return x @ x\n"))
    text = unwrapped(capsys.readouterr().out)
    assert "x (2, 3, 5)). It stops in your line 2, `return x @ x`." in text


def test_in_a_kernel_the_line_of_the_cell_is_found(tmp_path):
    cells = [
        "from attnexercises import check, case",
        "def softmax(x):\n    y = x\n    return y[9]\ncheck('softmax', softmax)",
        "case('softmax')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    folder = {"metadata": {"path": str(tmp_path)}}
    client = NotebookClient(notebook, timeout=600, startup_timeout=600, kernel_name="python3", resources=folder)
    client.execute(env={**os.environ})
    printed, shown = notebook.cells[1].outputs
    line = "It stops in your line 3, `return y[9]`. Axis 0 has 2 places, numbered from 0; place 9"
    assert line in unwrapped(printed.text)
    assert shown.output_type == "display_data" and set(shown.data) == {"text/html", "text/plain"}
    assert "Smallest case that goes wrong" not in printed.text and shown.data["text/plain"].startswith("Smallest case")
    assert notebook.cells[2].outputs[0].data == shown.data


# --- what it prints -------------------------------------------------------------------------------


def test_the_first_three_lines_of_the_smallest_case_are_shown_once(capsys):
    def answer(x):
        print("shape", x.shape)
        for number in range(3):
            print(number * "long " * 20)
        return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)

    check("softmax", answer)
    text = capsys.readouterr().out
    assert "    What your function printed there:\n      shape (1,)\n\n" in text
    assert text.count("shape (") == 1 and "\n      …\n" in text and max(map(len, text.splitlines())) <= 78


def test_what_a_right_or_unprinting_answer_prints_is_not_shown(capsys):
    check("softmax", lambda x: print("hello") or right(x))
    check("softmax", lambda x: 2 * right(x))
    text = capsys.readouterr().out
    assert "hello" not in text and "printed" not in text


def test_of_a_function_that_prints_without_end_the_beginning_is_kept():
    answer = lambda x: [print("x" * 999) for _ in range(99)] and find("softmax").solution(x) * 2  # noqa: E731
    assert sum(map(len, grade("softmax", answer, details=True).printed)) < 3000
