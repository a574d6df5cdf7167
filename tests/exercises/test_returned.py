"""attnlib.exercises, the engine: whatever the answer is, one plain message, and the session is left as it was."""

import functools
import math
import random
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from fractions import Fraction

import numpy as np
import pytest

import attnlib.exercises
from attnlib.exercises import TODO, Mistake, check, grade, value_exercise
from attnlib.exercises.engine import calls, registry as registry_module, relations, timelimit
from attnlib.exercises.engine.registry import find
from attnlib.exercises.engine.source import solution_source
from attnlib.exercises.engine.todo import NotAttempted


def right(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def first_line(answer, exercise="softmax"):
    result = grade(exercise, answer)
    assert result.status in ("wrong", "crashed"), result
    return result.lines[0]


# --- TODO -------------------------------------------------------------------------------------------------

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


# --- nonsense ---------------------------------------------------------------------------------------------


async def a_coroutine(x):
    return x


class Model:
    def forward(self, x):
        return right(x)

    def __call__(self, x):
        return right(x)


NONSENSE = {
    "a word": (lambda x: "done", "returns a str, not numbers"),
    "None": (lambda x: print(), "returns None: did you forget `return`?"),
    "a generator": (lambda x: (v for v in x), "returns a generator, not numbers"),
    "a coroutine": (a_coroutine, "returns a coroutine, not numbers"),
    "a dict": (lambda x: {"a": 1}, "returns a dict, not numbers"),
    "a set": (lambda x: {1, 2}, "returns a set, not numbers"),
    "a function": (lambda x: np.exp, "returns a ufunc, not numbers"),
    "a ragged list": (lambda x: [[1.0], [2.0, 3.0]], "returns rows of unequal length"),
    "objects": (lambda x: right(x).astype(object), "returns an array of Python objects, not of floats"),
    "fractions": (lambda x: Fraction(1, 2), "returns a Fraction, not numbers"),
    "complex": (lambda x: right(x) + 0j, "returns complex numbers"),
    "a list": (lambda x: right(x).tolist(), "returns a list, not an array"),
    "a tuple of one": (lambda x: (right(x),), "returns a tuple of one; is there a comma too many"),
    "two outputs": (lambda x: (right(x), x), "returns 2 things, but one is expected: weights"),
    "booleans": (lambda x: right(x) > 0.5, "numbers are expected"),
    "another shape": (lambda x: right(x)[..., 0], r"the shape is \(2, 3\); \(2, 3, 5\) is expected"),
    "an axis too many": (lambda x: right(x)[None], "an axis of size 1 is too many"),
    "a number": (lambda x: 0.5, r"the shape is \(\); \(2, 3, 5\) is expected"),
    "NaN": (lambda x: x * np.nan, "NaN in 30 of 30 numbers"),
    "nothing": (lambda x: x[:0], r"the shape is \(0, 3, 5\)"),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_gets_a_sentence(case):
    answer, sentence = NONSENSE[case]
    result = grade("softmax", answer)
    assert result.status in ("wrong", "crashed")
    assert re.search(sentence, result.lines[0]), result.lines[0]
    assert all(len(line) < 400 for line in result.lines)


def test_several_outputs_have_names():
    exercise = "online_softmax"
    assert "returns one array of shape (8,), but 2 things are expected: maximum, total" in first_line(
        lambda x, block: x, exercise
    )
    assert "returns one list, but 2 things" in first_line(lambda x, block: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], exercise)
    assert "returns 1 thing, but 2 things" in first_line(lambda x, block: (1.0,), exercise)
    assert "returns 3 things, but 2 things are expected" in first_line(lambda x, block: (1.0, 2.0, 3.0), exercise)
    swapped = first_line(lambda x, block: find(exercise).solution(x, block)[::-1], exercise)
    assert swapped.endswith("what you return as maximum is the right total: is the order of the outputs right?")


def test_the_outputs_that_are_right_are_named():
    def total_doubled(x, block):
        maximum, total = find("online_softmax").solution(x, block)
        return maximum, 2 * total

    result = grade("online_softmax", total_doubled)
    assert result.lines[0] == "[!] online_softmax: total: every number is 2 times the right one."
    assert result.lines[1].startswith("    maximum right; total wrong. 1 of 8 cases right; wrong: random")


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


def raise_unprintable(x):
    raise Unprintable


def recursive(x):
    return recursive(x)


RAISING = {
    "an exception": (lambda x: x.nothing, "stops with AttributeError: .*no attribute 'nothing'"),
    "an unknown name": (lambda x: nq, "stops with NameError: name 'nq' is not defined"),  # noqa: F821
    "sys.exit": (lambda x: sys.exit(3), "ends Python itself"),
    "exit()": (lambda x: exit(), "ends Python itself"),
    "recursion": (recursive, "calls itself without end"),
    "an unprintable one": (raise_unprintable, "stops with Unprintable"),
    "an assertion": (lambda x: (_ for _ in ()).throw(AssertionError("no")), "stops with AssertionError: no"),
    "GeneratorExit": (lambda x: (_ for _ in ()).throw(GeneratorExit()), "stops with GeneratorExit"),
    "too much memory": (lambda x: np.zeros((10**9, 10**9)), "stops with .*MemoryError|stops with ValueError"),
}


@pytest.mark.parametrize("case", RAISING)
def test_an_exception_gets_a_sentence_with_the_case_and_the_shapes(case):
    answer, sentence = RAISING[case]
    line = first_line(answer)
    assert re.search(sentence, line), line
    assert line.endswith('(case "all sizes differ": x (2, 3, 5)).')


def test_the_shorthand_of_numpy_is_left_out_of_its_errors():
    assert "core dimension 0 (size 2 is different from 5) (case" in first_line(lambda x: x @ np.ones((2, 2)))
    assert "enough dimensions (has 0, requires 1) (case" in first_line(lambda x: x @ np.float64(2))


def with_plain_transposes(id):
    """The solution, with `.T` wherever it has `.mT`."""
    namespace = {"np": np}
    exec(solution_source(find(id)).replace(".mT", ".T"), namespace)
    return namespace[id]


def test_a_transpose_that_turns_leading_axes_round_is_found_by_trying_it_without():
    turns = "`.T` turns all axes round"
    plain = with_plain_transposes("sdpa_backward")
    assert first_line(plain, "sdpa_backward") == (
        f"[!] sdpa_backward: right without leading axes; with them it stops: {turns}."
    )
    assert f": {turns}; with leading axes, only the last two may change" in first_line(with_plain_transposes("gqa"), "gqa")

    def by_function(d_out, query, key, value):
        weights = right(query @ np.transpose(key) / np.sqrt(query.shape[-1]))
        d_scores = weights * (d_out @ value.transpose() - (d_out * (weights @ value)).sum(axis=-1, keepdims=True))
        d_scores /= np.sqrt(query.shape[-1])
        return d_scores @ key, np.transpose(d_scores) @ query, weights.transpose(None) @ d_out

    assert turns in first_line(by_function, "sdpa_backward")


def test_a_transpose_is_not_blamed_for_what_is_wrong_without_it():
    def minus(*args):
        return tuple(-gradient for gradient in with_plain_transposes("sdpa_backward")(*args))

    assert "turns all axes" not in first_line(minus, "sdpa_backward")
    assert "turns all axes" not in first_line(lambda x: np.exp(x), "softmax")


def test_ctrl_c_gets_through():
    def interrupted(x):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        grade("softmax", interrupted)


NOT_FUNCTIONS = {
    "the result": (right(np.ones((2, 3))), r"wants your function itself, .*; it got an array of shape \(2, 3\)"),
    "a word": ("softmax", "it got a str"),
    "a class": (Model, "a function is expected, not the class Model"),
    "no argument": (lambda: 1, r"does not take the arguments softmax\(x\)"),
    "two arguments": (lambda x, axis: x, r"does not take the arguments softmax\(x\)"),
    "keyword only": (lambda *, x: x, r"does not take the arguments softmax\(x\)"),
}


@pytest.mark.parametrize("case", NOT_FUNCTIONS)
def test_what_cannot_be_called_gets_a_sentence(case):
    answer, sentence = NOT_FUNCTIONS[case]
    assert re.search(sentence, first_line(answer))


def test_arguments_in_another_order_are_noticed():
    def answer(weights, d_weights):
        return weights * (d_weights - (d_weights * weights).sum(-1, keepdims=True))

    assert first_line(answer, "softmax_backward") == (
        "[!] softmax_backward: the arguments of your function are in another order; "
        "expected softmax_backward(d_weights, weights)."
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda scores: right(scores),
        lambda x, axis=-1: right(x),
        lambda *args: right(*args),
        lambda *args, **options: right(*args, **options),
        Model().forward,
        Model(),
        functools.partial(lambda axis, x: right(x), -1),
        functools.lru_cache(lambda x: x) and right,
    ],
    ids=["another name", "a default", "*args", "**options", "a method", "a callable object", "a partial", "a function"],
)
def test_any_callable_with_the_right_values_passes(answer):
    assert grade("softmax", answer).status == "passed"


def test_a_compiled_function_is_judged_by_its_values():
    assert "largest" in first_line(np.exp) or "sum" in first_line(np.exp)
    assert first_line(len).startswith("[!] softmax: ")
    assert first_line(print).startswith("[!] softmax: your function returns None")


# --- endless loops ----------------------------------------------------------------------------------------


def endless(x):
    while True:
        pass


def endless_and_stubborn(x):
    while True:
        try:
            time.sleep(0.01)
        except:  # noqa: E722
            pass


def endless_and_doubly_stubborn(x):
    while True:
        try:
            try:
                while True:
                    pass
            except Exception:
                pass
        except BaseException:
            continue


def endless_in_numpy(x):
    while True:
        x = x + 1


def swallows_and_returns(x):
    try:
        while True:
            pass
    except BaseException:
        return right(x)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal")
@pytest.mark.parametrize(
    "answer", [endless, endless_and_stubborn, endless_and_doubly_stubborn, endless_in_numpy, swallows_and_returns]
)
def test_an_endless_loop_is_stopped(answer, monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.2)
    assert first_line(answer).startswith("[!] softmax: Your function is still running after")
    assert grade("softmax", right).status == "passed"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal")
def test_somebody_elses_alarm_survives(monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.1)
    rung = []
    old = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30.0, 5.0)
        grade("softmax", right)
        grade("softmax", endless)
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 1 < left < 30 and interval == 5.0 and not rung
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        grade("softmax", endless)  # ends after the other alarm was due: it rings then
        deadline = time.monotonic() + 10
        while not rung and time.monotonic() < deadline:
            time.sleep(0.01)
        assert rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="Python 3.11 has no sys.monitoring")
@pytest.mark.parametrize(
    "answer", [endless, endless_and_stubborn, endless_and_doubly_stubborn, endless_in_numpy, swallows_and_returns]
)
def test_an_endless_loop_in_another_thread_is_stopped(answer, monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.2)
    lines = []
    thread = threading.Thread(target=lambda: lines.append(first_line(answer)), daemon=True)
    thread.start()
    thread.join(30)
    assert lines and lines[0].startswith("[!] softmax: Your function is still running after")


def test_another_thread_can_check():
    results = []
    thread = threading.Thread(target=lambda: results.append(grade("softmax", right)))
    thread.start()
    thread.join()
    assert results[0].status == "passed"


def test_the_clock_way_returns_results_and_exceptions():
    assert timelimit._look_at_the_clock(5.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        timelimit._look_at_the_clock(5.0, lambda: 1 / 0)


# --- side effects -----------------------------------------------------------------------------------------


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
    assert out.startswith("[x] softmax: all 7 cases right\n") and len(out) < 300 and err == ""


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


def test_an_answer_that_replaces_numpy_is_told_and_numpy_is_whole_again():
    def vandal(x):
        np.exp = np.log
        return right(x)

    original = np.exp
    assert "replaces `np.exp` itself, for every other cell too" in first_line(vandal)
    assert np.exp is original


def test_a_numpy_changed_before_does_not_change_the_verdict(monkeypatch):
    def without_shift(x):
        return np.softmax_of_mine(x)

    monkeypatch.setattr(np, "exp", np.log)
    monkeypatch.setattr(np, "allclose", lambda *args, **kwargs: True)
    assert grade("softmax", right).status == "passed"
    assert grade("softmax", lambda x: x).status == "wrong"
    assert np.exp is np.log


def test_a_changed_check_does_not_reach_the_judge(monkeypatch):
    monkeypatch.setattr(attnlib.exercises, "check", lambda *args: None)
    monkeypatch.setattr(attnlib.exercises, "grade", lambda *args: None)
    assert grade("softmax", lambda x: x).status == "wrong"


class EqualToAll(np.ndarray):
    def __eq__(self, other):
        return np.True_

    def __array_function__(self, *args):
        return True

    def __array_ufunc__(self, *args, **kwargs):
        return True


def test_an_answer_that_claims_to_be_equal_is_not_believed():
    assert first_line(lambda x: np.zeros(x.shape).view(EqualToAll)).startswith("[!] softmax: ")


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


def test_an_input_handed_back_is_fine_if_right():
    exercise = find("softmax")
    assert grade(exercise, right) == grade(exercise, right)


def test_grading_twice_gives_the_same_result():
    for answer in (lambda x: x, lambda x: np.exp(x), right, endless_in_numpy and (lambda x: x[0])):
        assert grade("softmax", answer) == grade("softmax", answer)


# --- relations --------------------------------------------------------------------------------------------

RELATIONS = {
    "twice": (lambda x: 2 * right(x), "every number is 2 times the right one"),
    "half": (lambda x: right(x) / 2, "every number is 2 times too small"),
    "minus": (lambda x: -right(x), "exactly minus the right answer"),
    "by a size": (lambda x: right(x) * x.shape[-1], "too large by a factor of the size of axis -1 of x, here 5"),
    "by a root": (
        lambda x: right(x) / np.sqrt(x.shape[-1]),
        "too small by a factor of the square root of the size of axis -1 of x, here 2.24",
    ),
    "offset": (lambda x: right(x) + 0.25, "every number is off by the same amount, 0.25"),
    "first batch element": (
        lambda x: np.concatenate([right(x)[:1], right(x)[1:] * x[1:]]),
        r"only the first (batch element|row) \(along axis 0\) is right",
    ),
    "row factor": (lambda x: right(x) * x[..., :1], "right up to one factor for each row"),
    "column factor": (lambda x: right(x) * np.arange(1, x.shape[-1] + 1), "up to one factor for each column"),
    "row offset": (lambda x: right(x) + x[..., :1], "one constant added to each row"),
    "permuted": (lambda x: right(x)[..., ::-1], "the right numbers, in other places"),
    "row sums": (lambda x: right(x) ** 2, "rows do not sum to 1; one of them sums to 0.40"),
    "negative": (lambda x: right(x) + (np.arange(x.shape[-1]) == 0) - (np.arange(x.shape[-1]) == 1), "negative"),
    "rounded": (lambda x: right(x).round(4), "right to about . digits only; rounded, or an epsilon in it?"),
    "float32": (lambda x: right(x.astype(np.float32)), r"right to about 7 digits only; computed in float32\?"),
    "float32 inside": (
        lambda x: right(x.astype(np.float32)).astype(float),
        r"right to about 7 digits only; computed in float32\?",
    ),
    "float16": (lambda x: right(x.astype(np.float16)).astype(float), "right to about . digits only"),
    "something else": (lambda x: np.sin(right(x) * 3) * x, "the largest difference|do not sum to 1"),
}


@pytest.mark.parametrize("case", RELATIONS)
def test_an_unknown_wrong_answer_is_described(case):
    answer, sentence = RELATIONS[case]
    line = first_line(answer)
    assert re.search(sentence, line), line


@pytest.mark.parametrize("axis", [0, 1])
def test_zeros_are_not_called_right_up_to_a_factor(axis):
    want = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0], [2.0, 7.0, 1.0]])
    factors = np.expand_dims([0.0, 2.0, 3.0], axis)
    assert "factor" not in relations.describe([(factors * want, want, {})])
    assert "up to one factor" in relations.describe([((factors + 2) * want, want, {})])


def test_a_transposed_answer_is_described():
    def answer(a_t, b, c_t):
        return (c_t @ b.mT @ a_t).mT + 0.0 if a_t.shape == b.shape == c_t.shape else c_t @ b.mT @ a_t

    line = first_line(answer, "product_transpose")
    assert "swapped (transposed)" in line


def test_two_mistakes_at_once_are_both_named():
    def answer(x):  # over everything, and the logarithm of it
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return np.log(e / e.sum())

    result = grade("softmax", answer)
    assert result.mistakes == ("axis_all", "log")
    assert result.lines[0].startswith("[!] softmax: two mistakes. (1) The whole array sums to 1")


def test_an_overflow_does_not_hide_a_mistake_that_everybody_can_see():
    def answer(x):
        return np.log(np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True))

    assert grade("softmax", answer).mistakes == ("log",)


def test_a_rejection_says_where():
    result = grade("softmax", lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True))
    assert result.failed == ("large scores", "rows far apart", "one huge score")
    assert result.lines[1] == "    4 of 7 cases right; wrong: large scores; rows far apart; one huge score."
    assert result.lines[2] == '    For help: hint("softmax", 2)'


# --- values -----------------------------------------------------------------------------------------------


def word_exercise():
    return value_exercise(
        "word", title="A word", chapter="softmax", level="easy", minutes=1, answer=lambda: "b", oracle=lambda: "b",
        wrong={Mistake("a", "a", "a is the other one.", 1): lambda: "a"}, hints=("", "", ""), why="", insight="Yes.",
    )  # fmt: skip


@pytest.mark.parametrize("answer", ["b", " B ", lambda: "b"])
def test_a_word_is_right_in_any_case(answer):
    assert grade(word_exercise(), answer).status == "passed"


def test_a_wrong_word_is_told():
    assert grade(word_exercise(), "a").lines[0] == "[!] word: a is the other one."
    assert grade(word_exercise(), "c").lines[0] == "[!] word: 'c' is not the answer."
    assert grade(word_exercise(), 3).lines[0] == "[!] word: a word is expected, not a number."
    assert grade(word_exercise(), ["b"]).status == "wrong"


@pytest.mark.parametrize("answer", [(2, 3, 4), [2, 3, 4], np.array([2, 3, 4])])
def test_a_shape_may_be_written_in_any_way(answer):
    assert grade("matrix_shapes", answer).status == "passed"


VALUES = {
    "a shape too short": ("matrix_shapes", (2, 3), "your tuple has 2 numbers; 3 are expected"),
    "a wrong number": ("matrix_shapes", (2, 3, 9), "1 of 3 numbers are wrong"),
    "a list for a number": ("vjp_cost", [1, 2], "one number is expected, not 2"),
    "a number in a list": ("vjp_cost", [320_000], "a bare number is expected, not a list, a tuple or an array"),
    "a number and a comma": ("vjp_cost", (320_000,), "a bare number is expected, not a list, a tuple or an array"),
    "below a negative number": ("score_gradient", -9, "too small: the right number lies above it"),
    "above a negative number": ("score_gradient", -1.1, "too large: the right number lies below it"),
    "a negative number": ("vjp_cost", -5, "too small: the right number lies above it"),
    "minus": ("vjp_cost", -320_000, "the sign is wrong"),
    "a tenth": ("delta_sum", 105.1, "your number is 10 times too small"),
    "a word": ("vjp_cost", "many", "a number is expected, not a word"),
    "True": ("vjp_cost", True, "numbers are expected"),
    "a number": ("vjp_cost", 640_200, "your number is too large.$"),
    "ten times": ("delta_sum", 10510, "your number is 10 times the right one"),
    "NaN": ("delta_sum", float("nan"), "NaN"),
    "ragged": ("matrix_shapes", ((1, 2), 3), "rows of unequal length"),
    "a function that stops": ("vjp_cost", lambda: 1 / 0, "your value stops with ZeroDivisionError"),
    "an object": ("vjp_cost", object(), "your value returns a object, not numbers"),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_wrong_value_gets_a_sentence(case):
    id, answer, sentence = VALUES[case]
    line = first_line(answer, id)
    assert re.search(sentence, line), line


@pytest.mark.parametrize("answer", [TODO, (TODO, 2), [2, ...], None, lambda: TODO])
def test_a_blank_value_is_unattempted(answer):
    assert grade("matrix_shapes", answer).status == "unattempted"


# --- door and imports -------------------------------------------------------------------------------------


def test_an_unknown_id_gets_a_suggestion():
    with pytest.raises(ValueError, match="There is no exercise 'softmx'. Did you mean 'softmax'?"):
        grade("softmx", right)
    with pytest.raises(ValueError, match="There is no exercise 3"):
        check(3, right)


def test_an_exercise_without_a_place_in_the_book_is_told(monkeypatch):
    monkeypatch.setitem(registry_module._BOOK_ORDER, "masks", ("spot_mask", "causal_mask", "padded_causal_attention", "allowed_pairs"))
    with pytest.raises(ValueError, match="'masked_softmax', in attnlib/exercises/masks/masked_softmax.py, has no place in the book"):
        registry_module.registry.__wrapped__()


def test_the_import_needs_numpy_and_the_standard_library_only():
    code = (
        "import sys; import attnlib.exercises as e; e.progress(); "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'IPython', 'matplotlib', 'scipy', 'ctypes'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] in ("[]", "['ctypes']")  # NumPy itself imports ctypes
