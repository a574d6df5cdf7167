"""attnlib.softmax.weights: softmax, its backward, its Jacobian."""

import math

import numpy as np
import oracles
import pytest
from softmax_cases import F64, SHAPE, B, K, Q

from attnlib.gradients import check_gradient
from attnlib.softmax import logsumexp, softmax, softmax_backward, softmax_jacobian

# --- softmax --------------------------------------------------------------------------------------


def test_weights_are_positive_and_sum_to_one(rng):
    weights = softmax(10 * rng.normal(size=SHAPE), axis=1)
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-15)


def test_ties_get_equal_weights():
    np.testing.assert_array_equal(softmax(np.full(K, 7.0)), np.full(K, 1 / K))
    weights = softmax([1.0, 3.0, 3.0, 1.0])
    assert weights[1] == weights[2] and weights[0] == weights[3]


def test_rows_far_apart_do_not_share_a_maximum():
    x = np.array([[0.0, 1.0], [1e4, 1e4 + 1], [-1e4, -1e4 + 1]])
    expected = oracles.softmax([0.0, 1.0])
    for row in softmax(x):
        np.testing.assert_allclose(row, expected, rtol=1e-15)
    for column in softmax(x.T, axis=0).T:
        np.testing.assert_allclose(column, expected, rtol=1e-15)
    np.testing.assert_allclose(logsumexp(x), oracles.logsumexp(x), rtol=1e-15)


def test_denormal_scores_count_as_zero_and_denormal_weights_survive():
    np.testing.assert_array_equal(softmax([5e-324, 0.0, -5e-324]), [1 / 3] * 3)
    np.testing.assert_array_equal(softmax(np.array([1e-45, 0], np.float32)), [0.5, 0.5])
    weights = softmax([0.0, -740.0])
    assert 0 < weights[1] < F64.tiny  # smaller than any normal number
    np.testing.assert_allclose(weights[1], math.exp(-740), rtol=1e-6)


# --- its backward ---------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_softmax_backward_matches_the_sum_over_all_partial_derivatives(axis, rng):
    d_weights, weights = rng.normal(size=SHAPE), softmax(rng.normal(size=SHAPE), axis)
    expected = oracles.softmax_backward(d_weights, weights, axis)
    np.testing.assert_allclose(softmax_backward(d_weights, weights, axis), expected, rtol=0, atol=1e-15)


def test_a_constant_upstream_gradient_does_not_push_a_softmax(rng):
    weights = softmax(rng.normal(size=SHAPE))
    np.testing.assert_allclose(softmax_backward(np.full(SHAPE, 4.0), weights), 0, atol=1e-15)


# --- its Jacobian ---------------------------------------------------------------------------------


def test_jacobian_matches_its_definition_entry_by_entry(rng):
    weights = softmax(rng.normal(size=SHAPE))
    jacobian = softmax_jacobian(weights)
    assert jacobian.shape == (B, Q, K, K)
    for b, q, i, j in np.ndindex(B, Q, K, K):
        expected = weights[b, q, i] * ((i == j) - weights[b, q, j])
        assert jacobian[b, q, i, j] == expected


def test_jacobian_times_upstream_is_the_backward(rng):
    d_weights, weights = rng.normal(size=SHAPE), softmax(rng.normal(size=SHAPE))
    product = (softmax_jacobian(weights) @ d_weights[..., np.newaxis])[..., 0]
    np.testing.assert_allclose(softmax_backward(d_weights, weights), product, rtol=0, atol=1e-15)


def test_jacobian_is_symmetric_and_its_rows_sum_to_zero(rng):
    jacobian = softmax_jacobian(softmax(rng.normal(size=SHAPE)))
    np.testing.assert_allclose(jacobian, jacobian.mT, rtol=0, atol=1e-16)
    np.testing.assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-16)


def test_jacobian_by_finite_differences(rng):
    x = rng.normal(size=K)
    jacobian = softmax_jacobian(softmax(x))
    for i in range(K):
        report = check_gradient(lambda x: softmax(x)[i], x, jacobian[i], tolerance=1e-10)
        assert report, str(report)
