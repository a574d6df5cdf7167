"""attnlib.decoding: token by token, is it what causal attention over the whole sequence computes?"""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.attention import attention
from attnlib.costs import kv_cache_bytes
from attnlib.decoding import KVCache, SlidingKVCache, attend_with_cache, multihead_decode
from attnlib.masks import padding_mask, sliding_window_mask
from attnlib.multihead import init_multihead, multihead_attention
from attnlib.positions import rotary

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, H, G, N, D, V = 2, 6, 3, 7, 5, 4


def make_inputs(rng, h=H, g=G, n=N, dtype=np.float64):
    shapes = (B, h, n, D), (B, g, n, D), (B, g, n, V)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def make_cache(capacity=N, g=G, dtype=np.float64, kind=KVCache):
    return kind(capacity, leading=(B, g), d=D, v=V, dtype=dtype)


def in_chunks(query, key, value, cache, sizes, mask=None, **options):
    """Attend chunk by chunk; the outputs side by side."""
    outs, start = [], 0
    for n in sizes:
        part = slice(start, start + n)
        seen = None if mask is None else mask[..., part, : start + n]
        out, weights = attend_with_cache(
            *(array[..., part, :] for array in (query, key, value)), cache, mask=seen, **options
        )
        assert weights.shape == (*query.shape[:-2], n, len(cache))
        outs.append(out)
        start += n
    return np.concatenate(outs, axis=-2)


def close(ours, expected, tolerance=1e-13):
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)


# --- agrees with the whole sequence at once -------------------------------------------------------------------------


@pytest.mark.parametrize("g", [1, 3, 6])
def test_one_token_at_a_time_is_causal_attention_over_the_whole_sequence(rng, g):
    inputs = make_inputs(rng, g=g)
    expected, weights = oracles.attention(*inputs, causal=True)
    cache = make_cache(g=g)
    close(in_chunks(*inputs, cache, [1] * N), expected)
    close(attention(inputs[0][..., -1:, :], cache.keys, cache.values)[1], weights[..., -1:, :])


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.sampled_from([1, 2, 3, 6]), st.integers(0, 2**32 - 1))
def test_chunks_of_any_size_give_the_same(sizes, g, seed):
    inputs = make_inputs(np.random.default_rng(seed), g=g, n=sum(sizes))
    expected, _ = attention(*inputs, causal=True)
    close(in_chunks(*inputs, make_cache(sum(sizes), g), sizes), expected)


def test_a_cache_without_leading_axes_serves_one_head(rng):
    query, key, value = rng.normal(size=(N, D)), rng.normal(size=(N, D)), rng.normal(size=(N, V))
    cache = KVCache(N, d=D, v=V)
    close(in_chunks(query, key, value, cache, [3, 1, 3]), oracles.attention(query, key, value, causal=True)[0])


@pytest.mark.parametrize("additive", [False, True])
@pytest.mark.parametrize("sizes", [[1] * N, [3, 1, 3], [N]])
def test_a_mask_hides_more_than_the_future(rng, sizes, additive):
    inputs = make_inputs(rng)
    mask = rng.random((B, 1, N, N)) < 0.5
    mask = np.where(mask, rng.normal(size=mask.shape), -np.inf) if additive else mask
    expected, _ = oracles.attention(*inputs, mask=mask, causal=True)
    close(in_chunks(*inputs, make_cache(), sizes, mask=mask), expected)


def test_a_batch_of_different_lengths_is_padded_on_the_left(rng):
    inputs, lengths = make_inputs(rng), [N, 3]
    mask = np.broadcast_to(padding_mask(lengths, N, side="left")[..., np.newaxis, :, :], (B, 1, N, N))
    out = in_chunks(*inputs, make_cache(), [1] * N, mask=mask)
    for element, length in enumerate(lengths):
        alone, _ = attention(*(array[element, :, N - length :] for array in inputs), causal=True)
        close(out[element, :, N - length :], alone)


def test_the_scale_is_passed_on(rng):
    inputs = make_inputs(rng)
    close(in_chunks(*inputs, make_cache(), [4, 3], scale=0.3), oracles.attention(*inputs, causal=True, scale=0.3)[0])
    means = in_chunks(*inputs, make_cache(), [1] * N, scale=0.0)
    close(means[:, 0, -1], inputs[2][:, 0].mean(axis=-2))


@pytest.mark.parametrize("window", [1, 3, N, 20])
def test_a_sliding_cache_is_a_sliding_window_mask(rng, window):
    inputs = make_inputs(rng)
    expected, _ = oracles.attention(*inputs, mask=sliding_window_mask(N, N, window))
    cache = make_cache(window, kind=SlidingKVCache)
    outs = [attend_with_cache(*(a[..., [i], :] for a in inputs), cache)[0] for i in range(N)]
    close(np.concatenate(outs, axis=-2), expected)
    assert len(cache) == min(window, N)


def test_a_mask_over_a_sliding_cache_has_one_column_for_each_of_its_rows(rng):
    query, key, value = make_inputs(rng)
    cache = make_cache(2, kind=SlidingKVCache)
    for i in range(3):  # rows: position 2, position 1
        out, _ = attend_with_cache(
            *(a[..., [i], :] for a in (query, key, value)), cache, mask=np.arange(min(i + 1, 2)) == min(i, 1)
        )
    close(out, np.repeat(value[..., [1], :], H // G, axis=1))


def test_rotary_keys_can_be_cached_because_each_knows_its_own_position(rng):
    query, key, value = make_inputs(rng)
    query, key = query[..., :4], key[..., :4]  # pairs: an even number
    turned = rotary(query, np.arange(N)), rotary(key, np.arange(N)), value
    expected, _ = attention(*turned, causal=True)
    cache, outs = KVCache(N, leading=(B, G), d=4, v=V), []
    for i in range(N):
        new = rotary(query[..., [i], :], [len(cache)]), rotary(key[..., [i], :], [len(cache)]), value[..., [i], :]
        outs.append(attend_with_cache(*new, cache)[0])
    close(np.concatenate(outs, axis=-2), expected)


@pytest.mark.parametrize("sizes", [[1] * N, [4, 1, 2], [N]])
@pytest.mark.parametrize("kv_heads", [1, 3, 6])
def test_a_layer_decodes_what_it_computes_on_the_whole_sequence(rng, kv_heads, sizes):
    params = init_multihead(rng, m=8, heads=6, kv_heads=kv_heads, d=D, v=V, bias=True)
    params, x = params.map(lambda array: array + 0.1), rng.normal(size=(B, N, 8))
    padding = padding_mask([N, 5], N, side="left")[:, np.newaxis]
    for mask in (None, padding):
        expected, saved = multihead_attention(x, params, causal=True, mask=mask)
        cache, outs, start = make_cache(g=kv_heads), [], 0
        for n in sizes:
            seen = None if mask is None else mask[..., : start + n]
            out, weights = multihead_decode(x[:, start : start + n], params, cache, mask=seen)
            close(weights, saved.weights[..., start : start + n, : start + n])
            outs.append(out)
            start += n
        close(np.concatenate(outs, axis=1), expected)


# --- the cache ------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_dtype_is_kept(rng, dtype):
    inputs = make_inputs(rng, dtype=dtype)
    cache = make_cache(dtype=dtype)
    out = in_chunks(*inputs, cache, [2, 5])
    assert out.dtype == cache.keys.dtype == cache.values.dtype == dtype
    expected, _ = attention(*(array.astype(float) for array in inputs), causal=True)
    close(out.astype(float), expected, {np.float16: 2e-3, np.float32: 1e-6}[dtype])
    params = init_multihead(rng, m=8, heads=6, kv_heads=G, d=D, v=V, dtype=dtype)
    layer_out, weights = multihead_decode(rng.normal(size=(B, 2, 8)).astype(dtype), params, make_cache(dtype=dtype))
    assert layer_out.dtype == weights.dtype == dtype


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


def test_a_layer_overflows_without_a_warning(rng):
    params = init_multihead(rng, m=8, heads=6, kv_heads=G, d=D, v=V, dtype=np.float32)
    out, _ = multihead_decode(np.full((B, 1, 8), 3e38, np.float32), params, make_cache(dtype=np.float32))
    assert not np.isfinite(out).all()


# --- errors ---------------------------------------------------------------------------------------------------------

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
        (lambda: SlidingKVCache(0, d=2), ValueError, "SlidingKVCache: capacity must be at least 1; got 0"),
        (lambda: SlidingKVCache(3, d=1).append([[1], [2]], [[1], [2]]), ValueError, "SlidingKVCache.append: .* one position at a time; got 2"),
        (lambda: KVCache(3, d=1, dtype=np.float32).append([[1.5]], [[1.5]]), TypeError, "a cache of float32 would round key, which is float64"),
    ],
)  # fmt: skip
def test_a_cache_that_makes_no_sense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_single_token_needs_no_mask_and_a_cache_of_capacity_zero_holds_nothing(rng):
    cache = KVCache(0, d=2)
    assert len(cache) == 0 and cache.nbytes == 0 and cache.keys.shape == (0, 2)
    with pytest.raises(ValueError, match="it holds 0 of 0 positions and 1 more"):
        cache.append([[1, 2]], [[1, 2]])
