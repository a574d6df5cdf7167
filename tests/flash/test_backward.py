"""attnlib.flash.backward: is the gradient of each argument right, that of an additive mask too?"""

import numpy as np
import pytest
from flash_cases import EACH_BAND, INF, B, H, K, Q, V, allowed, assert_close, flash, in_thirds, make_inputs, some_masks

from attnlib.attention import attention, attention_mask_backward
from attnlib.flash import flash_attention, flash_attention_backward, flash_attention_mask_backward
from attnlib.gradients import check_gradient
from attnlib.masks import combine_masks

# --- against measured slopes ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["query", "key", "value"])
@pytest.mark.parametrize("options", [{}, {"causal": True, "offset": 1}, {"window": 3}, {"scale": -0.6}], ids=str)
def test_gradient(rng, name, options):
    inputs = dict(zip(("query", "key", "value"), make_inputs(rng, (4,), 2, q=5, k=6, d=3, v=2), strict=True))
    d_out, blocks = rng.normal(size=(4, 5, 2)), {"block_q": 2, "block_k": 4}
    mask = np.where(rng.random((4, 5, 6)) < 0.8, rng.normal(size=(4, 5, 6)), -INF)

    def loss(x):
        return (d_out * flash_attention(**{**inputs, name: x}, mask=mask, **options, **blocks)[0]).sum()

    gradients = flash(inputs.values(), d_out, mask, **options, **blocks)[2:]
    gradient = dict(zip(inputs, gradients, strict=True))[name]
    report = check_gradient(loss, inputs[name], gradient, tolerance=1e-9)
    assert report, str(report)


@pytest.mark.parametrize("shape", [(4, 5, 6), (5, 6), (4, 1, 6), (6,), (5, 1), (4, 1, 1), (1, 5, 6)])
def test_gradient_of_a_mask(rng, shape):
    inputs, d_out = make_inputs(rng, (4,), 2, q=5, k=6, d=3, v=2), rng.normal(size=(4, 5, 2))
    mask, options = rng.normal(size=shape), {"causal": True, "offset": 2, "block_q": 2, "block_k": 4}

    def loss(x):
        return (d_out * flash_attention(*inputs, mask=x, **options)[0]).sum()

    saved = flash_attention(*inputs, mask=mask, **options)
    d_mask = flash_attention_mask_backward(d_out, *inputs, *saved, mask, **options)
    assert d_mask.shape == shape
    if shape == (4, 1, 1) or shape == (5, 1):
        np.testing.assert_allclose(d_mask, 0, atol=1e-14)  # it shifts whole rows, and that changes nothing
        return
    report = check_gradient(loss, mask, d_mask, tolerance=1e-9)
    assert report, str(report)


# --- against plain attention ----------------------------------------------------------------------


@in_thirds(("kind", "band"), {kind: (kind,) for kind in ("additive", "queries", "heads", "float64", "one number")}, EACH_BAND)
def test_the_gradient_of_a_mask_is_that_of_plain_attention(rng, kind, band):
    inputs, d_out, mask = make_inputs(rng), rng.normal(size=(B, H, Q, V)), some_masks(rng)[kind]
    saved = flash_attention(*inputs, mask=mask, **band)
    _, weights = attention(*inputs, mask=combine_masks(mask, allowed(Q, K, **band)))
    expected = attention_mask_backward(d_out, inputs[2], weights, mask)
    for block_q, block_k in ((1, 1), (3, 2), (64, 64)):
        options = {**band, "block_q": block_q, "block_k": block_k}
        assert_close(flash_attention_mask_backward(d_out, *inputs, *saved, mask, **options), expected)


# --- what a gradient must fulfil ------------------------------------------------------------------


def test_the_sums_that_a_gradient_must_have(rng):
    inputs, d_out = make_inputs(rng, heads=H), rng.normal(size=(B, H, Q, V))
    *_, d_key, d_value = flash(inputs, d_out, causal=True, block_q=3, block_k=4)
    np.testing.assert_allclose(d_key.sum(axis=-2), 0, atol=1e-14)  # a common shift of the keys changes nothing
    assert_close(d_value.sum(axis=-2), d_out.sum(axis=-2))
    bias = np.zeros((Q, K))
    d_bias = flash_attention_mask_backward(d_out, *inputs, *flash(inputs, mask=bias), bias, block_q=3, block_k=4)
    np.testing.assert_allclose(d_bias.sum(axis=-1), 0, atol=1e-13)  # the weights of a row cannot all grow


def test_an_overflow_in_the_gradients_is_nan_without_a_warning():
    big, ones = np.full((1, 2), 1e200), np.ones((2, 1))
    keys = np.stack([big[0], -big[0]])
    saved = flash_attention(big, keys, ones)
    assert all(np.isnan(x).any() for x in flash_attention_backward([[1.0]], big, keys, ones, *saved)[:2])
    assert np.isnan(flash_attention_mask_backward([[1.0]], big, keys, ones, *saved, np.zeros(2))).all()
    small = np.ones((1, 2))  # here it is the product of d_out and value that overflows
    saved = flash_attention(small, keys / 1e200, ones)
    d_mask = flash_attention_mask_backward([[1e200]], small, keys / 1e200, 1e200 * ones, *saved, np.zeros(2))
    assert not np.isfinite(d_mask).all()
