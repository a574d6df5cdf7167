"""The mistakes that come first, each written in another way than the exercise knows it."""

import math

import numpy as np

from . import wrong
from .parts import softmax

# --- prerequisites --------------------------------------------------------------------------------

wrong("delta_sum", "the sum of g", named=("only_g",))(1 + 10 + 100)
wrong("delta_sum", "row 0 of A with g", named=("row_0",))(int(np.dot([1, 2, 3], [1, 10, 100])))
wrong("delta_sum", "column 0 of A with g", named=("column_0",))(1 + 40 + 700)
wrong("vjp_cost", "a row of 300 for both", named=("row_not_changed",))(270_000)
wrong("variance_of_sum", "the variance of a product, halved", named=("halved",))(2.0)


@wrong("linear_backward", "columns overwritten, and rows added", named=("dx_last",))
def _(d_out, x, weight):
    d_x = np.zeros_like(x)
    for j in range(weight.shape[1]):
        d_x = d_out[:, j][:, None] * weight[:, j]
    return d_x, x.T @ d_out


@wrong("linear_backward", "the outer product of the first token", named=("dw_first_row",))
def _(d_out, x, weight):
    return np.einsum("ij,fj->if", d_out, weight), x[:1].T @ d_out[:1]


@wrong("used_twice", "A transposed on the path on which it is not", named=("a_turned",))
def _(d_out, x, a):
    return (d_out + d_out.T) @ x @ a.T


@wrong("used_twice", "A transposed on the second path alone", named=("a_exchanged",))
def _(d_out, x, a):
    left = np.dot(d_out, np.dot(x, a))
    right = np.dot(d_out.T, np.dot(x, a.T))
    return left + right


# --- softmax --------------------------------------------------------------------------------------


@wrong("softmax", "2**x", named=("base_2",))
def _(x):
    powers = 2.0 ** (x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@wrong("softmax", "divided by the sum of x", named=("over_scores",))
def _(x):
    e = np.exp(x - x.max(-1)[..., None])
    return e / np.sum(x, axis=-1)[..., None]


@wrong("softmax_backward", "the weight in front twice", named=("weight_squared",))
def _(d_weights, weights):
    inner = weights * d_weights
    inner = inner - weights * inner.sum(-1)[..., None]
    return weights * inner


@wrong("softmax_backward", "divided by the number of keys", named=("row_total",), says=r"too small by a factor of")
def _(d_weights, weights):
    g = weights * d_weights
    return (g - weights * g.sum(-1, keepdims=True)) / np.shape(weights)[-1]


def through(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return p * (d_weights - (p * d_weights).sum(-1, keepdims=True))


@wrong("temperature_gradient", "no power of T", named=("no_power",))
def _(d_weights, scores, temperature):
    return -np.vdot(through(d_weights, scores, temperature), scores)


@wrong("temperature_gradient", "one mean for all rows", named=("one_axis",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return -np.sum(p * (d_weights - np.sum(p * d_weights)) * scores) / temperature**2


@wrong("temperature_gradient", "p (1 - p), and no upstream", named=("no_upstream",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    return -((p - p**2) * scores).sum() / temperature / temperature


# --- attention ------------------------------------------------------------------------------------

wrong("two_token_weight", "in percent", named=("percent",))(100 / (1 + math.exp(-(3**-0.5))))
wrong("two_token_weight", "times the root of 3", named=("times_root",))(0.8497)


@wrong("sdpa", "d + 1 under the root", named=("scale_one_more",))
def _(query, key, value):
    d = query.shape[-1] + 1
    return softmax(np.einsum("...qd,...kd->...qk", query, key) * d**-0.5) @ value


@wrong("sdpa", "d - 1 under the root, as for a variance", named=("scale_one_less",))
def _(query, key, value):
    d = query.shape[-1]
    return softmax(query @ np.swapaxes(key, -1, -2) / math.sqrt(d - 1 if d > 1 else 1)) @ value


@wrong("distance_attention", "the root of the longer vectors", named=("root_d_plus",))
def _(query, key, value):
    q = np.c_[query, np.ones(len(query))]
    k = np.c_[key, -0.5 * (key * key).sum(1)]
    return softmax(q @ k.T / math.sqrt(q.shape[1])) @ value
