"""attnlib.masks: is bad input refused in clear words?"""

import numpy as np
import pytest

from attnlib.masks import (
    causal_mask,
    combine_masks,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)

INF = np.inf
ERRORS = [
    (lambda: causal_mask(2.0, 3), TypeError, "causal_mask: q must be an integer; got 2.0."),
    (lambda: causal_mask(2, True), TypeError, "causal_mask: k must be an integer; got True."),
    (lambda: causal_mask(-1, 3), ValueError, "causal_mask: q must be at least 0; got -1."),
    (lambda: causal_mask(1, -3), ValueError, "causal_mask: k must be at least 0; got -3."),
    (lambda: causal_mask(1, 3, offset=0.5), TypeError, "causal_mask: offset must be an integer; got 0.5."),
    (lambda: sliding_window_mask(1, 3, 0), ValueError, "sliding_window_mask: window must be at least 1; got 0."),
    (lambda: sliding_window_mask(1, 3, 1.5), TypeError, "sliding_window_mask: window must be an integer; got 1.5."),
    (lambda: sliding_window_mask("a", 3, 1), TypeError, "sliding_window_mask: q must be an integer; got 'a'."),
    (lambda: prefix_mask(1, 3, -1), ValueError, "prefix_mask: prefix must be at least 0; got -1."),
    (lambda: prefix_mask(1, -1, 1), ValueError, "prefix_mask: k must be at least 0; got -1."),
    (lambda: padding_mask([1], -1), ValueError, "padding_mask: k must be at least 0; got -1."),
    (lambda: padding_mask([4, 1], 3), ValueError,
     "padding_mask: every length must lie between 0 and k = 3; got [4, 1]."),
    (lambda: padding_mask(-1, 3), ValueError, "padding_mask: every length must lie between 0 and k = 3; got -1."),
    (lambda: padding_mask([1.0], 3), TypeError, "padding_mask: lengths must hold integers; got float64."),
    (lambda: padding_mask([True], 3), TypeError, "padding_mask: lengths must hold integers; got bool."),
    (lambda: padding_mask([[1], [1, 2]], 3), TypeError,
     "padding_mask: lengths must hold integers; got nested sequences of unequal length."),
    (lambda: padding_mask([1], 3, side="up"), ValueError, 'padding_mask: side must be "right" or "left"; got \'up\'.'),
    (lambda: combine_masks(np.array([1, 0], np.int64)), TypeError,
     "combine_masks: mask must be boolean or float (True = this query may look at this key, or float = added to the "
     "scores); got int64."),
    (lambda: combine_masks([True], [0.0, INF]), ValueError,
     "combine_masks: an additive mask must not hold +inf (in float64), which would make the weights NaN. "
     "To leave a query only one key, hide the others with -inf."),
    (lambda: combine_masks(np.ones((2, 3), bool), np.zeros(4)), ValueError,
     "combine_masks: the masks must have shapes that broadcast together.\n  bool: (2, 3)\n  float64: (4,)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), ERRORS, ids=[message.split("\n")[0] for *_, message in ERRORS])
def test_the_error_says_what_is_wrong(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
