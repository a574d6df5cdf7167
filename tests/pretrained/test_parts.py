"""attnlib.pretrained: layer norm, GELU and the error function, against plain formulas."""

import math

import numpy as np
import pytest
from array_tools import close

from attnlib.pretrained import erf, gelu, layer_norm


def by_hand(x, gain, bias, epsilon):
    out = np.empty(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        row = x[place].tolist()
        mean = math.fsum(row) / len(row)
        variance = math.fsum((each - mean) ** 2 for each in row) / len(row)
        out[place] = [g * (each - mean) / math.sqrt(variance + epsilon) + b for each, g, b in zip(row, gain, bias, strict=True)]
    return out


@pytest.mark.parametrize("epsilon", [1e-12, 1e-5, 0.5])
def test_layer_norm_against_its_formula(rng, epsilon):
    x, gain, bias = rng.normal(3, 2, size=(2, 3, 5)), rng.normal(size=5), rng.normal(size=5)
    close(layer_norm(x, gain, bias, epsilon), by_hand(x, gain, bias, epsilon))
    close(layer_norm(x[0, 0], gain, bias, epsilon), by_hand(x, gain, bias, epsilon)[0, 0])


def test_layer_norm_has_mean_0_and_variance_1_whatever_the_scale_and_the_shift(rng):
    x, ones, zeros = rng.normal(size=(4, 7)), np.ones(7), np.zeros(7)
    out = layer_norm(x, ones, zeros)
    close(out.mean(axis=-1), np.zeros(4))
    close((out**2).mean(axis=-1), np.ones(4), 1e-11)  # the default epsilon, 1e-12, takes a little away
    close(layer_norm(1000 * x + 3, ones, zeros), out, 1e-9)
    assert layer_norm(np.full((1, 7), 2.5), ones, ones).tolist() == [[1.0] * 7]


@pytest.mark.parametrize("function", [erf, gelu, lambda x: layer_norm(x, np.ones(3, x.dtype), np.zeros(3, x.dtype))])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_stays(function, dtype):
    assert function(np.ones((2, 3), dtype)).dtype == dtype


def test_layer_norm_refuses_other_shapes():
    for gain, bias, x in ((np.ones(2), np.ones(3), np.ones((1, 3))), (np.ones(3), np.ones((1, 3)), np.ones((1, 3))), ([], [], np.ones((2, 0)))):
        with pytest.raises(ValueError, match=r"^layer_norm: x must have the shape \(\.\.\., n, m\), gain and bias \(m,\)\."):
            layer_norm(x, gain, bias)
    with pytest.raises(TypeError, match="layer_norm: bias must be an array of real numbers"):
        layer_norm([[1.0]], [1.0], [None])


def test_erf_differs_from_pythons_own_by_less_than_its_last_digit():
    x = np.concatenate([np.linspace(-7, 7, 70_001), np.arange(-400, 400) / 128, [0.0, -0.0, 1e-300, 5.999999, 1e9]])
    exact = np.array([math.erf(each) for each in x])
    assert np.abs(erf(x) - exact).max() < 3e-16
    small = x[(np.abs(x) < 0.5 / 64) & (x != 0)]  # near zero the relative error is as small
    close(erf(small) / [math.erf(each) for each in small], np.ones(len(small)), 1e-14)


def test_erf_and_gelu_at_the_ends():
    ends = np.array([-np.inf, np.inf, np.nan, -1e300, 1e300])
    np.testing.assert_array_equal(erf(ends), [-1, 1, np.nan, -1, 1])
    np.testing.assert_array_equal(gelu(ends), [0, np.inf, np.nan, 0, 1e300])


def test_gelu_is_exact_and_not_the_approximation():
    x = np.linspace(-9, 9, 2001)
    exact = np.array([each * 0.5 * (1 + math.erf(each / math.sqrt(2))) for each in x])
    close(gelu(x), exact)
    other = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    assert 4e-4 < np.abs(exact - other).max() < 5e-4  # what the docstring says
    close(gelu(x) - gelu(-x), x)


def test_gelu_refuses_what_is_no_number():
    for function in (erf, gelu):
        with pytest.raises(TypeError, match=f"^{function.__name__}: x must be an array of real numbers"):
            function(["1"])
