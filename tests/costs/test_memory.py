"""attnlib.costs.memory: does the two-level memory count, and refuse, what it should?"""

import itertools

import numpy as np
import pytest

from attnlib.costs import Memory, tiles


def test_a_load_is_a_copy_and_a_store_writes_back():
    memory, slow = Memory(), np.arange(4.0)
    fast = memory.load(slow[1:3])
    fast += 10
    np.testing.assert_array_equal(slow, np.arange(4.0))
    memory.store(fast, slow[2:])
    np.testing.assert_array_equal(slow, [0, 1, 11, 12])
    assert (memory.loads, memory.stores, memory.used, memory.peak) == (2, 2, 2, 2)


def test_what_is_computed_takes_room_but_is_not_traffic():
    memory = Memory(capacity=6)
    first = memory.keep(np.ones(4))
    assert (memory.loads, memory.stores, memory.used) == (0, 0, 4)
    memory.free(first)
    second = memory.keep(np.ones(3))
    assert (memory.used, memory.peak) == (3, 4) and second.size == 3


@pytest.mark.parametrize("method", ["load", "keep"])
def test_more_than_the_capacity_is_refused_and_exactly_the_capacity_is_not(method):
    memory = Memory(capacity=5)
    memory.load(np.ones(3))
    getattr(memory, method)(np.ones(2))
    message = "holds 5 numbers and 5 are in use; 1 more do not fit"
    with pytest.raises(MemoryError, match=message):
        getattr(memory, method)(np.ones(1))
    assert memory.used == 5 and memory.loads in (3, 5)


@pytest.mark.parametrize("use", [lambda m, a: m.store(a, np.ones(2)), lambda m, a: m.free(a)], ids=["store", "free"])
def test_only_what_is_in_fast_memory_can_be_stored_or_freed(use):
    memory, slow = Memory(), np.ones(2)
    fast = memory.load(slow)
    for array in (slow, fast.copy(), fast[:]):
        with pytest.raises(ValueError, match="the array is not in fast memory; load it, or keep it, first"):
            use(memory, array)
    memory.free(fast)
    with pytest.raises(ValueError, match="not in fast memory"):
        use(memory, fast)


def test_tiles_cover_everything_once():
    for length, block in itertools.product(range(12), range(1, 14)):
        parts = tiles(length, block)
        assert [i for part in parts for i in range(part.start, part.stop)] == list(range(length))
        assert all(part.stop - part.start == block for part in parts[:-1])
    assert tiles(5) == [slice(0, 5)] and tiles(0) == []
