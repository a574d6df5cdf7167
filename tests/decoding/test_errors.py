"""attnlib.decoding: is bad input refused in clear words, and the cache left as it was?"""

import numpy as np
import pytest
from decoding_cases import B, D, G, H, V, make_cache

from attnlib.decoding import KVCache, SlidingKVCache, attend_with_cache, multihead_decode
from attnlib.multihead import init_multihead

K1, V1, Q1 = np.ones((B, G, 2, D)), np.ones((B, G, 2, V)), np.ones((B, H, 2, D))
PARAMS = init_multihead(np.random.default_rng(0), m=8, heads=H, kv_heads=G, d=D, v=V)
X1 = np.ones((B, 2, 8))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda c: c.append(K1[..., :4], V1), ValueError, r"KVCache.append: key must have the shape \(2, 3, 'n', 5\).*\(2, 3, 2, 4\)"),
        (lambda c: c.append(K1, V1[:1]), ValueError, r"value must have the shape \(2, 3, 'n', 4\).*\(1, 3, 2, 4\)"),
        (lambda c: c.append(K1[0], V1), ValueError, r"key must have the shape .* got \(3, 2, 5\)"),
        (lambda c: c.append(1.0, V1), ValueError, r"key must have the shape .* got \(\)"),
        (lambda c: c.append(K1, V1[:, :, :1]), ValueError, r"same number of positions n; got \(2, 3, 2, 5\) and \(2, 3, 1, 4\)"),
        (lambda c: c.append(K1.astype(np.longdouble), V1), TypeError, "a cache of float64 would round key, which is"),
        (lambda c: c.append(K1 > 0, V1), TypeError, "KVCache.append: key must be an array of real numbers.*bool"),
        (lambda c: c.append(K1.repeat(2, axis=2), V1.repeat(2, axis=2)), ValueError, "the cache is full: it holds 1 of 4 positions and 4 more"),
        (lambda c: attend_with_cache(Q1, K1, V1, {}), TypeError, "attend_with_cache: cache must be a KVCache; got dict"),
        (lambda c: attend_with_cache(Q1[:, :, :1], K1, V1, c), ValueError, "same new tokens; got 1 queries and 2 keys"),
        (lambda c: attend_with_cache(Q1[..., :4], K1, V1, c), ValueError, "attend_with_cache: query and key must have the same number of features"),
        (lambda c: attend_with_cache(Q1[:, :4], K1, V1, c), ValueError, "heads of query .* 4 is not a multiple of 3"),
        (lambda c: attend_with_cache(Q1, K1, V1, c, mask=np.ones((2, 2), bool)), ValueError, r"(?s)mask must broadcast.*\(2, 2\).*\(2, 6, 2, 3\)"),
        (lambda c: attend_with_cache(Q1, K1, V1, c, mask=np.ones((2, 3), int)), TypeError, "attend_with_cache: mask must be boolean or float"),
        (lambda c: attend_with_cache(Q1, K1, V1, c, scale=np.nan), ValueError, "attend_with_cache: scale must be a finite number"),
        (lambda c: attend_with_cache(*(a.repeat(2, axis=2) for a in (Q1, K1, V1)), c), ValueError, "attend_with_cache: the cache is full"),
        (lambda c: attend_with_cache(Q1[:, :3], K1[:, :1], V1[:, :1], c), ValueError, "attend_with_cache: key must have the shape"),
        (lambda c: multihead_decode(X1, None, c), TypeError, "multihead_decode: params must be a MultiHeadParams; got NoneType"),
        (lambda c: multihead_decode(X1[..., :7], PARAMS, c), ValueError, r"multihead_decode: x must have the shape .*8.*\(2, 2, 7\)"),
        (lambda c: multihead_decode(X1, PARAMS, None), TypeError, "multihead_decode: cache must be a KVCache; got NoneType"),
        (lambda c: multihead_decode(X1[:1], PARAMS, c), ValueError, r"multihead_decode: key must have the shape \(2, 3, 'n', 5\)"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_and_leaves_the_cache_as_it_was(call, error, message):
    cache = make_cache(4)
    cache.append(K1[:, :, :1], V1[:, :, :1])
    with pytest.raises(error, match=message):
        call(cache)
    assert len(cache) == 1 and not cache._keys[:, :, 1:].any() and not cache._values[:, :, 1:].any()


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: KVCache(-1, d=2), ValueError, "KVCache: capacity must be at least 0; got -1"),
        (lambda: KVCache(2.0, d=2), TypeError, "KVCache: capacity must be an integer; got 2.0"),
        (lambda: KVCache(2, d=-1), ValueError, "KVCache: d must be at least 0; got -1"),
        (lambda: KVCache(2, d=2, v=-1), ValueError, "KVCache: v must be at least 0; got -1"),
        (lambda: KVCache(2, d=2, v=True), TypeError, "KVCache: v must be an integer; got True"),
        (lambda: KVCache(2, d=2, leading=(1, -1)), ValueError, "KVCache: leading must be at least 0; got -1"),
        (lambda: KVCache(2, d=2, dtype=int), TypeError, "KVCache: dtype must be a float dtype; got int"),
        (lambda: KVCache(2, d=2, dtype="abc"), TypeError, "^KVCache: dtype must be a dtype, such as 'float32'; got 'abc'"),
        (lambda: KVCache(8, leading=2, d=4), TypeError, "^KVCache: leading must be a tuple of integers; got 2"),
        (lambda: KVCache(8, leading="2", d=4), TypeError, "^KVCache: leading must be a tuple of integers; got '2'"),
        (lambda: SlidingKVCache(8, leading=2, d=4), TypeError, "^SlidingKVCache: leading must be a tuple of integers; got 2"),
        (lambda: SlidingKVCache(0, d=2), ValueError, "SlidingKVCache: capacity must be at least 1; got 0"),
        (lambda: SlidingKVCache(3, d=1).append([[1], [2]], [[1], [2]]), ValueError, "SlidingKVCache.append: .* one position at a time; got 2"),
        (lambda: KVCache(3, d=1, dtype=np.float32).append([[1.5]], [[1.5]]), TypeError, "a cache of float32 would round key, which is float64"),
    ],
)  # fmt: skip
def test_a_cache_that_makes_no_sense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
