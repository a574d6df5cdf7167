"""Other right ways to write the functions of the chapter on attention."""

import math

import numpy as np

from attnexercises.softmax.stable import plain_softmax


def distance_in_loops(query, key, value):
    out = []
    for asked in query:
        scores = np.array([-0.5 * sum((a - b) ** 2 for a, b in zip(asked, found)) for found in key])
        out.append(sum(weight * row for weight, row in zip(plain_softmax(scores), value)))
    return np.array(out)


def distance_by_einsum(query, key, value):
    scores = np.einsum("qd,kd->qk", query, key) - np.einsum("kd,kd->k", key, key) / 2
    return np.einsum("qk,kv->qv", plain_softmax(scores), value)


def distance_by_tensordot(query, key, value):
    squares = np.square(key).sum(axis=1)
    scores = np.tensordot(query, key, axes=([1], [1])) - squares / 2
    return np.tensordot(plain_softmax(scores), value, axes=1)


def sdpa_in_loops(query, key, value):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    for *lead, i in np.ndindex(query.shape[:-1]):
        lead = tuple(lead)
        scores = [sum(a * b for a, b in zip(query[lead][i], found)) / math.sqrt(len(found)) for found in key[lead]]
        powers = [math.exp(score - max(scores)) for score in scores]
        for power, row in zip(powers, value[lead]):
            out[lead][i] += power / sum(powers) * row
    return out


def sdpa_by_tensordot(query, key, value):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    for lead in np.ndindex(query.shape[:-2]):
        scores = np.tensordot(query[lead], key[lead], axes=([1], [1])) * query.shape[-1] ** -0.5
        out[lead] = np.tensordot(plain_softmax(scores), value[lead], axes=1)
    return out


def sdpa_by_logsumexp(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)) @ value


def _one_query(query, key, value):
    weights = plain_softmax((key @ query[..., None])[..., 0] / math.sqrt(query.shape[-1]))
    return (weights[..., None, :] @ value)[..., 0, :]


def _weighted(scores, value):
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True) @ value


ACCEPTED = {
    "distance_attention": {
        "all differences": lambda query, key, value: _weighted(
            -((query[:, np.newaxis] - key) ** 2).sum(axis=2) / 2, value
        ),
        "with the query's length": lambda query, key, value: _weighted(
            query @ key.T - (query**2).sum(axis=1, keepdims=True) / 2 - (key**2).sum(axis=1) / 2, value
        ),
        "the minus in the query": lambda query, key, value: _weighted(
            np.hstack([query, np.full((len(query), 1), -0.5)]) @ np.vstack([key.T, np.square(key.T).sum(axis=0)]),
            value,
        ),
        "loops": distance_in_loops,
        "einsum": distance_by_einsum,
        "tensordot": distance_by_tensordot,
    },
    "sdpa": {
        "loop over queries": lambda query, key, value: np.stack(
            [_one_query(query[..., i, :], key, value) for i in range(query.shape[-2])], axis=-2
        ),
        "einsum": lambda query, key, value: np.einsum(
            "...qk,...kv->...qv",
            plain_softmax(np.einsum("...qd,...kd->...qk", query, key) / np.sqrt(query.shape[-1])),
            value,
        ),
        "query scaled first": lambda query, key, value: (
            plain_softmax((query / query.shape[-1] ** 0.5) @ key.swapaxes(-1, -2)) @ value
        ),
        "loops": sdpa_in_loops,
        "tensordot": sdpa_by_tensordot,
        "logaddexp": sdpa_by_logsumexp,
    },
}  # fmt: skip
