"""attnlib.decoding.paged: does each text get back what it put in, wherever it lies, and does memory come back?"""

import numpy as np
import pytest
from decoding_cases import B, D, G, V

from attnlib.attention import attention
from attnlib.decoding import PagedKVCache


def make_cache(pages=9, size=3, dtype=np.float64):
    return PagedKVCache(pages, size, leading=(B, G), d=D, v=V, dtype=dtype)


def rows(rng, n):
    return rng.normal(size=(B, G, n, D)), rng.normal(size=(B, G, n, V))


def put(cache, text, kept, rng, n):
    """Append n rows, to the cache and to what is kept beside it."""
    new = rows(rng, n)
    cache.append(text, *new)
    kept[text] = [np.concatenate(pair, axis=-2) for pair in zip(kept.get(text, rows(rng, 0)), new, strict=True)]


def assert_same(cache, kept):
    for text, wanted in kept.items():
        for got, want in zip(cache.read(text), wanted, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 20])
def test_texts_that_grow_in_turns_read_back_what_they_wrote(rng, size):
    cache, kept = make_cache(40, size), {}
    for text in "abc":
        cache.start(text)
    for text, n in [("a", 2), ("b", 1), ("a", 3), ("c", 7), ("b", 4), ("a", 1), ("c", 0)]:
        put(cache, text, kept, rng, n)
    assert_same(cache, kept)
    assert {text: len(table) for text, table in cache.tables.items()} == {
        text: -(-cache.lengths[text] // size) for text in "abc"
    }
    pages = sum(cache.tables.values(), [])
    assert len(set(pages)) == len(pages) and cache.free == 40 - len(pages)


def test_pages_of_a_finished_text_are_used_again_and_the_others_stay(rng):
    cache, kept = make_cache(4, 3), {}
    for text in "ab":
        cache.start(text)
        put(cache, text, kept, rng, 4)
    assert cache.free == 0
    gone = cache.tables["a"]
    cache.finish("a")
    del kept["a"]
    cache.start("c")
    put(cache, "c", kept, rng, 6)
    assert cache.tables["c"] == gone and "a" not in cache.tables and "a" not in cache.lengths
    assert_same(cache, kept)


def test_texts_that_begin_alike_share_full_pages_and_nothing_else(rng):
    cache, kept = make_cache(9, 3), {}
    cache.start("a")
    put(cache, "a", kept, rng, 8)
    for text in "bc":
        cache.start(text, like="a")
        kept[text] = kept["a"]
    assert all(cache.tables[text][:2] == cache.tables["a"][:2] for text in "bc")
    assert len({cache.tables[text][2] for text in "abc"}) == 3 and cache.free == 4
    for text in "abc":
        put(cache, text, kept, rng, 2)
    assert_same(cache, kept)
    for text, free in (("a", 3), ("b", 5)):
        cache.finish(text)
        del kept[text]
        assert cache.free == free
        assert_same(cache, kept)
    cache.finish("c")
    assert cache.free == 9
    cache.start("d")
    cache.start("e", like="d")
    assert cache.tables["e"] == [] and cache.lengths["e"] == 0


def test_attention_over_pages_is_attention_over_the_text(rng):
    cache, kept = make_cache(), {}
    for text in "ab":
        cache.start(text)
    for _ in range(4):
        for text in "ab":
            put(cache, text, kept, rng, 2)
    query = rng.normal(size=(B, 2 * G, 1, D))
    for text in "ab":
        np.testing.assert_array_equal(attention(query, *cache.read(text))[0], attention(query, *kept[text])[0])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_dtype_is_kept_and_what_is_read_is_a_copy(rng, dtype):
    cache = make_cache(dtype=dtype)
    cache.start("a")
    cache.append("a", *(array.astype(dtype) for array in rows(rng, 2)))
    keys, values = cache.read("a")
    assert keys.dtype == values.dtype == dtype
    keys[:] = 0
    assert cache.read("a")[0].all()


@pytest.mark.parametrize("key, value, stored", [("f4", "f4", "f4"), ("f2", "f4", "f4"), ("f2", "f2", "f2"), ("f8", "f4", "f8"), ("i8", "f4", "f8")])
def test_without_a_dtype_the_pages_take_that_of_the_first_keys_and_values(key, value, stored):
    cache = PagedKVCache(3, 2, d=2)
    cache.start("a")
    cache.start("b", like="a")  # which copies nothing and so decides nothing
    with pytest.raises(ValueError, match="key must have the shape"):
        cache.append("a", np.ones((1, 3)), np.ones((1, 3)))
    with pytest.raises(ValueError, match="free pages: 3; needed: 4"):
        cache.append("a", np.ones((7, 2)), np.ones((7, 2)))
    cache.append("a", np.ones((1, 2), key), np.ones((1, 2), value))
    assert {array.dtype for array in (cache._keys, cache._values, *cache.read("a"))} == {np.dtype(stored)}
    if stored != "f8":  # from then on it is a cache of that dtype
        with pytest.raises(TypeError, match="would round key"):
            cache.append("b", np.ones((1, 2)), np.ones((1, 2), stored))


K1, V1 = np.ones((B, G, 2, D)), np.ones((B, G, 2, V))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda c: c.append("a", K1[..., :4], V1), ValueError, r"key must have the shape \(2, 3, 'n', 5\).*\(2, 3, 2, 4\)"),
        (lambda c: c.append("a", K1, V1[0]), ValueError, r"value must have the shape \(2, 3, 'n', 4\)"),
        (lambda c: c.append("a", K1, V1[..., :1, :]), ValueError, "the same number of positions n"),
        (lambda c: c.append("a", K1.astype(complex), V1), TypeError, "key"),
        (lambda c: c.append("a", np.ones((B, G, 9, D)), np.ones((B, G, 9, V))), ValueError, "append: free pages: 1; needed: 3"),
        (lambda c: c.start("a"), ValueError, "there is a text 'a' already"),
        (lambda c: c.append("z", K1, V1), KeyError, "z"),
        (lambda c: c.read("z"), KeyError, "z"),
        (lambda c: c.finish("z"), KeyError, "z"),
        (lambda c: c.start("b", like="z"), KeyError, "z"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_the_cache_stays(call, error, message):
    cache = make_cache(pages=2)
    cache.start("a")
    cache.append("a", K1, V1)
    before = [array.copy() for array in (cache._keys, cache._values, cache._users)]
    with pytest.raises(error, match=message):
        call(cache)
    assert cache.tables == {"a": [0]} and cache.lengths == {"a": 2}
    for array, old in zip((cache._keys, cache._values, cache._users), before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_a_copy_that_finds_no_page_starts_nothing():
    cache = make_cache(pages=2)
    cache.start("a")
    cache.append("a", np.ones((B, G, 5, D)), np.ones((B, G, 5, V)))
    with pytest.raises(ValueError, match="start: free pages: 0; needed: 1"):
        cache.start("b", like="a")
    assert list(cache.tables) == ["a"] and cache.lengths == {"a": 5} and cache._users.tolist() == [1, 1]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: PagedKVCache(2.0, 3, d=1), TypeError, "pages"),
        (lambda: PagedKVCache(2, 0, d=1), ValueError, "size"),
        (lambda: PagedKVCache(-1, 3, d=1), ValueError, "pages"),
        (lambda: PagedKVCache(2, 3, d=1, leading=4), TypeError, "leading"),
        (lambda: PagedKVCache(2, 3, d=1, dtype=int), TypeError, "dtype"),
    ],
)
def test_bad_sizes_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_cache_that_would_round_refuses():
    cache = PagedKVCache(2, 3, d=1, dtype=np.float32)
    cache.start("a")
    with pytest.raises(TypeError, match="would round key"):
        cache.append("a", np.ones((1, 1)), np.ones((1, 1)))
