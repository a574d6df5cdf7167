"""attnlib.attention: does the gradient of a mask refuse what does not fit?

What the other functions refuse is in tests/checks/test_errors.py.
"""

import numpy as np
import pytest

from attnlib.attention import attention_mask_backward

SHAPES_OF_ONE_CALL = (
    "attention_mask_backward: d_out, value and weights must have the shapes of one call of attention.\n"
    "  d_out   (..., q, v): {}\n  value   (..., k, v): {}\n  weights (..., q, k): {}"
)
MISFITS = [
    ((2, 8), (5, 8), (4, 5)),  # q
    ((4, 7), (5, 8), (4, 5)),  # v
    ((4, 8), (6, 8), (4, 5)),  # k
    ((8,), (5, 8), (4, 5)),
    ((4, 8), (8,), (4, 5)),
    ((), (), ()),
    ((2, 4, 8), (5, 8), (2, 4, 5)),  # rank
    ((4, 8), (1, 5, 8), (4, 5)),
    ((3, 4, 8), (2, 5, 8), (3, 4, 5)),  # heads
    ((2, 3, 4, 8), (1, 3, 5, 8), (2, 3, 4, 5)),  # batch
]


@pytest.mark.parametrize("shapes", MISFITS, ids=str)
def test_the_mask_gradient_refuses_shapes_that_do_not_fit(shapes):
    d_out, value, weights = (np.ones(shape) for shape in shapes)
    with pytest.raises(ValueError) as caught:
        attention_mask_backward(d_out, value, weights, np.zeros(5))
    assert str(caught.value) == SHAPES_OF_ONE_CALL.format(*shapes)


def test_a_boolean_mask_has_no_gradient():
    with pytest.raises(TypeError) as caught:
        attention_mask_backward(np.ones((4, 8)), np.ones((5, 8)), np.ones((4, 5)), np.ones(5, bool))
    assert str(caught.value) == (
        "attention_mask_backward: mask must be additive (float); a boolean mask has no gradient."
    )


def test_the_mask_gradient_checks_the_mask():
    with pytest.raises(ValueError, match="attention_mask_backward: mask must broadcast"):
        attention_mask_backward(np.ones((4, 8)), np.ones((5, 8)), np.ones((4, 5)), np.ones(4))
    with pytest.raises(TypeError, match="attention_mask_backward: value must be an array of real numbers"):
        attention_mask_backward(np.ones((4, 8)), np.ones((5, 8), bool), np.ones((4, 5)), np.ones(5))
