"""How much memory does a call take? The answer must not depend on what else the process does meanwhile."""

import gc
import tracemalloc

MOST = 20  # calls at most, if other threads allocate all the time


def peak_memory(function, *arguments, **options):
    """Return the most bytes that a call holds at any moment, its result among them.

    The tracer counts what the whole process allocates. What a first call imports and what another thread allocates can
    only add to a peak, so the smallest peak is the right one, and it is believed once two calls have had it.
    """
    collects, peaks = gc.isenabled(), []
    gc.disable()  # when the collector comes depends on the tests that ran before
    try:
        while len(peaks) < MOST and peaks.count(min(peaks, default=0)) < 2:
            peaks.append(_peak(function, arguments, options))
    finally:
        if collects:
            gc.enable()
    return min(peaks)


def _peak(function, arguments, options):
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        function(*arguments, **options)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()
