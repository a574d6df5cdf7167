"""attnlib.decoding.step: token by token, is it what causal attention over the whole sequence computes?"""

import numpy as np
import oracles
import pytest
from array_tools import close
from decoding_cases import B, D, G, H, N, V, in_chunks, make_cache, make_inputs
from hypothesis import given
from hypothesis import strategies as st

from attnlib.attention import attention
from attnlib.decoding import KVCache, SlidingKVCache, attend_with_cache, multihead_decode
from attnlib.masks import padding_mask, sliding_window_mask
from attnlib.multihead import init_multihead, multihead_attention
from attnlib.positions import rotary

# --- chunks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("g", [1, 3, 6])
def test_one_token_at_a_time_is_causal_attention_over_the_whole_sequence(rng, g):
    inputs = make_inputs(rng, g=g)
    expected, weights = oracles.attention(*inputs, causal=True)
    cache = make_cache(g=g)
    close(in_chunks(*inputs, cache, [1] * N), expected)
    close(attention(inputs[0][..., -1:, :], cache.keys, cache.values)[1], weights[..., -1:, :])


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.sampled_from([1, 2, 3, 6]), st.integers(0, 2**32 - 1))
def test_chunks_of_any_size_give_the_same(sizes, g, seed):
    inputs = make_inputs(np.random.default_rng(seed), g=g, n=sum(sizes))
    expected, _ = attention(*inputs, causal=True)
    close(in_chunks(*inputs, make_cache(sum(sizes), g), sizes), expected)


def test_a_cache_without_leading_axes_serves_one_head(rng):
    query, key, value = rng.normal(size=(N, D)), rng.normal(size=(N, D)), rng.normal(size=(N, V))
    cache = KVCache(N, d=D, v=V)
    close(in_chunks(query, key, value, cache, [3, 1, 3]), oracles.attention(query, key, value, causal=True)[0])


# --- masks and scale ------------------------------------------------------------------------------


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


# --- a sliding window -----------------------------------------------------------------------------


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


# --- rotary keys, a whole layer -------------------------------------------------------------------


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


# --- dtypes ---------------------------------------------------------------------------------------


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


def test_a_layer_overflows_without_a_warning(rng):
    params = init_multihead(rng, m=8, heads=6, kv_heads=G, d=D, v=V, dtype=np.float32)
    out, _ = multihead_decode(np.full((B, 1, 8), 3e38, np.float32), params, make_cache(dtype=np.float32))
    assert not np.isfinite(out).all()
