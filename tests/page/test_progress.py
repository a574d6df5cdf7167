"""attnpage.training_progress: a line while it runs, none when it is done, and none outside a notebook."""

import IPython
import IPython.display
import pytest

from attnpage import training_progress


@pytest.fixture
def notebook(monkeypatch):
    """What a cell shows: lines, and what takes them away."""
    cleared = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: "a notebook")
    monkeypatch.setattr(IPython.display, "clear_output", lambda wait=False: cleared.append(wait))
    return cleared


def test_a_line_now_and_then_each_in_the_place_of_the_one_before(notebook, capsys):
    report = training_progress(40, every=15)
    for step in range(1, 40):
        report(step, 2.0 / step, {})
    assert capsys.readouterr().out == "step 15 of 40, loss 0.13\nstep 30 of 40, loss 0.07\n"
    assert notebook == [True, True], "the old line goes when the new one comes, without a flicker"


def test_the_last_step_leaves_nothing(notebook, capsys):
    report = training_progress(30, every=10)
    report(30, 0.5)
    assert (capsys.readouterr().out, notebook) == ("", [False])


def test_outside_a_notebook_nothing_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(IPython, "get_ipython", lambda: None)
    report = training_progress(20, every=10)
    report(10, 0.5, {})
    report(20, 0.5, {})
    assert capsys.readouterr().out == ""


def test_a_notebook_that_cannot_take_a_line_away_shows_none(monkeypatch, capsys):
    monkeypatch.delattr(IPython.display, "clear_output")
    report = training_progress(20, every=10)
    report(10, 0.5)
    assert capsys.readouterr().out == ""
