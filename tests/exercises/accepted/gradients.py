"""Other right ways to write the functions of the chapter on gradients."""

import math

import numpy as np

from attnexercises.softmax.stable import plain_softmax

# --- sdpa_backward --------------------------------------------------------------------------------


def backward_in_loops(d_out, query, key, value):
    """One pair of query and key at a time."""
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    c = 1 / math.sqrt(query.shape[-1])
    for *lead, i in np.ndindex(query.shape[:-1]):
        lead = tuple(lead)
        weights = plain_softmax(np.array([c * sum(query[lead][i] * found) for found in key[lead]]))
        d_weights = [sum(d_out[lead][i] * row) for row in value[lead]]
        mean = sum(p * g for p, g in zip(weights, d_weights))
        for j, p in enumerate(weights):
            d_score = c * p * (d_weights[j] - mean)
            d_query[lead][i] += d_score * key[lead][j]
            d_key[lead][j] += d_score * query[lead][i]
            d_value[lead][j] += p * d_out[lead][i]
    return d_query, d_key, d_value


def backward_by_einsum(d_out, query, key, value):
    c = query.shape[-1] ** -0.5
    weights = plain_softmax(np.einsum("...qd,...kd->...qk", query, key) * c)
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    d_scores = c * weights * (d_weights - np.einsum("...qk,...qk->...q", weights, d_weights)[..., None])
    d_query = np.einsum("...qk,...kd->...qd", d_scores, key)
    return d_query, np.einsum("...qk,...qd->...kd", d_scores, query), np.einsum("...qk,...qv->...kv", weights, d_out)


def backward_by_tensordot(d_out, query, key, value):
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    c = query.shape[-1] ** -0.5
    for lead in np.ndindex(query.shape[:-2]):
        weights = plain_softmax(c * np.tensordot(query[lead], key[lead], axes=([1], [1])))
        d_weights = np.tensordot(d_out[lead], value[lead], axes=([1], [1]))
        d_scores = c * weights * (d_weights - (weights * d_weights).sum(axis=1, keepdims=True))
        d_query[lead] = np.tensordot(d_scores, key[lead], axes=([1], [0]))
        d_key[lead] = np.tensordot(d_scores, query[lead], axes=([0], [0]))
        d_value[lead] = np.tensordot(weights, d_out[lead], axes=([0], [0]))
    return d_query, d_key, d_value


def backward_by_where(d_out, query, key, value):
    """The entries of each row's Jacobian: p (1 - p) on the diagonal, - p p' beside it."""
    c = 1 / math.sqrt(query.shape[-1])
    weights = plain_softmax(c * query @ key.mT)
    here, there = weights[..., :, None], weights[..., None, :]
    jacobian = np.where(np.eye(weights.shape[-1], dtype=bool), here * (1 - there), -here * there)
    d_scores = c * (jacobian @ (d_out @ value.mT)[..., None])[..., 0]
    return d_scores @ key, d_scores.mT @ query, weights.mT @ d_out


# --- additive_backward ----------------------------------------------------------------------------


def additive_in_loops(d_out, query, key, value, w):
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    d_w = np.zeros(w.shape)
    for *lead, i in np.ndindex(query.shape[:-1]):
        lead = tuple(lead)
        matches = [np.tanh(query[lead][i] + found) for found in key[lead]]
        weights = plain_softmax(np.array([sum(match * w) for match in matches]))
        d_weights = [sum(d_out[lead][i] * row) for row in value[lead]]
        mean = sum(p * g for p, g in zip(weights, d_weights))
        for j, (p, match) in enumerate(zip(weights, matches)):
            d_score = p * (d_weights[j] - mean)
            d_sum = d_score * w * (1 - match**2)
            d_w += d_score * match
            d_query[lead][i] += d_sum
            d_key[lead][j] += d_sum
            d_value[lead][j] += p * d_out[lead][i]
    return d_query, d_key, d_value, d_w


def additive_by_einsum(d_out, query, key, value, w):
    match = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    weights = plain_softmax(np.einsum("...qkd,d->...qk", match, w))
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    d_scores = weights * (d_weights - np.einsum("...qk,...qk->...q", weights, d_weights)[..., None])
    d_sum = np.einsum("...qk,d,...qkd->...qkd", d_scores, w, 1 - match * match)
    d_w = np.einsum("...qk,...qkd->...d", d_scores, match).reshape(-1, len(w)).sum(axis=0)
    return d_sum.sum(axis=-2), d_sum.sum(axis=-3), np.einsum("...qk,...qv->...kv", weights, d_out), d_w


def additive_by_tensordot(d_out, query, key, value, w):
    match = np.tanh(np.expand_dims(query, -2) + np.expand_dims(key, -3))
    weights = plain_softmax(np.tensordot(match, w, axes=([-1], [0])))
    d_weights = d_out @ value.mT
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_w = np.tensordot(d_scores, match, axes=d_scores.ndim)
    d_sum = np.tensordot(d_scores, w, axes=0) * (1 - match**2)
    return d_sum.sum(axis=-2), d_sum.sum(axis=-3), weights.mT @ d_out, d_w


def additive_by_where(d_out, query, key, value, w):
    match = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    weights = plain_softmax(match @ w)
    here, there = weights[..., :, None], weights[..., None, :]
    jacobian = np.where(np.eye(weights.shape[-1], dtype=bool), here * (1 - there), -here * there)
    d_scores = (jacobian * (d_out @ value.mT)[..., None, :]).sum(axis=-1)[..., None]
    d_sum = d_scores * w * (1 - match**2)
    d_w = (d_scores * match).reshape(-1, len(w)).sum(axis=0)
    return d_sum.sum(axis=-2), d_sum.sum(axis=-3), weights.mT @ d_out, d_w


def _through_jacobian(d_out, query, key, value):
    weights = plain_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    jacobian = weights[..., :, None] * (np.eye(weights.shape[-1]) - weights[..., None, :])
    d_scores = np.einsum("...qj,...qjk->...qk", d_weights, jacobian) / math.sqrt(query.shape[-1])
    d_query = np.einsum("...qk,...kd->...qd", d_scores, key)
    d_key = np.einsum("...qk,...qd->...kd", d_scores, query)
    return d_query, d_key, np.einsum("...qk,...qv->...kv", weights, d_out)


def _mean_from_the_output(d_out, query, key, value):
    weights = plain_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
    row_mean = (d_out * (weights @ value)).sum(axis=-1, keepdims=True)
    d_scores = weights * (d_out @ value.mT - row_mean) / math.sqrt(query.shape[-1])
    return d_scores @ key, d_scores.mT @ query, weights.mT @ d_out


def _with_a_column(d_out, query, key, value, w):
    """w as a column, the row mean from the output, the slope of tanh from its other form."""
    total = query[..., :, None, :] + key[..., None, :, :]
    scores = (np.tanh(total) @ w[:, None])[..., 0]
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    row_mean = np.sum(d_out * (weights @ value), axis=-1, keepdims=True)
    d_scores = (weights * (d_out @ value.mT - row_mean))[..., None]
    d_sum = d_scores * w / np.cosh(total) ** 2
    d_w = (d_scores * np.tanh(total)).reshape(-1, len(w)).sum(axis=0)
    return np.einsum("...qkd->...qd", d_sum), np.einsum("...qkd->...kd", d_sum), weights.mT @ d_out, d_w


ACCEPTED = {
    "sdpa_backward": {
        "the whole Jacobian": _through_jacobian,
        "row mean from the output": _mean_from_the_output,
        "loops": backward_in_loops,
        "einsum": backward_by_einsum,
        "tensordot": backward_by_tensordot,
        "where": backward_by_where,
    },
    "additive_backward": {
        "w as a column, row mean from the output": _with_a_column,
        "loops": additive_in_loops,
        "einsum": additive_by_einsum,
        "tensordot": additive_by_tensordot,
        "where": additive_by_where,
    },
}
