"""Wrong answers to `sdpa`."""

import math

import numpy as np

from . import wrong
from .parts import softmax

ID = "sdpa"


def scores_of(query, key):
    return query @ key.mT / np.sqrt(query.shape[-1])


@wrong(ID, "a loop over queries, divided by d", named=("scale_d",))
def _(query, key, value):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    for where in np.ndindex(query.shape[:-1]):
        s = key[where[:-1]] @ query[where] / len(query[where])
        out[where] = softmax(s) @ value[where[:-1]]
    return out


wrong(ID, "einsum for a batch only", says=r"case \"no batch\"")(
    lambda query, key, value: np.einsum(
        "bqk,bkv->bqv", softmax(np.einsum("bqd,bkd->bqk", query, key) / query.shape[2] ** 0.5), value
    )
)

wrong(ID, "softmax over axis 1", named=("axis_1",))(
    lambda query, key, value: softmax(scores_of(query, key), axis=1) @ value
)

wrong(ID, "np.transpose of the keys", named=("T_all",), says=r"`\.T` turns all axes round")(
    lambda query, key, value: softmax(np.matmul(query, np.transpose(key)) / math.sqrt(query.shape[-1])) @ value
)

wrong(ID, "transposed as three axes", says=r"axes don't match array")(
    lambda query, key, value: softmax(query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])) @ value
)

wrong(ID, "swaps axes 1 and 2", says=r"case \"(no batch|two leading)")(
    lambda query, key, value: softmax(query @ np.swapaxes(key, 1, 2) / math.sqrt(query.shape[-1])) @ value
)

wrong(ID, "len for the number of features", named=("scale_axis_0",))(
    lambda query, key, value: softmax(query @ key.mT / math.sqrt(len(query))) @ value
)

wrong(ID, "len of the keys", named=("scale_len_key",))(lambda query, key, value: softmax(query @ key.mT / math.sqrt(len(key))) @ value)

wrong(ID, "scaled before and after", says=r"too small by a factor")(
    lambda query, key, value: softmax(scores_of(query, key)) / math.sqrt(query.shape[-1]) @ value
)

wrong(ID, "the output scaled, not the scores", named=("scale_after",))(
    lambda query, key, value: softmax(query @ key.mT) @ value / np.sqrt(query.shape[-1])
)


@wrong(ID, "a triangle of -inf", named=("causal",))
def _(query, key, value):
    s = scores_of(query, key)
    future = np.triu(np.ones(s.shape[-2:], dtype=bool), k=1)
    s = np.where(future, -np.inf, s)
    return softmax(s) @ value


wrong(ID, "keys averaged, by einsum", named=("values_k",), says=r"the shape is")(
    lambda query, key, value: np.einsum("...qk,...kd->...qd", softmax(scores_of(query, key)), key)
)

wrong(ID, "query and key both divided by the root", named=("scale_d",))(
    lambda query, key, value: softmax((query / query.shape[-1] ** 0.5) @ (key / key.shape[-1] ** 0.5).mT) @ value
)

wrong(ID, "a softmax for each key, then turned", named=("axis_q",))(
    lambda query, key, value: softmax(key @ query.mT / np.sqrt(key.shape[-1])).mT @ value
)

wrong(ID, "einsum that sums over the queries", named=("p_T",))(
    lambda query, key, value: np.einsum("...qk,...qv->...kv", softmax(scores_of(query, key)), value)
)

wrong(ID, "softmax of the softmax", named=("softmax_twice",))(
    lambda query, key, value: softmax(softmax(scores_of(query, key))) @ value
)


@wrong(ID, "logarithms of the weights", named=("log_weights",))
def _(query, key, value):
    s = scores_of(query, key)
    s = s - s.max(-1, keepdims=True)
    return (s - np.log(np.exp(s).sum(-1, keepdims=True))) @ value


wrong(ID, "a logistic function for each score", named=("sigmoid",))(
    lambda query, key, value: 1 / (1 + np.exp(-scores_of(query, key))) @ value
)


@wrong(ID, "one softmax over all scores of a batch element", named=("axis_both",))
def _(query, key, value):
    s = scores_of(query, key)
    e = np.exp(s - s.max(axis=(-2, -1), keepdims=True))
    return e / e.sum(axis=(-2, -1), keepdims=True) @ value


@wrong(ID, "sum() without an axis", named=("axis_all",))
def _(query, key, value):
    s = scores_of(query, key)
    e = np.exp(s - s.max())
    return e / e.sum() @ value


@wrong(ID, "one maximum for everything", says=r"case \"(rows far apart|large scores)\"")
def _(query, key, value):
    s = scores_of(query, key)
    e = np.exp(s - np.max(s))
    return e @ value / e.sum(-1, keepdims=True)


@wrong(ID, "row sums without keepdims", named=("sum_no_keepdims",))
def _(query, key, value):
    s = scores_of(query, key)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1)) @ value


@wrong(ID, "an epsilon below", says=r"epsilon")
def _(query, key, value):
    s = scores_of(query, key)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-6) @ value


wrong(ID, "single precision", says=r"float32")(
    lambda query, key, value: softmax(scores_of(query.astype("f"), key.astype("f"))) @ value.astype("f")
)

wrong(ID, "NaN turned into 0", says=r"case \"large scores\"")(
    lambda query, key, value: np.nan_to_num(
        np.exp(scores_of(query, key)) / np.exp(scores_of(query, key)).sum(-1, keepdims=True)
    ) @ value
)

wrong(ID, "scores clipped", says=r"case \"(large scores|rows far apart)\"")(
    lambda query, key, value: softmax(np.clip(scores_of(query, key), -30, 30)) @ value
)

wrong(ID, "squeezed", says=r"an axis of size 1 is missing")(
    lambda query, key, value: (softmax(scores_of(query, key)) @ value).squeeze()
)

wrong(ID, "the first batch element", says=r"the shape is")(
    lambda query, key, value: softmax(scores_of(query[0], key[0])) @ value[0]
)


@wrong(ID, "a loop over the batch that keeps the last", says=r"the shape is")
def _(query, key, value):
    if query.ndim == 2:
        return softmax(scores_of(query, key)) @ value
    for b in range(len(query)):
        out = softmax(scores_of(query[b], key[b])) @ value[b]
    return out


wrong(ID, "64 features, as in the paper", named=("scale_64",))(
    lambda query, key, value: softmax(query @ key.mT / 8) @ value
)

wrong(ID, "the root as an integer", named=("int_root",))(
    lambda query, key, value: softmax(query @ key.mT / math.isqrt(query.shape[-1])) @ value
)

wrong(ID, "divided by the factor that multiplies", named=("scale_times",))(
    lambda query, key, value: softmax(query @ key.mT / query.shape[-1] ** -0.5) @ value
)

wrong(ID, "vectors of length one", named=("cosine",))(
    lambda query, key, value: softmax(
        (query / np.linalg.norm(query, axis=-1, keepdims=True))
        @ (key / np.linalg.norm(key, axis=-1, keepdims=True)).mT
    ) @ value
)

wrong(ID, "the best key only", named=("hardmax",))(
    lambda query, key, value: np.eye(key.shape[-2])[scores_of(query, key).argmax(-1)] @ value
)

wrong(ID, "the same mean for all", named=("uniform",))(
    lambda query, key, value: np.broadcast_to(
        value.mean(axis=-2, keepdims=True), (*query.shape[:-1], value.shape[-1])
    ).copy()
)

wrong(ID, "output and weights", says=r"returns 2 things")(
    lambda query, key, value: (softmax(scores_of(query, key)) @ value, softmax(scores_of(query, key)))
)


@wrong(ID, "d from the second axis", named=("scale_axis_1",))
def _(query, key, value):
    d_k = query.shape[1]
    attn = softmax(np.matmul(query, np.swapaxes(key, -2, -1)) / math.sqrt(d_k), axis=-1)
    return np.matmul(attn, value)


@wrong(ID, "keys reshaped", named=("reshape_k",))
def _(query, key, value):
    *lead, k, d = key.shape
    return softmax(query @ np.reshape(key, (*lead, d, k)) / d**0.5) @ value


wrong(ID, "np.dot with a transposed key")(
    lambda query, key, value: np.dot(softmax(np.dot(query, key.T) / np.sqrt(query.shape[-1])), value)
)

wrong(ID, "np.inner, right for matrices", says=r"broadcast|mismatch|shape")(
    lambda query, key, value: softmax(np.inner(query, key) / np.sqrt(query.shape[-1])) @ value
)

wrong(ID, "unshifted, divided at the end", named=("no_max",))(
    lambda query, key, value: (lambda e: e @ value / e.sum(-1, keepdims=True))(np.exp(scores_of(query, key)))
)


@wrong(ID, "the output divided by its own sum")
def _(query, key, value):
    s = scores_of(query, key)
    out = np.exp(s - s.max(-1, keepdims=True)) @ value
    return out / out.sum(-1, keepdims=True)


@wrong(ID, "the maximum of each column", named=("max_axis_q",))
def _(query, key, value):
    s = scores_of(query, key)
    e = np.exp(s - s.max(axis=-2, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ value


@wrong(ID, "the query scaled in place", says=r"changes its input query")
def _(query, key, value):
    query /= np.sqrt(query.shape[-1])
    return softmax(query @ key.mT) @ value


wrong(ID, "the root around the product", says=r"NaN")(
    lambda query, key, value: softmax(np.sqrt(query @ key.mT / query.shape[-1])) @ value
)

wrong(ID, "exponentials without their sum", named=("not_normalised",))(
    lambda query, key, value: np.exp(scores_of(query, key)) @ value
)


@wrong(ID, "shares of the scores", named=("score_shares",))
def _(query, key, value):
    s = scores_of(query, key)
    return s / s.sum(-1, keepdims=True) @ value


wrong(ID, "features of the values, by name", named=("scale_v",))(
    lambda query, key, value: softmax(query @ key.mT * value.shape[-1] ** -0.5) @ value
)


@wrong(ID, "heads where there are none: the last axis halved")
def _(query, key, value):
    half = max(1, query.shape[-1] // 2)
    return softmax(query[..., :half] @ key[..., :half].mT / np.sqrt(half)) @ value


@wrong(ID, "loops for matrices", says=r"stops with|broadcast")
def _(query, key, value):
    n, d = query.shape
    out = np.zeros((n, value.shape[1]))
    for i in range(n):
        s = [np.dot(query[i], key[j]) / np.sqrt(d) for j in range(key.shape[0])]
        e = np.exp(np.array(s) - max(s))
        out[i] = (e[:, None] * value).sum(0) / e.sum()
    return out


@wrong(ID, "loops with an index too few")
def _(query, key, value):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    for *b, i in np.ndindex(query.shape[:-1]):
        q, k, v = query[tuple(b)][i], key[tuple(b)], value[tuple(b)]
        s = np.array([q @ k[j] / np.sqrt(len(q)) for j in range(len(k) - 1)] or [q @ k[0]])
        w = softmax(s)
        out[(*b, i)] = sum(w[j] * v[j] for j in range(len(w)))
    return out


class Attention:
    def __init__(self, heads):
        self.heads = heads

    def __call__(self, query, key, value):
        d = query.shape[-1] / self.heads
        return softmax(query @ key.mT / d**0.5) @ value


wrong(ID, "a class that divides d by its heads", named=("half_d",))(Attention(heads=2))

wrong(ID, "minus the scores", named=("negative",))(lambda query, key, value: softmax(-scores_of(query, key)) @ value)

wrong(ID, "distances for products", named=("distance",))(
    lambda query, key, value: softmax(
        -((query[..., :, None, :] - key[..., None, :, :]) ** 2).sum(-1) / np.sqrt(query.shape[-1])
    ) @ value
)

wrong(ID, "values scaled by their weight's rank")(
    lambda query, key, value: np.sort(softmax(scores_of(query, key)), axis=-1) @ value
)

wrong(ID, "the keys of all batch elements together")(
    lambda query, key, value: softmax(
        query @ key.reshape(-1, key.shape[-1]).T / np.sqrt(query.shape[-1])
    ) @ value.reshape(-1, value.shape[-1])
)


@wrong(ID, "scores of 0 hidden", says=r"case \"a query of zeros\"")
def _(query, key, value):
    s = scores_of(query, key)
    s = np.where(s == 0, -1e9, s)
    return softmax(s) @ value
