"""attnlib.softmax.log_space: the logarithm of the weights and of their denominator."""

import math

import numpy as np
import oracles
import pytest
from softmax_cases import INF, NAN, SHAPE, K, tolerance

from attnlib.softmax import log_softmax, log_softmax_backward, logsumexp, logsumexp_backward, softmax

# --- log_softmax ----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_log_softmax_backward_matches_the_sum_over_all_partial_derivatives(axis, rng):
    d_log_weights, log_weights = rng.normal(size=SHAPE), log_softmax(rng.normal(size=SHAPE), axis)
    expected = oracles.log_softmax_backward(d_log_weights, log_weights, axis)
    np.testing.assert_allclose(log_softmax_backward(d_log_weights, log_weights, axis), expected, rtol=0, atol=2e-15)


def test_log_softmax_is_right_where_the_softmax_is_zero():
    x = np.array([0.0, -2000.0, -1e5, 1.0, -1e300])
    assert softmax(x)[1] == softmax(x)[2] == 0
    np.testing.assert_allclose(log_softmax(x), oracles.log_softmax(x), rtol=4e-15)
    np.testing.assert_array_equal(log_softmax([0.0, -2000.0, -1e300]), [0.0, -2000.0, -1e300])


def test_log_softmax_of_the_winner_keeps_its_small_digits():
    # The winner's log-weight is about -e^-30: lost if logsumexp is subtracted from a score of 1000.
    np.testing.assert_allclose(log_softmax([1000.0, 970.0])[1], -30.0 - math.exp(-30), rtol=1e-15)
    np.testing.assert_allclose(log_softmax([1000.0, 970.0]), oracles.log_softmax([1000.0, 970.0]), atol=1e-15)


def test_log_softmax_backward_is_right_in_the_tail():
    d_x = log_softmax_backward([0.0, 1.0], log_softmax([0.0, -2000.0]))
    np.testing.assert_array_equal(d_x, [-1.0, 1.0])  # the softmax's own gradient is zero here


@pytest.mark.parametrize("d", [NAN, INF])
def test_what_flows_into_a_score_of_minus_infinity_is_ignored_by_log_softmax(d):
    np.testing.assert_array_equal(log_softmax_backward([1.0, d], log_softmax([3.0, -INF])), [0, 0])


# --- logsumexp ------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_logsumexp_backward_is_the_softmax_times_the_upstream_gradient(axis, rng):
    x = rng.normal(size=SHAPE)
    lse = logsumexp(x, axis)
    d_lse = rng.normal(size=lse.shape)
    expected = np.expand_dims(d_lse, axis) * oracles.softmax(x, axis)
    np.testing.assert_allclose(logsumexp_backward(d_lse, x, lse, axis), expected, **tolerance(np.float64))


@pytest.mark.parametrize("spread", [0.1, 20.0])  # near the upper bound, near the lower one
def test_the_logsumexp_lies_between_the_maximum_and_the_maximum_plus_log_k(spread, rng):
    x = spread * rng.normal(size=SHAPE)
    above = logsumexp(x) - x.max(axis=-1)
    assert np.all(above >= 0) and np.all(above <= np.log(K))


def test_permuting_the_scores_leaves_the_logsumexp(rng):
    x, order = rng.normal(size=SHAPE), rng.permutation(K)
    np.testing.assert_allclose(logsumexp(x[..., order]), logsumexp(x), rtol=4e-15)
