"""attnexercises.reader.next_steps: which exercise comes next, and how the book's answer differs."""

from pathlib import Path

import numpy as np
import pytest
from answers import right
from library_cases import Notebook
from notebook_tools import unwrapped

from attnexercises import check
from attnexercises.engine.registry import BOOK_ORDER, find, registry
from attnexercises.reader.next_steps import chapter_name, difference, next_exercise, where_it_is

NOTEBOOKS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))


def passed(*ids):
    return {id: {"state": "passed", "turn": turn} for turn, id in enumerate(ids, start=1)}


def test_the_next_is_the_first_after_it_that_has_not_passed():
    ids = list(registry())
    assert next_exercise(passed("softmax")).id == "softmax_backward"
    begun = passed("softmax_backward", "softmax") | {"score_table_step": {"state": "wrong"}}
    assert next_exercise(begun).id == "score_table_step"
    assert next_exercise(passed("sdpa", "softmax")).id == "softmax_backward"  # what was solved last counts
    assert next_exercise(passed("softmax", "sdpa")).id == "spot_attention"
    assert next_exercise(passed("softmax", "sdpa"), "softmax").id == "softmax_backward"
    assert next_exercise(passed("softmax_backward", "sdpa"), "softmax").id == "score_table_step"
    assert next_exercise(passed(*ids[1:])).id == ids[0]
    assert next_exercise({}).id == ids[0] and next_exercise({}, "masks").id == "spot_mask"
    assert next_exercise(passed(*ids)) is None
    older = {id: {"state": "passed"} for id in ("softmax", "sdpa")}  # a file of an older version knows no turns
    assert next_exercise(older).id == ids[0]


def test_it_is_named_with_its_place(capsys):
    assert where_it_is(find("sdpa"), "attention") == f'sdpa, "{find("sdpa").title}", in this chapter'
    assert where_it_is(find("matrix_shapes")).endswith("in the chapter Refresh the mathematics you need")
    assert chapter_name("sleep") == "the chapter on sleep"
    last = BOOK_ORDER["softmax"]["exercises"][-1]
    check(last, find(last).solution)
    text = unwrapped(capsys.readouterr().out)
    title = find("two_token_weight").title
    assert text.endswith(f'Next: two_token_weight, "{title}", in chapter 2, Read a lookup table with a blurry key.')


def test_after_the_last_one_there_is_no_next(capsys, monkeypatch):
    from attnexercises.reader import record

    others = {id: record.blank() | {"state": "passed"} for id in registry() if id != "softmax"}
    monkeypatch.setattr(record, "_memory", others)
    check("softmax", right)
    assert unwrapped(capsys.readouterr().out).endswith("That was the last one: all exercises are solved.")


def mine(source, id="softmax"):
    notebook = Notebook()
    notebook.run(source)
    return notebook.space[id]


DIFFERENCES = {
    "a loop": (
        "def softmax(x):\n    for _ in range(1):\n        e = np.exp(x)\n    return e",
        "Yours goes through a loop in Python; the book's works on whole arrays.",
    ),
    "a comprehension": (
        "def softmax(x):\n    return np.array([np.exp(row) for row in x])",
        "Yours goes through a loop in Python; the book's works on whole arrays.",
    ),
    "a loop in a helper": (
        "def top(x):\n    return max(row for row in x)\ndef softmax(x):\n    return np.exp(x - top(x))",
        "Yours goes through a loop in Python; the book's works on whole arrays.",
    ),
    "one line for three names is no loop": (
        "def softmax(x):\n    y, z = (a + x for a in (x, x))\n    e = np.exp(y)\n    return e / z",
        "",
    ),
    "einsum": (
        "def softmax(x):\n    return np.exp(x) / np.einsum('...i->...', x)",
        "Yours names the axes in an einsum; the book's uses none.",
    ),
    "a helper": (
        "def top(x):\n    return x.max()\ndef softmax(x):\n    return np.exp(x - top(x))",
        "Yours hands a part to top; the book's does all in one function.",
    ),
    "exponentials": (
        "def softmax(x):\n    return np.exp(x) / np.exp(x).sum()",
        "Yours takes exponentials in two places; the book's in one.",
    ),
    "statements": ("def softmax(x):\n    return np.exp(x)", "Yours has one statement; the book's three."),
    "the same counts": ("def softmax(x):\n    y = 1\n    z = np.exp(x)\n    return z / y", ""),
    "other names for other exercises": (
        "def sdpa(query, key, value):\n    return query\ndef softmax(x):\n    y = sdpa\n    z = np.exp(x)\n    return z",
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DIFFERENCES)
def test_what_differs_is_counted_in_both_sources(case):
    source, sentence = DIFFERENCES[case]
    assert difference(find("softmax"), mine(source)) == sentence


def test_the_book_may_be_the_one_with_the_loop():
    answer = mine("def online_softmax(x, block):\n    return x", "online_softmax")
    sentence = "The book's goes through a loop in Python; yours works on whole arrays."
    assert difference(find("online_softmax"), answer) == sentence


@pytest.mark.parametrize("id", [id for id, exercise in registry().items() if not exercise.value])
def test_the_book_does_not_differ_from_itself(id):
    assert difference(find(id), find(id).solution) == ""


def test_without_a_source_nothing_is_said(monkeypatch, capsys):
    assert difference(find("softmax"), np.exp) == difference(find("delta_sum"), 1051) == ""
    looping = (
        "def softmax(x):\n    rows = [np.exp(r - r.max()) for r in x.reshape(-1, x.shape[-1])]\n"
        "    return np.stack([row / row.sum() for row in rows]).reshape(x.shape)"
    )
    check("softmax", mine(looping))
    assert "    Yours goes through a loop in Python; the book's works on whole arrays.\n" in capsys.readouterr().out
    monkeypatch.setenv("ATTNLIB_HINTS", "off")
    check("softmax", mine(looping))
    assert "the book's" not in capsys.readouterr().out
