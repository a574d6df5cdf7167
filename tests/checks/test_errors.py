"""attnlib.checks.inputs: are bad arguments refused, in words that help?

The messages are read at the public door: through attention and attention_backward.
"""

import numpy as np
import pytest
from checks_cases import D_OUT, INF, KEY, NAN, QUERY, VALUE, WEIGHTS

from attnlib.attention import attention, attention_backward
from attnlib.checks import attention_inputs

# --- shapes ---------------------------------------------------------------------------------------


def shapes(query, key, value=None):
    return [np.ones(query), np.ones(key), np.ones((*key[:-1], 4) if value is None else value)]


SAME_AXES = "attention: query, key and value must have the same number of axes, at least two.\n"
SAME_LEADING = "attention: query and key must have the same leading axes; they are not broadcast against each other.\n"
PAIRED = (
    "attention: key and value must have the same leading axes and the same number of positions k, "
    "because each key stands for one value.\n"
)
MULTIPLE = "attention: the heads of query (its third axis from the end) must be a multiple of those of key and value: "

SHAPES = {
    "query and key have different features": (
        shapes((2, 5), (3, 4)),
        "attention: query and key must have the same number of features d (their last axis), because the score is a "
        "dot product over d.\n  query (..., q, d): (2, 5)\n  key   (..., k, d): (3, 4)",
    ),
    "no features": (
        shapes((2, 0), (3, 0)),
        "attention: query and key must have at least one feature d (their last axis).\n"
        "  query (..., q, d): (2, 0)\n  key   (..., k, d): (3, 0)",
    ),
    "no features, with a batch": (
        shapes((3, 2, 0), (3, 4, 0)),
        "attention: query and key must have at least one feature d (their last axis).\n"
        "  query (..., q, d): (3, 2, 0)\n  key   (..., k, d): (3, 4, 0)",
    ),
    "key and value have different lengths": (
        shapes((2, 5), (3, 5), (4, 6)),
        PAIRED + "  key   (..., k, d): (3, 5)\n  value (..., k, v): (4, 6)",
    ),
    "value longer than key, with a batch": (
        shapes((2, 4, 5), (2, 3, 5), (2, 4, 5)),
        PAIRED + "  key   (..., k, d): (2, 3, 5)\n  value (..., k, v): (2, 4, 5)",
    ),
    "key and value have different heads": (
        shapes((4, 2, 5), (2, 3, 5), (4, 3, 6)),
        PAIRED + "  key   (..., k, d): (2, 3, 5)\n  value (..., k, v): (4, 3, 6)",
    ),
    "batches of 2 and 3": (
        shapes((2, 1, 2, 5), (3, 1, 3, 5)),
        SAME_LEADING + "  query (..., q, d): (2, 1, 2, 5)\n  key   (..., k, d): (3, 1, 3, 5)",
    ),
    "a batch of 2 against 1": (
        shapes((2, 6, 2, 5), (1, 6, 3, 5)),
        SAME_LEADING + "  query (..., q, d): (2, 6, 2, 5)\n  key   (..., k, d): (1, 6, 3, 5)",
    ),
    "heads 5 over 2": (
        shapes((1, 5, 2, 7), (1, 2, 3, 7)),
        MULTIPLE + "5 is not a multiple of 2.\n"
        "  query (..., q, d): (1, 5, 2, 7)\n  key   (..., k, d): (1, 2, 3, 7)\n  value (..., k, v): (1, 2, 3, 4)",
    ),
    "fewer heads in query": (
        shapes((2, 2, 7), (6, 3, 7)),
        MULTIPLE + "2 is not a multiple of 6.\n"
        "  query (..., q, d): (2, 2, 7)\n  key   (..., k, d): (6, 3, 7)\n  value (..., k, v): (6, 3, 4)",
    ),
    "no heads in key": (
        shapes((2, 2, 7), (0, 3, 7)),
        MULTIPLE + "2 is not a multiple of 0.\n"
        "  query (..., q, d): (2, 2, 7)\n  key   (..., k, d): (0, 3, 7)\n  value (..., k, v): (0, 3, 4)",
    ),
    "one axis": (
        shapes((5,), (5,), (5,)),
        SAME_AXES + "  query (..., q, d): (5,)\n  key   (..., k, d): (5,)\n  value (..., k, v): (5,)",
    ),
    "no axes": (
        shapes((), (3, 5)),
        SAME_AXES + "  query (..., q, d): ()\n  key   (..., k, d): (3, 5)\n  value (..., k, v): (3, 4)",
    ),
    "query has a batch, key has not": (
        shapes((2, 3, 5), (3, 5)),
        SAME_AXES + "  query (..., q, d): (2, 3, 5)\n  key   (..., k, d): (3, 5)\n  value (..., k, v): (3, 4)",
    ),
    "value has an axis more": (
        shapes((3, 5), (3, 5), (1, 3, 5)),
        SAME_AXES + "  query (..., q, d): (3, 5)\n  key   (..., k, d): (3, 5)\n  value (..., k, v): (1, 3, 5)",
    ),
}


@pytest.mark.parametrize(("inputs", "message"), SHAPES.values(), ids=SHAPES)
def test_shapes_that_do_not_fit(inputs, message):
    with pytest.raises(ValueError) as caught:
        attention(*inputs)
    assert str(caught.value) == message


# --- masks ----------------------------------------------------------------------------------------

MEANING = "True = this query may look at this key, or float = added to the scores"
FITS = (
    "attention: mask must broadcast to the shape (..., q, k) of the scores, by NumPy's rules and without enlarging it. "
    "A mask over the keys of each batch element needs a query axis: mask[:, np.newaxis, :].\n"
    "  mask:               {}\n  scores (..., q, k): (2, 3)"
)
SCALAR = "To hide the keys after each query: causal=True, or attnlib.masks.causal_mask."
POSITIVE = (
    "attention: an additive mask must not hold +inf (in float64), which would make the weights NaN. "
    "To leave a query only one key, hide the others with -inf."
)
MASKS = {
    "transposed": (np.ones((3, 2), bool), ValueError, FITS.format((3, 2))),
    "too long": (np.ones(4), ValueError, FITS.format((4,))),
    "enlarges the scores": (np.ones((2, 2, 3), bool), ValueError, FITS.format((2, 2, 3))),
    "an axis too many": (np.ones((1, 2, 3)), ValueError, FITS.format((1, 2, 3))),
    "empty": ([], ValueError, FITS.format((0,))),
    "integers": (np.ones((2, 3), np.int64), TypeError, f"attention: mask must be boolean or float ({MEANING}); got int64."),
    "complex": (
        np.ones(3, complex), TypeError, f"attention: mask must be boolean or float ({MEANING}); got complex128.",
    ),
    "objects": ([None] * 3, TypeError, f"attention: mask must be boolean or float ({MEANING}); got object."),
    "True": (True, TypeError, f"attention: mask must be a boolean or float array ({MEANING}); got True. {SCALAR}"),
    "NumPy's True": (
        np.True_, TypeError, f"attention: mask must be a boolean or float array ({MEANING}); got np.True_. {SCALAR}",
    ),
    "a number": (0.5, TypeError, f"attention: mask must be a boolean or float array ({MEANING}); got 0.5. {SCALAR}"),
    "a word": (
        "causal", TypeError, f"attention: mask must be a boolean or float array ({MEANING}); got 'causal'. {SCALAR}",
    ),
    "a masked array": (
        np.ma.ones((2, 3)), TypeError,
        "attention: mask must be a plain array; got a masked array, whose own mask would be lost.",
    ),
    "ragged": (
        [[True], [True, False]], TypeError, "attention: mask must be an array; got nested sequences of unequal length.",
    ),
    "+inf": (np.array([0, INF, -INF]), ValueError, POSITIVE),
    "+inf beside NaN": (np.array([NAN, INF, NAN]), ValueError, POSITIVE),
}  # fmt: skip


@pytest.mark.parametrize(("mask", "error", "message"), MASKS.values(), ids=MASKS)
def test_masks_that_are_none(mask, error, message):
    with pytest.raises(error) as caught:
        attention(QUERY, KEY, VALUE, mask=mask)
    assert str(caught.value) == message


def test_a_mask_above_the_range_of_float32_is_refused():
    with pytest.raises(ValueError) as caught:
        attention(QUERY.astype(np.float32), KEY.astype(np.float32), VALUE.astype(np.float32), mask=[0, 1e39, 0])
    assert str(caught.value) == POSITIVE.replace("float64", "float32")


# --- scales, causal, numbers ----------------------------------------------------------------------

ONE_NUMBER = "attention: scale must be one real number, or None for 1/sqrt(d); got "
FINITE = "attention: scale must be a finite number in float64; got "
SCALES = {
    "nan": (NAN, ValueError, FINITE + "nan."),
    "inf": (INF, ValueError, FINITE + "inf."),
    "-inf": (-INF, ValueError, FINITE + "-inf."),
    "an integer too large": (10**400, ValueError, FINITE + "inf."),
    "a word": ("1", TypeError, ONE_NUMBER + "'1'."),
    "True": (True, TypeError, ONE_NUMBER + "True."),
    "NumPy's True": (np.True_, TypeError, ONE_NUMBER + "np.True_."),
    "complex": (1j, TypeError, ONE_NUMBER + "1j."),
    "an array": (np.ones(1), TypeError, ONE_NUMBER + "array([1.])."),
    "a list": ([1.0], TypeError, ONE_NUMBER + "[1.0]."),
}


@pytest.mark.parametrize(("scale", "error", "message"), SCALES.values(), ids=SCALES)
def test_scales_that_are_no_number(scale, error, message):
    with pytest.raises(error) as caught:
        attention(QUERY, KEY, VALUE, scale=scale)
    assert str(caught.value) == message
    with pytest.raises(error) as caught:
        attention_backward(D_OUT, QUERY, KEY, VALUE, WEIGHTS, scale=scale)
    assert str(caught.value) == message.replace("attention", "attention_backward")


@pytest.mark.parametrize("scale", [1e39, -1e39])
def test_a_scale_beyond_the_range_of_float32_is_refused(scale):
    query, key, value = (array.astype(np.float32) for array in (QUERY, KEY, VALUE))
    with pytest.raises(ValueError) as caught:
        attention(query, key, value, scale=scale)
    assert str(caught.value) == f"attention: scale must be a finite number in float32; got {scale}."


@pytest.mark.parametrize("causal", [1, None, "yes", np.ones(1, bool)], ids=repr)
def test_causal_is_true_or_false(causal):
    with pytest.raises(TypeError) as caught:
        attention(QUERY, KEY, VALUE, causal=causal)
    assert str(caught.value) == f"attention: causal must be True or False; got {causal!r}."


@pytest.mark.parametrize("name", ["query", "key", "value"])
@pytest.mark.parametrize("dtype", [complex, bool, "U1", object])
def test_inputs_are_real_numbers(name, dtype):
    inputs = {"query": QUERY, "key": KEY, "value": VALUE}
    inputs[name] = inputs[name].astype(dtype)
    with pytest.raises(TypeError) as caught:
        attention(**inputs)
    assert str(caught.value) == (
        f"attention: {name} must be an array of real numbers (float16, float32, float64 or integers); "
        f"got {'objects, the first of them float' if dtype is object else inputs[name].dtype}."
    )


def test_nothing_is_refused_by_name():
    for name in ("query", "key", "value"):
        inputs = {"query": QUERY, "key": KEY, "value": VALUE} | {name: None}
        with pytest.raises(TypeError, match=rf"^attention: {name} must be an array of real numbers .*; got None\.$"):
            attention(**inputs)


# --- saved arrays ---------------------------------------------------------------------------------

SAVED = {
    "d_out of the wrong width": (
        np.ones((2, 5)), WEIGHTS,
        "d_out must have the shape (..., q, v) = (2, 4), which follows from query, key and value; got (2, 5).",
    ),
    "d_out with an axis more": (
        np.ones((1, 2, 4)), WEIGHTS,
        "d_out must have the shape (..., q, v) = (2, 4), which follows from query, key and value; got (1, 2, 4).",
    ),
    "d_out is a number": (
        1.0, WEIGHTS,
        "d_out must have the shape (..., q, v) = (2, 4), which follows from query, key and value; got ().",
    ),
    "weights transposed": (
        D_OUT, np.ones((3, 2)),
        "weights must have the shape (..., q, k) = (2, 3), which follows from query, key and value; got (3, 2).",
    ),
    "out in the place of weights": (
        D_OUT, D_OUT,
        "weights must have the shape (..., q, k) = (2, 3), which follows from query, key and value; got (2, 4).",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("d_out", "weights", "message"), SAVED.values(), ids=SAVED)
def test_saved_arrays_that_belong_to_another_call(d_out, weights, message):
    with pytest.raises(ValueError) as caught:
        attention_backward(d_out, QUERY, KEY, VALUE, weights)
    assert str(caught.value) == f"attention_backward: {message}"


def test_the_backward_checks_the_other_arguments_too():
    with pytest.raises(ValueError, match=r"^attention_backward: query and key must have the same number of features"):
        attention_backward(D_OUT, QUERY, np.ones((3, 4)), VALUE, WEIGHTS)
    with pytest.raises(TypeError, match=r"^attention_backward: weights must be an array of real numbers"):
        attention_backward(D_OUT, QUERY, KEY, VALUE, WEIGHTS.astype(bool))


def test_logsumexp_and_out_have_their_own_shapes():
    with pytest.raises(ValueError) as caught:
        attention_inputs("f", QUERY, KEY, VALUE, logsumexp=np.ones((2, 1)))
    assert str(caught.value) == (
        "f: logsumexp must have the shape (..., q) = (2,), which follows from query, key and value; got (2, 1)."
    )
    with pytest.raises(ValueError, match=r"^f: out must have the shape \(\.\.\., q, v\) = \(2, 4\)"):
        attention_inputs("f", QUERY, KEY, VALUE, out=np.ones((2, 3)), logsumexp=np.ones(2))
