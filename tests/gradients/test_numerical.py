"""attnlib.gradients.numerical: are slopes measured as exactly as was promised, and nothing written to?"""

import numpy as np
import pytest
from gradients_cases import SHAPE, softmax_case

from attnlib.gradients import check_direction, check_gradient, complex_step_gradient, numerical_gradient
from attnlib.softmax import softmax, softmax_backward


def by_hand(d_out):
    """A loss like that of `softmax_case` without attnlib, fit for complex numbers."""

    def loss(x):
        exponentials = np.exp(x - x.real.max(axis=-1, keepdims=True))
        return (d_out * exponentials / exponentials.sum(axis=-1, keepdims=True)).sum()

    return loss


def relative_error(found, expected):
    return abs(found - expected).max() / abs(expected).max()


# --- accuracy -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("place", [3.3, 1e4 + 0.1, -12345.678])
def test_the_rounding_of_x_is_taken_out(place):
    # x + h is rounded to the grid of floats around x: 2h is not the distance of the two points.
    np.testing.assert_allclose(numerical_gradient(lambda x: x[0] - place, [place], 1e-7), [1.0], rtol=1e-15)
    np.testing.assert_allclose(numerical_gradient(lambda x: x[0] - place, [place], 1e-7, order=4), [1.0], rtol=1e-15)


def test_integer_values_of_f_are_subtracted_without_wrapping():
    found = numerical_gradient(lambda x: np.uint8(200 if x[0] < 0 else 100), [0.0], 0.5)
    np.testing.assert_array_equal(found, [-100.0])
    found = numerical_gradient(lambda x: 2**40 + int(x[0] > 0), [0.0], 0.5)
    np.testing.assert_array_equal(found, [1.0])


# --- steps ----------------------------------------------------------------------------------------


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


# --- dtypes and shapes ----------------------------------------------------------------------------


def test_float32_is_measured_in_float32_and_shows_it(rng):
    f, x, expected = softmax_case(rng)
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


@pytest.mark.parametrize("value", [2, np.int8(-100), np.uint8(200), 2.5, np.float32(2), np.array(2.0)])
def test_f_may_return_any_kind_of_real_number(value):
    np.testing.assert_array_equal(numerical_gradient(lambda x: value, [1.0]), [0.0])


# --- what is left alone ---------------------------------------------------------------------------


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
