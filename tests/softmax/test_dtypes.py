"""attnlib.softmax: is the dtype kept, on the way too?"""

import numpy as np
import oracles
import pytest
from dtype_spy import spied
from softmax_cases import ALL, INF, SHAPE, K, all_but_online, all_functions, tolerance

from attnlib.softmax import logsumexp, softmax


@all_but_online
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept(function, dtype, rng):
    result = function(rng.normal(size=SHAPE).astype(dtype))
    assert result.dtype == dtype
    assert function(np.full(SHAPE, -INF, dtype)).dtype == dtype


@all_but_online
def test_integers_are_computed_in_float64(function, rng):
    x = rng.integers(-4, 4, size=SHAPE)
    result = function(x)
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, function(x.astype(np.float64)))


@all_functions
@pytest.mark.parametrize("shape", [SHAPE, (K,)])
def test_float32_makes_no_float64_on_the_way(function, shape, rng):
    x = rng.normal(size=shape).astype(np.float32)
    assert spied(function, x) == {np.dtype(np.float32)}
    dead = np.where(np.arange(K) < 9, np.float32(-INF), x)
    assert spied(function, dead) == {np.dtype(np.float32)}


def test_the_spy_would_have_seen_a_float64():
    x = np.ones(3, np.float32)

    def careless(x):
        return logsumexp(softmax(x) * np.sqrt(4)).astype(np.float32)

    assert np.dtype(np.float64) in spied(careless, x)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_float32_is_right_to_float32(name, rng):
    x = (3 * rng.normal(size=SHAPE)).astype(np.float32)
    np.testing.assert_allclose(ALL[name](x), getattr(oracles, name)(x), **tolerance(np.float32))


@all_but_online
def test_float16_is_computed_in_float32_and_rounded_once(function, rng):
    x = (rng.integers(-512, 512, size=SHAPE) / 256).astype(np.float16)
    if function in (ALL["softmax"], ALL["log_softmax"], ALL["logsumexp"]):
        expected = function(x.astype(np.float32)).astype(np.float16)
        np.testing.assert_array_equal(function(x), expected)
    else:  # what the backward gets from the forward has been rounded before
        np.testing.assert_allclose(function(x), function(x.astype(np.float32)), rtol=0, atol=4e-3)


def test_float16_weights_of_a_long_row_do_not_drown():
    weights = softmax(np.zeros(4096, np.float16))
    np.testing.assert_array_equal(weights, np.float16(1 / 4096))  # a float16 sum would stop at 2048
