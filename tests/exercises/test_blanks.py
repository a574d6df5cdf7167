"""attnexercises.engine.blanks: is a blank noticed wherever it is used, and an empty answer no wrong one?"""

import math

import numpy as np
import pytest
from answers import first_line, right

from attnexercises import TODO, check, grade
from attnexercises.engine.blanks import NotAttempted

# --- TODO itself ----------------------------------------------------------------------------------

USES = {
    "x - TODO": lambda x: x - TODO,
    "TODO - x": lambda x: TODO - x,
    "x @ TODO": lambda x: x @ TODO,
    "TODO @ x": lambda x: TODO @ x,
    "np.exp(TODO)": lambda x: np.exp(TODO),
    "np.sum(TODO)": lambda x: np.sum(TODO),
    "np.asarray(TODO)": lambda x: np.asarray(TODO),
    "np.array([TODO, 1])": lambda x: np.array([TODO, 1]),
    "np.zeros(TODO)": lambda x: np.zeros(TODO),
    "np.zeros((2, TODO))": lambda x: np.zeros((2, TODO)),
    "np.where(TODO, x, 0)": lambda x: np.where(TODO, x, 0),
    "np.einsum": lambda x: np.einsum("ij,jk", x, TODO),
    "np.concatenate": lambda x: np.concatenate([x, TODO]),
    "x[TODO]": lambda x: x[TODO],
    "x[:TODO]": lambda x: x[:TODO],
    "TODO[0]": lambda x: TODO[0],
    "x.sum(axis=TODO)": lambda x: x.sum(axis=TODO),
    "x.reshape(TODO)": lambda x: x.reshape(TODO),
    "x.reshape(2, TODO)": lambda x: x.reshape(2, TODO),
    "x.astype(TODO)": lambda x: x.astype(TODO),
    "TODO.shape": lambda x: TODO.shape,
    "TODO(x)": lambda x: TODO(x),
    "if TODO": lambda x: 1 if TODO else 2,
    "not TODO": lambda x: not TODO,
    "TODO == 1": lambda x: TODO == 1,
    "x == TODO": lambda x: x == TODO,
    "x < TODO": lambda x: x < TODO,
    "for _ in TODO": lambda x: [0 for _ in TODO],
    "a, b = TODO": lambda x: (lambda a, b: a)(*TODO),
    "range(TODO)": lambda x: range(TODO),
    "range(0, 5, TODO)": lambda x: range(0, 5, TODO),
    "len(TODO)": lambda x: len(TODO),
    "math.exp(TODO)": lambda x: math.exp(TODO),
    "max(1, TODO)": lambda x: max(1, TODO),
    "-TODO": lambda x: -TODO,
    "1 in TODO": lambda x: 1 in TODO,
    "2 ** TODO": lambda x: 2**TODO,
    "isinstance(1, TODO)": lambda x: isinstance(1, TODO),
}


@pytest.mark.parametrize("use", USES)
def test_todo_raises_as_soon_as_it_is_used(use):
    x = np.arange(6.0).reshape(2, 3)
    with pytest.raises(NotAttempted):
        USES[use](x)
    assert grade("softmax", USES[use]).status == "unattempted"


def test_todo_in_place_raises():
    x = np.ones(3)
    with pytest.raises(NotAttempted):
        x += TODO
    with pytest.raises(ValueError) as error:
        x[0] = TODO  # NumPy raises an error of its own because of ours
    assert isinstance(error.value.__cause__, NotAttempted)
    assert grade("softmax", lambda x: x.__setitem__(0, TODO)).status == "unattempted"
    total = 0
    with pytest.raises(NotAttempted):
        total += TODO
    with pytest.raises(NotAttempted):
        TODO[0] = 1
    with pytest.raises(NotAttempted):
        TODO.shape = 1


def test_todo_can_be_shown():
    assert repr(TODO) == f"{TODO}" == "TODO"
    assert not hasattr(TODO, "_repr_html_")


# --- answers that are not begun, or not done ------------------------------------------------------


def docstring_only(x):
    """To be written."""


def raising(x):
    raise NotImplementedError


def dots(x): ...


def returns_dots(x):
    return ...


def returns_todo_three_times(x):
    return TODO, TODO, TODO


def passing(x):
    pass


@pytest.mark.parametrize(
    "answer", [docstring_only, raising, dots, returns_dots, returns_todo_three_times, passing, TODO, ..., None]
)
def test_an_empty_answer_is_unattempted(answer, capsys):
    check("softmax", answer)
    assert capsys.readouterr().out == "[ ] softmax: not attempted yet\n"


def test_an_error_out_of_deeper_code_is_a_crash():
    def not_there_yet(x):
        raise NotImplementedError("this is not supported")

    def answer(x):
        return not_there_yet(x)

    result = grade("softmax", answer)
    assert result.status == "crashed" and "stops with NotImplementedError: this is not supported" in result.lines[0]


def two_left(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    exponentials = TODO
    return shifted + exponentials * TODO


def one_left_inside(x):
    def exponentials(y):
        return np.exp(TODO)

    return exponentials(x) / exponentials(x).sum()


@pytest.mark.parametrize(
    "id, answer, what",
    [
        ("softmax", two_left, "2 TODOs are left"),
        ("softmax", one_left_inside, "a TODO is left"),
        ("softmax", lambda x: (x, TODO), "a TODO is left"),
        ("causal_mask", lambda q, k: TODO, "not attempted yet"),
        ("matrix_shapes", (2, TODO, 3), "a TODO is left"),
        ("matrix_shapes", [TODO, TODO, 3], "2 TODOs are left"),
        ("matrix_shapes", (TODO, TODO, TODO), "not attempted yet"),
        ("matrix_shapes", (..., 2, 3), "not attempted yet"),
    ],
)
def test_an_answer_that_is_begun_is_told_how_many_blanks_are_left(id, answer, what, capsys):
    check(id, answer)
    assert capsys.readouterr().out == f"[ ] {id}: {what}\n"
    assert grade(id, answer).status == "unattempted"


def test_a_blank_behind_a_branch_is_named():
    def answer(x):
        return right(x) if x.max() < 100 else TODO

    assert first_line(answer) == (
        '[!] softmax: right on ordinary inputs; on the case "large scores": your function meets a blank that is still '
        "to be filled (x (3, 4))."
    )
