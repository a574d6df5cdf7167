"""attnlib.flash: is bad input refused in clear words, forward and backward?"""

import numpy as np
import pytest
from flash_cases import INF, NAN

from attnlib.flash import flash_attention, flash_attention_backward, flash_attention_mask_backward

GOOD = {"query": np.ones((6, 2, 5)), "key": np.ones((3, 4, 5)), "value": np.ones((3, 4, 7))}
ERRORS = [
    ({"block_q": 0}, ValueError, "block_q must be at least 1; got 0"),
    ({"block_k": -2}, ValueError, "block_k must be at least 1; got -2"),
    ({"block_q": 2.0}, TypeError, r"block_q must be an integer; got 2\.0"),
    ({"block_k": True}, TypeError, "block_k must be an integer; got True"),
    ({"block_k": None}, TypeError, "block_k must be an integer; got None"),
    ({"window": 0}, ValueError, "window must be at least 1; got 0"),
    ({"window": -1}, ValueError, "window must be at least 1; got -1"),
    ({"window": 2.5}, TypeError, r"window must be an integer; got 2\.5"),
    ({"window": True}, TypeError, "window must be an integer; got True"),
    ({"offset": 0.0}, TypeError, r"offset must be an integer; got 0\.0"),
    ({"offset": None}, TypeError, "offset must be an integer; got None"),
    ({"causal": 1}, TypeError, "causal must be True or False; got 1"),
    ({"scale": NAN}, ValueError, "scale must be a finite number"),
    ({"scale": INF}, ValueError, "scale must be a finite number"),
    ({"scale": "1"}, TypeError, "scale must be one real number"),
    ({"scale": np.ones(2)}, TypeError, "scale must be one real number"),
    ({"scale": True}, TypeError, "scale must be one real number"),
    ({"query": np.ones((6, 2, 4))}, ValueError, r"(?s)same number of features d.*\(6, 2, 4\).*\(3, 4, 5\)"),
    ({"value": np.ones((3, 3, 7))}, ValueError, r"(?s)same number of positions k.*\(3, 4, 5\).*\(3, 3, 7\)"),
    ({"query": np.ones((5, 2, 5))}, ValueError, "5 is not a multiple of 3"),
    ({"query": np.ones((2, 5))}, ValueError, "same number of axes"),
    ({"query": np.ones((6, 2, 0)), "key": np.ones((3, 4, 0))}, ValueError, "at least one feature d"),
    ({"query": 1j * np.ones((6, 2, 5))}, TypeError, "query must be an array of real numbers.*complex128"),
    ({"key": np.ones((3, 4, 5), bool)}, TypeError, "key must be an array of real numbers.*bool"),
    ({"value": "text"}, TypeError, "value must be an array of real numbers"),
    ({"mask": np.ones((2, 5), bool)}, ValueError, r"(?s)mask must broadcast.*\(2, 5\).*\(6, 2, 4\)"),
    ({"mask": np.ones((1, 6, 2, 4), bool)}, ValueError, "mask must broadcast"),
    ({"mask": np.ones((2, 4), np.int64)}, TypeError, "mask must be boolean or float.*int64"),
    ({"mask": "causal"}, TypeError, "mask must be a boolean or float array"),
    ({"mask": np.full((2, 4), INF)}, ValueError, r"must not hold \+inf"),
]
errors = pytest.mark.parametrize(("change", "error", "message"), ERRORS, ids=[str(m)[:40] for *_, m in ERRORS])


@errors
def test_bad_input_is_refused_by_name(change, error, message):
    with pytest.raises(error, match=f"flash_attention: .*{message}" if "(?s)" not in message else message):
        flash_attention(**{**GOOD, **change})


@errors
def test_bad_input_is_refused_by_the_backward_too(change, error, message):
    saved = {"d_out": np.ones((6, 2, 7)), "out": np.ones((6, 2, 7)), "logsumexp": np.ones((6, 2))}
    with pytest.raises(error, match=message):
        flash_attention_backward(**{**GOOD, **saved, **change})
    with pytest.raises(error, match=message):
        flash_attention_mask_backward(**{**GOOD, **saved, "mask": np.zeros((2, 4)), **change})


@pytest.mark.parametrize("function", [flash_attention_backward, flash_attention_mask_backward])
@pytest.mark.parametrize("name", ["d_out", "out", "logsumexp"])
def test_saved_arrays_must_fit(function, name):
    saved = {"d_out": np.ones((6, 2, 7)), "out": np.ones((6, 2, 7)), "logsumexp": np.ones((6, 2))}
    saved[name] = saved[name][:3]
    with pytest.raises(ValueError, match=rf"{function.__name__}: {name} must have the shape .*\(6, 2.*got \(3, 2"):
        function(**GOOD, **saved, mask=np.zeros((2, 4)))
    saved[name] = saved[name] * 1j
    with pytest.raises(TypeError, match=rf"{function.__name__}: {name} must be an array of real numbers"):
        function(**GOOD, **saved, mask=np.zeros((2, 4)))


@pytest.mark.parametrize("mask", [None, np.ones((2, 4), bool)], ids=["None", "boolean"])
def test_only_an_additive_mask_has_a_gradient(mask):
    inputs = GOOD.values()
    with pytest.raises(TypeError, match=r"flash_attention_mask_backward: mask must be additive \(float\)"):
        flash_attention_mask_backward(np.ones((6, 2, 7)), *inputs, *flash_attention(*inputs, mask=mask), mask)
