"""How much a call holds at most at any moment, as Python's memory tracer sees it, and how that grows with its input."""

from attnlib.exercises.engine.timelimit import TimeUp, call_within
from attnlib.exercises.engine.watch import LONG


def peak_bytes(function, arguments):
    """How many bytes a call allocates at most at any moment; 0 if that cannot be found out.

    Examples
    --------
    >>> import numpy as np
    >>> peak_bytes(np.zeros, (1000,)) >= 8000
    True
    """
    try:
        import tracemalloc
    except ImportError:  # a Python without it
        return 0
    was_tracing = tracemalloc.is_tracing()
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
    peaks = {(a, b): peak_bytes(function, make(a * one, b * other)) for a in (1, 2) for b in (1, 2)}
    if 0 in peaks.values():
        return 0.0
    return (peaks[2, 2] - peaks[2, 1] - peaks[1, 2] + peaks[1, 1]) / (one * other)
