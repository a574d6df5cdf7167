"""attnlib.softmax: what holds for every function of the room?"""

import numpy as np
import oracles
import pytest
from softmax_cases import FORWARDS, INF, SHAPE, B, K, Q, all_functions, tolerance

from attnlib.softmax import (
    log_softmax,
    log_softmax_backward,
    logsumexp,
    logsumexp_backward,
    softmax,
    softmax_backward,
    softmax_jacobian,
)


@pytest.mark.parametrize("axis", [-1, 0, 1, 2, -2, -3])
@pytest.mark.parametrize("forward", FORWARDS)
def test_matches_the_formula_in_forty_digits_along_every_axis(forward, axis, rng):
    x = 3 * rng.normal(size=SHAPE)
    expected = getattr(oracles, forward.__name__)(x, axis)
    result = forward(x, axis=axis)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, **tolerance(np.float64))


# --- invariants -----------------------------------------------------------------------------------


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


def test_gradients_of_softmax_and_log_softmax_sum_to_zero(rng):
    d, x = rng.normal(size=SHAPE), rng.normal(size=SHAPE)
    np.testing.assert_allclose(softmax_backward(d, softmax(x, 1), 1).sum(axis=1), 0, atol=1e-15)
    np.testing.assert_allclose(log_softmax_backward(d, log_softmax(x, 1), 1).sum(axis=1), 0, atol=2e-15)


def test_backwards_are_linear_in_the_upstream_gradient(rng):
    d, e, x = (rng.normal(size=SHAPE) for _ in range(3))
    for backward, saved in ((softmax_backward, softmax(x)), (log_softmax_backward, log_softmax(x))):
        combined = 2 * backward(d, saved) - 3 * backward(e, saved)
        np.testing.assert_allclose(backward(2 * d - 3 * e, saved), combined, rtol=0, atol=1e-14)


# --- memory layout, and what is left alone --------------------------------------------------------

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


def test_results_are_fresh_arrays_that_can_be_written_to(rng):
    x = rng.normal(size=SHAPE)
    for function in (softmax, log_softmax, softmax_jacobian):
        result = function(x)
        result[...] = 0
        assert x.any()


# --- empty input ----------------------------------------------------------------------------------


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
