"""attnlib.gradients.direction: is a large gradient judged rightly along one direction?"""

import numpy as np
import pytest
from gradients_cases import softmax_case, total

from attnlib.gradients import check_direction
from attnlib.softmax import softmax, softmax_backward


def test_a_large_right_gradient_passes_with_four_calls(rng):
    d_out, x = rng.normal(size=(40, 50, 60)), rng.normal(size=(40, 50, 60))
    calls = []

    def f(x):
        calls.append(1)
        return (d_out * softmax(x)).sum()

    gradient = softmax_backward(d_out, softmax(x))
    report = check_direction(f, x, gradient, rng, tolerance=1e-9)
    assert report and len(calls) == 4
    assert report.worst_index is None and report.note == "" and report.tolerance == 1e-9
    assert "along a random direction: yours " in str(report)


@pytest.mark.parametrize("factor", [0.0, -1.0, 1.001, 1 + 1e-6])
def test_a_wrong_gradient_is_caught_along_any_direction(rng, factor):
    f, x, gradient = softmax_case(rng)
    for seed in range(100):
        report = check_direction(f, x, factor * gradient, np.random.default_rng(seed))
        assert report.tolerance == 1e-8
        assert not report
        assert report.relative_error == pytest.approx(abs(1 - factor) / max(1, abs(factor)), rel=1e-2)


def test_one_wrong_entry_shows_along_a_direction(rng):
    f, x, gradient = softmax_case(rng)
    gradient[1, 3] += 1e-4
    assert not any(check_direction(f, x, gradient, np.random.default_rng(seed)) for seed in range(10))


def test_two_opposite_faults_do_not_cancel(rng):
    f, x, gradient = softmax_case(rng)
    gradient[1, 3] += 0.1
    gradient[2, 0] -= 0.1
    assert not any(check_direction(f, x, gradient, np.random.default_rng(seed)) for seed in range(10))


class FixedGenerator(np.random.Generator):
    """A generator that draws the same direction every time."""

    def normal(self, size):
        return np.array([1.0, -2.0])


def test_a_direction_leans_towards_the_gradient_by_one_unit():
    fixed = FixedGenerator(np.random.PCG64(0))
    weights = np.array([30.0, 10.0])
    # (1, -2) points away from (30, 40), so the direction leans back: (1, -2) - (0.6, 0.8).
    report = check_direction(lambda x: (weights * x).sum(), [1.0, 1.0], [30.0, 40.0], fixed)
    assert report.yours == pytest.approx(30 * 0.4 - 40 * 2.8, rel=1e-14)
    assert report.finite_difference == pytest.approx(30 * 0.4 - 10 * 2.8, rel=1e-10)
    assert report.relative_error == pytest.approx(84 / 100, rel=1e-10)
    # And forwards along (-3, -4): (1, -2) + (-0.6, -0.8).
    report = check_direction(lambda x: (weights * x).sum(), [1.0, 1.0], [-3.0, -4.0], fixed)
    assert report.yours == pytest.approx(-3 * 0.4 + 4 * 2.8, rel=1e-14)
    # The side is that of the sum of products: 1 * 3 - 2 * 1 = 1. Entries of zero are no obstacle.
    report = check_direction(lambda x: (weights * x).sum(), [1.0, 1.0], [3.0, 1.0], fixed)
    assert report.yours == pytest.approx(1 + np.hypot(3, 1), rel=1e-14)
    report = check_direction(lambda x: (weights * x).sum(), [1.0, 1.0], [0.0, 5.0], fixed)
    assert report.yours == pytest.approx(-10 - 5, rel=1e-14)
    # A gradient of zero has no side to lean to; the error is measured against the larger slope.
    report = check_direction(lambda x: (weights * x).sum(), [1.0, 1.0], [0.0, 0.0], fixed)
    assert report.finite_difference == pytest.approx(30 - 20, rel=1e-10) and report.relative_error == 1.0


@pytest.mark.parametrize(("degree", "slope"), [(4, 4.0), (5, 5 - 4 * 0.25**4)])
def test_a_direction_is_measured_with_the_fourth_order_formula(degree, slope):
    fixed = FixedGenerator(np.random.PCG64(0))
    # Exact for degree 4, and wrong for degree 5 by the -4 h⁴ of the fourth-order formula.
    report = check_direction(lambda x: x[0] ** degree, [1.0, 1.0], [0.0, 0.0], fixed, eps=0.25)
    assert report.finite_difference == pytest.approx(slope, rel=1e-14)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_a_very_large_or_small_gradient_is_checked_along_a_direction(size, rng):
    right = np.full(3, size)
    assert check_direction(lambda x: (x * size).sum(), np.ones(3), right, rng)
    assert check_direction(lambda x: (x * size).sum(), np.ones(3), -right, rng).relative_error == pytest.approx(2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_default_step_along_a_direction_suits_the_largest_entry(dtype):
    moved = []

    def f(x):
        moved.append(x)
        return x.sum()

    x = np.array([0.0, 100.0], dtype)
    check_direction(f, x, np.ones(2, dtype), np.random.default_rng(3))
    assert all(m.dtype == dtype for m in moved)
    direction = np.random.default_rng(3).normal(size=2)
    direction += np.sign(direction.sum()) / np.sqrt(2)
    step = (np.finfo(dtype).eps * 100) ** (1 / 5)
    np.testing.assert_allclose([m[0] for m in moved], np.array([1, -1, 2, -2]) * step * direction[0], rtol=1e-5)


def test_the_tolerance_is_the_largest_error_that_passes_along_a_direction(rng):
    assert check_direction(total, [1.0, 2.0], [0.0, 0.0], rng, tolerance=1.0).relative_error == 1.0
    assert check_direction(total, [1.0, 2.0], [0.0, 0.0], rng, tolerance=1.0)
    assert not check_direction(total, [1.0, 2.0], [0.0, 0.0], rng, tolerance=0.999)


def test_zero_against_zero_agrees_along_a_direction(rng):
    assert check_direction(lambda x: 1.0, [1.0, 2.0], [0.0, 0.0], rng).relative_error == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_gradient_that_is_not_finite_is_wrong_along_a_direction(bad, rng):
    f, x, gradient = softmax_case(rng)
    gradient[0, 0] = bad
    report = check_direction(f, x, gradient, rng)
    assert not report and report.relative_error == np.inf and report.worst_index is None
    assert report.note == "Yours is not finite everywhere." and report.tolerance == 1e-8
    assert np.isnan(report.yours) and np.isnan(report.finite_difference)


def test_float32_has_its_own_tolerance_along_a_direction(rng):
    f, x, gradient = softmax_case(rng)
    report = check_direction(f, x.astype(np.float32), gradient.astype(np.float32), rng)
    assert report and report.tolerance == 1e-3
