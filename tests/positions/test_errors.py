"""attnlib.positions: is bad input refused in clear words?"""

import numpy as np
import pytest
from positions_cases import D, N

from attnlib.positions import alibi_bias, alibi_slopes, interpolated_positions, rotary, rotary_backward, sinusoidal

X = np.ones((N, D))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: sinusoidal(2.0, 4), TypeError, "sinusoidal: n must be an integer; got 2.0"),
        (lambda: sinusoidal(2, True), TypeError, "sinusoidal: m must be an integer; got True"),
        (lambda: sinusoidal(-1, 4), ValueError, "sinusoidal: n must be at least 0; got -1"),
        (lambda: sinusoidal(4, -1), ValueError, "sinusoidal: m must be at least 0; got -1"),
        (lambda: sinusoidal(2, 4, base=0), ValueError, "sinusoidal: base must be positive and finite; got 0"),
        (lambda: sinusoidal(2, 4, base=np.inf), ValueError, "base must be positive and finite; got inf"),
        (lambda: sinusoidal(2, 4, base="e"), TypeError, "sinusoidal: base must be a number; got 'e'"),
        (lambda: sinusoidal(2, 4, base=True), TypeError, "sinusoidal: base must be a number; got True"),
        (lambda: sinusoidal(2, 4, dtype=np.int32), TypeError, "sinusoidal: dtype must be a float dtype; got int32"),
        (lambda: rotary(np.ones((N, 5)), 0), ValueError, r"rotary: x must have shape \(..., n, d\) with an even .* \(5, 5\)"),
        (lambda: rotary(np.ones(4), 0), ValueError, r"rotary: x must have shape .* got \(4,\)"),
        (lambda: rotary(X, np.arange(N + 1)), ValueError, r"(?s)rotary: positions must broadcast .*\(6,\).*\(5, 8\)"),
        (lambda: rotary(X, np.ones((2, N))), ValueError, r"(?s)positions must broadcast .*\(2, 5\).*\(5, 8\)"),
        (lambda: rotary(X, [0, 1, 2, 3, np.inf]), ValueError, "rotary: positions must be finite"),
        (lambda: rotary(X, np.nan), ValueError, "rotary: positions must be finite"),
        (lambda: rotary(X, 0, base=-1.0), ValueError, "rotary: base must be positive and finite; got -1.0"),
        (lambda: rotary(X + 1j, 0), TypeError, "rotary: x must be an array of real numbers .*complex128"),
        (lambda: rotary(X > 0, 0), TypeError, "rotary: x must be an array of real numbers .*bool"),
        (lambda: rotary(X, "a"), TypeError, "rotary: positions must be an array of real numbers"),
        (lambda: rotary(X, 0, pairs="half"), ValueError, "rotary: pairs must be 'neighbours' or 'halves'; got 'half'"),
        (lambda: rotary_backward(X, 0, pairs=2), ValueError, "rotary_backward: pairs must be 'neighbours' or 'halves'; got 2"),
        (lambda: rotary(X, 0, pairs=X), ValueError, "rotary: pairs must be 'neighbours' or 'halves'"),
        (lambda: interpolated_positions(-1, 4), ValueError, "interpolated_positions: n must be at least 0; got -1"),
        (lambda: interpolated_positions(4, 0), ValueError, "interpolated_positions: trained must be at least 1; got 0"),
        (lambda: interpolated_positions(4, 2.5), TypeError, "interpolated_positions: trained must be an integer; got 2.5"),
        (lambda: rotary_backward(np.ones((N, 3)), 0), ValueError, "rotary_backward: d_out must have shape"),
        (lambda: rotary_backward(X, np.ones(4)), ValueError, r"(?s)rotary_backward: positions .*\(4,\).*\(5, 8\)"),
        (lambda: alibi_slopes(0), ValueError, "alibi_slopes: h must be at least 1; got 0"),
        (lambda: alibi_bias(0, 2, 3), ValueError, "alibi_bias: h must be at least 1; got 0"),
        (lambda: alibi_bias(2, -1, 3), ValueError, "alibi_bias: q must be at least 0; got -1"),
        (lambda: alibi_bias(2, 2, -3), ValueError, "alibi_bias: k must be at least 0; got -3"),
        (lambda: alibi_bias(2, 2, 3.0), TypeError, "alibi_bias: k must be an integer; got 3.0"),
        (lambda: alibi_bias(2, 2, 3, offset=0.5), TypeError, "alibi_bias: offset must be an integer; got 0.5"),
        (lambda: alibi_bias(2, 2, 3, dtype="abc"), TypeError, "alibi_bias: dtype must be a dtype, such as 'float32'; got 'abc'"),
        (lambda: sinusoidal(2, 4, dtype="abc"), TypeError, "sinusoidal: dtype must be a dtype, such as 'float32'; got 'abc'"),
        (lambda: alibi_bias(2, 2, 3, dtype=bool), TypeError, "alibi_bias: dtype must be a float dtype; got bool"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_says_why(call, error, message):
    with pytest.raises(error, match=message):
        call()
