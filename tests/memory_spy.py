"""How much memory does a call take?"""

import tracemalloc


def peak_memory(function, *arguments, **options):
    """Return the most bytes that a call holds at any moment, its result among them."""
    tracemalloc.start()
    try:
        function(*arguments, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
