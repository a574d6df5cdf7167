"""Other right ways to write the exercise on the forward of Flash attention: the checks must accept them."""

import math

import numpy as np


def queries_in_tiles_too(query, key, value, block, causal):
    out, logsumexp = np.zeros((len(query), value.shape[1])), np.full(len(query), -np.inf)
    offset = len(key) - len(query)
    for top in range(0, len(query), block):
        rows = slice(top, min(top + block, len(query)))
        n = rows.stop - top
        state = np.zeros((n, value.shape[1])), np.full(n, -np.inf), np.zeros(n)
        for start in range(0, len(key), block):
            if causal and start > rows.stop - 1 + offset:
                break  # every key from here on is hidden from all of these queries
            scores = query[rows] @ key[start : start + block].T / math.sqrt(query.shape[1])
            if causal:
                i, j = np.indices(scores.shape)
                scores[start + j > top + i + offset] = -np.inf
            acc, old, total = state
            new = np.maximum(old, scores.max(axis=1))
            shift = np.where(new == -np.inf, 0, new)
            p, alpha = np.exp(scores - shift[:, None]), np.exp(old - shift)
            state = acc * alpha[:, None] + p @ value[start : start + block], new, total * alpha + p.sum(axis=1)
        acc, maximum, total = state
        out[rows] = acc / np.maximum(total, 1e-300)[:, None]
        logsumexp[rows] = maximum + np.log(np.where(total > 0, total, 1))
    return out, logsumexp


def normalised_at_every_step(query, key, value, block, causal):
    out, logsumexp = np.zeros((len(query), value.shape[1])), np.full(len(query), -np.inf)
    last = np.arange(len(query)) + len(key) - len(query) if causal else np.full(len(query), len(key))
    for start in range(0, len(key), block):
        keys, values = key[start : start + block], value[start : start + block]
        scores = np.einsum("qd,kd->qk", query, keys) * query.shape[1] ** -0.5
        scores[np.arange(start, start + len(keys)) > last[:, None]] = -np.inf
        both = np.logaddexp(logsumexp, np.logaddexp.reduce(scores, axis=1))
        shift = np.where(np.isneginf(both), 0, both)
        weights = np.exp(scores - shift[:, None])
        out, logsumexp = out * np.exp(logsumexp - shift)[:, None] + weights @ values, both
    return out, logsumexp
