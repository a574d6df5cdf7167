"""attnlib.gradients: is no right gradient called wrong, and no wrong one right, however rounding blurs the slopes?"""

import numpy as np
import pytest
import random_gradients
from random_gradients import KINDS, of_softmax, random_case

from attnlib.attention import attention, attention_backward
from attnlib.gradients import GradientReport, check_direction, check_gradient, numerical_gradient
from attnlib.gradients.noise import best_slope, noise_of

SEEDS = range(600)


@pytest.fixture(autouse=True)
def quiet_losses():
    """The losses overflow at steps that the check tries on its own; in float64 that is nobody's fault."""
    with np.errstate(all="ignore"):
        yield


def test_no_right_gradient_is_called_wrong_and_few_cannot_be_told():
    verdicts = [check_gradient(*random_case(np.random.default_rng(seed))).verdict for seed in SEEDS]
    assert "wrong" not in verdicts and verdicts.count("cannot tell") < 0.1 * len(SEEDS)


def test_no_right_gradient_is_called_wrong_along_a_direction():
    for seed in SEEDS:
        report = check_direction(*random_case(np.random.default_rng(seed)), np.random.default_rng(seed))
        assert report.verdict != "wrong", (seed, str(report))


def test_no_gradient_that_is_off_by_more_than_ten_tolerances_is_called_right():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        f, x, gradient = random_case(rng)
        error = 1e-8 * 10 ** rng.uniform(1.05, 6) * abs(gradient).max()
        place = np.unravel_index(rng.integers(x.size), x.shape)
        wrong = np.array(gradient)
        wrong[place] += error * rng.choice([-1, 1])
        report = check_gradient(f, x, wrong)
        assert report.verdict != "right" or error == 0, (seed, str(report))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_plainly_wrong_gradient_of_every_kind_is_called_wrong(kind):
    verdicts = []
    for seed in range(20):
        f, x, gradient = kind(np.random.default_rng(seed))
        verdicts.append(check_gradient(f, x, -gradient).verdict)
    assert verdicts.count("wrong") >= 18


def float32_case(seed):
    return random_case(np.random.default_rng(seed), np.float32)


def test_no_right_float32_gradient_is_called_wrong_and_few_cannot_be_told(monkeypatch):
    monkeypatch.setattr(random_gradients, "LARGEST", 3)
    verdicts = [check_gradient(*float32_case(seed)).verdict for seed in range(300)]
    assert "wrong" not in verdicts and verdicts.count("cannot tell") < 0.15 * len(verdicts)


@pytest.mark.parametrize("seed", [216, 434, 659, 699, 714, 1382, 1622, 1732, 1783, 2412, 2429, 2592, 2632])
def test_waves_and_cliffs_that_float32_can_hardly_measure_are_not_called_wrong(monkeypatch, seed):
    monkeypatch.setattr(random_gradients, "LARGEST", 3)
    case = float32_case(seed)
    assert check_gradient(*case).verdict != "wrong"
    assert check_direction(*case, np.random.default_rng(seed)).verdict != "wrong"


@pytest.mark.parametrize("mistake", ["sign", "factor 2", "transposed", "one entry off by 10 %"])
def test_plainly_wrong_float32_gradients_are_found_where_float32_can_tell(monkeypatch, mistake):
    monkeypatch.setattr(random_gradients, "LARGEST", 3)
    verdicts = []
    for seed in range(100):
        f, x, gradient = float32_case(seed)
        wrong = gradient.T.reshape(gradient.shape) if mistake == "transposed" else gradient.copy()
        if mistake == "sign":
            wrong *= -1
        elif mistake == "factor 2":
            wrong *= 2
        elif mistake != "transposed":
            wrong[np.unravel_index(abs(gradient).argmax(), gradient.shape)] *= 1.1
        if abs(wrong - gradient).max() > 0.05 * abs(gradient).max():
            verdicts.append(check_gradient(f, x, wrong).verdict)
    assert len(verdicts) > 30 and "right" not in verdicts
    assert verdicts.count("wrong") >= 0.9 * len(verdicts)


def test_an_entry_that_a_wild_slope_beside_it_made_look_small_is_measured_again():
    # The first slopes: 4e6 for the second entry, which stands before a cliff, and a wave missed for the first.
    def f(x):
        return 1e-7 * np.sin(1e4 * x[0]) + 1e4 * np.clip(x[1] - 5e-4, 0, 1e-4)

    x, right = np.zeros(2), np.array([1e-3, 0.0])
    assert abs(numerical_gradient(f, x, order=4)[1]) > 100
    assert check_gradient(f, x, right, tolerance=1e-3)
    assert check_gradient(f, x, 1.1 * right, tolerance=1e-3).verdict == "wrong"


def test_a_gradient_below_the_range_of_float32_does_not_divide_by_zero():
    x = np.ones(2, np.float32)
    report = check_gradient(lambda x: np.tanh(50 * x).sum(), x, np.array([1e-47, 2e-60]))
    assert report.verdict == "cannot tell" and np.isfinite(report.relative_error)


def test_a_saturated_softmax_is_not_called_wrong(rng):
    for _ in range(30):
        query, key, value = 6 * rng.normal(size=(3, 4)), 6 * rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
        d_out = rng.normal(size=(3, 2))
        right = attention_backward(d_out, query, key, value, attention(query, key, value)[1])[0]
        report = check_gradient(lambda x: (d_out * attention(x, key, value)[0]).sum(), query, right)  # noqa: B023
        assert report.verdict != "wrong" and "1 times" not in str(report)


def test_a_large_constant_in_the_loss_hides_no_wrong_gradient_and_blames_no_right_one():
    def f(x):
        return 1e8 + (x**2).sum()

    x = np.array([1.0, -2.0, 3.0])
    assert check_gradient(f, x, 2 * x).verdict != "wrong"
    assert check_gradient(f, x, 2 * x, tolerance=1e-6)
    assert check_gradient(f, x, 2.001 * x).verdict == "wrong"


def test_a_step_that_cannot_tell_names_one_that_can(rng):
    f, x, gradient = of_softmax(np.random.default_rng(4))
    report = check_gradient(f, x, gradient, eps=1e-11)
    assert report.verdict == "cannot tell" and not report
    step = float(report.note.removeprefix("A step of ").removesuffix(" could tell more."))
    assert check_gradient(f, x, gradient, eps=step, tolerance=1e-7)
    assert check_gradient(f, x, 1.1 * gradient, eps=1e-6).verdict == "wrong"


def test_where_float32_cannot_tell_float64_is_named():
    x = np.array([1.0, 2.0], np.float32)
    report = check_gradient(lambda x: np.float32(1e6) + (x**2).sum(), x, 2 * x, tolerance=1e-6)
    assert report.verdict == "cannot tell" and "check in float64" in report.note


def test_where_no_step_can_tell_a_tolerance_is_named_that_could():
    def f(x):
        return 1e13 + np.sin(x).sum()

    x = np.array([1.0, 2.0])
    report = check_gradient(f, x, np.cos(x))
    assert report.verdict == "cannot tell" and "take a large constant out of it" in report.note
    tolerance = float(report.note.partition("tolerance=")[2].removesuffix("."))
    assert 1e-8 < tolerance and check_gradient(f, x, np.cos(x), tolerance=tolerance)


def test_a_report_that_cannot_tell_says_so():
    report = GradientReport(False, 1e-6, (2,), 1.5, 1.25, 1e-8, "A note.", uncertainty=1e-5)
    assert report.verdict == "cannot tell" and not report
    assert str(report) == (
        "CANNOT TELL: relative error 1.0e-06, tolerance 1e-08, finite difference known to 1e-05\n"
        "worst entry [2]: yours 1.5, finite difference 1.25. A note."
    )
    assert GradientReport(False, 1e-4, (2,), 1.5, 1.25, 1e-8, uncertainty=1e-5).verdict == "wrong"
    assert GradientReport(True, 1e-9, (2,), 1.5, 1.25, 1e-8, uncertainty=1e-5).verdict == "right"


def test_a_factor_that_reads_as_one_is_not_named():
    x = np.array([1.0, 2.0])
    report = check_gradient(lambda x: (x**2).sum(), x, 2 * x * (1 + 3e-11), tolerance=1e-12)
    assert "1 times" not in str(report)


def test_agreement_by_chance_with_a_slope_that_nobody_knows_is_not_right():
    def f(x):
        return 1e13 + 1e-9 * x[0]  # a constant, as far as float64 knows

    report = check_gradient(f, [1.0, 1.0], [0.0, 50.0])
    assert report.verdict == "wrong"
    assert check_gradient(lambda x: 1e10 + x[0], [1.0], [1.00001]).verdict != "right"


# --- noise and steps ------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [10.0**power for power in range(0, 11)] + [2.0**20, 3e6, 4670406.4])
def test_the_noise_of_a_rounded_sum_is_bounded_and_not_by_far_too_much(offset):
    noise = noise_of("f", lambda x: float((x + offset) - offset), np.array(0.67), np.array(7.4e-4))
    assert np.spacing(offset) / 2 <= noise <= 40 * np.spacing(offset) + 1e-15


def test_terms_that_cancel_count_with_their_size():
    x = np.array([30.0, -30.0])
    assert np.tanh(x).sum() == 0
    assert noise_of("f", lambda x: np.tanh(x).sum(), x, np.full(2, 1e-3)) > 1e-16


def test_a_long_step_that_does_not_see_what_lies_between_is_not_trusted():
    slope, uncertainty, _ = best_slope(lambda t: np.sin(100 * t), 0.04, 1e-7, 1.0, 1e-6)
    assert abs(slope - 100) < uncertainty < 5


@pytest.mark.parametrize("phase", [0.0, 0.05, 1.5, 1.569, 1.5697, np.pi, 4.71, 4.712])
def test_a_step_over_several_waves_is_not_trusted_where_rounding_blurs_the_shorter_ones(phase):
    # Near a crest the slopes of all steps are small, and those of the longest agree with each other.
    slope, uncertainty, step = best_slope(lambda t: np.sin(57 * t + phase), 0.07, 7e-4, 1e-3, 1e-4)
    assert abs(slope - 57 * np.cos(phase)) < uncertainty < 5
    assert step < 0.03


def test_a_step_across_a_cliff_on_both_sides_is_not_trusted():
    slope, uncertainty, step = best_slope(lambda t: 1e-3 * t + (abs(t) > 0.02), 0.04, 1e-6, 1e-9, 1e-5)
    assert abs(slope - 1e-3) < uncertainty < 1e-2 and step < 0.02


def test_a_straight_line_is_measured_with_long_steps():
    slope, uncertainty, step = best_slope(lambda t: 1 + 1e-3 * t, 0.04, 1e-6, 1e-9, 1e-5)
    assert abs(slope - 1e-3) < uncertainty < 1e-6 and step > 1


def test_a_function_without_values_far_away_is_measured_close_by():
    slope, uncertainty, _ = best_slope(lambda t: np.log(0.01 + t) if t > -0.01 else np.nan, 0.01, 1e-15, 1e-6, 1e-9)
    assert abs(slope - 100) < uncertainty < 1e-4


def test_a_loss_of_one_number_gets_an_array_at_every_call():
    seen = []
    check_gradient(lambda x: seen.append(x) or 1e8 + x**2, 3.0, 6.5)
    assert len(seen) > 20 and {type(x) for x in seen} == {np.ndarray}


def test_a_chance_hit_is_not_right():
    def f(x):
        return 1e12 + x[0]

    blurred = numerical_gradient(f, [1.0], order=4)
    assert abs(blurred[0] - 1) > 1e-3  # what rounding made of the slope 1
    assert check_gradient(f, [1.0], blurred).verdict != "right"


@pytest.mark.parametrize("seed", [1361, 3516, 3663, 6654, 6720, 7028, 7076, 8755])
def test_slopes_far_below_the_rounding_of_the_terms_are_not_called_wrong(seed):
    case = random_case(np.random.default_rng(seed))
    assert check_gradient(*case).verdict != "wrong"
    assert check_direction(*case, np.random.default_rng(seed)).verdict != "wrong"


@pytest.mark.parametrize("slope", [1e-4, 1e-6])
def test_a_wrong_slope_that_only_a_long_step_can_see_is_called_wrong(slope):
    def f(x):
        return 1e8 + slope * x.sum()

    x = np.array([0.3, 0.7])
    assert check_gradient(f, x, np.full(2, 2 * slope)).verdict == "wrong"
    assert check_gradient(f, x, np.full(2, slope)).verdict != "wrong"


def test_a_wrong_gradient_is_not_said_to_be_zero():
    # The first slope is known, the second is not: the waves are too short for a long step.
    def f(x):
        return 1e8 + 1e-4 * x[0] + 1e-12 * np.sin(1e6 * x[1])

    report = check_gradient(f, np.array([0.3, 0.7]), np.array([2e-4, 0.0]))
    assert report.verdict == "wrong"
    assert report.worst_index == (0,)
    assert "zero" not in report.note
