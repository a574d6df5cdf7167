"""The layer's backward pass, array by array: restart the forward pass from each array inside, and measure its slope."""

import numpy as np
import pytest
from multihead_cases import B, M, Q, make_params

from attnlib.attention import attention_backward, attention_mask_backward
from attnlib.gradients import check_gradient
from attnlib.multihead import multihead_attention, multihead_attention_backward
from attnlib.softmax import softmax

NAMES = ("query", "key", "value")


@pytest.fixture
def layer(rng):
    """One head: its parameters, a batch of tokens, and every array of the way, forward and back, by name."""
    params, x, d_y = make_params(rng, heads=1), rng.normal(size=(B, Q, M)), rng.normal(size=(B, Q, M))
    w, mask = params.arrays(), rng.normal(size=(B, Q, Q))
    q, k, v = (x @ w[f"{name}_weight"] + w[f"{name}_bias"] for name in NAMES)
    c = 1 / np.sqrt(q.shape[-1])
    raw = q @ k.mT
    p = softmax(c * raw + mask)
    d_o = d_y @ w["out_weight"].mT
    d_p, d_v = d_o @ v.mT, p.mT @ d_o
    d_s = p * (d_p - np.sum(p * d_p, axis=-1, keepdims=True))
    d_raw = c * d_s
    back = {"o": d_o, "p": d_p, "v": d_v, "s": d_s, "raw": d_raw, "mask": d_s, "q": d_raw @ k, "k": d_raw.mT @ q}
    forth = {"o": p @ v, "p": p, "v": v, "s": c * raw + mask, "raw": raw, "mask": mask, "q": q, "k": k}
    return params, x, d_y, forth, back


@pytest.mark.parametrize("name", ["o", "p", "v", "s", "raw", "mask", "q", "k"])
def test_the_gradient_of_an_array_inside_is_the_slope_of_the_rest_of_the_way(layer, name):
    params, _, d_y, forth, back = layer

    def rest(array):  # each step takes the array that is moved, or computes it from the step before
        now = forth | {name: array}
        c = 1 / np.sqrt(now["q"].shape[-1])
        raw = array if name == "raw" else now["q"] @ now["k"].mT
        s = array if name == "s" else c * raw + now["mask"]
        p = array if name == "p" else softmax(s)
        o = array if name == "o" else p @ now["v"]
        return np.sum(d_y * (o @ params.out_weight + params.out_bias))

    report = check_gradient(rest, forth[name], back[name], tolerance=1e-9)
    assert report, report


def test_the_library_has_the_same_arrays_inside(layer):
    _, _, _, forth, back = layer
    q, k, v, p = (forth[name] for name in "qkvp")
    ours = attention_backward(back["o"], q, k, v, p)
    for name, gradient in zip("qkv", ours, strict=True):
        np.testing.assert_allclose(gradient, back[name], rtol=1e-11, atol=1e-13)
    d_s = attention_mask_backward(back["o"], v, p, np.zeros_like(p))
    np.testing.assert_allclose(d_s, back["s"], rtol=1e-11, atol=1e-13)


def test_a_weight_sums_over_tokens_and_batch_and_the_tokens_over_their_three_ways(layer):
    params, x, d_y, forth, back = layer
    _, saved = multihead_attention(x, params, mask=forth["mask"][:, np.newaxis])
    d_x, _, d_params = multihead_attention_backward(d_y, params, saved)
    ways = 0
    for name in NAMES:
        into = back[name[0]]
        weight, bias = getattr(d_params, f"{name}_weight"), getattr(d_params, f"{name}_bias")
        in_one_line = np.einsum("bnm,bnd->md", x, into)
        np.testing.assert_allclose(weight, in_one_line, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(in_one_line, sum(x[b].T @ into[b] for b in range(B)), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(bias, into.sum(axis=(0, 1)), rtol=1e-11, atol=1e-13)
        ways = ways + into @ getattr(params, f"{name}_weight").mT
    np.testing.assert_allclose(d_x, ways, rtol=1e-11, atol=1e-13)
