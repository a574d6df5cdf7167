"""Wrong answers to `distance_attention`."""

import math

import numpy as np

from . import wrong
from .parts import softmax

ID = "distance_attention"


def squared(query, key):
    return ((query[:, None] - key) ** 2).sum(-1)


wrong(ID, "the query's own length for the key's", named=("same_for_all",))(
    lambda query, key, value: softmax(query @ key.T - (query**2).sum(1, keepdims=True) / 2) @ value
)

wrong(ID, "city-block distance", named=("city_block",))(
    lambda query, key, value: softmax(-np.abs(query[:, None] - key).sum(-1)) @ value
)

wrong(ID, "the whole squared distance, from all differences", named=("not_halved",))(
    lambda query, key, value: softmax(-squared(query, key)) @ value
)


@wrong(ID, "a loop with the length of the difference", named=("root_of_distance",))
def _(query, key, value):
    out = []
    for q in query:
        s = np.array([-np.linalg.norm(q - k) for k in key])
        e = np.exp(s - s.max())
        out.append(sum(w * v for w, v in zip(e / e.sum(), value)))
    return np.array(out)


wrong(ID, "half the distance, not half its square", named=("half_distance",))(
    lambda query, key, value: softmax(-np.sqrt(squared(query, key)) / 2) @ value
)

wrong(ID, "the root of d on top, from all differences", named=("root_d",))(
    lambda query, key, value: softmax(-squared(query, key) / 2 / np.sqrt(query.shape[1])) @ value
)

wrong(ID, "kernels, not normalised", named=("not_normalised",))(
    lambda query, key, value: np.exp(-squared(query, key) / 2) @ value
)

wrong(ID, "normalised over the queries", named=("axis_queries",))(
    lambda query, key, value: softmax(-squared(query, key) / 2, axis=0) @ value
)

wrong(ID, "the mean of the squared differences", named=("mean_distance",))(
    lambda query, key, value: softmax(-np.mean((query[:, None] - key[None]) ** 2, axis=2) / 2) @ value
)

wrong(ID, "the farthest first", named=("far",))(lambda query, key, value: softmax(squared(query, key) / 2) @ value)


@wrong(ID, "one over the distance")
def _(query, key, value):
    w = 1 / np.sqrt(squared(query, key))
    return w / w.sum(1, keepdims=True) @ value


wrong(ID, "the nearest key only", named=("nearest",))(
    lambda query, key, value: value[squared(query, key).argmin(axis=1)]
)


@wrong(ID, "the two new features exchanged", named=("same_for_all",))
def _(query, key, value):
    q = np.hstack([query, -(query**2).sum(1, keepdims=True) / 2])
    k = np.hstack([key, np.ones((len(key), 1))])
    return softmax(q @ k.T) @ value


@wrong(ID, "the length of each key, with concatenate", named=("length",))
def _(query, key, value):
    norm = np.linalg.norm(key, axis=1, keepdims=True)
    k = np.concatenate((key, -norm / 2), axis=-1)
    q = np.concatenate((query, np.ones_like(query[:, :1])), axis=-1)
    return softmax(q @ k.T) @ value


@wrong(ID, "only the key grows")
def _(query, key, value):
    k = np.c_[key, -0.5 * (key**2).sum(1)]
    return softmax(query @ k.T) @ value


wrong(ID, "zeros in the query's new feature", named=("same_for_all",))(
    lambda query, key, value: softmax(
        np.c_[query, np.zeros(len(query))] @ np.c_[key, -0.5 * (key**2).sum(1)].T
    ) @ value
)


@wrong(ID, "squares added over the keys", says=r"")
def _(query, key, value):
    feature = -(key**2).sum(axis=0) / 2
    return softmax(query @ key.T + feature) @ value


wrong(ID, "np.exp without any shift", named=("no_max",))(
    lambda query, key, value: (lambda e: (e @ value) / e.sum(1)[:, None])(
        np.exp(np.einsum("id,jd->ij", query, key) - 0.5 * np.einsum("jd,jd->j", key, key))
    )
)

wrong(ID, "the kernel itself, which underflows", says=r"case \"keys far apart\": NaN|NaN")(
    lambda query, key, value: (lambda w: w / w.sum(1, keepdims=True))(np.exp(-squared(query, key + 100) / 2)) @ value
)


@wrong(ID, "an expansion with plus twice", named=("sum_for_difference",))
def _(query, key, value):
    q2, k2 = (query**2).sum(1)[:, None], (key**2).sum(1)[None]
    return softmax(-(q2 + 2 * query @ key.T + k2) / 2) @ value


@wrong(ID, "an expansion without the two", named=("no_two",))
def _(query, key, value):
    q2, k2 = (query**2).sum(1)[:, None], (key**2).sum(1)[None]
    return softmax(-(q2 - query @ key.T + k2) / 2) @ value


@wrong(ID, "an expansion, not halved", named=("not_halved",))
def _(query, key, value):
    q2, k2 = np.square(query).sum(1, keepdims=True), np.square(key).sum(1)
    d2 = q2 - 2 * query.dot(key.T) + k2
    d2 -= d2.min(1, keepdims=True)
    w = np.exp(-d2)
    return w.dot(value) / w.sum(1, keepdims=True)


wrong(ID, "the difference of arrays as they are", says=r"broadcast")(
    lambda query, key, value: softmax(-((query - key) ** 2) / 2) @ value
)

wrong(ID, "the keys averaged", says=r"the shape is")(
    lambda query, key, value: softmax(-squared(query, key) / 2) @ key
)

wrong(ID, "the weights themselves", says=r"the shape is")(
    lambda query, key, value: softmax(-squared(query, key) / 2)
)

wrong(ID, "cosines", named=("cosine",))(
    lambda query, key, value: softmax(
        (query / np.linalg.norm(query, axis=1, keepdims=True)) @ (key / np.linalg.norm(key, axis=1, keepdims=True)).T
    ) @ value
)

wrong(ID, "single precision", says=r"float32")(
    lambda query, key, value: softmax(-squared(query.astype("f"), key.astype("f")) / 2) @ value.astype("f")
)


@wrong(ID, "an epsilon below", says=r"epsilon")
def _(query, key, value):
    s = -squared(query, key) / 2
    e = np.exp(s - s.max(1, keepdims=True))
    return e @ value / (e.sum(1, keepdims=True) + 1e-6)


@wrong(ID, "one maximum for all queries", says=r"case \"keys far apart\"")
def _(query, key, value):
    s = query @ key.T - (key**2).sum(1) / 2
    e = np.exp(s - s.max())
    return e @ value / e.sum(1, keepdims=True)


wrong(ID, "squeezed", says=r"an axis of size 1 is missing")(
    lambda query, key, value: np.squeeze(softmax(-squared(query, key) / 2) @ value)
)

wrong(ID, "halved twice", named=("halved_twice",))(lambda query, key, value: softmax(-squared(query, key) / 4) @ value)


@wrong(ID, "a minus in both new features", named=("sign",))
def _(query, key, value):
    q = np.column_stack([query, -np.ones(len(query))])
    k = np.column_stack([key, -(key**2).sum(axis=1) / 2])
    return softmax(np.inner(q, k)) @ value


@wrong(ID, "one half on each side of the product", named=("quarter_key",))
def _(query, key, value):
    q = np.column_stack([query, np.full(len(query), 0.5)])
    k = np.column_stack([key, -(key**2).sum(axis=1) / 2])
    return softmax(q @ k.T) @ value


wrong(ID, "concatenated below, not beside", says=r"stops with ValueError")(
    lambda query, key, value: softmax(
        np.concatenate([query, np.ones((len(query), 1))]) @ np.concatenate([key, -(key**2).sum(1, keepdims=True) / 2]).T
    ) @ value
)


@wrong(ID, "keys taken in the order of the queries")
def _(query, key, value):
    out = np.zeros((len(query), value.shape[1]))
    for i in range(len(query)):
        s = -((query[i % len(query)] - key) ** 2).sum() / 2 * np.ones(len(key))
        out[i] = softmax(s) @ value
    return out


@wrong(ID, "plain attention, as before", named=("same_for_all", "root_d"))
def _(query, key, value):
    return softmax(query @ key.T / math.sqrt(query.shape[-1])) @ value


wrong(ID, "the largest entry of each key", named=("largest_entry",))(
    lambda query, key, value: softmax(query @ key.T - (key**2).max(axis=1) / 2) @ value
)

wrong(ID, "the product of the lengths subtracted", named=("halved_twice", "lengths_multiplied"))(
    lambda query, key, value: softmax(
        query @ key.T - np.outer(np.linalg.norm(query, axis=1), np.linalg.norm(key, axis=1)) / 2
    ) @ value
)


@wrong(ID, "a key at the query's own place is left out", says=r"case \"keys where the queries are\"")
def _(query, key, value):
    d2 = squared(query, key)
    s = np.where(d2 == 0, -1e9, -d2 / 2)
    return softmax(s) @ value


@wrong(ID, "one over the squared distance where the exponential is small",
    says=r"case \"keys (far apart|where the queries are)\"")
def _(query, key, value):
    w = np.exp(-squared(query, key) / 2)
    w = np.where(w > 1e-12, w, 1e-12)
    return w @ value / w.sum(1, keepdims=True)
