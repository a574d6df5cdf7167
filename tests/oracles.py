"""The formulas once more: slow, literal, sharing no code and no tricks with attnlib.

Sums over a row are written as loops. The softmax family is computed with forty
decimal digits, so that no shift by a maximum is needed and the result is the exact
one, rounded once.
"""

import decimal
import math

import numpy as np

_DECIMAL = decimal.Context(prec=40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
_ZERO = decimal.Decimal(0)


def _exp(number):
    # Decimal holds any finite float exactly.
    return _ZERO if number == -math.inf else _DECIMAL.exp(decimal.Decimal(float(number)))


def _by_row(function, axis, *arrays):
    """Apply `function` (lists of numbers in, list of numbers or one number out) along `axis`."""
    rows = [np.moveaxis(np.asarray(array, dtype=np.float64), axis, -1) for array in arrays]
    leading = rows[0].shape[:-1]
    results = [function(*(row[index].tolist() for row in rows)) for index in np.ndindex(leading)]
    if results and np.ndim(results[0]) == 0:
        return np.array(results, dtype=np.float64).reshape(leading)
    return np.moveaxis(np.array(results, dtype=np.float64).reshape(rows[0].shape), -1, axis)


def softmax(x, axis=-1):
    """exp(x_i) / sum_j exp(x_j), and zeros for a row of nothing but -inf."""

    def row(scores):
        exponentials = [_exp(score) for score in scores]
        total = sum(exponentials, _ZERO)
        return [float(_DECIMAL.divide(e, total)) if total else 0.0 for e in exponentials]

    return _by_row(row, axis, x)


def logsumexp(x, axis=-1):
    """log(sum_j exp(x_j)), and -inf for a row of nothing but -inf."""

    def row(scores):
        total = sum((_exp(score) for score in scores), _ZERO)
        return float(_DECIMAL.ln(total)) if total else -math.inf

    return _by_row(row, axis, x)


def log_softmax(x, axis=-1):
    """x_i - log(sum_j exp(x_j)), subtracted with forty digits."""

    def row(scores):
        total = sum((_exp(score) for score in scores), _ZERO)
        return [
            -math.inf
            if score == -math.inf
            else float(_DECIMAL.subtract(decimal.Decimal(score), _DECIMAL.ln(total)))
            for score in scores
        ]

    return _by_row(row, axis, x)


def softmax_backward(d_weights, weights, axis=-1):
    """Every upstream entry times its own partial derivative: dx_j = sum_i dp_i p_i ((i == j) - p_j)."""

    def row(d_weights, weights):
        return [
            math.fsum(dp * p * ((i == j) - p_j) for i, (dp, p) in enumerate(zip(d_weights, weights)))
            for j, p_j in enumerate(weights)
        ]

    return _by_row(row, axis, d_weights, weights)


def log_softmax_backward(d_log_weights, log_weights, axis=-1):
    """dx_j = sum_i dy_i ((i == j) - p_j) over the entries that are not -inf."""

    def row(d_log_weights, log_weights):
        live = [i for i, y in enumerate(log_weights) if y != -math.inf]
        return [
            math.fsum(d_log_weights[i] * ((i == j) - math.exp(y)) for i in live) if j in live else 0.0
            for j, y in enumerate(log_weights)
        ]

    return _by_row(row, axis, d_log_weights, log_weights)


def attention(query, key, value, *, mask=None, causal=False, scale=None):
    """One score, one weight, one sum at a time: (out, weights). A query with no key gets zeros."""
    *leading, q, d = query.shape
    k, v = value.shape[-2:]
    scale = 1 / math.sqrt(d) if scale is None else scale
    mask = np.ones((q, k), bool) if mask is None else np.asarray(mask)
    mask = np.broadcast_to(mask, (*leading, q, k))
    out, weights = np.zeros((*leading, q, v)), np.zeros((*leading, q, k))
    for *head, i in np.ndindex(*leading, q):
        shared = _key_head(head, query, key)
        scores = []
        for j in range(k):
            score = scale * math.fsum(query[*head, i, c] * key[*shared, j, c] for c in range(d))
            allowed = mask[*head, i, j]
            if mask.dtype != bool:
                allowed = allowed > -math.inf
                score += mask[*head, i, j] if allowed else 0
            scores.append(score if allowed and not (causal and j > i) else -math.inf)
        weights[*head, i] = softmax(scores)
        for c in range(v):
            out[*head, i, c] = math.fsum(weights[*head, i, j] * value[*shared, j, c] for j in range(k))
    return out, weights


def attention_backward(d_out, query, key, value, weights, *, scale=None):
    """The partial derivatives by the chain rule: (d_query, d_key, d_value, d_scores)."""
    *leading, q, d = query.shape
    k, v = value.shape[-2:]
    scale = 1 / math.sqrt(d) if scale is None else scale
    d_query, d_key, d_value = (np.zeros(array.shape) for array in (query, key, value))
    d_scores = np.zeros((*leading, q, k))
    for *head, i in np.ndindex(*leading, q):
        shared = _key_head(head, query, key)
        d_weights = [
            math.fsum(d_out[*head, i, c] * value[*shared, j, c] for c in range(v)) for j in range(k)
        ]
        d_scores[*head, i] = softmax_backward(d_weights, weights[*head, i]) if k else 0
        for j in range(k):
            for c in range(v):
                d_value[*shared, j, c] += weights[*head, i, j] * d_out[*head, i, c]
            for c in range(d):
                d_query[*head, i, c] += scale * d_scores[*head, i, j] * key[*shared, j, c]
                d_key[*shared, j, c] += scale * d_scores[*head, i, j] * query[*head, i, c]
    return d_query, d_key, d_value, d_scores


def _key_head(head, query, key):
    # Neighbouring query heads share a key head: with 6 over 2, heads 0, 1, 2 use head 0.
    return [*head[:-1], head[-1] * key.shape[-3] // query.shape[-3]] if head else []


def multihead_attention(x, for_keys, for_values, weights, biases, heads, kv_heads, *, mask=None, causal=False):
    """One batch element, one head after the other: (out, weights). `weights` and `biases` in order q, k, v, out."""
    projected = [
        np.array([[[math.fsum(row * column) + b for column, b in zip(w.T, bias, strict=True)] for row in element]
                  for element in array]).reshape(*array.shape[:2], w.shape[1])
        for array, w, bias in zip((x, for_keys, for_values), weights, biases, strict=False)
    ]  # fmt: skip
    d, v = weights[0].shape[1] // heads, weights[2].shape[1] // kv_heads
    batch, q, k = len(x), x.shape[1], for_keys.shape[1]
    mask = np.broadcast_to(True if mask is None else mask, (batch, heads, q, k))
    merged, head_weights = np.zeros((batch, q, heads * v)), np.zeros((batch, heads, q, k))
    for b in range(batch):
        for h in range(heads):
            shared = h // (heads // kv_heads)
            query = projected[0][b][:, h * d : (h + 1) * d]
            key = projected[1][b][:, shared * d : (shared + 1) * d]
            value = projected[2][b][:, shared * v : (shared + 1) * v]
            merged[b][:, h * v : (h + 1) * v], head_weights[b, h] = attention(
                query, key, value, mask=mask[b, h], causal=causal
            )
    return merged @ weights[3] + biases[3], head_weights
