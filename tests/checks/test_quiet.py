"""Does every function stay quiet, and give the same numbers, where NumPy is told to raise?"""

import numpy as np
import pytest
from array_tools import query_key_value

from attnlib import attention, costs, decoding, flash, multihead, positions, softmax

EXTREME = np.array([[0.0, -800.0, 6e4, 6e4], [1e-8, -np.inf, 3.0, -6e4]])
WEIGHTS = np.array([[1.0, 0.0, 1e-7, 0.5], [0.0, 1.0, 6e-8, 0.0]])
D_OUT = np.array([[6e4, -6e4, 6e4, 6e4], [np.inf, 1.0, 6e4, 6e4]])


def softmax_calls(dtype):
    x, weights, d_out = EXTREME.astype(dtype), WEIGHTS.astype(dtype), D_OUT.astype(dtype)
    log_weights = softmax.log_softmax(x)
    yield "softmax", softmax.softmax, (x,)
    yield "softmax_backward", softmax.softmax_backward, (d_out, weights)
    yield "softmax_jacobian", softmax.softmax_jacobian, (weights,)
    yield "logsumexp", softmax.logsumexp, (x,)
    yield "logsumexp_backward", softmax.logsumexp_backward, (d_out[0, :2], x, softmax.logsumexp(x))
    yield "log_softmax", softmax.log_softmax, (x,)
    yield "log_softmax_backward", softmax.log_softmax_backward, (d_out, log_weights)
    start = softmax.OnlineSoftmax.start((2,))
    yield "OnlineSoftmax", lambda x: (s := start.update(x).update(x), s.logsumexp), (x,)


def attention_calls(dtype):
    query, key, value = query_key_value(np.random.default_rng(0), (2,), 2, 5, 6, 4, 3, dtype)
    key, d_out = key * dtype(300), np.where(np.arange(15).reshape(5, 3) % 2, dtype(6e4), dtype(-6e4)) * np.ones((2, 1, 1), dtype)
    mask = np.where(np.arange(6) < 4, dtype(0.5), -np.inf).astype(dtype)
    weights = attention.attention(query, key, value, mask=mask)[1]
    saved = flash.flash_attention(query, key, value, mask=mask)
    yield "attention", attention.attention, (query, key, value)
    yield "attention_backward", attention.attention_backward, (d_out, query, key, value, weights)
    yield "attention_mask_backward", attention.attention_mask_backward, (d_out, value, weights, mask)
    yield "flash_attention", lambda *x: flash.flash_attention(*x, mask=mask), (query, key, value)
    yield "flash_attention, small scores", lambda *x: flash.flash_attention(*x, scale=1e-9), (query, key, value)
    backward = flash.flash_attention_backward
    yield "flash_attention_backward", lambda *x: backward(*x, mask=mask), (d_out, query, key, value, *saved)
    arguments = (d_out, query, key, value, *saved, mask)
    yield "flash_attention_mask_backward", flash.flash_attention_mask_backward, arguments
    yield "merge_partials", flash.merge_partials, (saved[0], saved[1] - 900, *saved)
    yield "rotary", positions.rotary, (np.array([[6e4, 6e4]], dtype), [0.7])
    yield "rotary_backward", positions.rotary_backward, (np.array([[6e4, 6e4]], dtype), [-0.7])
    yield "alibi_bias", lambda: positions.alibi_bias(2, 1, 3, offset=5_000_000, dtype=dtype), ()
    yield "sinusoidal", lambda: positions.sinusoidal(3, 40, base=1e12, dtype=dtype), ()


def layer_calls(dtype):
    params = multihead.init_multihead(np.random.default_rng(0), m=8, heads=2, bias=True, dtype=dtype)
    x, d_out = np.full((3, 8), 1e3, dtype), np.full((3, 8), 6e4, dtype)
    x[1] *= -1
    out, saved = multihead.multihead_attention(x, params)
    yield "multihead_attention", lambda x: multihead.multihead_attention(x, params, mask=np.zeros(3, dtype)), (x,)
    backward = multihead.multihead_attention_backward
    yield "multihead_attention_backward", lambda d: backward(d, params, saved)[0], (d_out,)

    def decode(x):
        cache = decoding.KVCache(3, leading=(2,), d=4, dtype=dtype)
        return decoding.multihead_decode(x, params, cache)

    yield "multihead_decode", decode, (x,)


def counted_calls(dtype):
    query, key, value = query_key_value(np.random.default_rng(0), (), 1, 5, 6, 4, 3, dtype)
    key, d_out = key * dtype(3000), np.full((5, 3), 3, dtype)
    for name in ("naive", "flash"):
        loop, back = (getattr(costs, f"{name}_attention{which}_on") for which in ("", "_backward"))
        yield name, lambda *x, loop=loop: loop(costs.Memory(), *x), (query, key, value)
        saved = loop(costs.Memory(), query, key, value)
        rest = saved[1:] if name == "naive" else saved
        yield f"{name} backward", lambda *x, back=back: back(costs.Memory(), *x), (d_out, query, key, value, *rest)
    outer = costs.flash_attention_keys_outer_on
    yield "flash, keys outside", lambda *x: outer(costs.Memory(), *x, block_k=2), (query, key, value)


DTYPES = (np.float16, np.float32, np.float64)
ALL = [
    pytest.param(call, arguments, id=f"{name}-{dtype.__name__}")
    for dtype in DTYPES
    for calls in (softmax_calls, attention_calls, layer_calls, counted_calls)
    for name, call, arguments in calls(dtype)
]


def arrays_of(result):
    return [a for part in result for a in arrays_of(part)] if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("call, arguments", ALL)
def test_the_result_is_the_same_and_quiet_whatever_numpy_is_told(call, arguments):
    with np.errstate(all="ignore"):
        expected = arrays_of(call(*arguments))
    for level in ("raise", "warn"):
        with np.errstate(all=level):
            found = arrays_of(call(*arguments))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_cases_reach_what_would_warn():
    for name in ("attention_backward", "flash_attention_backward", "rotary", "alibi_bias"):
        call, arguments = next(p.values for p in ALL if p.id == f"{name}-float16")
        assert any(np.isinf(array).any() for array in arrays_of(call(*arguments))), name
