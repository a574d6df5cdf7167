"""Other right ways to solve the exercises on recomputing the weights."""

import math

import numpy as np

from attnexercises.softmax.stable import plain_softmax

# --- flash_backward -------------------------------------------------------------------------------


def keys_outside(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    scaled = query * query.shape[1] ** -0.5
    row_mean = np.einsum("qv,qv->q", d_out, out)
    d_query, parts = np.zeros(query.shape), []
    last = np.arange(len(query)) + len(key) - len(query) if causal else np.full(len(query), len(key))
    for start in range(0, len(key), block_k):
        keys, values = key[start : start + block_k], value[start : start + block_k]
        d_keys, d_values = np.zeros(keys.shape), np.zeros(values.shape)
        for top in range(0, len(query), block_q):
            rows = slice(top, top + block_q)
            weights = np.exp(scaled[rows] @ keys.T - logsumexp[rows][:, None])
            weights = weights * (np.arange(start, start + len(keys)) <= last[rows][:, None])
            d_values += weights.T @ d_out[rows]
            d_scores = weights * (d_out[rows] @ values.T - row_mean[rows][:, None])
            d_keys += d_scores.T @ scaled[rows]
            d_query[rows] += d_scores @ keys * query.shape[1] ** -0.5
        parts.append((d_keys, d_values))
    return d_query, np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def one_query_and_tile_at_a_time(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    c = 1 / math.sqrt(query.shape[1])
    for start in range(0, len(key), block_k):
        for i in range(len(query)):
            last = i + len(key) - len(query) if causal else len(key) - 1
            columns = slice(start, max(start, min(start + block_k, last + 1)))
            weights = np.exp(c * key[columns] @ query[i] - logsumexp[i])
            d_scores = c * weights * (value[columns] @ d_out[i] - d_out[i] @ out[i])
            d_value[columns] += np.outer(weights, d_out[i])
            d_key[columns] += np.outer(d_scores, query[i])
            d_query[i] += d_scores @ key[columns]
    return d_query, d_key, d_value


def tiles_by_einsum(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, offset = 1 / math.sqrt(query.shape[1]), len(key) - len(query)
    mean = np.einsum("qv,qv->q", d_out, out)
    d_query, d_key, d_value = np.zeros_like(query), np.zeros_like(key), np.zeros_like(value)

    def tile(top, start):
        rows, columns = slice(top, top + block_q), slice(start, start + block_k)
        scores = c * np.einsum("qd,kd->qk", query[rows], key[columns]) - logsumexp[rows, None]
        i, j = np.indices(scores.shape)
        weights = np.exp(np.where(causal & (start + j > top + i + offset), -np.inf, scores))
        d_weights = np.einsum("qv,kv->qk", d_out[rows], value[columns])
        return rows, columns, weights, c * weights * (d_weights - mean[rows, None])

    tops, starts = range(0, len(query), block_q), range(0, len(key), block_k)
    for rows, columns, _, d_scores in (tile(top, start) for top in tops for start in starts):
        d_query[rows] += np.einsum("qk,kd->qd", d_scores, key[columns])
    for rows, columns, weights, d_scores in (tile(top, start) for start in starts for top in tops):
        d_key[columns] += np.einsum("qk,qd->kd", d_scores, query[rows])
        d_value[columns] += np.einsum("qk,qv->kv", weights, d_out[rows])
    return d_query, d_key, d_value


def tiles_by_tensordot(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, offset = query.shape[1] ** -0.5, len(key) - len(query)
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for top in range(0, len(query), block_q):
        rows = slice(top, min(top + block_q, len(query)))
        row_mean = (d_out[rows] * out[rows]).sum(axis=1, keepdims=True)
        last = np.arange(rows.start, rows.stop)[:, None] + offset
        for start in range(0, len(key), block_k):
            columns = slice(start, min(start + block_k, len(key)))
            scores = c * np.tensordot(query[rows], key[columns], axes=([1], [1]))
            weights = np.exp(scores - logsumexp[rows][:, None])
            if causal:
                weights[np.arange(columns.start, columns.stop) > last] = 0
            d_weights = np.tensordot(d_out[rows], value[columns], axes=([1], [1]))
            d_scores = c * weights * (d_weights - row_mean)
            d_query[rows] += np.tensordot(d_scores, key[columns], axes=([1], [0]))
            d_key[columns] += np.tensordot(d_scores, query[rows], axes=([0], [0]))
            d_value[columns] += np.tensordot(weights, d_out[rows], axes=([0], [0]))
    return d_query, d_key, d_value


# --- merge_partials -------------------------------------------------------------------------------


def merged_in_loops(out_a, logsumexp_a, out_b, logsumexp_b):
    out, logsumexp = [], []
    for o_a, l_a, o_b, l_b in zip(out_a, logsumexp_a, out_b, logsumexp_b):
        top = max(l_a, l_b)
        a, b = (0.0 if each == -math.inf else math.exp(each - top) for each in (l_a, l_b))
        out.append((a * o_a + b * o_b) / (a + b) if a + b else np.zeros(len(o_a)))
        logsumexp.append(top + math.log(a + b) if a + b else -math.inf)
    return out, logsumexp


def merged_by_einsum(out_a, logsumexp_a, out_b, logsumexp_b):
    """Any number of parts could be stacked: `p` counts them."""
    all_logs, outs = np.stack([logsumexp_a, logsumexp_b]), np.stack([out_a, out_b])
    maximum = all_logs.max(axis=0)
    masses = np.exp(all_logs - np.where(np.isneginf(maximum), 0, maximum))
    total = np.einsum("pq->q", masses)
    shares = np.einsum("pq,q->pq", masses, 1 / np.where(total == 0, 1, total))
    return np.einsum("pq,pqv->qv", shares, outs), maximum + np.log(np.where(total == 0, 1, total))


def merged_by_tensordot(out_a, logsumexp_a, out_b, logsumexp_b):
    out, logsumexp = np.zeros(out_a.shape), np.full(len(out_a), -np.inf)
    for i, top in enumerate(np.maximum(logsumexp_a, logsumexp_b)):
        if top > -np.inf:
            masses = np.exp([logsumexp_a[i] - top, logsumexp_b[i] - top])
            logsumexp[i] = top + np.log(masses.sum())
            out[i] = np.tensordot(masses / masses.sum(), [out_a[i], out_b[i]], axes=1)
    return out, logsumexp


def merged_by_logaddexp(out_a, logsumexp_a, out_b, logsumexp_b):
    both = np.logaddexp(logsumexp_a, logsumexp_b)
    safe = np.where(np.isneginf(both), 0, both)
    out = np.exp(logsumexp_a - safe)[:, None] * out_a + np.exp(logsumexp_b - safe)[:, None] * out_b
    return out, both


# --- backward_with_logsumexp ----------------------------------------------------------------------


def derived_in_loops(d_out, d_logsumexp, query, key, value):
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    c = 1 / math.sqrt(query.shape[1])
    for i, asked in enumerate(query):
        weights = plain_softmax(np.array([c * sum(asked * found) for found in key]))
        d_weights = [sum(d_out[i] * row) for row in value]
        mean = sum(p * g for p, g in zip(weights, d_weights))
        for j, p in enumerate(weights):
            d_score = c * p * (d_weights[j] - mean + d_logsumexp[i])
            d_query[i] += d_score * key[j]
            d_key[j] += d_score * asked
            d_value[j] += p * d_out[i]
    return d_query, d_key, d_value


def derived_by_einsum(d_out, d_logsumexp, query, key, value):
    c = query.shape[1] ** -0.5
    weights = plain_softmax(c * np.einsum("qd,kd->qk", query, key))
    d_weights = np.einsum("qv,kv->qk", d_out, value)
    mean = np.einsum("qk,qk->q", weights, d_weights)
    d_scores = c * weights * (d_weights + (d_logsumexp - mean)[:, None])
    d_query, d_key = np.einsum("qk,kd->qd", d_scores, key), np.einsum("qk,qd->kd", d_scores, query)
    return d_query, d_key, np.einsum("qk,qv->kv", weights, d_out)


def derived_by_tensordot(d_out, d_logsumexp, query, key, value):
    c = query.shape[1] ** -0.5
    weights = plain_softmax(c * np.tensordot(query, key, axes=([1], [1])))
    d_weights = np.tensordot(d_out, value, axes=([1], [1]))
    row_term = (weights * d_weights).sum(axis=1) - d_logsumexp
    d_scores = c * weights * (d_weights - row_term[:, None])
    d_query, d_key = np.tensordot(d_scores, key, axes=1), np.tensordot(d_scores, query, axes=([0], [0]))
    return d_query, d_key, np.tensordot(weights, d_out, axes=([0], [0]))


def derived_by_where(d_out, d_logsumexp, query, key, value):
    """The entries of each row's Jacobian: p (1 - p) on the diagonal, - p p' beside it."""
    c = 1 / math.sqrt(query.shape[1])
    weights = plain_softmax(c * query @ key.T)
    here, there = weights[:, :, None], weights[:, None, :]
    jacobian = np.where(np.eye(len(key), dtype=bool), here * (1 - there), -here * there)
    d_scores = (jacobian * (d_out @ value.T)[:, None]).sum(axis=2) + d_logsumexp[:, None] * weights
    return c * d_scores @ key, c * d_scores.T @ query, weights.T @ d_out


ACCEPTED = {
    "flash_backward": {
        "keys in the outer loop": keys_outside,
        "loops": one_query_and_tile_at_a_time,
        "einsum": tiles_by_einsum,
        "tensordot": tiles_by_tensordot,
    },
    "merge_partials": {
        "by logaddexp": merged_by_logaddexp,
        "loops": merged_in_loops,
        "einsum": merged_by_einsum,
        "tensordot": merged_by_tensordot,
    },
    "backward_with_logsumexp": {
        "loops": derived_in_loops,
        "einsum": derived_by_einsum,
        "tensordot": derived_by_tensordot,
        "where": derived_by_where,
    },
}
