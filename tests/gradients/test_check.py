"""attnlib.gradients: does it pass right gradients, catch wrong ones, and say where?"""

import dataclasses

import numpy as np
import pytest

from attnlib.gradients import (
    GradientReport,
    check_direction,
    check_gradient,
    complex_step_gradient,
    numerical_gradient,
)
from attnlib.softmax import softmax, softmax_backward

SHAPE = Q, K = 3, 5


@pytest.fixture
def case(rng):
    """A loss on top of a softmax, a point, and the right gradient there."""
    d_out, x = rng.normal(size=SHAPE), rng.normal(size=SHAPE)
    return lambda x: (d_out * softmax(x)).sum(), x, softmax_backward(d_out, softmax(x))


def by_hand(d_out):
    """The same loss without attnlib, fit for complex numbers."""

    def loss(x):
        exponentials = np.exp(x - x.real.max(axis=-1, keepdims=True))
        return (d_out * exponentials / exponentials.sum(axis=-1, keepdims=True)).sum()

    return loss


def relative_error(found, expected):
    return abs(found - expected).max() / abs(expected).max()


# --- measuring -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "bar"), [(2, 1e-8), (4, 1e-10)])
def test_differences_reach_the_accuracy_that_was_promised(order, bar, rng):
    for _ in range(10):
        d_out, x = rng.normal(size=SHAPE), rng.normal(size=SHAPE)
        expected = softmax_backward(d_out, softmax(x))
        found = numerical_gradient(lambda x: (d_out * softmax(x)).sum(), x, order=order)
        assert found.shape == SHAPE and found.dtype == np.float64
        assert relative_error(found, expected) <= bar


def test_the_complex_step_is_exact_to_the_last_digits(rng):
    for _ in range(10):
        d_out, x = rng.normal(size=SHAPE), 3 * rng.normal(size=SHAPE)
        found = complex_step_gradient(by_hand(d_out), x)
        assert found.shape == SHAPE and found.dtype == np.float64
        assert relative_error(found, softmax_backward(d_out, softmax(x))) <= 1e-13


@pytest.mark.parametrize(("order", "exact_up_to"), [(2, 2), (4, 4)])
def test_the_order_is_the_order(order, exact_up_to):
    # A formula of order n is exact for polynomials of degree n, and wrong for degree n + 1 by h^n.
    for degree in range(1, exact_up_to + 1):
        slope = numerical_gradient(lambda x: x[0] ** degree, [1.0], 0.25, order=order)
        np.testing.assert_allclose(slope, [degree], rtol=1e-14)
    slope = numerical_gradient(lambda x: x[0] ** (order + 1), [1.0], 0.25, order=order)
    # (x + h)³ gives 3 + h²; the combination of h and 2h turns the h⁴ of (x + h)⁵ into -4 h⁴.
    np.testing.assert_allclose(slope, [{2: 3 + 0.25**2, 4: 5 - 4 * 0.25**4}[order]], rtol=1e-14)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", [0.0, -1.0, 8.0, -1e4])
def test_the_default_step_balances_the_two_errors(place, dtype, order):
    moved = []

    def f(x):
        moved.append(float(x[0]))
        return x[0]

    numerical_gradient(f, np.array([place], dtype), order=order)
    expected = (np.finfo(dtype).eps * max(1, abs(place))) ** (1 / (order + 1))
    steps = sorted({round(abs(m - place) / expected, 1) for m in moved})
    assert steps == ([1.0] if order == 2 else [1.0, 2.0])


def test_the_step_given_is_the_step_taken():
    seen = []

    def f(x):
        seen.append(x.copy())
        return x.sum()

    numerical_gradient(f, [1.0, 2.0], 0.5)
    np.testing.assert_array_equal(seen, [[1.5, 2], [0.5, 2], [1, 2.5], [1, 1.5]])
    seen.clear()
    numerical_gradient(f, [1.0], np.float32(0.5), order=4)
    np.testing.assert_array_equal(sorted(s[0] for s in seen), [0, 0.5, 1.5, 2])


@pytest.mark.parametrize("place", [3.3, 1e4 + 0.1, -12345.678])
def test_the_rounding_of_x_is_taken_out(place):
    # x + h is rounded to the grid of floats around x: 2h is not the distance of the two points.
    np.testing.assert_allclose(numerical_gradient(lambda x: x[0] - place, [place], 1e-7), [1.0], rtol=1e-15)
    np.testing.assert_allclose(numerical_gradient(lambda x: x[0] - place, [place], 1e-7, order=4), [1.0], rtol=1e-15)


def test_float32_is_measured_in_float32_and_shows_it(case):
    f, x, expected = case
    seen = set()

    def spying(x):
        seen.add(x.dtype)
        return f(x)

    found = numerical_gradient(spying, x.astype(np.float32))
    assert found.dtype == np.float32 and seen == {np.dtype(np.float32)}
    assert 1e-7 < relative_error(found, expected) < 1e-3


def test_float16_is_measured_in_float32_and_returned_in_float16():
    seen = set()

    def f(x):
        seen.add(x.dtype)
        return (x**2).sum()

    found = numerical_gradient(f, np.array([1.0, 2.0], np.float16))
    assert found.dtype == np.float16 and seen == {np.dtype(np.float32)}
    np.testing.assert_array_equal(found, np.array([2, 4], np.float16))
    found = complex_step_gradient(lambda z: (z**2).sum(), np.array([1.0, 2.0], np.float16))
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, np.array([2, 4], np.float16))


def test_the_complex_step_keeps_float32_and_moves_one_entry_by_1e_20():
    seen = []

    def f(z):
        seen.append(z)
        return (z**2).sum()

    found = complex_step_gradient(f, np.array([1.0, 2.0], np.float32))
    assert found.dtype == np.float32 and all(z.dtype == np.complex64 for z in seen)
    np.testing.assert_array_equal(found, [2, 4])
    np.testing.assert_array_equal([z.real for z in seen], [[1, 2], [1, 2]])
    np.testing.assert_allclose([z.imag for z in seen], [[1e-20, 0], [0, 1e-20]])


@pytest.mark.parametrize("measure", [numerical_gradient, complex_step_gradient])
def test_any_number_of_axes_and_any_layout(measure, rng):
    def f(x):
        return (x**2).sum()

    assert measure(f, 3.0).shape == ()
    np.testing.assert_allclose(measure(f, 3.0), 6.0, rtol=1e-9)
    assert measure(f, np.zeros((2, 0))).shape == (2, 0)
    x = rng.normal(size=(4, 3, 2))
    for same in (x, np.asfortranarray(x), x[::-1].copy()[::-1], x.tolist()):
        np.testing.assert_allclose(measure(f, same), 2 * x, rtol=1e-7, atol=1e-9)
    broadcast = np.broadcast_to(x[0, 0], (3, 2))
    np.testing.assert_allclose(measure(f, broadcast), 2 * broadcast, rtol=1e-7)
    np.testing.assert_allclose(measure(f, [1, -2]), [2, -4], rtol=1e-9)


def vandal(x):
    """Sums its argument and then ruins it."""
    total = (x**2).sum()
    x[...] = np.nan
    return total


def test_x_is_never_written_to_even_if_f_does(rng):
    x = rng.normal(size=SHAPE)
    before = x.copy()
    x.flags.writeable = False
    np.testing.assert_allclose(numerical_gradient(vandal, x), 2 * x, rtol=1e-7)
    np.testing.assert_allclose(complex_step_gradient(vandal, x), 2 * x, rtol=1e-14)
    assert check_gradient(vandal, x, 2 * x)
    assert check_direction(vandal, x, 2 * x, rng)
    np.testing.assert_array_equal(x, before)


def test_each_call_gets_an_array_of_its_own():
    kept = []

    def hoarder(x):
        kept.append(x)
        return x.sum()

    x = np.arange(3.0)
    numerical_gradient(hoarder, x, 0.5, order=4)
    check_gradient(hoarder, x, np.ones(3))
    check_direction(hoarder, x, np.ones(3), np.random.default_rng(0))
    arrays = [x, *kept]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


@pytest.mark.parametrize("value", [2, np.int8(-100), np.uint8(200), 2.5, np.float32(2), np.array(2.0)])
def test_f_may_return_any_kind_of_real_number(value):
    np.testing.assert_array_equal(numerical_gradient(lambda x: value, [1.0]), [0.0])


def test_integer_values_of_f_are_subtracted_without_wrapping():
    found = numerical_gradient(lambda x: np.uint8(200 if x[0] < 0 else 100), [0.0], 0.5)
    np.testing.assert_array_equal(found, [-100.0])
    found = numerical_gradient(lambda x: 2**40 + int(x[0] > 0), [0.0], 0.5)
    np.testing.assert_array_equal(found, [1.0])


# --- judging ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 4])
def test_a_right_gradient_passes(case, order):
    f, x, gradient = case
    report = check_gradient(f, x, gradient, order=order)
    assert report and report.passed is True
    assert report.relative_error <= 1e-9 and report.note == ""
    assert str(report).startswith("gradient right: relative error ")


def test_a_right_gradient_passes_far_from_zero(case, rng):
    f, x, _ = case
    for shift in (1e3, -1e5):
        d_out = rng.normal(size=SHAPE)
        loss = lambda x: (d_out * softmax(x)).sum()  # noqa: B023, E731
        moved = x + shift
        assert check_gradient(loss, moved, softmax_backward(d_out, softmax(moved)), tolerance=1e-6)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("factor", [1.001, 1 + 1e-6, 1 - 1e-6, 0.5, -1.0, 2.0])
def test_a_gradient_that_is_off_by_a_factor_is_caught_and_the_factor_named(case, order, factor):
    f, x, gradient = case
    report = check_gradient(f, x, factor * gradient, order=order)
    assert not report and report.passed is False
    assert report.relative_error == pytest.approx(abs(1 - factor) / max(1, abs(factor)), rel=1e-2)
    assert report.note == f"Yours is {factor:.9g} times the finite difference in every entry." or order == 2
    assert report.note.startswith("Yours is ")


def test_a_gradient_of_zero_is_caught(case):
    f, x, gradient = case
    report = check_gradient(f, x, np.zeros(SHAPE))
    assert not report and report.relative_error == 1.0 and report.yours == 0.0
    assert report.note == "Yours is 0 times the finite difference in every entry."


def test_the_row_term_of_softmax_is_missed_by_ones_but_not_by_a_random_upstream_gradient(rng):
    x = rng.normal(size=SHAPE)
    wrong = lambda d_out: 3 * softmax_backward(d_out, softmax(x))  # noqa: E731
    d_out = rng.normal(size=SHAPE)
    assert not check_gradient(lambda x: (d_out * softmax(x)).sum(), x, wrong(d_out))
    ones = np.ones(SHAPE)
    report = check_gradient(lambda x: (ones * softmax(x)).sum(), x, wrong(ones))
    assert "tests nothing: is the upstream gradient constant?" in report.note
    assert "tests nothing" in str(report)


def test_one_wrong_entry_is_found(case):
    f, x, gradient = case
    wrong = gradient.copy()
    wrong[1, 3] += 0.25
    report = check_gradient(f, x, wrong)
    assert not report and report.worst_index == (1, 3)
    assert all(type(i) is int for i in report.worst_index)
    assert type(report.yours) is type(report.finite_difference) is type(report.relative_error) is float
    assert report.yours == wrong[1, 3]
    assert report.finite_difference == pytest.approx(gradient[1, 3], rel=1e-8)
    scale = max(abs(wrong).max(), abs(gradient).max())
    assert report.relative_error == pytest.approx(0.25 / scale, rel=1e-8)
    assert report.note == ""


def test_the_error_is_measured_against_the_larger_of_the_two_gradients():
    def f(x):
        return (x * [1.0, 4.0]).sum()

    assert check_gradient(f, [0.0, 0.0], [1.0, 8.0]).relative_error == pytest.approx(0.5)
    assert check_gradient(f, [0.0, 0.0], [1.0, 2.0]).relative_error == pytest.approx(0.5)
    assert check_gradient(f, [0.0, 0.0], [1.5, 4.0]).relative_error == pytest.approx(0.125)


def test_rounding_in_a_tiny_entry_is_no_alarm():
    x = np.array([1.0, 1e-13])
    assert check_gradient(lambda x: (x**2).sum(), x, [2.0, 0.0])


def test_two_gradients_of_zero_agree_but_the_report_says_that_this_tests_nothing():
    report = check_gradient(lambda x: 1.0, [1.0, 2.0], [0.0, 0.0])
    assert report and report.relative_error == 0.0
    assert "tests nothing" in report.note
    for constant in (0.0, -1.0):
        report = check_gradient(lambda x: constant, [1.0, 2.0], [0.0, 0.0])  # noqa: B023
        assert report and "tests nothing" in report.note


def test_rounding_noise_is_recognised_by_the_smallest_step(rng):
    # A row far from zero gets larger steps, so less noise, than the row near zero.
    x = np.array([rng.normal(size=9), 1e14 + np.arange(9)])
    for sign in (1, -1):
        report = check_gradient(lambda x: sign * softmax(x).sum(), x, np.zeros((2, 9)))  # noqa: B023
        assert report.worst_index[0] == 0 and abs(report.finite_difference) > 5e-14
        assert "tests nothing" in report.note


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_factor_is_named_for_gradients_of_any_size(size):
    weights = np.array([size, 4 * size])
    report = check_gradient(lambda x: (weights * x**2).sum(), [1.0, 2.0], [4 * size, 32 * size])
    assert report.note == "Yours is 2 times the finite difference in every entry."


def test_a_gradient_where_the_loss_is_constant_is_caught():
    report = check_gradient(lambda x: 1.0, [1.0, 2.0], [0.0, 3.0])
    assert not report and report.worst_index == (1,) and report.relative_error == 1.0 and report.note == ""


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_gradient_that_is_not_finite_is_wrong_there(case, bad):
    f, x, gradient = case
    gradient[2, 1] = bad
    report = check_gradient(f, x, gradient)
    assert not report and report.relative_error == np.inf and report.worst_index == (2, 1)
    np.testing.assert_equal(report.yours, bad)
    assert "[2, 1]: yours " + str(bad) in str(report)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_very_large_and_very_small_gradients_are_compared_without_overflow(size):
    def f(x):
        return float((x * size).sum())

    right = np.array([size, size, size])
    assert check_gradient(f, np.ones(3), right, tolerance=1e-6)
    wrong = check_gradient(f, np.ones(3), -right)
    assert not wrong and wrong.relative_error == pytest.approx(2.0)


def test_a_scalar_x_is_checked_too():
    assert check_gradient(lambda x: x**2, 3.0, 6.0).worst_index == ()
    report = check_gradient(lambda x: x**2, 3.0, 6.1)
    assert not report and report.note == ""


def test_float32_has_its_own_tolerance(case):
    f, x, gradient = case
    x = x.astype(np.float32)
    report = check_gradient(f, x, gradient.astype(np.float32))
    assert report and report.tolerance == 1e-3
    assert check_gradient(f, x.astype(np.float16), gradient, tolerance=1e-2).tolerance == 1e-2
    assert not check_gradient(f, x, 1.01 * gradient)
    assert not check_gradient(f, x, gradient, tolerance=1e-8)
    assert check_gradient(f, x.astype(np.float64), gradient, tolerance=1e-6).tolerance == 1e-6


def test_the_tolerance_is_the_largest_error_that_passes():
    def f(x):
        return x[0]

    assert check_gradient(f, [0.0], [2.0], tolerance=0.5)
    assert not check_gradient(f, [0.0], [2.0], tolerance=0.49)
    assert type(check_gradient(f, [0.0], [2.0], tolerance=np.float32(0.5)).tolerance) is float


def test_the_step_and_the_order_are_passed_on():
    def f(x):
        return x[0] ** 3

    assert check_gradient(f, [1.0], [3.25], eps=0.5, order=2).relative_error == 0.0
    assert check_gradient(f, [1.0], [3.0], eps=0.5, order=4).relative_error <= 1e-15
    assert check_gradient(f, [1.0], [3.0]).tolerance == 1e-8


def test_the_report_reads_in_two_lines(case):
    report = GradientReport(False, 0.125, (0, 2), -1.5, 1.25, 1e-8)
    assert str(report) == (
        "gradient WRONG: relative error 1.2e-01, tolerance 1e-08\n"
        "worst entry [0, 2]: yours -1.5, finite difference 1.25"
    )
    report = dataclasses.replace(report, passed=True, worst_index=None, note="A note.")
    assert str(report) == (
        "gradient right: relative error 1.2e-01, tolerance 1e-08\n"
        "along a random direction: yours -1.5, finite difference 1.25. A note."
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.passed = False


# --- one direction ---------------------------------------------------------------------------------


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
def test_a_wrong_gradient_is_caught_along_any_direction(case, factor):
    f, x, gradient = case
    for seed in range(100):
        report = check_direction(f, x, factor * gradient, np.random.default_rng(seed))
        assert report.tolerance == 1e-8
        assert not report
        assert report.relative_error == pytest.approx(abs(1 - factor) / max(1, abs(factor)), rel=1e-2)


def test_one_wrong_entry_shows_along_a_direction(case):
    f, x, gradient = case
    gradient[1, 3] += 1e-4
    assert not any(check_direction(f, x, gradient, np.random.default_rng(seed)) for seed in range(10))


def test_two_opposite_faults_do_not_cancel(case):
    f, x, gradient = case
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
def test_a_gradient_that_is_not_finite_is_wrong_along_a_direction(case, bad, rng):
    f, x, gradient = case
    gradient[0, 0] = bad
    report = check_direction(f, x, gradient, rng)
    assert not report and report.relative_error == np.inf and report.worst_index is None
    assert report.note == "Yours is not finite everywhere." and report.tolerance == 1e-8
    assert np.isnan(report.yours) and np.isnan(report.finite_difference)


def test_float32_has_its_own_tolerance_along_a_direction(case, rng):
    f, x, gradient = case
    report = check_direction(f, x.astype(np.float32), gradient.astype(np.float32), rng)
    assert report and report.tolerance == 1e-3


# --- error messages --------------------------------------------------------------------------------


def total(x):
    return x.sum()


RNG = np.random.default_rng(0)
CALLS = {
    "numerical_gradient": lambda f, x, **options: numerical_gradient(f, x, **options),
    "complex_step_gradient": lambda f, x: complex_step_gradient(f, x),
    "check_gradient": lambda f, x, **options: check_gradient(f, x, np.zeros(np.shape(x)), **options),
    "check_direction": lambda f, x, **options: check_direction(f, x, np.zeros(np.shape(x)), RNG, **options),
}
every_call = pytest.mark.parametrize("name", CALLS)


@every_call
@pytest.mark.parametrize(
    ("f", "x", "kind", "message"),
    [
        (3.0, [1.0], TypeError, "f must be a function of one array; got float."),
        (total, [1j], TypeError, "x must be an array of real numbers .*complex128"),
        (total, [True], TypeError, "x must be an array of real numbers .*bool"),
        (total, [1.0, -np.inf], ValueError, "x must be finite; got -inf, which has no slope."),
        (total, [np.nan, 1.0], ValueError, "x must be finite; got nan, which has no slope."),
        (lambda x: x, [1.0, 2.0], ValueError, r"f must return one number; got an array of shape \(2,\). Multiply it"),
        (lambda x: [x[0]], [1.0, 2.0], ValueError, r"f must return one number; got an array of shape \(1,\)"),
        (lambda x: None, [1.0], TypeError, "f must return a (real|complex) number; got object."),
        (lambda x: True, [1.0], TypeError, "f must return a (real|complex) number; got bool."),
    ],
)
def test_bad_arguments_are_refused_by_every_function(name, f, x, kind, message):
    with pytest.raises(kind, match=rf"^{name}: {message}"):
        CALLS[name](f, x)


@every_call
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_is_refused(name, value):
    value = complex(value) if name == "complex_step_gradient" else value
    with pytest.raises(ValueError, match=rf"^{name}: f must return a finite number near x; got \(?{np.real(value)}"):
        CALLS[name](lambda x: value, [1.0])


def test_a_loss_of_the_wrong_kind_is_named():
    with pytest.raises(TypeError, match=r"^numerical_gradient: f must return a real number; got complex128\.$"):
        numerical_gradient(lambda x: 1j, [1.0])
    with pytest.raises(TypeError, match=r"^complex_step_gradient: f must return a complex number; got float64\.$"):
        complex_step_gradient(lambda z: abs(z).sum(), [1.0])


def test_the_functions_of_attnlib_refuse_a_complex_step():
    with pytest.raises(TypeError, match=r"^softmax: x must be .*; got complex128\.$"):
        complex_step_gradient(lambda z: softmax(z)[0], [1.0, 2.0])


stepping = pytest.mark.parametrize("name", ["numerical_gradient", "check_gradient", "check_direction"])


@stepping
@pytest.mark.parametrize("eps", [0, 0.0, -1e-6, np.nan, np.inf])
def test_a_step_that_is_not_positive_is_refused(name, eps):
    with pytest.raises(ValueError, match=rf"^{name}: eps must be positive and finite; got {eps!r}\.$".replace("(", r"\(")):
        CALLS[name](total, [1.0], eps=eps)


@stepping
@pytest.mark.parametrize("eps", ["1e-3", True, np.True_, [1e-3], 1j, np.ones(1)])
def test_a_step_that_is_no_number_is_refused(name, eps):
    with pytest.raises(TypeError, match=rf"^{name}: eps must be a number; got "):
        CALLS[name](total, [1.0], eps=eps)


@stepping
def test_a_step_that_is_lost_in_rounding_is_refused(name):
    with pytest.raises(ValueError, match=rf"^{name}: eps = 1e-12 is lost in the rounding of x.*; take a larger one\.$"):
        CALLS[name](total, [1e6], eps=1e-12)


def test_a_step_that_is_lost_along_a_short_direction_is_refused():
    class Short(np.random.Generator):
        def normal(self, size):
            return np.full(size, 1e-3)

    short = Short(np.random.PCG64(0))
    with pytest.raises(ValueError, match=r"^check_direction: eps = 1e-08 is lost in the rounding of x; take a larger"):
        check_direction(total, [1e6], [0.0], short, eps=1e-8)
    assert not check_direction(total, [1e6], [0.0], short, eps=1e-5)


@pytest.mark.parametrize("eps", [1, np.int64(1), np.float32(0.5), 0.5])
def test_a_step_may_be_any_real_number(eps):
    np.testing.assert_array_equal(numerical_gradient(total, [1.0], eps), [1.0])


@pytest.mark.parametrize("name", ["numerical_gradient", "check_gradient"])
@pytest.mark.parametrize("order", [0, 1, 3, -2, "2", None])
def test_an_order_other_than_2_or_4_is_refused(name, order):
    with pytest.raises(ValueError, match=rf"^{name}: order must be 2 or 4; got {order!r}\.$"):
        CALLS[name](total, [1.0], order=order)


@pytest.mark.parametrize("name", ["check_gradient", "check_direction"])
def test_what_is_wrong_with_the_claim_is_said(name):
    def call(x, gradient, **options):
        check = {"check_gradient": check_gradient, "check_direction": check_direction}[name]
        check(total, x, gradient, *[RNG] * (check is check_direction), **options)

    with pytest.raises(ValueError) as error:
        call([1.0, 2.0], [[1.0, 2.0]])
    assert str(error.value) == (
        f"{name}: x and gradient must have the same shape.\n  x:        (2,)\n  gradient: (1, 2)"
    )
    with pytest.raises(TypeError, match=rf"^{name}: gradient must be an array of real numbers .*complex128"):
        call([1.0], [1j])
    with pytest.raises(ValueError) as error:
        call(np.zeros((2, 0)), np.zeros((2, 0)))
    assert str(error.value) == f"{name}: x has no entries, so there is nothing to check; its shape is (2, 0)."
    with pytest.raises(ValueError, match=rf"^{name}: tolerance must be positive and finite; got 0\.$"):
        call([1.0], [1.0], tolerance=0)
    with pytest.raises(TypeError, match=rf"^{name}: tolerance must be a number; got '1e-8'\.$"):
        call([1.0], [1.0], tolerance="1e-8")


@pytest.mark.parametrize("rng", [None, 0, np.random, np.random.RandomState(0)])
def test_a_direction_needs_a_generator(rng):
    with pytest.raises(TypeError) as error:
        check_direction(total, [1.0], [1.0], rng)
    assert str(error.value) == f"check_direction: rng must be a numpy.random.Generator; got {type(rng).__name__}."
