"""attnlib.multihead: is the dtype kept, on the way too?"""

import numpy as np
import pytest
from array_tools import close
from dtype_spy import spied
from multihead_cases import B, K, M, Q, by_oracle, make_params

from attnlib.multihead import MultiHeadParams, multihead_attention, multihead_attention_backward


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept_forward_and_backward(rng, dtype):
    params = make_params(rng).map(lambda array: array.astype(dtype))
    assert {array.dtype for array in params.arrays().values()} == {np.dtype(dtype)}
    x, context = rng.normal(size=(B, Q, M)).astype(dtype), rng.normal(size=(B, K, M)).astype(dtype)
    mask = rng.normal(size=(Q, K))  # float64, which must not widen the rest
    for given in (context, (context, context)):
        out, saved = multihead_attention(x, params, context=given, mask=mask)
        d_x, d_context, d_params = multihead_attention_backward(np.ones_like(out), params, saved)
        d_context = d_context if isinstance(d_context, tuple) else (d_context,)
        results = [out, d_x, *d_context, *d_params.arrays().values()]
        assert {array.dtype for array in results} == {np.dtype(dtype)}
        compute = np.float32 if dtype == np.float16 else dtype
        assert {saved.weights.dtype, saved.merged.dtype, saved.query.dtype} == {np.dtype(compute)}
    tolerance = {np.float16: 2e-2, np.float32: 1e-5, np.float64: 1e-12}[dtype]
    close(out.astype(float), by_oracle(x.astype(float), params.map(np.float64), context.astype(float), mask=mask)[0], tolerance)


@pytest.mark.parametrize("narrow", [np.float16, np.float32])
def test_the_wider_of_tokens_and_parameters_decides_the_dtype(rng, narrow):
    wide_params, wide_x = make_params(rng), rng.normal(size=(B, Q, M))
    for x, params in ((wide_x.astype(narrow), wide_params), (wide_x, wide_params.map(lambda array: array.astype(narrow)))):
        out, saved = multihead_attention(x, params)
        close(out, by_oracle(x.astype(float), params.map(np.float64))[0])
        d_x, _, d_params = multihead_attention_backward(out.astype(x.dtype), params, saved)
        assert {array.dtype for array in (out, d_x, *d_params.arrays().values())} == {np.dtype(np.float64)}


def test_float32_makes_no_float64_on_the_way(rng):
    params = make_params(rng, 4, 2).map(np.float32)
    x, mask = rng.normal(size=(B, Q, M)).astype(np.float32), rng.normal(size=(Q, Q)).astype(np.float32)
    assert spied(multihead_attention, x, params, mask=mask) == {np.dtype(np.float32)}
    out, saved = multihead_attention(x, params, mask=mask)
    assert spied(multihead_attention_backward, out, params, saved) == {np.dtype(np.float32)}


def test_lists_and_integers_become_float64():
    params = MultiHeadParams([[1]], [[1]], [[1]], [[2]], heads=1)
    out, _ = multihead_attention([[3], [3]], params)
    np.testing.assert_array_equal(out, [[6.0], [6.0]])
    assert out.dtype == params.out_weight.dtype == np.float64


def test_overflow_shows_without_a_warning(rng):
    params = make_params(rng).map(np.float32)
    x = np.full((Q, M), 1e38, np.float32)
    out, saved = multihead_attention(x, params)
    assert not np.isfinite(out).all()
    multihead_attention_backward(np.full((Q, M), 1e38, np.float32), params, saved)
