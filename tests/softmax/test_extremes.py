"""attnlib.softmax: rows of -inf, of one score, of NaN, of huge scores."""

import math

import numpy as np
import pytest
from softmax_cases import F32, F64, FORWARDS, INF, NAN, SHAPE, Q, all_functions

from attnlib.softmax import (
    OnlineSoftmax,
    log_softmax,
    log_softmax_backward,
    logsumexp,
    logsumexp_backward,
    softmax,
    softmax_backward,
    softmax_jacobian,
)

# --- minus infinity -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_a_row_that_may_look_at_nothing_has_zero_weights_and_zero_gradients(axis, dtype, rng):
    x = np.moveaxis(rng.normal(size=SHAPE), axis, -1).astype(dtype)
    x[0, 0] = -INF
    live = np.ones(x.shape[:-1], bool)
    live[0, 0] = False
    x = np.moveaxis(x, -1, axis)

    def row(array):
        return np.moveaxis(array, axis, -1)[0, 0]

    weights, log_weights, lse = softmax(x, axis), log_softmax(x, axis), logsumexp(x, axis)
    d = rng.normal(size=SHAPE).astype(dtype)
    np.testing.assert_array_equal(row(weights), 0)
    np.testing.assert_array_equal(row(log_weights), -INF)
    assert lse[0, 0] == -INF
    np.testing.assert_array_equal(row(softmax_backward(d, weights, axis)), 0)
    np.testing.assert_array_equal(row(log_softmax_backward(d, log_weights, axis)), 0)
    d_lse = np.moveaxis(d, axis, -1)[..., 0]
    np.testing.assert_array_equal(row(logsumexp_backward(d_lse, x, lse, axis)), 0)
    np.testing.assert_array_equal(softmax_jacobian(row(weights)), 0)
    # and the other rows do not notice
    assert np.isfinite(lse[live]).all()
    alone = np.moveaxis(x, axis, -1)[1]
    np.testing.assert_array_equal(np.moveaxis(weights, axis, -1)[1], softmax(alone))


@pytest.mark.parametrize("row", [[-INF], [-INF, -INF]])
def test_one_dimensional_rows_of_minus_infinity(row):
    np.testing.assert_array_equal(softmax(row), np.zeros(len(row)))
    np.testing.assert_array_equal(log_softmax(row), row)
    assert logsumexp(row) == -INF


def test_a_score_of_minus_infinity_is_as_good_as_left_out(rng):
    x = rng.normal(size=SHAPE)
    hidden = x.copy()
    hidden[..., 2] = -INF
    kept = np.delete(x, 2, axis=-1)
    d = rng.normal(size=SHAPE)
    for forward in (softmax, log_softmax):
        np.testing.assert_allclose(np.delete(forward(hidden), 2, axis=-1), forward(kept), rtol=4e-15)
    assert (softmax(hidden)[..., 2] == 0).all() and (log_softmax(hidden)[..., 2] == -INF).all()
    np.testing.assert_allclose(logsumexp(hidden), logsumexp(kept), rtol=4e-15)
    for backward, forward in ((softmax_backward, softmax), (log_softmax_backward, log_softmax)):
        d_x = backward(d, forward(hidden))
        assert (d_x[..., 2] == 0).all()
        d_kept = backward(np.delete(d, 2, axis=-1), forward(kept))
        np.testing.assert_allclose(np.delete(d_x, 2, axis=-1), d_kept, rtol=0, atol=2e-15)
    d_x = logsumexp_backward(d[..., 0], hidden, logsumexp(hidden))
    assert (d_x[..., 2] == 0).all()


# --- NaN and infinity -----------------------------------------------------------------------------


@all_functions
@pytest.mark.parametrize("poison", [NAN, INF])
def test_nan_and_plus_infinity_spoil_their_own_row_and_no_other(function, poison, rng):
    x = rng.normal(size=SHAPE)
    clean = function(x)
    x[1, 2, 3] = poison
    spoilt = function(x)
    assert np.isnan(spoilt[1, 2]).all()
    spoilt[1, 2] = clean[1, 2]
    np.testing.assert_array_equal(spoilt, clean)


def test_a_nan_beside_minus_infinity_stays_visible():
    for function in FORWARDS:
        assert np.isnan(function([-INF, NAN, -INF])).all()
        assert np.isnan(function([-INF, INF, 0.0])).all()


# --- one score, huge scores -----------------------------------------------------------------------


def test_a_single_score_has_weight_one_and_no_gradient(rng):
    x = rng.normal(size=(Q, 1))
    np.testing.assert_array_equal(softmax(x), 1)
    np.testing.assert_array_equal(log_softmax(x), 0)
    np.testing.assert_array_equal(logsumexp(x), x[:, 0])
    np.testing.assert_array_equal(softmax_backward(x, softmax(x)), 0)
    np.testing.assert_array_equal(log_softmax_backward(x, log_softmax(x)), 0)


@pytest.mark.parametrize("huge", [1e4, 1e300, F64.max, F32.max])
def test_huge_scores_give_the_limit_and_no_warning(huge):
    x = np.array([[huge, -huge, huge], [-huge, -huge, -huge], [0, huge, -huge], [0, 0, -huge]])
    third = 1 / 3
    np.testing.assert_allclose(softmax(x), [[0.5, 0, 0.5], [third] * 3, [0, 1, 0], [0.5, 0.5, 0]], rtol=1e-15)
    expected = [huge + math.log(2), -huge + math.log(3), huge, math.log(2)]
    np.testing.assert_allclose(logsumexp(x), expected, rtol=1e-15)
    d = np.array([[1.0, 2.0, 4.0]] * 4)
    d_x = [[-0.75, 0, 0.75], [-4 / 9, -1 / 9, 5 / 9], [0, 0, 0], [-0.25, 0.25, 0]]
    np.testing.assert_allclose(softmax_backward(d, softmax(x)), d_x, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(logsumexp_backward(np.ones(4), x, logsumexp(x))[2], [0, 1, 0])


@pytest.mark.parametrize(("dtype", "huge"), [(np.float16, 65504.0), (np.float32, F32.max), (np.float64, F64.max)])
def test_scores_further_apart_than_the_dtype_can_say(dtype, huge):
    x = np.array([huge, -huge], dtype)
    np.testing.assert_array_equal(softmax(x), [1, 0])
    np.testing.assert_array_equal(log_softmax(x), [0, -INF])
    assert logsumexp(x) == huge
    np.testing.assert_array_equal(logsumexp_backward(dtype(1), x, logsumexp(x)), [1, 0])
    state = OnlineSoftmax.start((), dtype)
    for first, second in ((x[:1], x[1:]), (x[1:], x[:1])):
        assert state.update(first).update(second).logsumexp == huge
    assert state.update(x).logsumexp == huge
