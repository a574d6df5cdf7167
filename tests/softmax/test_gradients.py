"""attnlib.softmax: is each gradient the slope that is measured?"""

import numpy as np
import pytest
from memory_spy import peak_memory
from softmax_cases import INF, SHAPE

from attnlib.gradients import check_gradient, complex_step_gradient
from attnlib.softmax import (
    log_softmax,
    log_softmax_backward,
    logsumexp,
    logsumexp_backward,
    softmax,
    softmax_backward,
    softmax_jacobian,
)

GRADIENTS = {
    "softmax": (softmax, lambda d, x, axis: softmax_backward(d, softmax(x, axis), axis)),
    "log_softmax": (log_softmax, lambda d, x, axis: log_softmax_backward(d, log_softmax(x, axis), axis)),
    "logsumexp": (logsumexp, lambda d, x, axis: logsumexp_backward(d, x, logsumexp(x, axis), axis)),
}


def complex_twin(name, z, axis):
    # The textbook formula; the maximum is a constant, so it is taken on the real part.
    shift = z.real.max(axis=axis, keepdims=True)
    exponentials = np.exp(z - shift)
    total = exponentials.sum(axis=axis, keepdims=True)
    return {
        "softmax": exponentials / total,
        "log_softmax": z - shift - np.log(total),
        "logsumexp": (shift + np.log(total)).squeeze(axis),
    }[name]


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_by_finite_differences(name, axis, rng):
    forward, backward = GRADIENTS[name]
    x = rng.normal(size=SHAPE)
    d_out = rng.normal(size=forward(x, axis).shape)
    gradient = backward(d_out, x, axis)
    loss = lambda x: (d_out * forward(x, axis)).sum()  # noqa: E731
    report = check_gradient(loss, x, gradient, tolerance=1e-10)
    assert report, str(report)
    report = check_gradient(loss, x, gradient, order=2, tolerance=1e-8)
    assert report, str(report)


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_by_complex_step(name, axis, rng):
    forward, backward = GRADIENTS[name]
    x = 2 * rng.normal(size=SHAPE)
    d_out = rng.normal(size=forward(x, axis).shape)
    gradient = backward(d_out, x, axis)
    exact = complex_step_gradient(lambda z: (d_out * complex_twin(name, z, axis)).sum(), x)
    assert abs(gradient - exact).max() <= 1e-13 * abs(exact).max()


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_with_a_masked_score_held_at_minus_infinity(name, rng):
    forward, backward = GRADIENTS[name]
    x, keep = rng.normal(size=SHAPE), rng.random(SHAPE) < 0.7
    keep[0, 1], keep[1, 1] = False, True  # a dead row and a full one
    d_out = rng.normal(size=forward(x).shape)
    masked = np.where(keep, x, -INF)

    def loss(x):
        out = forward(np.where(keep, x, -INF))
        return (d_out * np.where(np.isneginf(out), 0, out)).sum()

    report = check_gradient(loss, x, backward(d_out, masked, -1), tolerance=1e-9)
    assert report, str(report)


def test_an_infinite_gradient_of_a_weight_of_zero_goes_nowhere():
    np.testing.assert_array_equal(softmax_backward([np.inf, 0.0], [0.0, 1.0]), [0.0, 0.0])
    np.testing.assert_array_equal(softmax_backward([np.nan, 2.0, 4.0], [0.0, 0.5, 0.5]), [0.0, -0.5, 0.5])


def test_the_log_softmax_gradient_is_its_formula_over_the_finite_log_weights(rng):
    x, d_y = rng.normal(size=6), rng.normal(size=6)
    x[[1, 4]], d_y[4] = -np.inf, 1e300
    y = log_softmax(x)
    finite = np.isfinite(y)
    expected = np.where(finite, d_y - np.exp(y) * d_y[finite].sum(), 0)
    np.testing.assert_allclose(log_softmax_backward(d_y, y), expected, rtol=1e-14)
    # An underflown weight is no -inf: its gradient still counts.
    np.testing.assert_array_equal(log_softmax_backward([1.0, 3.0], [0.0, -2000.0]), [-3.0, 3.0])


def test_the_gradient_never_holds_a_jacobian(rng):
    k = 2048
    weights, d_weights = softmax(rng.normal(size=k)), rng.normal(size=k)
    jacobian_bytes = 8 * k * k
    assert peak_memory(softmax_backward, d_weights, weights) < jacobian_bytes / 200
    assert peak_memory(lambda: softmax_jacobian(weights).T @ d_weights) > jacobian_bytes  # what the spy would see
