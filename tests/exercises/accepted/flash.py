"""Other right ways to solve the exercises on Flash attention."""

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


def one_query_and_block_at_a_time(query, key, value, block, causal):
    rows, logsumexps = [], []
    for i, asked in enumerate(query):
        last = i + len(key) - len(query) if causal else len(key)
        row, top, total = np.zeros(value.shape[1]), -math.inf, 0.0
        for start in range(0, min(len(key), last + 1), block):
            stop = min(start + block, len(key), last + 1)
            scores = key[start:stop] @ asked / math.sqrt(len(asked))
            new = max(top, scores.max())
            old, powers = math.exp(top - new), np.exp(scores - new)
            row, total, top = old * row + powers @ value[start:stop], old * total + powers.sum(), new
        rows.append(row / total if total else row)
        logsumexps.append(top + math.log(total) if total else -math.inf)
    return rows, logsumexps


def forward_by_tensordot(query, key, value, block, causal):
    out, total = np.zeros((len(query), value.shape[1])), np.full((len(query), 1), -np.inf)
    for start in range(0, len(key), block):
        keys, values = key[start : start + block], value[start : start + block]
        scores = np.tensordot(query, keys, axes=([1], [1])) / math.sqrt(query.shape[1])
        i, j = np.indices(scores.shape)
        scores = np.where(causal & (start + j > i + len(key) - len(query)), -np.inf, scores)
        both = np.logaddexp(total, np.logaddexp.reduce(scores, axis=1, keepdims=True))
        shift = np.where(np.isneginf(both), 0, both)
        out = np.exp(total - shift) * out + np.tensordot(np.exp(scores - shift), values, axes=1)
        total = both
    return out, total[:, 0]


def by_the_tile(n, d, capacity):
    block_q = (capacity - 2 * d) // (2 * d + 3)
    starts = range(0, n, block_q)
    return sum(2 * n * d for _ in starts) + n * d + n * (d + 1)


def online_by_einsum(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        new = max(maximum, scores.max())
        if np.isfinite(new):
            total = np.einsum(",->", total, np.exp(maximum - new)) + np.einsum("k->", np.exp(scores - new))
            maximum = new
    return maximum, total


def online_by_tensordot(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        new = np.maximum(maximum, scores.max())
        if new == -np.inf:
            continue
        total = total * np.exp(maximum - new) + np.tensordot(np.exp(scores - new), np.ones(len(scores)), axes=1)
        maximum = new
    return maximum, total


def online_by_where(x, block):
    """A score of -inf is told apart before the exponential, so that no infinity meets another."""
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        new = max(maximum, scores.max())
        shift = np.where(np.isneginf(new), 0.0, new)
        powers = np.where(np.isneginf(scores), 0.0, np.exp(scores - shift))
        maximum, total = new, total * np.exp(maximum - shift) + powers.sum()
    return maximum, total


def _one_score_at_a_time(x, block):
    maximum, total = -math.inf, 0.0
    for score in x:
        if score == -math.inf:
            continue
        if score > maximum:
            maximum, total = score, total * math.exp(maximum - score) + 1.0
        else:
            total += math.exp(score - maximum)
    return maximum, total


def _by_logsumexp(x, block):
    maximum, both = -np.inf, -np.inf
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        maximum, both = np.maximum(maximum, scores.max()), np.logaddexp(both, np.logaddexp.reduce(scores))
    return maximum, np.exp(both - maximum) if maximum > -np.inf else 0.0


def _safe_shift(x, block):
    maximum, total = -np.inf, 0.0
    for part in np.split(x, range(block, len(x), block)):
        new_maximum = np.maximum(maximum, part.max())
        shift = 0.0 if np.isneginf(new_maximum) else new_maximum
        total = total * np.exp(maximum - shift) + np.exp(part - shift).sum()
        maximum = new_maximum
    return maximum, total


ACCEPTED = {
    "online_softmax": {
        "loops": _one_score_at_a_time,
        "by logsumexp": _by_logsumexp,
        "safe shift": _safe_shift,
        "einsum": online_by_einsum,
        "tensordot": online_by_tensordot,
        "where": online_by_where,
    },
    "flash_forward": {
        "queries in tiles, too": queries_in_tiles_too,
        "loops": one_query_and_block_at_a_time,
        "einsum": normalised_at_every_step,
        "tensordot": forward_by_tensordot,
    },
    "flash_traffic": {"loops": by_the_tile},
}
