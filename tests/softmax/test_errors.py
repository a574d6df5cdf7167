"""attnlib.softmax: is bad input refused in clear words?"""

import numpy as np
import pytest
from softmax_cases import SHAPE

from attnlib.softmax import (
    OnlineSoftmax,
    log_softmax,
    log_softmax_backward,
    logsumexp,
    logsumexp_backward,
    softmax,
    softmax_backward,
    softmax_jacobian,
)

REAL = "must be an array of real numbers"
X = np.zeros(SHAPE)
ERRORS = [
    (softmax, ([1j],), TypeError, rf"^softmax: x {REAL}.*complex128"),
    (softmax, (X, 1.0), TypeError, r"^softmax: axis must be an integer; got 1\.0\.$"),
    (softmax, (X, 3), ValueError, r"^softmax: x has no axis 3; its shape is \(2, 3, 5\)\.$"),
    (softmax, (1.0,), ValueError, r"^softmax: x has no axis -1; its shape is \(\)\.$"),
    (log_softmax, (X > 0,), TypeError, rf"^log_softmax: x {REAL}.*bool"),
    (log_softmax, (X, None), TypeError, r"^log_softmax: axis must be an integer; got None\.$"),
    (log_softmax, (X, -4), ValueError, r"^log_softmax: x has no axis -4"),
    (logsumexp, (["a"],), TypeError, rf"^logsumexp: x {REAL}.*<U1"),
    (logsumexp, (X, (0, 1)), TypeError, r"^logsumexp: axis must be an integer; got \(0, 1\)\.$"),
    (logsumexp, (np.array(1.0),), ValueError, r"^logsumexp: x has no axis -1; its shape is \(\)\.$"),
    (softmax_jacobian, ([1j],), TypeError, rf"^softmax_jacobian: weights {REAL}"),
    (softmax_jacobian, (0.5,), ValueError, r"^softmax_jacobian: weights has no axis -1; its shape is \(\)\.$"),
    (softmax_backward, ([1j], [1.0]), TypeError, rf"^softmax_backward: d_weights {REAL}"),
    (softmax_backward, ([1.0], [True]), TypeError, rf"^softmax_backward: weights {REAL}"),
    (softmax_backward, (X, X, "0"), TypeError, r"^softmax_backward: axis must be an integer; got '0'\.$"),
    (softmax_backward, (X, X, 3), ValueError, r"^softmax_backward: weights has no axis 3"),
    (
        softmax_backward,
        (X, X[0]),
        ValueError,
        r"^softmax_backward: d_weights and weights must have the same shape\.\n"
        r"  d_weights: \(2, 3, 5\)\n  weights:   \(3, 5\)$",
    ),
    (log_softmax_backward, ([1j], [1.0]), TypeError, rf"^log_softmax_backward: d_log_weights {REAL}"),
    (log_softmax_backward, ([1.0], ["a"]), TypeError, rf"^log_softmax_backward: log_weights {REAL}"),
    (log_softmax_backward, (X, X, 0.5), TypeError, r"^log_softmax_backward: axis must be an integer; got 0\.5\.$"),
    (log_softmax_backward, (X, X, -4), ValueError, r"^log_softmax_backward: log_weights has no axis -4"),
    (log_softmax_backward, (X[:1], X), ValueError, r"^log_softmax_backward: d_log_weights and log_weights must"),
    (logsumexp_backward, (1j, [1.0], 1.0), TypeError, rf"^logsumexp_backward: d_logsumexp {REAL}"),
    (logsumexp_backward, (1.0, [True], 1.0), TypeError, rf"^logsumexp_backward: x {REAL}"),
    (logsumexp_backward, (1.0, [1.0], "a"), TypeError, rf"^logsumexp_backward: logsumexp {REAL}"),
    (logsumexp_backward, (1.0, [1.0], 1.0, None), TypeError, r"^logsumexp_backward: axis must be an integer"),
    (logsumexp_backward, (1.0, 1.0, 1.0), ValueError, r"^logsumexp_backward: x has no axis -1"),
    (
        logsumexp_backward,
        (np.zeros((2, 5)), X, np.zeros((2, 3)), 1),
        ValueError,
        r"^logsumexp_backward: logsumexp must have the shape of x without axis 1: expected \(2, 5\), got \(2, 3\)\.$",
    ),
    (
        logsumexp_backward,
        (1.0, X, np.zeros((2, 3))),
        ValueError,
        r"^logsumexp_backward: d_logsumexp must have the shape of x without axis 2: expected \(2, 3\), got \(\)\.$",
    ),
    (OnlineSoftmax.start, ((), np.int64), TypeError, r"^OnlineSoftmax\.start: dtype must be a float dtype; got int64\.$"),
    (OnlineSoftmax.start, ((), "abc"), TypeError, r"^OnlineSoftmax\.start: dtype must be a dtype, such as 'float32'; got 'abc'\.$"),
    (OnlineSoftmax.start, ((), complex), TypeError, r"^OnlineSoftmax\.start: dtype must be .*; got complex128\.$"),
    (OnlineSoftmax.start((3,)).update, ([[1j]],), TypeError, rf"^OnlineSoftmax\.update: scores {REAL}"),
    (
        OnlineSoftmax.start((2, 3)).update,
        (np.zeros((3, 5)),),
        ValueError,
        r"^OnlineSoftmax\.update: scores must have the state's axes and one more, k: "
        r"expected \(2, 3, 'k'\), got \(3, 5\)\.$",
    ),
    (OnlineSoftmax.start().update, (1.0,), ValueError, r"expected \('k',\), got \(\)\.$"),
    (OnlineSoftmax.start((3,)).update, (np.zeros((1, 5)),), ValueError, r"expected \(3, 'k'\), got \(1, 5\)\.$"),
    (
        OnlineSoftmax.start().merge,
        ((0.0, 1.0),),
        TypeError,
        r"^OnlineSoftmax\.merge: other must be an OnlineSoftmax; got tuple\.$",
    ),
    (
        OnlineSoftmax.start((3,)).merge,
        (OnlineSoftmax.start((1,)),),
        ValueError,
        r"^OnlineSoftmax\.merge: both states must have one shape \(\.\.\.\); got \(3,\) and \(1,\)\.$",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "kind", "message"), ERRORS)
def test_bad_input_is_refused_in_clear_words(function, arguments, kind, message):
    with pytest.raises(kind, match=message):
        function(*arguments)
