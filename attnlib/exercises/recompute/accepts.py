"""Another right way to write the backward of Flash attention: the check must accept it."""

import numpy as np


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
