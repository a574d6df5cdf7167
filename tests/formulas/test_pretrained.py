"""The formulas of chapter 13, evaluated as they stand."""

import math

import numpy as np
from formula_cases import D, M, N, agree, softmax

from attnlib.multihead import init_multihead
from attnlib.pretrained import gelu, layer_norm
from attnlib.pretrained.arrays import BertArrays, LayerArrays
from attnlib.pretrained.attending import through_attention
from attnlib.pretrained.config import Sizes
from attnlib.pretrained.encoder import Functions, run_layers


def norm(x, gamma, beta, epsilon=1e-12):
    return np.array([gamma * (row - row.sum() / M) / math.sqrt(((row - row.sum() / M) ** 2).sum() / M + epsilon) + beta for row in x])


def bent(x):
    return np.array([[u * 0.5 * (1 + math.erf(u / math.sqrt(2))) for u in row] for row in x])


def test_layer_norm(rng):
    r"""\operatorname{norm}(x) = \gamma\odot\frac{x-\mu}{\sqrt{\sigma^2+\varepsilon}} + \beta"""
    x, gamma, beta = rng.normal(size=(N, M)), rng.normal(size=M), rng.normal(size=M)
    agree(norm(x, gamma, beta, 0.3), layer_norm(x, gamma, beta, 0.3))


def test_gelu(rng):
    r"""\operatorname{GELU}(x) = x\cdot\tfrac12\bigl(1+\operatorname{erf}(x/\sqrt2)\bigr)"""
    x = 2 * rng.normal(size=(N, M))
    agree(bent(x), gelu(x))


def test_post_norm(rng):
    r"""\begin{aligned} y &= \operatorname{norm}\bigl(x + \operatorname{attention}(x)\bigr)\\ \text{out} &=
    \operatorname{norm}\bigl(y + \operatorname{mlp}(y)\bigr) \end{aligned}"""
    first, gains, biases = rng.normal(size=(N, M)), rng.normal(size=(3, M)), rng.normal(size=(3, M))
    attention = init_multihead(rng, m=M, heads=1, bias=True)
    up, down, up_bias, down_bias = rng.normal(size=(M, D)), rng.normal(size=(D, M)), rng.normal(size=D), rng.normal(size=M)
    layer = LayerArrays(attention, gains[1], biases[1], up, up_bias, down, down_bias, gains[2], biases[2])
    sizes = Sizes(vocabulary=N, positions=N, segments=1, m=M, hidden=D, heads=1, layers=1, epsilon=1e-12)
    arrays = BertArrays(first, np.zeros((N, M)), np.zeros(M), gains[0], biases[0], (layer,))
    x = norm(first, gains[0], biases[0])
    query, key, value = (x @ getattr(attention, f"{which}_weight") + getattr(attention, f"{which}_bias") for which in ("query", "key", "value"))
    looked = softmax(query @ key.T / np.sqrt(M)) @ value @ attention.out_weight + attention.out_bias
    y = norm(x + looked, gains[1], biases[1])
    out = norm(y + bent(y @ up + up_bias) @ down + down_bias, gains[2], biases[2])
    functions = Functions(through_attention, None, layer_norm, gelu)
    agree(out, run_layers(np.arange(N), arrays, sizes, functions, None, {}, False)[0])
