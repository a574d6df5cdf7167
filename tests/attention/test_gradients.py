"""attnlib.attention: is the gradient of each argument the slope that is measured?"""

import numpy as np
import pytest
from attention_cases import HEADS, INF, B, H, K, Q, V, all_masks, assert_close, backward, make_inputs, some_masks

from attnlib.attention import attention, attention_mask_backward
from attnlib.gradients import check_direction, check_gradient, complex_step_gradient
from attnlib.masks import causal_mask


@all_masks
@pytest.mark.parametrize("which", [0, 1, 2], ids=["query", "key", "value"])
def test_gradient(rng, which, kind):
    small = {"leading": (2, 4), "heads": 2, "q": 3, "k": 5, "d": 3, "v": 2}
    inputs, options = make_inputs(rng, **small), some_masks(rng, (2, 4, 3, 5))[kind]
    d_out = rng.normal(size=(2, 4, 3, 2))
    gradient = backward(d_out, inputs, **options)[2 + which]

    def loss(x):
        return (d_out * attention(*inputs[:which], x, *inputs[which + 1 :], **options)[0]).sum()

    report = check_gradient(loss, inputs[which], gradient, tolerance=1e-9)
    assert report or not gradient.any() and report.finite_difference < 1e-12, report


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(B, H, Q, K), (B, 1, Q, K), (H, 1, K), (1, 1, Q, 1), (Q, K), (1, K), (K,), (1,), ()])
def test_gradient_of_the_mask(rng, shape, causal):
    inputs, mask, d_out = make_inputs(rng), rng.normal(size=shape), rng.normal(size=(B, H, Q, V))
    _, weights = attention(*inputs, mask=mask, causal=causal)
    gradient = attention_mask_backward(d_out, inputs[2], weights, mask)
    assert gradient.shape == shape
    report = check_gradient(
        lambda mask: (d_out * attention(*inputs, mask=mask, causal=causal)[0]).sum(), mask, gradient, tolerance=1e-9
    )
    # A mask without a key axis shifts whole rows, so its gradient is zero.
    assert report or abs(gradient).max() < 1e-12, report


def test_gradient_of_a_mask_with_hidden_keys(rng):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    keep, mask = rng.random((H, Q, K)) < 0.6, rng.normal(size=(H, Q, K))
    full = np.where(keep, mask, -INF)
    _, weights = attention(*inputs, mask=full)
    gradient = attention_mask_backward(d_out, inputs[2], weights, full)
    report = check_gradient(
        lambda mask: (d_out * attention(*inputs, mask=np.where(keep, mask, -INF))[0]).sum(), mask, gradient,
        tolerance=1e-9,
    )  # fmt: skip
    assert report, report
    assert not gradient[~keep].any()


@pytest.mark.parametrize("which", [0, 1, 2], ids=["query", "key", "value"])
def test_gradient_to_the_last_digit(rng, which):
    query, key, value = make_inputs(rng, (), q=3, k=4, d=5, v=2)
    keep, d_out = causal_mask(3, 4, offset=1), rng.normal(size=(3, 2))
    gradient = backward(d_out, (query, key, value), keep)[2 + which]
    inputs = [query, key, value]

    def loss(x):  # the formula once more, for complex numbers
        query, key, value = (*inputs[:which], x, *inputs[which + 1 :])
        exponentials = np.where(keep, np.exp(query @ key.T / np.sqrt(5)), 0)
        return (d_out * (exponentials @ value / exponentials.sum(axis=1, keepdims=True))).sum()

    assert_close(gradient, complex_step_gradient(loss, inputs[which]))


@pytest.mark.parametrize("which", [0, 1, 2], ids=["query", "key", "value"])
def test_gradient_of_a_large_case_along_a_direction(rng, which):
    inputs, d_out = make_inputs(rng, (2, 4), 2, 33, 40, 16, 9), rng.normal(size=(2, 4, 33, 9))
    gradient = backward(d_out, inputs, causal=True)[2 + which]

    def loss(x):
        return (d_out * attention(*inputs[:which], x, *inputs[which + 1 :], causal=True)[0]).sum()

    report = check_direction(loss, inputs[which], gradient, rng, tolerance=1e-9)
    assert report, report


def test_the_sums_that_a_gradient_must_have(rng):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    mask = rng.random((Q, K)) < 0.6
    mask[:, 0], mask[1] = True, False
    _, weights, _, d_key, d_value = backward(d_out, inputs, mask)
    # A common shift of all keys shifts whole rows of scores, and that changes nothing.
    np.testing.assert_allclose(d_key.sum(axis=-2), 0, atol=1e-14)
    # Each query that sees something hands its whole d_out to the values.
    live = d_out[..., [0, 2, 3], :].sum(axis=-2).reshape(B, HEADS, H // HEADS, V).sum(axis=2)
    assert_close(d_value.sum(axis=-2), live)
    # The weights of a row cannot all grow.
    d_mask = attention_mask_backward(d_out, inputs[2], weights, np.zeros((Q, K)))
    np.testing.assert_allclose(d_mask.sum(axis=-1), 0, atol=1e-13)
