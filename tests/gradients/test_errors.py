"""attnlib.gradients: is bad input refused in clear words by every function?"""

import numpy as np
import pytest
from gradients_cases import total

from attnlib.gradients import check_direction, check_gradient, complex_step_gradient, numerical_gradient
from attnlib.softmax import softmax

RNG = np.random.default_rng(0)
CALLS = {
    "numerical_gradient": lambda f, x, **options: numerical_gradient(f, x, **options),
    "complex_step_gradient": lambda f, x: complex_step_gradient(f, x),
    "check_gradient": lambda f, x, **options: check_gradient(f, x, np.zeros(np.shape(x)), **options),
    "check_direction": lambda f, x, **options: check_direction(f, x, np.zeros(np.shape(x)), RNG, **options),
}
every_call = pytest.mark.parametrize("name", CALLS)


# --- the loss and the point -----------------------------------------------------------------------


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


# --- steps and orders -----------------------------------------------------------------------------

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


# --- the claim and the generator ------------------------------------------------------------------


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
