"""attnlib.multihead: is the backward pass that of one head after the other, one batch element after the other?"""

import math

import numpy as np
import pytest
from array_tools import close
from multihead_cases import NAMES, B, K, M, Q, by_oracle, make_params

from attnlib.multihead import multihead_attention, multihead_attention_backward

#: How many of its K keys each batch element has: the rest is padding.
LENGTHS = (K, K - 1)
PADDING = np.arange(K) < np.array(LENGTHS)[:, np.newaxis, np.newaxis, np.newaxis]  # (b, 1, 1, k)


def backward_by_heads(d_out, x, context, params, allowed):
    """One head of one batch element at a time, with the whole Jacobian of each softmax row: gradients by name."""
    w, d, v, group = params.arrays(), params.d, params.v, params.heads // params.kv_heads
    found = {name: np.zeros_like(array) for name, array in w.items()}
    found |= {"x": np.zeros_like(x), "context": np.zeros_like(context), "out_bias": d_out.sum(axis=(0, 1))}
    for b, head in np.ndindex(len(x), params.heads):
        own, shared = slice(head * d, head * d + d), slice(head // group * d, head // group * d + d)
        values, rows = slice(head // group * v, head // group * v + v), slice(head * v, head * v + v)
        query = x[b] @ w["query_weight"][:, own] + w["query_bias"][own]
        key = context[b] @ w["key_weight"][:, shared] + w["key_bias"][shared]
        value = context[b] @ w["value_weight"][:, values] + w["value_bias"][values]
        exponentials = np.exp(query @ key.T / math.sqrt(d)) * allowed[b, 0]
        weights = exponentials / exponentials.sum(axis=1, keepdims=True)
        d_head = d_out[b] @ w["out_weight"][rows].T
        found["out_weight"][rows] += (weights @ value).T @ d_out[b]
        jacobians = [np.diag(row) - np.outer(row, row) for row in weights]
        d_scores = np.array([d_row @ value.T @ jacobian for d_row, jacobian in zip(d_head, jacobians, strict=True)])
        d_scores /= math.sqrt(d)
        steps = (("query", own, "x", x, d_scores @ key), ("key", shared, "context", context, d_scores.T @ query))
        for which, columns, source, tokens, gradient in (*steps, ("value", values, "context", context, weights.T @ d_head)):
            found[f"{which}_weight"][:, columns] += tokens[b].T @ gradient
            found[f"{which}_bias"][columns] += gradient.sum(axis=0)
            found[source][b] += gradient @ w[f"{which}_weight"][:, columns].T
    return found


@pytest.mark.parametrize("heads, kv_heads", [(1, 1), (3, 3), (2, 2), (4, 2), (6, 1)])  # 2 heads: as many as the batch has texts
@pytest.mark.parametrize("allowed", [np.ones_like(PADDING), PADDING], ids=["all keys", "padding"])
def test_the_backward_is_one_head_after_the_other(rng, heads, kv_heads, allowed):
    x, context = rng.normal(size=(B, Q, M)), rng.normal(size=(B, K, 9))
    params, d_out = make_params(rng, heads, kv_heads, key_width=9, value_width=9), rng.normal(size=(B, Q, M))
    out, saved = multihead_attention(x, params, context=context, mask=allowed)
    close(out, by_oracle(x, params, context, mask=allowed)[0])
    d_x, d_context, d_params = multihead_attention_backward(d_out, params, saved)
    ours = {"x": d_x, "context": d_context, **d_params.arrays()}
    expected = backward_by_heads(d_out, x, context, params, allowed)
    assert ours.keys() == expected.keys() == {"x", "context", *NAMES}
    for name, gradient in ours.items():
        assert gradient.shape == expected[name].shape, name
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-11, atol=1e-12, err_msg=name)


def test_padding_of_a_text_gets_no_gradient_and_its_neighbour_in_the_batch_does(rng):
    x, context = rng.normal(size=(B, Q, M)), rng.normal(size=(B, K, M))
    params = make_params(rng, heads=B)  # without its axis for the heads, the mask would fit here and hide by head
    _, saved = multihead_attention(x, params, context=context, mask=PADDING)
    _, d_context, _ = multihead_attention_backward(rng.normal(size=x.shape), params, saved)
    nothing = (d_context == 0).all(axis=-1)
    np.testing.assert_array_equal(nothing, ~PADDING[:, 0, 0])
