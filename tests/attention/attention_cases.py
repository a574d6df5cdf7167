"""Sizes and masks of the tests of attention, and both directions in one call."""

import numpy as np
import pytest
from array_tools import query_key_value

from attnlib.attention import attention, attention_backward

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, H, HEADS, Q, K, D, V = 2, 6, 3, 4, 5, 7, 8
INF, NAN = np.inf, np.nan


def make_inputs(rng, leading=(B, H), heads=HEADS, q=Q, k=K, d=D, v=V, dtype=np.float64):
    return query_key_value(rng, leading, heads, q, k, d, v, dtype)


def some_masks(rng, shape=(B, H, Q, K)):
    """A mask of each kind, by name; the second query of each may look at nothing."""
    keep = rng.random(shape) < 0.6
    keep[..., 0] = True
    keep[..., 1:2, :] = False
    bias = np.where(keep, rng.normal(size=shape), -INF)
    return {
        "none": {},
        "causal": {"causal": True},
        "boolean": {"mask": keep},
        "additive": {"mask": bias},
        "boolean and causal": {"mask": keep, "causal": True},
        "additive and causal": {"mask": bias, "causal": True},
        "scale": {"scale": -0.3},
        "scale 0": {"scale": 0},
    }


MASKS = ["none", "causal", "boolean", "additive", "boolean and causal", "additive and causal", "scale", "scale 0"]
all_masks = pytest.mark.parametrize("kind", MASKS)


def backward(d_out, inputs, mask=None, causal=False, scale=None):
    """attention and its backward in one: out, weights, d_query, d_key, d_value."""
    out, weights = attention(*inputs, mask=mask, causal=causal, scale=scale)
    return out, weights, *attention_backward(d_out, *inputs, weights, scale=scale)


def assert_close(actual, expected, tolerance=1e-13, size=1e-300):
    """Equal within `tolerance` of the largest entry (or of `size`), which is what rounding in a sum is relative to."""
    assert np.shape(actual) == np.shape(expected)
    size = np.abs(expected).max(initial=size)
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * size)
