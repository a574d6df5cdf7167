"""attnlib.softmax: is it right, is its gradient right, does it fail clearly?"""

import math

import numpy as np
import oracles
import pytest
from dtype_spy import spied
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.gradients import check_gradient, complex_step_gradient
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

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
SHAPE = B, Q, K = 2, 3, 5
INF, NAN = np.inf, np.nan
F32, F64 = np.finfo(np.float32), np.finfo(np.float64)
FORWARDS = [softmax, log_softmax, logsumexp]


def upstream(x):
    """Some gradient to start from, made of x; finite where a score is -inf."""
    return np.where(np.isneginf(x), 2, x)[..., ::-1]


# Every function as a function of the scores alone.
ALL = {
    "softmax": softmax,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "softmax_backward": lambda x: softmax_backward(upstream(x), softmax(x)),
    "log_softmax_backward": lambda x: log_softmax_backward(upstream(x), log_softmax(x)),
    "logsumexp_backward": lambda x: logsumexp_backward(upstream(x)[..., 0], x, logsumexp(x)),
    "softmax_jacobian": lambda x: softmax_jacobian(softmax(x)),
    "online": lambda x: OnlineSoftmax.start(x.shape[:-1], x.dtype).update(x[..., :2]).update(x[..., 2:]).logsumexp,
}
all_functions = pytest.mark.parametrize("function", ALL.values(), ids=ALL)
# A running state has its own rules: it keeps float32 for float16 and starts in a float dtype.
all_but_online = pytest.mark.parametrize("function", list(ALL.values())[:-1], ids=list(ALL)[:-1])


def tolerance(dtype):
    return {"rtol": 4e-15, "atol": 4e-16} if dtype == np.float64 else {"rtol": 2e-6, "atol": 2e-7}


# --- agrees with the slow oracle -------------------------------------------------------------------


@pytest.mark.parametrize("axis", [-1, 0, 1, 2, -2, -3])
@pytest.mark.parametrize("forward", FORWARDS)
def test_matches_the_formula_in_forty_digits_along_every_axis(forward, axis, rng):
    x = 3 * rng.normal(size=SHAPE)
    expected = getattr(oracles, forward.__name__)(x, axis)
    result = forward(x, axis=axis)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, **tolerance(np.float64))


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_softmax_backward_matches_the_sum_over_all_partial_derivatives(axis, rng):
    d_weights, weights = rng.normal(size=SHAPE), softmax(rng.normal(size=SHAPE), axis)
    expected = oracles.softmax_backward(d_weights, weights, axis)
    np.testing.assert_allclose(softmax_backward(d_weights, weights, axis), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_log_softmax_backward_matches_the_sum_over_all_partial_derivatives(axis, rng):
    d_log_weights, log_weights = rng.normal(size=SHAPE), log_softmax(rng.normal(size=SHAPE), axis)
    expected = oracles.log_softmax_backward(d_log_weights, log_weights, axis)
    np.testing.assert_allclose(log_softmax_backward(d_log_weights, log_weights, axis), expected, rtol=0, atol=2e-15)


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_logsumexp_backward_is_the_softmax_times_the_upstream_gradient(axis, rng):
    x = rng.normal(size=SHAPE)
    lse = logsumexp(x, axis)
    d_lse = rng.normal(size=lse.shape)
    expected = np.expand_dims(d_lse, axis) * oracles.softmax(x, axis)
    np.testing.assert_allclose(logsumexp_backward(d_lse, x, lse, axis), expected, **tolerance(np.float64))


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


# --- invariants ------------------------------------------------------------------------------------


def test_weights_are_positive_and_sum_to_one(rng):
    weights = softmax(10 * rng.normal(size=SHAPE), axis=1)
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-15)


def test_the_three_forwards_are_one_formula(rng):
    x = rng.normal(size=SHAPE)
    np.testing.assert_allclose(np.exp(log_softmax(x)), softmax(x), rtol=2e-15)
    np.testing.assert_allclose(x - logsumexp(x)[..., np.newaxis], log_softmax(x), rtol=2e-15)


@pytest.mark.parametrize("shift", [1.0, -64.0, 2.0**20, -(2.0**40)])
def test_adding_a_constant_to_a_row_changes_no_weight(shift, rng):
    x = rng.integers(-512, 512, size=SHAPE) / 256  # exact in every sum below
    shifts = shift * np.arange(1, Q + 1)[:, np.newaxis]
    np.testing.assert_array_equal(softmax(x + shifts), softmax(x))
    np.testing.assert_array_equal(log_softmax(x + shifts), log_softmax(x))
    np.testing.assert_allclose(logsumexp(x + shifts), logsumexp(x) + shifts[:, 0], rtol=1e-15)


@all_functions
def test_rows_do_not_see_each_other(function, rng):
    x = rng.normal(size=SHAPE)
    together = function(x)
    for index in np.ndindex(B, Q):
        np.testing.assert_array_equal(together[index], function(x[index]))


@pytest.mark.parametrize("forward", [softmax, log_softmax])
def test_permuting_the_scores_permutes_the_result(forward, rng):
    x, order = rng.normal(size=SHAPE), rng.permutation(K)
    np.testing.assert_allclose(forward(x[..., order]), forward(x)[..., order], rtol=4e-15)


def test_permuting_the_scores_leaves_the_logsumexp(rng):
    x, order = rng.normal(size=SHAPE), rng.permutation(K)
    np.testing.assert_allclose(logsumexp(x[..., order]), logsumexp(x), rtol=4e-15)


def test_ties_get_equal_weights():
    np.testing.assert_array_equal(softmax(np.full(K, 7.0)), np.full(K, 1 / K))
    weights = softmax([1.0, 3.0, 3.0, 1.0])
    assert weights[1] == weights[2] and weights[0] == weights[3]


def test_gradients_of_softmax_and_log_softmax_sum_to_zero(rng):
    d, x = rng.normal(size=SHAPE), rng.normal(size=SHAPE)
    np.testing.assert_allclose(softmax_backward(d, softmax(x, 1), 1).sum(axis=1), 0, atol=1e-15)
    np.testing.assert_allclose(log_softmax_backward(d, log_softmax(x, 1), 1).sum(axis=1), 0, atol=2e-15)


def test_a_constant_upstream_gradient_does_not_push_a_softmax(rng):
    weights = softmax(rng.normal(size=SHAPE))
    np.testing.assert_allclose(softmax_backward(np.full(SHAPE, 4.0), weights), 0, atol=1e-15)


def test_backwards_are_linear_in_the_upstream_gradient(rng):
    d, e, x = (rng.normal(size=SHAPE) for _ in range(3))
    for backward, saved in ((softmax_backward, softmax(x)), (log_softmax_backward, log_softmax(x))):
        combined = 2 * backward(d, saved) - 3 * backward(e, saved)
        np.testing.assert_allclose(backward(2 * d - 3 * e, saved), combined, rtol=0, atol=1e-14)


def test_jacobian_is_symmetric_and_its_rows_sum_to_zero(rng):
    jacobian = softmax_jacobian(softmax(rng.normal(size=SHAPE)))
    np.testing.assert_allclose(jacobian, jacobian.mT, rtol=0, atol=1e-16)
    np.testing.assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-16)


# --- memory layout, dtype, and what is left alone ----------------------------------------------------


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "reversed": lambda x: x[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "every second entry": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "nested lists": lambda x: x.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("forward", FORWARDS)
def test_the_memory_layout_makes_no_difference(forward, axis, layout, rng):
    x = rng.normal(size=SHAPE)
    result = forward(layout(x), axis)
    assert result.dtype == np.float64 and result.dtype.isnative
    np.testing.assert_allclose(result, forward(x, axis), rtol=4e-15)


@all_functions
def test_a_broadcast_view_is_read_like_a_copy(function, rng):
    x = np.broadcast_to(rng.normal(size=(B, 1, K)), SHAPE)
    np.testing.assert_array_equal(function(x), function(x.copy()))


@all_functions
def test_inputs_are_never_written_to(function, rng):
    x = rng.normal(size=SHAPE)
    x[0, 0], x[1, 2, 3] = -INF, -INF
    before = x.copy()
    x.flags.writeable = False  # writing raises
    result = function(x)
    np.testing.assert_array_equal(x, before)
    assert not np.shares_memory(result, x)


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


def test_results_are_fresh_arrays_that_can_be_written_to(rng):
    x = rng.normal(size=SHAPE)
    for function in (softmax, log_softmax, softmax_jacobian):
        result = function(x)
        result[...] = 0
        assert x.any()


# --- edges -----------------------------------------------------------------------------------------


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


def test_a_single_score_has_weight_one_and_no_gradient(rng):
    x = rng.normal(size=(Q, 1))
    np.testing.assert_array_equal(softmax(x), 1)
    np.testing.assert_array_equal(log_softmax(x), 0)
    np.testing.assert_array_equal(logsumexp(x), x[:, 0])
    np.testing.assert_array_equal(softmax_backward(x, softmax(x)), 0)
    np.testing.assert_array_equal(log_softmax_backward(x, log_softmax(x)), 0)


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


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 0), (2, 0, 3)])
def test_empty_input_gives_empty_output(shape):
    x = np.zeros(shape)
    assert softmax(x).shape == log_softmax(x).shape == shape
    assert softmax_backward(x, x).shape == log_softmax_backward(x, x).shape == shape
    assert softmax_jacobian(x).shape == (*shape, shape[-1])
    lse = logsumexp(x)
    assert lse.shape == shape[:-1] and (lse == -INF).all()
    assert logsumexp_backward(lse, x, lse).shape == shape


def test_an_empty_axis_that_is_not_the_last():
    x = np.zeros((2, 0, 3))
    assert softmax(x, axis=1).shape == (2, 0, 3)
    np.testing.assert_array_equal(logsumexp(x, axis=1), np.full((2, 3), -INF))
    assert logsumexp(x, axis=0).shape == (0, 3)


# --- the running softmax -----------------------------------------------------------------------------


def online(x, *cuts):
    state = OnlineSoftmax.start(x.shape[:-1], x.dtype)
    for start, stop in zip((0, *cuts), (*cuts, x.shape[-1])):
        state = state.update(x[..., start:stop])
    return state


scores = st.one_of(st.floats(-50, 50), st.sampled_from([-INF, -1e4, 1e4, 1e300, -1e300, 0.0]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(row=st.lists(scores, max_size=9), data=st.data())
def test_online_any_cut_into_blocks_gives_the_same_logsumexp(row, data):
    x = np.array([row, row[::-1]], dtype=np.float64)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(row)), max_size=5)))
    state = online(x, *cuts)
    np.testing.assert_allclose(state.logsumexp, logsumexp(x), rtol=4e-15, atol=4e-15)
    np.testing.assert_array_equal(state.maximum, x.max(axis=-1, initial=-INF))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows=st.tuples(*[st.lists(scores, max_size=4)] * 3))
def test_online_merge_does_not_care_about_order_or_brackets(rows):
    a, b, c = (OnlineSoftmax.start().update(row) for row in rows)
    whole = logsumexp(rows[0] + rows[1] + rows[2])
    for left, right in ((a.merge(b), b.merge(a)), (a.merge(b).merge(c), a.merge(b.merge(c)))):
        np.testing.assert_array_equal(left.maximum, right.maximum)
        np.testing.assert_allclose(left.total, right.total, rtol=4e-15)
    np.testing.assert_allclose(a.merge(b).merge(c).logsumexp, whole, rtol=4e-15, atol=4e-15)


def test_online_state_is_what_it_says(rng):
    x = rng.normal(size=SHAPE)
    state = online(x, 2)
    maximum = x.max(axis=-1)
    np.testing.assert_array_equal(state.maximum, maximum)
    np.testing.assert_allclose(state.total, np.exp(x - maximum[..., np.newaxis]).sum(axis=-1), rtol=4e-15)


def test_online_before_the_first_score():
    state = OnlineSoftmax.start((2, 3))
    np.testing.assert_array_equal(state.maximum, np.full((2, 3), -INF))
    np.testing.assert_array_equal(state.total, np.zeros((2, 3)))
    np.testing.assert_array_equal(state.logsumexp, np.full((2, 3), -INF))
    assert state.maximum.dtype == state.total.dtype == np.float64
    assert OnlineSoftmax.start().maximum.shape == ()


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("block", [np.zeros((Q, 0)), np.full((Q, 2), -INF)], ids=["empty", "all -inf"])
def test_online_a_block_without_a_score_changes_nothing(block, place, rng):
    blocks = [rng.normal(size=(Q, K)), rng.normal(size=(Q, 1))]
    expected = OnlineSoftmax.start((Q,)).update(blocks[0]).update(blocks[1])
    state = OnlineSoftmax.start((Q,))
    for each in blocks[:place] + [block] + blocks[place:]:
        state = state.update(each)
    np.testing.assert_array_equal(state.maximum, expected.maximum)
    np.testing.assert_array_equal(state.total, expected.total)


def test_online_nothing_but_dead_blocks_stays_at_minus_infinity():
    state = OnlineSoftmax.start((Q,)).update(np.full((Q, K), -INF)).update(np.full((Q, 1), -INF))
    np.testing.assert_array_equal(state.maximum, np.full(Q, -INF))
    np.testing.assert_array_equal(state.total, np.zeros(Q))
    np.testing.assert_array_equal(state.logsumexp, np.full(Q, -INF))


@pytest.mark.parametrize("order", ["rising", "falling", "late spike"])
def test_online_the_maximum_may_come_early_or_late(order):
    x = {"rising": np.arange(9.0) * 90, "falling": -np.arange(9.0) * 90, "late spike": np.r_[np.zeros(8), 800.0]}[order]
    np.testing.assert_allclose(online(x, *range(1, 9)).logsumexp, oracles.logsumexp(x), rtol=4e-15)


def test_online_a_nan_stays_until_the_end_in_its_row_only():
    state = OnlineSoftmax.start((2,)).update([[NAN, 1.0], [1.0, 2.0]]).update([[3.0], [3.0]])
    assert np.isnan(state.logsumexp[0])
    assert state.logsumexp[1] == logsumexp([1.0, 2.0, 3.0])


def test_online_is_a_value_and_never_changes(rng):
    x = rng.normal(size=(Q, K))
    state = OnlineSoftmax.start((Q,)).update(x[:, :2])
    for array in state:
        array.flags.writeable = False
    maximum, total = state.maximum.copy(), state.total.copy()
    state.update(x[:, 2:])
    state.merge(state)
    np.testing.assert_array_equal(state.maximum, maximum)
    np.testing.assert_array_equal(state.total, total)


@pytest.mark.parametrize("shape", [(), (Q,), (B, Q)])
def test_online_started_in_float32_stays_float32(shape, rng):
    x = rng.normal(size=(*shape, K)).astype(np.float32)
    state = OnlineSoftmax.start(shape, np.float32).update(x[..., :2]).update(x[..., 2:])
    assert state.maximum.dtype == state.total.dtype == state.logsumexp.dtype == np.float32
    np.testing.assert_allclose(state.logsumexp, logsumexp(x), rtol=2e-6)
    assert OnlineSoftmax.start(shape, np.float16).maximum.dtype == np.float32
    half = OnlineSoftmax.start(shape, np.float16).update(x.astype(np.float16))
    assert half.maximum.dtype == half.total.dtype == np.float32
    assert OnlineSoftmax.start(shape, np.float32).update(x.astype(np.float64)).total.dtype == np.float64


# --- gradients -------------------------------------------------------------------------------------


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


def test_jacobian_by_finite_differences(rng):
    x = rng.normal(size=K)
    jacobian = softmax_jacobian(softmax(x))
    for i in range(K):
        report = check_gradient(lambda x: softmax(x)[i], x, jacobian[i], tolerance=1e-10)
        assert report, str(report)


# --- error messages --------------------------------------------------------------------------------


REAL = "must be an array of real numbers"
X = np.zeros(SHAPE)
ERRORS = [
    (softmax, ([1j],), TypeError, rf"^softmax: x {REAL}.*complex128"),
    (softmax, (X, 1.0), TypeError, r"^softmax: axis must be an integer; got 1\.0\.$"),
    (softmax, (X, 3), ValueError, r"^softmax: x has no axis 3; its shape is \(2, 3, 5\)\.$"),
    (softmax, (1.0,), ValueError, r"^softmax: x has no axis -1; its shape is \(\)\.$"),
    (log_softmax, (X > 0,), TypeError, rf"^log_softmax: x {REAL}.*bool"),
    (log_softmax, (X, None), TypeError, r"^log_softmax: axis must be an integer; got None\.$"),
    (log_softmax, (X, -4), ValueError, r"^log_softmax: x has no axis -4"),
    (logsumexp, (["a"],), TypeError, rf"^logsumexp: x {REAL}.*<U1"),
    (logsumexp, (X, (0, 1)), TypeError, r"^logsumexp: axis must be an integer; got \(0, 1\)\.$"),
    (logsumexp, (np.array(1.0),), ValueError, r"^logsumexp: x has no axis -1; its shape is \(\)\.$"),
    (softmax_jacobian, ([1j],), TypeError, rf"^softmax_jacobian: weights {REAL}"),
    (softmax_jacobian, (0.5,), ValueError, r"^softmax_jacobian: weights has no axis -1; its shape is \(\)\.$"),
    (softmax_backward, ([1j], [1.0]), TypeError, rf"^softmax_backward: d_weights {REAL}"),
    (softmax_backward, ([1.0], [True]), TypeError, rf"^softmax_backward: weights {REAL}"),
    (softmax_backward, (X, X, "0"), TypeError, r"^softmax_backward: axis must be an integer; got '0'\.$"),
    (softmax_backward, (X, X, 3), ValueError, r"^softmax_backward: weights has no axis 3"),
    (
        softmax_backward,
        (X, X[0]),
        ValueError,
        r"^softmax_backward: d_weights and weights must have the same shape\.\n"
        r"  d_weights: \(2, 3, 5\)\n  weights:   \(3, 5\)$",
    ),
    (log_softmax_backward, ([1j], [1.0]), TypeError, rf"^log_softmax_backward: d_log_weights {REAL}"),
    (log_softmax_backward, ([1.0], ["a"]), TypeError, rf"^log_softmax_backward: log_weights {REAL}"),
    (log_softmax_backward, (X, X, 0.5), TypeError, r"^log_softmax_backward: axis must be an integer; got 0\.5\.$"),
    (log_softmax_backward, (X, X, -4), ValueError, r"^log_softmax_backward: log_weights has no axis -4"),
    (log_softmax_backward, (X[:1], X), ValueError, r"^log_softmax_backward: d_log_weights and log_weights must"),
    (logsumexp_backward, (1j, [1.0], 1.0), TypeError, rf"^logsumexp_backward: d_logsumexp {REAL}"),
    (logsumexp_backward, (1.0, [True], 1.0), TypeError, rf"^logsumexp_backward: x {REAL}"),
    (logsumexp_backward, (1.0, [1.0], "a"), TypeError, rf"^logsumexp_backward: logsumexp {REAL}"),
    (logsumexp_backward, (1.0, [1.0], 1.0, None), TypeError, r"^logsumexp_backward: axis must be an integer"),
    (logsumexp_backward, (1.0, 1.0, 1.0), ValueError, r"^logsumexp_backward: x has no axis -1"),
    (
        logsumexp_backward,
        (np.zeros((2, 5)), X, np.zeros((2, 3)), 1),
        ValueError,
        r"^logsumexp_backward: logsumexp must have the shape of x without axis 1: expected \(2, 5\), got \(2, 3\)\.$",
    ),
    (
        logsumexp_backward,
        (1.0, X, np.zeros((2, 3))),
        ValueError,
        r"^logsumexp_backward: d_logsumexp must have the shape of x without axis 2: expected \(2, 3\), got \(\)\.$",
    ),
    (OnlineSoftmax.start, ((), int), TypeError, r"^OnlineSoftmax\.start: dtype must be float32 or float64; got int64\.$"),
    (OnlineSoftmax.start, ((), complex), TypeError, r"^OnlineSoftmax\.start: dtype must be .*; got complex128\.$"),
    (OnlineSoftmax.start((3,)).update, ([[1j]],), TypeError, rf"^OnlineSoftmax\.update: scores {REAL}"),
    (
        OnlineSoftmax.start((2, 3)).update,
        (np.zeros((3, 5)),),
        ValueError,
        r"^OnlineSoftmax\.update: scores must have the state's axes and one more, k: "
        r"expected \(2, 3, 'k'\), got \(3, 5\)\.$",
    ),
    (OnlineSoftmax.start().update, (1.0,), ValueError, r"expected \('k',\), got \(\)\.$"),
    (OnlineSoftmax.start((3,)).update, (np.zeros((1, 5)),), ValueError, r"expected \(3, 'k'\), got \(1, 5\)\.$"),
    (
        OnlineSoftmax.start().merge,
        ((0.0, 1.0),),
        TypeError,
        r"^OnlineSoftmax\.merge: other must be an OnlineSoftmax; got tuple\.$",
    ),
    (
        OnlineSoftmax.start((3,)).merge,
        (OnlineSoftmax.start((1,)),),
        ValueError,
        r"^OnlineSoftmax\.merge: both states must have one shape \(\.\.\.\); got \(3,\) and \(1,\)\.$",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "kind", "message"), ERRORS)
def test_bad_input_is_refused_in_clear_words(function, arguments, kind, message):
    with pytest.raises(kind, match=message):
        function(*arguments)
