"""attnlib.decoding.kv_cache: are keys and values kept, and nothing else?"""

import numpy as np
import pytest
from decoding_cases import B, D, G, N, V, make_cache, make_inputs

from attnlib.costs import kv_cache_bytes
from attnlib.decoding import KVCache, SlidingKVCache


def test_keys_and_values_are_read_only_views_of_what_is_filled(rng):
    _, key, value = make_inputs(rng)
    cache = make_cache(N + 3)
    assert len(cache) == 0 and cache.keys.shape == (B, G, 0, D) and cache.values.shape == (B, G, 0, V)
    cache.append(key[..., :2, :], value[..., :2, :])
    early = cache.keys
    cache.append(key[..., 2:, :], value[..., 2:, :])
    assert len(cache) == N and cache.capacity == N + 3
    np.testing.assert_array_equal(cache.keys, key)
    np.testing.assert_array_equal(cache.values, value)
    np.testing.assert_array_equal(early, key[..., :2, :])  # unchanged by the second append
    assert np.shares_memory(cache.keys, early)
    for view in (cache.keys, cache.values):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0


def test_appending_allocates_nothing_that_grows_with_the_length(rng):
    cache = KVCache(1000, d=D)
    stored = cache._keys
    for _ in range(1000):
        cache.append(np.ones((1, D)), np.ones((1, D)))
    assert cache._keys is stored and len(cache) == 1000


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_bytes_are_those_of_the_cost_formula(dtype):
    cache = make_cache(100, dtype=dtype)
    assert cache.nbytes == kv_cache_bytes(B, 1, 100, G, D, V, dtype=dtype)
    cache.append(np.zeros((B, G, 3, D), dtype), np.zeros((B, G, 3, V), dtype))
    assert cache.nbytes == kv_cache_bytes(B, 1, 100, G, D, V, dtype=dtype)
    assert KVCache(10, d=3).nbytes == KVCache(10, d=3, v=3).nbytes == 2 * 10 * 3 * 8


def test_a_wider_cache_takes_narrower_keys_and_lists():
    cache = KVCache(3, d=2)
    cache.append(np.ones((1, 2), np.float32), [[1, 2]])
    assert cache.keys.dtype == np.float64 and cache.values.tolist() == [[1.0, 2.0]]


def test_a_sliding_cache_writes_the_newest_over_the_oldest():
    cache = SlidingKVCache(3, d=1, v=2)
    rows = []
    for position in range(8):
        cache.append([[position]], [[position, -position]])
        rows.append(sorted(cache.keys.ravel().tolist()))
        np.testing.assert_array_equal(cache.values, cache.keys * [1, -1])
    assert SlidingKVCache(3, d=1, dtype=np.float32).keys.dtype == np.float32
    assert KVCache(3, d=0, v=0).keys.shape == (0, 0)
    assert rows == [[0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [5, 6, 7]]
    assert cache.capacity == 3


def test_a_single_token_needs_no_mask_and_a_cache_of_capacity_zero_holds_nothing(rng):
    cache = KVCache(0, d=2)
    assert len(cache) == 0 and cache.nbytes == 0 and cache.keys.shape == (0, 2)
    with pytest.raises(ValueError, match="it holds 0 of 0 positions and 1 more"):
        cache.append([[1, 2]], [[1, 2]])


def test_a_view_of_a_growing_cache_stays_and_one_of_a_sliding_cache_is_written_over():
    growing, sliding = KVCache(3, d=1), SlidingKVCache(2, d=1)
    for cache in (growing, sliding):
        for position in range(2):
            cache.append([[position]], [[10 + position]])
    before = [(cache.keys, cache.values) for cache in (growing, sliding)]
    growing.append([[2]], [[12]])
    sliding.append([[2]], [[12]])
    assert [array.ravel().tolist() for array in before[0]] == [[0, 1], [10, 11]]
    assert [array.ravel().tolist() for array in before[1]] == [[2, 1], [12, 11]]
    assert "do not change it" in KVCache.keys.__doc__ and "writes over the oldest" in SlidingKVCache.keys.__doc__
    for view in (sliding.keys, sliding.values):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0


@pytest.mark.parametrize("cache", [KVCache, SlidingKVCache])
@pytest.mark.parametrize("key, value, stored", [("f4", "f4", "f4"), ("f2", "f4", "f4"), ("f2", "f2", "f2"), ("f8", "f4", "f8"), ("i8", "f4", "f8")])
def test_without_a_dtype_a_cache_takes_that_of_the_first_keys_and_values(cache, key, value, stored):
    cache = cache(3, d=2)
    cache.append(np.ones((1, 2), key), np.ones((1, 2), value))
    assert cache.keys.dtype == cache.values.dtype == stored and cache.nbytes == 2 * 3 * 2 * np.dtype(stored).itemsize
    if stored != "f8":  # from then on it is a cache of that dtype
        with pytest.raises(TypeError, match="would round key"):
            cache.append(np.ones((1, 2)), np.ones((1, 2), stored))


def test_what_is_refused_decides_no_dtype():
    cache = KVCache(3, d=2)
    with pytest.raises(ValueError, match="key must have the shape"):
        cache.append(np.ones((1, 3), np.float32), np.ones((1, 3), np.float32))
    cache.append(np.ones((1, 2)), np.ones((1, 2)))
    assert cache.keys.dtype == np.float64
