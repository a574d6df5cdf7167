"""attnlib.gradients.check: do right gradients pass, are wrong ones caught, and does the report say where?"""

import dataclasses

import numpy as np
import pytest
from gradients_cases import SHAPE, softmax_case

from attnlib.gradients import GradientReport, check_gradient
from attnlib.softmax import softmax, softmax_backward

# --- right ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 4])
def test_a_right_gradient_passes(rng, order):
    f, x, gradient = softmax_case(rng)
    report = check_gradient(f, x, gradient, order=order)
    assert report and report.passed is True
    assert report.relative_error <= 1e-9 and report.note == ""
    assert str(report).startswith("gradient right: relative error ")


def test_a_right_gradient_passes_far_from_zero(rng):
    f, x, _ = softmax_case(rng)
    for shift in (1e3, -1e5):
        d_out = rng.normal(size=SHAPE)
        loss = lambda x: (d_out * softmax(x)).sum()  # noqa: B023, E731
        moved = x + shift
        assert check_gradient(loss, moved, softmax_backward(d_out, softmax(moved)), tolerance=1e-6)


def test_rounding_in_a_tiny_entry_is_no_alarm():
    x = np.array([1.0, 1e-13])
    assert check_gradient(lambda x: (x**2).sum(), x, [2.0, 0.0])


def test_a_scalar_x_is_checked_too():
    assert check_gradient(lambda x: x**2, 3.0, 6.0).worst_index == ()
    report = check_gradient(lambda x: x**2, 3.0, 6.1)
    assert not report and report.note == ""


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_very_large_and_very_small_gradients_are_compared_without_overflow(size):
    def f(x):
        return float((x * size).sum())

    right = np.array([size, size, size])
    assert check_gradient(f, np.ones(3), right, tolerance=1e-6)
    wrong = check_gradient(f, np.ones(3), -right)
    assert not wrong and wrong.relative_error == pytest.approx(2.0)


# --- wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("factor", [1.001, 1 + 1e-6, 1 - 1e-6, 0.5, -1.0, 2.0])
def test_a_gradient_that_is_off_by_a_factor_is_caught_and_the_factor_named(rng, order, factor):
    f, x, gradient = softmax_case(rng)
    report = check_gradient(f, x, factor * gradient, order=order)
    assert not report and report.passed is False
    assert report.relative_error == pytest.approx(abs(1 - factor) / max(1, abs(factor)), rel=1e-2)
    assert report.note == f"Yours is {factor:.9g} times the finite difference in every entry." or order == 2
    assert report.note.startswith("Yours is ")


def test_a_gradient_of_zero_is_caught(rng):
    f, x, gradient = softmax_case(rng)
    report = check_gradient(f, x, np.zeros(SHAPE))
    assert not report and report.relative_error == 1.0 and report.yours == 0.0
    assert report.note == "Yours is 0 times the finite difference in every entry."


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_factor_is_named_for_gradients_of_any_size(size):
    weights = np.array([size, 4 * size])
    report = check_gradient(lambda x: (weights * x**2).sum(), [1.0, 2.0], [4 * size, 32 * size])
    assert report.note == "Yours is 2 times the finite difference in every entry."


def test_one_wrong_entry_is_found(rng):
    f, x, gradient = softmax_case(rng)
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


def test_a_gradient_where_the_loss_is_constant_is_caught():
    report = check_gradient(lambda x: 1.0, [1.0, 2.0], [0.0, 3.0])
    assert not report and report.worst_index == (1,) and report.relative_error == 1.0 and report.note == ""


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_gradient_that_is_not_finite_is_wrong_there(rng, bad):
    f, x, gradient = softmax_case(rng)
    gradient[2, 1] = bad
    report = check_gradient(f, x, gradient)
    assert not report and report.relative_error == np.inf and report.worst_index == (2, 1)
    np.testing.assert_equal(report.yours, bad)
    assert "[2, 1]: yours " + str(bad) in str(report)


# --- a check that tests nothing -------------------------------------------------------------------


def test_the_row_term_of_softmax_is_missed_by_ones_but_not_by_a_random_upstream_gradient(rng):
    x = rng.normal(size=SHAPE)
    wrong = lambda d_out: 3 * softmax_backward(d_out, softmax(x))  # noqa: E731
    d_out = rng.normal(size=SHAPE)
    assert not check_gradient(lambda x: (d_out * softmax(x)).sum(), x, wrong(d_out))
    ones = np.ones(SHAPE)
    report = check_gradient(lambda x: (ones * softmax(x)).sum(), x, wrong(ones))
    assert "tests nothing: is the upstream gradient constant?" in report.note
    assert "tests nothing" in str(report)


def test_two_gradients_of_zero_agree_but_the_report_says_that_this_tests_nothing():
    report = check_gradient(lambda x: 1.0, [1.0, 2.0], [0.0, 0.0])
    assert report and report.relative_error == 0.0
    assert "tests nothing" in report.note
    for constant in (0.0, -1.0):
        report = check_gradient(lambda x: constant, [1.0, 2.0], [0.0, 0.0])  # noqa: B023
        assert report and "tests nothing" in report.note


def test_rounding_noise_is_recognised_at_every_step(rng):
    # A row far from zero gets larger steps, so less noise, than the row near zero.
    x = np.array([rng.normal(size=9), 1e14 + np.arange(9)])
    for sign in (1, -1):
        report = check_gradient(lambda x: sign * softmax(x).sum(), x, np.zeros((2, 9)))  # noqa: B023
        assert report.verdict != "wrong" and "tests nothing" in report.note


# --- tolerance, step, report ----------------------------------------------------------------------


def test_the_error_is_measured_against_the_larger_of_the_two_gradients():
    def f(x):
        return (x * [1.0, 4.0]).sum()

    assert check_gradient(f, [0.0, 0.0], [1.0, 8.0]).relative_error == pytest.approx(0.5)
    assert check_gradient(f, [0.0, 0.0], [1.0, 2.0]).relative_error == pytest.approx(0.5)
    assert check_gradient(f, [0.0, 0.0], [1.5, 4.0]).relative_error == pytest.approx(0.125)


def test_float32_has_its_own_tolerance(rng):
    f, x, gradient = softmax_case(rng)
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


def test_the_report_reads_in_two_lines():
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
