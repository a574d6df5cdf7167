"""Does a function use up a row of numbers piece by piece, and never go back? Found out by one call each.

`reads` watches the row; `exponents` hears what is exponentiated, wherever it came from.

Attention in tiles: what a watched call made for all queries and keys, how many keys it looked at at once, and in which order.
"""

import math
from contextlib import contextmanager

import numpy as np

from attnexercises.engine.timelimit import TimeUp, call_within
from attnexercises.method.trace import LONG, watched


def reads(function, row, *rest):
    """Return what ``function(row, *rest)`` computes with, step by step: sets of places of the row.

    To take numbers out, to copy or to reorder them is to compute nothing.

    Parameters
    ----------
    function : callable
    row : ndarray
        One axis; no two numbers are equal.
    *rest
        The other arguments.

    Examples
    --------
    >>> [sorted(places) for places in reads(lambda x: x[:2].max() + x.tolist()[2], np.array([1.0, 2.0, 3.0]))]
    [[0, 1], [2]]
    """
    book = watched(function, {"row": row} | dict(enumerate(rest)), ("row",))
    return [step.rows["row"] for step in book.steps]


def exponents(function, row, *rest):
    """Return what ``function(row, *rest)`` hands to `exp` and to `logaddexp.reduce`, call by call, as flat arrays.

    Examples
    --------
    >>> exponents(lambda x: np.exp(list(x)).sum() + math.exp(7), np.arange(3.0))
    [array([0., 1., 2.]), array([7.])]
    """
    heard = []
    try:
        with _heard_by(heard):
            call_within(LONG, lambda: function(np.array(row), *rest))
    except (TimeUp, Exception):  # as above
        return []
    return heard


@contextmanager
def _heard_by(heard):
    def hear(x):
        heard.append(np.array(x, dtype=float).ravel())

    replaced = [(np, "exp", _Heard(np.exp, hear)), (math, "exp", _Heard(math.exp, hear))]
    replaced.append((np, "logaddexp", _Heard(np.logaddexp, hear, "reduce")))
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    try:
        for module, name, function in replaced:
            setattr(module, name, function)
        yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)


class _Heard:
    """A function that tells `hear` its first argument; or the one of a method of it, if that is named."""

    def __init__(self, function, hear, method=""):
        self.function, self.hear, self.method = function, hear, method

    def __call__(self, *arguments, **options):
        return self._called(self.function, "", arguments, options)

    def __getattr__(self, name):
        found = getattr(self.function, name)
        if name != self.method:
            return found
        return lambda *arguments, **options: self._called(found, name, arguments, options)

    def _called(self, function, name, arguments, options):
        if name == self.method and arguments:
            self.hear(arguments[0])
        return function(*arguments, **options)


def most_read_at_once(log, row, block):
    """The largest number of places that one step reads; the maximum carried into a block from before it is left out.

    Examples
    --------
    >>> row = [9, 1, 8, 2, 7, 3]
    >>> most_read_at_once([{0, 2, 3}], row, 2), most_read_at_once([{0, 1, 2}], row, 2)
    (2, 3)
    """
    return max((len(places - _carried_into(places, row, block)) for places in log if places), default=0)


def _carried_into(places, row, block):
    """The place of the largest number before the block where the others begin, if it is among them."""
    first, *others = sorted(places)
    begins_a_block = others and others[0] % block == 0
    return {first} if begins_a_block and row[first] == max(row[: others[0]]) else set()


def goes_back(log, row, block):
    """Is a number read again after a block of others, though it is not one that is carried along?

    The largest number so far, and the largest of each block, may be carried along: they are what a maximum is compared with.

    Examples
    --------
    >>> row = [9, 1, 8, 2, 7, 3]
    >>> goes_back([{0, 1}, {0, 1}, {2, 3}, {0, 3}, {4}, {5}], row, 2), goes_back([{0, 1}, {2, 3}, {4, 5}, {0, 1}], row, 2)
    (False, True)
    """
    starts = range(0, len(row), block)
    carried = {max(range(i, min(i + block, len(row))), key=row.__getitem__) for i in starts}
    carried |= {i for i in range(len(row)) if row[i] == max(row[: i + 1])}
    last = {}
    for number, places in enumerate(log):
        for place in places - carried:
            if place in last and sum(later > last[place] for later in last.values()) >= block:
                return True
        last.update(dict.fromkeys(places - carried, number))
    return False


def made_for_all(books, q, k):
    """What was made for all pairs of q queries and k keys, in words; "" if nothing. The sizes of all axes have to differ.

    Examples
    --------
    >>> from attnexercises.method.trace import Book
    >>> made_for_all([Book(made=[((5, 3), "f"), ((5, 24), "b")])], 5, 24)
    'a whole mask of 5 × 24'
    """
    made = [entry for book in books for entry in book.made]
    pairs = [kind for shape, kind in made if _covers(shape, q, k)]
    if "f" in pairs:
        products = [step for book in books for step in book.steps if {"query", "key"} <= set(step.rows)]
        scores = any(_covers(step.made[0], q, k) for step in products)
        return f"all {q * k} scores" if scores else f"an array of {q} × {k}"
    if "b" in pairs:
        return f"a whole mask of {q} × {k}"
    if pairs:
        return f"indices for all {q} × {k} pairs"
    for size, name in ((q, "queries"), (k, "keys")):
        if any(list(shape).count(size) > 1 for shape, _ in made):
            return f"a product of {size} × {size}, of all {name} with all {name}"
    return ""


def _covers(shape, q, k):
    """Does it have a place for each pair? In whatever shape: (q, k), (k, q), (blocks, q, block)."""
    sizes = list(shape)
    if q not in sizes:
        return False
    sizes.remove(q)
    rest = 1
    for size in sizes:
        rest *= size
    return k in sizes or rest == k


def most_at_once(book, names):
    """The most rows of any of the named arguments that one product looks at."""
    return max((len(step.meets(name)) for step in book.steps for name in names), default=0)


def meets_again(book, block):
    """Does a query meet a key again after more than a block of other keys?"""
    visits = {}  # query to {key: number of its last visit}
    for number, (queries, keys) in enumerate(_meetings(book)):
        for query in queries:
            before = visits.setdefault(query, {})
            for key in keys:
                since = sum(last > before[key] for last in before.values()) if key in before else 0
                if since > block:
                    return True
            before.update(dict.fromkeys(keys, number))
    return False


def most_waiting(book, used):
    """The most keys that have met a query and wait: what they are for has not been done yet.

    Parameters
    ----------
    used : callable
        ``used(step)`` returns the keys that a step uses up; None means all of them.
    """
    waiting, most = set(), 0
    for step in book.steps:
        done = used(step)
        if done is None:
            waiting.clear()
        else:
            waiting -= done
        if step.meets("key") and "query" in step.rows:
            waiting |= step.meets("key")
            most = max(most, len(waiting))
    return most


def _meetings(book):
    for step in book.steps:
        if step.meets("key") and "query" in step.rows:
            yield step.rows["query"], step.rows["key"]
