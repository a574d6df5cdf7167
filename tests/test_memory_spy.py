"""memory_spy: is the peak that of the call, whatever other threads and first calls allocate meanwhile?"""

import gc
import tracemalloc

from memory_spy import MOST, peak_memory


def busy(noises, size=1000):
    """A call that takes `size` bytes and, as if another thread had needed them just then, some noise in its first calls."""
    noises = iter(noises)

    def call():
        return bytearray(size), bytearray(next(noises, 0))

    return call


def test_what_others_allocate_now_and_then_does_not_count():
    for noises in ([], [5000, 9000, 7000], [0, 5000, 9000], [5000, 5001, 0, 9000, 0]):
        assert 1000 <= peak_memory(busy(noises)) < 2000
    assert 3000 <= peak_memory(busy([], size=3000)) < 4000


def test_it_ends_though_others_allocate_all_the_time():
    assert peak_memory(busy(range(10**4, 10**5, 100))) >= 10**4 and MOST < 100


def test_it_leaves_the_collector_and_the_tracer_as_they_were():
    collects = gc.isenabled()
    peak_memory(busy([]))
    assert gc.isenabled() == collects and not tracemalloc.is_tracing()
    gc.disable()
    tracemalloc.start()
    try:
        assert 1000 <= peak_memory(busy([])) < 2000
        assert not gc.isenabled() and tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
        if collects:
            gc.enable()
