"""How much a call holds at most at any moment, as Python's memory tracer sees it, and how that grows with its input.

The tracer sees the whole process: what other threads allocate while the call runs is counted, too, and so is garbage that
Python has not collected yet. Both can only add to what the call needs itself, so of several measurements the smallest is
right. Every other one is made without the collector, whose moments depend on what ran before.
"""

import gc
import sys

from attnexercises.engine.timelimit import TimeUp, call_within
from attnexercises.method.trace import LONG

ROUNDS = 12  # measurements at most
ALIKE = 0.5  # bytes for each pair by which three rounds in a row may differ
HELD = 4.0  # bytes for each pair from which on something is held for it: a place in a list takes 8


def peak_bytes(function, arguments):
    """How many bytes a call allocates at most at any moment; 0 if that cannot be found out.

    Examples
    --------
    >>> import numpy as np
    >>> peak_bytes(np.zeros, (1000,)) >= 8000
    True
    """
    return min(_peak(function, arguments, collects) for collects in (False, True))


def _peak(function, arguments, collects):
    """One measurement; no other thread gets its turn while Python code runs."""
    try:
        import tracemalloc
    except ImportError:  # a Python without it
        return 0
    was_tracing, was_collecting, switches = tracemalloc.is_tracing(), gc.isenabled(), sys.getswitchinterval()
    (gc.enable if collects else gc.disable)()
    sys.setswitchinterval(LONG)
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            call_within(LONG, lambda: function(*arguments))
        except (TimeUp, Exception):  # its values were right: whoever stops here is not judged by it
            return 0
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not was_tracing:
            tracemalloc.stop()
        sys.setswitchinterval(switches)
        (gc.enable if was_collecting else gc.disable)()


def bytes_for_each_pair(function, make, one, other):
    """How many bytes are held for each pair of the one thing and the other.

    What is held for each of the one alone, for each of the other alone, or always, does not count: it cancels between four
    calls, with one or two times as many of either.

    Parameters
    ----------
    function : callable
    make : callable
        ``make(one, other)`` returns the arguments for so many of them.
    one, other : int

    Examples
    --------
    >>> import numpy as np
    >>> def outer(x, y):
    ...     return sum(np.outer(x, y).ravel().tolist())
    >>> bytes_for_each_pair(outer, lambda n, m: (np.ones(n), np.ones(m)), 50, 60) > 8
    True
    >>> bytes_for_each_pair(lambda x, y: (x.tolist(), y.tolist()), lambda n, m: (np.ones(n), np.ones(m)), 50, 60) < 1
    True
    """
    function(*make(one, other))  # what is made once, such as an import, does not count either
    least, held = {}, []
    for number in range(ROUNDS):
        for a, b in ((1, 1), (1, 2), (2, 1), (2, 2)):
            peak = _peak(function, make(a * one, b * other), collects=number % 2 == 1)
            if not peak:
                return 0.0
            least[a, b] = min(peak, least.get((a, b), peak))
        held.append((least[2, 2] - least[2, 1] - least[1, 2] + least[1, 1]) / (one * other))
        if len(held) >= 3 and max(held[-3:]) - min(held[-3:]) < ALIKE:
            break
    return held[-1]
