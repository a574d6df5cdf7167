"""attnlib.attention: do values and gradients agree with the formulas written as loops?"""

import numpy as np
import oracles
import pytest
from attention_cases import HEADS, INF, B, H, K, Q, V, all_masks, assert_close, backward, make_inputs, some_masks
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.attention import attention, attention_mask_backward
from attnlib.masks import causal_mask
from attnlib.softmax import softmax


@all_masks
@pytest.mark.parametrize("heads", [H, HEADS, 1])
def test_matches_the_formula_written_as_loops(rng, kind, heads):
    inputs, options = make_inputs(rng, heads=heads), some_masks(rng)[kind]
    out, weights = attention(*inputs, **options)
    expected_out, expected_weights = oracles.attention(*inputs, **options)
    assert_close(out, expected_out)
    assert_close(weights, expected_weights)


@all_masks
@pytest.mark.parametrize("heads", [H, HEADS, 1])
def test_the_gradient_matches_the_chain_rule_written_as_loops(rng, kind, heads):
    inputs, options = make_inputs(rng, heads=heads), some_masks(rng)[kind]
    d_out = rng.normal(size=(B, H, Q, V))
    _, weights, *gradients = backward(d_out, inputs, **options)
    *expected, d_scores = oracles.attention_backward(d_out, *inputs, weights, scale=options.get("scale"))
    for gradient, wanted in zip(gradients, expected, strict=True):
        assert_close(gradient, wanted)
    d_mask = attention_mask_backward(d_out, inputs[2], weights, np.zeros((B, H, Q, K)))
    assert_close(d_mask, d_scores)


@settings(max_examples=60)
@given(st.data())
def test_any_shape_and_any_mask_that_broadcasts(data):
    leading = data.draw(st.lists(st.integers(0, 3), max_size=3), label="leading")
    group = data.draw(st.integers(1, 3), label="group") if leading else 1
    q, k, d, v = (data.draw(st.integers(lowest, 4), label=name) for name, lowest in zip("qkdv", (0, 0, 1, 0)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    heads = leading[-1] if leading else 1
    full = (*leading[:-1], heads * group, q, k) if leading else (q, k)
    inputs = make_inputs(rng, full[:-2], heads, q, k, d, v)
    rank = data.draw(st.integers(0, len(full)), label="rank of the mask")
    shape = tuple(data.draw(st.sampled_from([1, size])) for size in full[len(full) - rank :])
    keep = np.array(rng.random(shape) < 0.6)
    mask = data.draw(st.sampled_from([None, keep, np.where(keep, rng.normal(size=shape), -INF)]), label="mask")
    options = {"mask": mask, "causal": data.draw(st.booleans(), label="causal")}
    d_out = rng.normal(size=(*full[:-1], v))
    out, weights, *gradients = backward(d_out, inputs, **options)
    for actual, wanted in zip((out, weights), oracles.attention(*inputs, **options), strict=True):
        assert_close(actual, wanted, size=1)
    *expected, d_scores = oracles.attention_backward(d_out, *inputs, weights)
    for actual, wanted in zip(gradients, expected, strict=True):
        assert_close(actual, wanted, size=1)
    if mask is not None and mask.dtype != bool:
        d_mask = attention_mask_backward(d_out, inputs[2], weights, mask)
        added = tuple(range(len(full) - rank))
        ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
        assert_close(d_mask, d_scores.sum(axis=added).sum(axis=ones, keepdims=True), size=1)


def test_weights_are_the_softmax_of_the_library(rng):
    query, key, value = make_inputs(rng, heads=H)
    expected = softmax(np.where(causal_mask(Q, K), (0.3 * query) @ key.mT, -INF))
    np.testing.assert_array_equal(attention(query, key, value, causal=True, scale=0.3)[1], expected)
