"""Measure with `tracemalloc` the peak memory of a call, and how it grows with the input.

`tracemalloc` sees the whole process. It also counts what other threads allocate during the call, and garbage that
Python has not collected yet. Both can only add to what the call itself needs, so the smallest of several measurements
is the best one. Every other measurement is made with the garbage collector off, because the moment at which it runs
depends on what ran before.

Nothing helps against what `tracemalloc` does not see: Python keeps some freed lists and tuples for itself, and uses them
again. How many it has depends on what ran before. They are a few kilobytes, whatever the sizes of the input.
"""

import gc
import sys

from attnexercises.engine.timelimit import TimeUp, call_within
from attnexercises.method.trace import LONG

ROUNDS = 12  # the largest number of measurements
ALIKE = 0.5  # bytes for each pair; if three rounds in a row differ by less, measuring ends
HELD = 4.0  # bytes for each pair; more than that means that something is held for each (an entry of a list takes 8)


def peak_bytes(function, arguments):
    """Return the largest number of bytes that a call holds at any moment; 0 if that cannot be measured.

    Examples
    --------
    >>> import numpy as np
    >>> peak_bytes(np.zeros, (1000,)) >= 8000
    True
    """
    return min(_peak(function, arguments, collects) for collects in (False, True))


def _peak(function, arguments, collects):
    """Measure once. The switch interval is so long that no other thread runs Python code meanwhile."""
    try:
        import tracemalloc
    except ImportError:  # this Python has no tracemalloc
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
        except (TimeUp, Exception):  # its values were right: an answer that fails only here is not judged
            return 0
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not was_tracing:
            tracemalloc.stop()
        sys.setswitchinterval(switches)
        (gc.enable if was_collecting else gc.disable)()


def bytes_for_each_pair(function, make, one, other):
    """Return how many bytes a call holds for each pair of things of two kinds, such as queries and keys.

    Memory that does not depend on the sizes, or only on one of them, does not count. It cancels in the difference of
    four calls, in which each size is either the given one or twice that.

    Parameters
    ----------
    function : callable
    make : callable
        ``make(one, other)`` returns the arguments for so many things of each kind.
    one, other : int
        How many things of each kind there are.

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
    function(*make(one, other))  # a first call, so that what is made only once, such as an import, does not count
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
