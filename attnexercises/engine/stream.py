"""Does a function use up a row of numbers piece by piece, and never go back? Found out by one call each.

`reads` watches the row; `exponents` hears what is exponentiated, wherever it came from.
"""

import math
from contextlib import contextmanager

import numpy as np

from attnexercises.engine.timelimit import TimeUp, call_within
from attnexercises.engine.watch import LONG, watched


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
