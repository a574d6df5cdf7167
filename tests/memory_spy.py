"""How much memory does a call take? That does not depend on how busy the machine is."""

import tracemalloc


def peak_memory(function, *arguments, **options):
    """Return the most bytes that a call holds at any moment, its result among them.

    The less of two calls: a first one may import something, and another thread may allocate meanwhile.
    """
    return min(_peak(function, arguments, options) for _ in range(2))


def _peak(function, arguments, options):
    tracemalloc.start()
    try:
        function(*arguments, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
