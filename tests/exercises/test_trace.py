"""attnexercises.engine: is every look at an argument seen, by whatever way it goes, and nothing else taken for one?"""

import builtins
import math
import threading
import time

import numpy as np
import pytest

from attnexercises.engine import calls
from attnexercises.engine.registry import find
from attnexercises.method import access, memory, trace
from attnexercises.method.access import made_for_all, most_at_once
from attnexercises.method.memory import bytes_for_each_pair, peak_bytes
from attnexercises.method.trace import watched

X, Y = np.random.default_rng(0).standard_normal((6, 3)), np.random.default_rng(1).standard_normal(3)


def rows_at_once(function):
    return most_at_once(watched(function, {"x": X, "y": Y}, ("x", "y")), ("x",))


def buffer(x):
    copy = np.zeros((6, 3))
    copy[...] = x
    return copy


ALL_ROWS = {
    "x @ y": lambda x, y: x @ y,
    "transposed": lambda x, y: y @ x.T,
    "the method dot": lambda x, y: x.dot(y),
    "dot": lambda x, y: np.dot(x, y),
    "matmul": lambda x, y: np.matmul(x, y),
    "inner": lambda x, y: np.inner(x, y),
    "einsum": lambda x, y: np.einsum("ij,j->i", x, y),
    "tensordot": lambda x, y: np.tensordot(x, y, 1),
    "several": lambda x, y: np.linalg.multi_dot([x, np.eye(3), y]),
    "entry by entry": lambda x, y: (x * y).sum(axis=1),
    "after a scale": lambda x, y: (0.5 * x) @ np.eye(3),
    "divided before": lambda x, y: (x / 3) @ np.eye(3),
    "the other way round": lambda x, y: (-x) @ np.eye(3),
    "weights for each row": lambda x, y: (np.arange(6.0)[:, None] * x).sum(axis=0),
    "copied": lambda x, y: x.copy() @ y,
    "as a plain array": lambda x, y: np.asarray(x) @ y,
    "as a new array": lambda x, y: np.array(x, dtype=float) @ y,
    "contiguous": lambda x, y: y @ np.ascontiguousarray(x.T),
    "of lists": lambda x, y: np.array(x.tolist()) @ y,
    "lists alone": lambda x, y: np.dot(x.tolist(), y.tolist()),
    "lists of lists": lambda x, y: np.matmul([list(row) for row in x], list(y)),
    "float by float": lambda x, y: np.array([[float(a) for a in row] for row in x]) @ y,
    "item by item": lambda x, y: np.array([[x[i, j].item() for j in range(3)] for i in range(6)]) @ y,
    "by an iterator": lambda x, y: np.fromiter(x.flat, float).reshape(6, 3) @ y,
    "into a buffer": lambda x, y: buffer(x) @ y,
    "put together from parts": lambda x, y: np.concatenate([x[3:], x[:3]]) @ y,
    "stacked rows": lambda x, y: np.stack(list(x)) @ y,
    "padded": lambda x, y: np.pad(x, ((0, 2), (0, 0))) @ y,
    "picked": lambda x, y: x[[5, 4, 3, 2, 1, 0]] @ y,
    "through a view": lambda x, y: np.ndarray.view(x, type(x)) @ y,
    "out": lambda x, y: np.matmul(x, y, out=np.zeros(6)),
}


@pytest.mark.parametrize("way", ALL_ROWS)
def test_all_rows_that_meet_something_are_seen(way):
    assert rows_at_once(ALL_ROWS[way]) == 6


FEW_ROWS = {
    "a block": (2, lambda x, y: [x[i : i + 2] @ y for i in (0, 2, 4)]),
    "a block of a copy": (2, lambda x, y: [x.copy()[i : i + 2] @ y for i in (0, 2, 4)]),
    "a block of lists": (2, lambda x, y: [np.array(x.tolist()[i : i + 2]) @ y for i in (0, 2, 4)]),
    "row by row": (1, lambda x, y: [row @ y for row in x]),
    "number by number": (1, lambda x, y: [sum(a * b for a, b in zip(row, y)) for row in x]),
    "number by number, of lists": (1, lambda x, y: [sum(a * b for a, b in zip(row, y.tolist())) for row in x.tolist()]),
    "other numbers": (0, lambda x, y: np.ones((6, 3)) @ y),
    "a scale": (0, lambda x, y: 2.0 * x),
    "a sum": (0, lambda x, y: x.sum(axis=0) + y),
    "moved about": (0, lambda x, y: np.concatenate([x, x])[::-1].T.reshape(-1).copy()),
    "sizes": (0, lambda x, y: np.zeros(x.shape) + len(x) + x.size),
    "in place": (0, lambda x, y: np.add(x.copy(), 1, out=np.zeros((6, 3)))),
}


@pytest.mark.parametrize("way", FEW_ROWS)
def test_less_is_not_taken_for_all(way):
    rows, function = FEW_ROWS[way]
    assert rows_at_once(function) == rows


@pytest.mark.parametrize("way", ALL_ROWS)
def test_what_is_computed_is_what_it_is_without_watching(way):
    found = []
    book = watched(lambda x, y: found.append(ALL_ROWS[way](x, y)), {"x": X, "y": Y}, ("x", "y"))
    assert book.finished
    np.testing.assert_allclose(np.asarray(found[0], dtype=float), ALL_ROWS[way](X, Y), rtol=1e-12)


def test_everything_is_itself_again_after_a_watched_call():
    before = {**vars(np)}, {**vars(math)}, {**vars(builtins)}

    def stops(x, y):
        raise TypeError

    for function in (ALL_ROWS["x @ y"], stops):
        watched(function, {"x": X, "y": Y}, ("x",))
    after = vars(np), vars(math), vars(builtins)
    assert all(old[name] is new[name] for old, new in zip(before, after, strict=True) for name in old if name != "_")
    assert type(np.asarray(X)) is np.ndarray and type(float(1)) is float


def test_float_is_float_while_a_call_is_watched():
    def function(x, y):
        assert float("-inf") == -math.inf and float(2) == 2.0 and isinstance(1.5, float) and not isinstance(1, float)
        assert isinstance(float(y[0]), float) and float(y[0]) == Y[0] and issubclass(np.float64, float)
        assert np.zeros(2, dtype=float).dtype == np.float64 and y.astype(float).dtype == np.float64
        assert x.dtype == float and np.full(2, 1, float).dtype == float

    assert watched(function, {"x": X, "y": Y}, ("x",)).finished


def test_a_crash_or_an_endless_loop_while_it_is_watched_is_no_objection(monkeypatch):
    def stops(*arguments):
        raise TypeError

    def never_ends(*arguments):
        while True:
            pass

    monkeypatch.setattr(trace, "LONG", 0.05)
    monkeypatch.setattr(memory, "LONG", 0.05)
    for function in (stops, never_ends):
        assert peak_bytes(function, ()) == 0
        book = watched(function, {"x": X}, ("x",))
        assert book.steps == [] and not book.finished


def test_no_limit_of_time_turns_an_objection_off(monkeypatch):
    def plain(query, key, value, block, causal):
        scores = query @ key.T / math.sqrt(query.shape[1])
        if causal:
            scores = np.where(np.tri(*scores.shape, k=len(key) - len(query)) > 0, scores, -np.inf)
        top = np.maximum(scores.max(axis=1, keepdims=True), -1e9)
        powers = np.exp(scores - top)
        total = np.maximum(powers.sum(axis=1, keepdims=True), 1e-300)
        return powers @ value / total, (top + np.log(total))[:, 0]

    monkeypatch.setattr(calls, "TIME_LIMIT", 1e-9)
    assert "all 312 scores" in find("flash_forward").method(plain)


# --- memory ---------------------------------------------------------------------------------------


def test_the_largest_array_that_lives_at_any_moment_counts():
    def comes_and_goes(n):
        x = np.zeros(n)
        del x
        return np.zeros(n)

    assert 8_000_000 <= peak_bytes(comes_and_goes, (1_000_000,)) < 10_000_000


HELD = {
    "a list of lists": (lambda n, m: [[0.5 + i * j for j in range(m)] for i in range(n)], True),
    "a mask of lists": (lambda n, m: [[i < j for j in range(m)] for i in range(n)], True),
    "an array": (lambda n, m: np.zeros((n, m)), True),
    "an array of bytes, twice": (lambda n, m: (np.zeros((n, m), dtype=bool), np.ones((n, m), dtype=bool)), True),
    "a number for each": (lambda n, m: ([0.5 + i for i in range(n)], np.zeros(m), {j: 0.1 * j for j in range(m)}), False),
    "a row at a time": (lambda n, m: [sum([0.5 + i * j for j in range(m)]) for i in range(n)], False),
    "always the same": (lambda n, m: np.zeros(10**5), False),
}


@pytest.mark.parametrize("what", HELD)
def test_what_is_held_for_each_pair_is_told_from_what_is_not(what):
    function, held = HELD[what]
    assert (bytes_for_each_pair(function, lambda n, m: (n, m), 16, 64) > 1) is held


@pytest.mark.parametrize("larger, said", [(1.0, ""), (4.5, "numbers")])
def test_a_few_kilobytes_are_no_numbers_for_all_pairs(larger, said, monkeypatch):
    """Lists that Python has kept for itself weigh as much as 4.5 bytes for each of 16 × 64 pairs, and less for each of more."""
    measured = {(16, 64): 4.5, (32, 128): larger}
    monkeypatch.setattr(access, "bytes_for_each_pair", lambda answer, many, *sizes: measured[sizes])
    assert access.held_at_once(None, [trace.Book()], None, 5, 24) == said


SHAPES = {
    (11, 24): "f", (24, 11): "f", (11, 8, 3): "f", (8, 11, 3): "f", (2, 11, 24): "i", (11, 24, 4): "b", (11, 11): "f", (24, 24): "f",
}  # fmt: skip
OTHERS = [(24, 9), (11, 4), (11, 3), (24,), (264,), (8, 3, 4), (11, 1), (8, 11, 5), (3, 11, 1)]


def test_what_is_made_for_all_pairs_is_known_by_its_shape():
    for shape, kind in SHAPES.items():
        assert made_for_all([trace.Book(made=[(shape, kind)])], 11, 24), shape
    for shape in OTHERS:
        assert not made_for_all([trace.Book(made=[(shape, "f")])], 11, 24), shape


def test_what_another_thread_allocates_is_not_held_against_an_answer():
    """A thread beside the call, as in JupyterLab, that holds more and more and lets it go again."""
    ended, kept = threading.Event(), []

    def allocate():
        while not ended.is_set():
            kept.append([object() for _ in range(1000)])
            if len(kept) > 20:
                kept.clear()
            time.sleep(1e-3)

    thread = threading.Thread(target=allocate)
    thread.start()
    try:
        for what in ("a row at a time", "a list of lists", "a mask of lists"):
            function, held = HELD[what]
            assert (bytes_for_each_pair(function, lambda n, m: (n, m), 16, 64) > memory.HELD) is held, what
    finally:
        ended.set()
        thread.join()
