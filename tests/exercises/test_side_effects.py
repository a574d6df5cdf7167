"""attnexercises.engine: is the session left as it was, and the verdict untouched by what an answer does?"""

import builtins
import dataclasses
import random
import signal
import sys
import warnings

import numpy as np
import pytest
from answers import EqualToAll, first_line, right

import attnexercises
from attnexercises import Probe, check, grade
from attnexercises.engine.registry import find

# --- the answer's traces --------------------------------------------------------------------------


def test_a_changed_input_is_noticed():
    def answer(d_weights, weights):
        d_weights -= (d_weights * weights).sum(axis=-1, keepdims=True)
        return weights * d_weights

    line = first_line(answer, "softmax_backward")
    assert line == "[!] softmax_backward: the values are right, but your function changes its input d_weights."


def test_what_an_answer_prints_and_warns_is_kept_away(capsys):
    def noisy(x):
        print("x" * 10**6)
        print("error", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        np.log(np.zeros(1))
        return right(x)

    check("softmax", noisy)
    out, err = capsys.readouterr()
    assert out.startswith("[x] softmax: all ") and len(out) < 500 and "xxx" not in out and err == ""


def test_settings_and_random_numbers_are_restored():
    def meddling(x):
        np.seterr(over="raise")
        np.set_printoptions(precision=1)
        np.random.seed(0)
        random.seed(0)
        np.random.random()
        sys.setrecursionlimit(5000)
        warnings.simplefilter("error")
        sys.stdout = None
        return right(x)

    def state():
        return (
            np.geterr(), np.get_printoptions(), str(np.random.get_state()), random.getstate(), sys.getrecursionlimit(),
            list(warnings.filters), sys.stdout, signal.getsignal(signal.SIGINT),
        )  # fmt: skip

    before = state()
    assert grade("softmax", meddling).status == "passed"
    assert state() == before


def test_memory_between_calls_is_noticed():
    store = {}

    def remembers(x):
        store["calls"] = store.get("calls", 0) + 1
        return right(x) * store["calls"]

    def random_answer(x):
        return np.random.default_rng().random(x.shape)

    buffer = {}

    def one_buffer(x):
        out = buffer.setdefault(x.shape, np.empty(x.shape))
        out[...] = right(x)
        return out

    two_answers = "called twice with the same input, your function gives two answers: it keeps something between calls."
    assert first_line(remembers) == f"[!] softmax: {two_answers}"
    assert first_line(random_answer) == f"[!] softmax: {two_answers}"
    assert "the next call overwrites what it returned before" in first_line(one_buffer)


# --- attempts on the judge ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "called", "spoil"),
    [
        (np, "exp", "np.exp", lambda module, name: setattr(module, name, np.log)),
        (np, "exp", "np.exp", delattr),
        (builtins, "KeyError", "KeyError", delattr),
        (builtins, "KeyError", "KeyError", lambda module, name: setattr(module, name, ValueError)),
    ],
)
def test_an_answer_that_replaces_or_deletes_a_name_is_told_and_the_name_is_whole_again(module, name, called, spoil):
    def vandal(x):
        y = right(x)
        spoil(module, name)
        return y

    original = getattr(module, name)
    assert f"replaces `{called}` itself, for every other cell too" in first_line(vandal)
    assert getattr(module, name) is original


def test_a_numpy_changed_before_does_not_change_the_verdict(monkeypatch):
    def without_shift(x):
        return np.softmax_of_mine(x)

    monkeypatch.setattr(np, "exp", np.log)
    monkeypatch.setattr(np, "allclose", lambda *args, **kwargs: True)
    assert grade("softmax", right).status == "passed"
    assert grade("softmax", lambda x: x).status == "wrong"
    assert np.exp is np.log


def test_a_changed_check_does_not_reach_the_judge(monkeypatch):
    monkeypatch.setattr(attnexercises, "check", lambda *args: None)
    monkeypatch.setattr(attnexercises, "grade", lambda *args: None)
    assert grade("softmax", lambda x: x).status == "wrong"


def test_an_answer_that_claims_to_be_equal_is_not_believed():
    assert first_line(lambda x: np.zeros(x.shape).view(EqualToAll)).startswith("[!] softmax: ")


# --- once more ------------------------------------------------------------------------------------


def test_an_input_handed_back_is_fine_if_right():
    one_key = Probe("one key", lambda rng: (np.ones((3, 1)),))  # each weight is 1, as its score is
    exercise = dataclasses.replace(find("softmax"), probes=(one_key,))
    assert grade(exercise, lambda x: x).status == "passed"
    assert grade(exercise, right) == grade(exercise, right)


def test_grading_twice_gives_the_same_result():
    for answer in (lambda x: x, lambda x: np.exp(x), right, lambda x: x[0]):
        assert grade("softmax", answer) == grade("softmax", answer)
