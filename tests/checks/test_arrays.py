"""attnlib.checks.arrays: are arguments converted without loss, or refused in clear words?"""

import numpy as np
import pytest

from attnlib.checks import as_axis, as_float, as_integer, same_shape

# --- arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "computed", "returned"),
    [
        (np.float16, np.float32, np.float16),
        (np.float32, np.float32, np.float32),
        (np.float64, np.float64, np.float64),
        (np.longdouble, np.longdouble, np.longdouble),
        (np.int8, np.float64, np.float64),
        (np.uint64, np.float64, np.float64),
        (">f4", np.float32, np.float32),
        (">f8", np.float64, np.float64),
    ],
)
def test_each_dtype_is_computed_and_returned_by_the_rule(given, computed, returned):
    (x,), dtype = as_float("f", x=np.array([1, 2], given))
    assert x.dtype == computed and dtype == returned
    np.testing.assert_array_equal(x, [1, 2])


@pytest.mark.parametrize("given", [[1, 2], (1, 2), range(1, 3), [1, 2.0], np.array([1, 2])])
def test_lists_and_integers_become_float64(given):
    (x,), dtype = as_float("f", x=given)
    assert type(x) is np.ndarray and x.dtype == dtype == np.float64
    np.testing.assert_array_equal(x, [1.0, 2.0])


@pytest.mark.parametrize("empty", [[], [[], []], np.zeros((2, 0), dtype=object)])
def test_empty_input_is_float64(empty):
    (x,), dtype = as_float("f", x=empty)
    assert x.dtype == dtype == np.float64 and x.size == 0


def test_several_arrays_get_one_dtype_and_keep_their_order():
    arrays = {"a": np.ones(2, np.float16), "b": np.full(3, 2, np.float32), "c": np.full(4, 3, np.float16)}
    (a, b, c), dtype = as_float("f", **arrays)
    assert a.dtype == b.dtype == c.dtype == dtype == np.float32
    assert (a.shape, b.shape, c.shape) == ((2,), (3,), (4,))
    np.testing.assert_array_equal(c, [3, 3, 3, 3])
    (a, b), dtype = as_float("f", a=np.ones(2, np.float16), b=np.ones(3))
    assert a.dtype == b.dtype == dtype == np.float64


def test_an_array_of_the_right_dtype_is_not_copied():
    x = np.ones((2, 3), np.float32)
    (converted,), _ = as_float("f", x=x)
    assert converted is x


def test_a_subclass_becomes_a_plain_array():
    (x,), _ = as_float("f", x=np.ones((2, 2)).view(np.matrix))
    assert type(x) is np.ndarray


@pytest.mark.parametrize(
    ("bad", "got"),
    [
        ([1j], "complex128"),
        ([True, False], "bool"),
        (True, "bool"),
        (["a"], "<U1"),
        ([b"a"], "|S1"),
        ([None, 1.0], "objects, the first of them None"),
        (None, "None"),
        ([2**70], "objects, the first of them int"),
        (np.array(["2026-01-01"], "datetime64[D]"), "datetime64[D]"),
        (np.zeros(2, [("a", float)]), "[('a', '<f8')]"),
        (np.zeros((2, 0), bool), "bool"),
        (np.zeros((2, 0), complex), "complex128"),
    ],
)
def test_anything_but_real_numbers_is_refused_by_name(bad, got):
    with pytest.raises(TypeError) as error:
        as_float("softmax", good=[1.0], x=bad)
    assert str(error.value) == (
        "softmax: x must be an array of real numbers (float16, float32, float64 or integers); "
        f"got {got}."
    )


def test_a_masked_array_is_refused_because_its_mask_would_be_lost():
    with pytest.raises(TypeError, match=r"^softmax: x must .*; got a masked array, whose mask would be lost\. Pass"):
        as_float("softmax", x=np.ma.array([1.0, 2.0], mask=[False, True]))


def test_nested_lists_of_unequal_length_are_refused():
    with pytest.raises(TypeError, match=r"^softmax: x must .*; got nested sequences of unequal length\.$") as error:
        as_float("softmax", x=[[1.0], [2.0, 3.0]])
    assert isinstance(error.value.__cause__, ValueError)


# --- axes and shapes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "counted"), [(0, 0), (1, 1), (2, 2), (-1, 2), (-2, 1), (-3, 0), (np.int64(-1), 2), (np.uint8(1), 1)]
)
def test_an_axis_is_counted_from_the_front(axis, counted):
    found = as_axis("f", np.ones((2, 3, 4)), axis)
    assert type(found) is int and found == counted


@pytest.mark.parametrize("axis", [3, -4, 10**20])
def test_an_axis_that_is_not_there_is_a_value_error(axis):
    with pytest.raises(ValueError) as error:
        as_axis("softmax", np.ones((2, 3, 4)), axis)
    assert str(error.value) == f"softmax: x has no axis {axis}; its shape is (2, 3, 4)."


def test_an_array_without_axes_has_no_axis():
    for axis in (0, -1):
        with pytest.raises(ValueError, match=rf"^f: weights has no axis {axis}; its shape is \(\)\.$"):
            as_axis("f", np.array(1.0), axis, "weights")


@pytest.mark.parametrize("axis", [True, np.True_, 1.0, "0", None, (0, 1), [0]])
def test_an_axis_that_is_no_integer_is_a_type_error(axis):
    with pytest.raises(TypeError) as error:
        as_axis("softmax", np.ones((2, 3)), axis)
    assert str(error.value) == f"softmax: axis must be an integer; got {axis!r}."


def test_equal_shapes_pass():
    same_shape("f", a=np.ones((2, 3)), b=np.zeros((2, 3)), c=np.ones((2, 3), int))
    same_shape("f", a=np.ones((2, 3)))


@pytest.mark.parametrize("other", [(2, 1), (3,), (3, 2), (2, 3, 1), (1, 2, 3), ()])
def test_shapes_that_would_broadcast_are_still_refused(other):
    with pytest.raises(ValueError) as error:
        same_shape("f", long_name=np.ones((2, 3)), b=np.ones(other))
    assert str(error.value) == (
        f"f: long_name and b must have the same shape.\n  long_name: (2, 3)\n  b:         {other}"
    )


def test_every_shape_is_shown_when_three_arrays_differ():
    with pytest.raises(ValueError) as error:
        same_shape("f", a=np.ones(2), b=np.ones(2), c=np.ones(3))
    assert str(error.value) == "f: a and b and c must have the same shape.\n  a: (2,)\n  b: (2,)\n  c: (3,)"


# --- integers -------------------------------------------------------------------------------------


def test_an_integer_is_an_integer_of_python_or_numpy():
    for number in (3, np.int8(3), np.uint64(3)):
        assert as_integer("f", "n", number, minimum=3) == 3
        assert type(as_integer("f", "n", number)) is int


INTEGERS = [
    (1.0, None, TypeError, "f: n must be an integer; got 1.0."),
    (True, None, TypeError, "f: n must be an integer; got True."),
    (np.True_, None, TypeError, "f: n must be an integer; got np.True_."),
    ("1", None, TypeError, "f: n must be an integer; got '1'."),
    (0, 1, ValueError, "f: n must be at least 1; got 0."),
]


@pytest.mark.parametrize(("number", "minimum", "error", "message"), INTEGERS)
def test_what_is_no_integer(number, minimum, error, message):
    with pytest.raises(error) as caught:
        as_integer("f", "n", number, minimum=minimum)
    assert str(caught.value) == message
