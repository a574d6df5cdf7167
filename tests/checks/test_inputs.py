"""attnlib.checks.inputs: what do good arguments become?"""

import fractions
import warnings

import numpy as np
import pytest
from checks_cases import D_OUT, INF, KEY, NAN, QUERY, VALUE, WEIGHTS

from attnlib.checks import as_mask, as_mask_array, attention_inputs, heads_fit


def test_arguments_are_returned_in_order():
    inputs = attention_inputs("f", QUERY, KEY, VALUE, d_out=D_OUT, weights=WEIGHTS)
    for actual, given in zip((*inputs[:3], *inputs.saved), (QUERY, KEY, VALUE, D_OUT, WEIGHTS), strict=True):
        assert actual is given
    assert (inputs.mask, inputs.scale, inputs.dtype) == (None, 5**-0.5, np.float64)
    assert inputs.scores_shape == (2, 3)


def test_leading_axes_come_first_in_every_shape():
    query, key, value = np.ones((2, 6, 4, 5)), np.ones((2, 3, 7, 5)), np.ones((2, 3, 7, 8))
    saved = {"out": (2, 6, 4, 8), "d_out": (2, 6, 4, 8), "weights": (2, 6, 4, 7), "logsumexp": (2, 6, 4)}
    inputs = attention_inputs("f", query, key, value, **{name: np.ones(shape) for name, shape in saved.items()})
    assert (inputs.scores_shape, inputs.scale) == ((2, 6, 4, 7), 5**-0.5)
    for name, shape in saved.items():
        with pytest.raises(ValueError, match=f"^f: {name} must have the shape"):
            attention_inputs("f", query, key, value, **{name: np.ones(shape[1:])})


F32 = np.finfo(np.float32)
GOOD_SCALES = [0, 0.0, -1, 2.5, np.float32(0.5), np.float64(3), np.int64(2), fractions.Fraction(1, 2)]


@pytest.mark.parametrize("scale", GOOD_SCALES)
def test_any_finite_real_number_is_a_scale(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = attention_inputs("f", QUERY, KEY, VALUE, scale=scale).scale
    assert type(made) is float
    assert made == scale


@pytest.mark.parametrize("scale", [F32.max, F32.min, float(F32.max)])
def test_the_largest_scale_of_the_dtype_is_accepted(scale):
    query, key, value = (array.astype(np.float32) for array in (QUERY, KEY, VALUE))
    assert attention_inputs("f", query, key, value, scale=scale).scale == scale


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_an_additive_mask_takes_the_dtype_to_compute_in(dtype):
    query, key, value = (array.astype(dtype) for array in (QUERY, KEY, VALUE))
    compute = np.float32 if dtype == np.float16 else dtype
    for mask_dtype in (np.float16, np.float32, np.float64):
        inputs = attention_inputs("f", query, key, value, mask=np.zeros(3, mask_dtype))
        assert inputs.mask.dtype == inputs.query.dtype == compute
        assert inputs.dtype == dtype


def test_a_mask_that_fits_is_not_copied():
    for mask in (np.ones((2, 3), bool), np.ones((2, 3))):
        assert attention_inputs("f", QUERY, KEY, VALUE, mask=mask).mask is mask


def test_a_mask_keeps_its_own_axes():
    for shape in [(), (3,), (1,), (2, 1), (1, 3), (2, 3)]:
        assert attention_inputs("f", QUERY, KEY, VALUE, mask=np.ones(shape, bool)).mask.shape == shape


def test_a_number_too_low_for_float32_is_minus_infinity_and_nan_stays():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mask = as_mask("f", [np.finfo(np.float64).min, NAN, 0.0, F32.min], (2, 4), np.float32)
    np.testing.assert_array_equal(mask, np.array([-INF, NAN, 0, F32.min], np.float32), strict=True)


def test_without_a_dtype_a_mask_keeps_its_own():
    assert as_mask_array("f", np.zeros(3, np.float16)).dtype == np.float16


@pytest.mark.parametrize("causal", [False, True, np.True_])
def test_causal_may_be_a_boolean_of_python_or_numpy(causal):
    attention_inputs("f", QUERY, KEY, VALUE, causal=causal)


@pytest.mark.parametrize(
    ("query", "key", "fits"),
    [
        ((4, 5), (3, 5), True),
        ((6, 4, 5), (2, 3, 5), True),
        ((6, 4, 5), (1, 3, 5), True),
        ((6, 4, 5), (4, 3, 5), False),
        ((2, 4, 5), (6, 3, 5), False),
        ((6, 4, 5), (0, 3, 5), False),
        ((0, 4, 5), (0, 3, 5), True),
        ((0, 4, 5), (2, 3, 5), True),
        ((4, 5), (1, 3, 5), False),
        ((1, 4, 5), (3, 5), False),
        ((2, 6, 4, 5), (1, 6, 3, 5), False),
        ((2, 6, 4, 5), (1, 3, 3, 5), False),
        ((2, 6, 4, 5), (2, 3, 3, 5), True),
    ],
)
def test_heads_fit_if_they_are_equal_or_a_multiple(query, key, fits):
    assert heads_fit(np.ones(query), np.ones(key)) is fits


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (1, 3)])
def test_a_repeated_mask_is_converted_without_being_expanded(shape):
    row = np.array([0.5, -np.inf, 1e-3])
    mask = as_mask("f", np.broadcast_to(row, shape), (4, 2, 3), np.float32)
    assert mask.shape == shape and mask.dtype == np.float32 and mask.strides[:-1] == (0,) * (len(shape) - 1)
    np.testing.assert_array_equal(mask, np.broadcast_to(row.astype(np.float32), shape))
