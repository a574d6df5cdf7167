"""How `flash_backward` got its gradients: tile by tile."""

import math

import numpy as np
import pytest
from method_cases import hide, visible

from attnexercises import grade
from attnexercises.engine.registry import find


def plain_backward(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    scale = 1 / math.sqrt(query.shape[1])
    weights = np.exp(hide(scale * query @ key.T, 0, causal, len(query), len(key)) - logsumexp[:, None])
    d_scores = scale * weights * (d_out @ value.T - (d_out * out).sum(axis=1, keepdims=True))
    return d_scores @ key, d_scores.T @ query, weights.T @ d_out


def backward_row_by_row(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for i in range(len(query)):
        row = slice(i, i + 1)
        scale = 1 / math.sqrt(query.shape[1])
        weights = np.exp(hide(scale * query[row] @ key.T, i, causal, len(query), len(key)) - logsumexp[row, None])
        d_scores = scale * weights * (d_out[row] @ value.T - (d_out[row] * out[row]).sum(axis=1, keepdims=True))
        d_query[row] = d_scores @ key
        d_key += d_scores.T @ query[row]
        d_value += weights.T @ d_out[row]
    return d_query, d_key, d_value


def backward_in_numbers(keep_all):
    """One query at a time, without an array: all weights of the row first, or one key after the other."""

    def answer(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
        d_outs, queries, keys, values, outs = ([[float(x) for x in row] for row in a] for a in (d_out, query, key, value, out))
        (q, d), k, v = query.shape, len(keys), value.shape[1]
        d_query, d_key, d_value = [[0.0] * d for _ in range(q)], [[0.0] * d for _ in range(k)], [[0.0] * v for _ in range(k)]
        scale = d**-0.5

        def weight(i, j):
            return math.exp(scale * sum(a * b for a, b in zip(queries[i], keys[j])) - logsumexp[i])

        for i in range(q):
            mean, seen = sum(a * b for a, b in zip(d_outs[i], outs[i])), visible(i, q, k, causal)
            weights = {j: weight(i, j) for j in seen} if keep_all else {}
            for j in seen:
                p = weights[j] if keep_all else weight(i, j)
                ds = scale * p * (sum(a * b for a, b in zip(d_outs[i], values[j])) - mean)
                d_value[j] = [a + p * b for a, b in zip(d_value[j], d_outs[i])]
                d_query[i] = [a + ds * b for a, b in zip(d_query[i], keys[j])]
                d_key[j] = [a + ds * b for a, b in zip(d_key[j], queries[i])]
        return np.array(d_query), np.array(d_key), np.array(d_value)

    return answer


def with_a_product_of_all_outputs(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    mean = np.diag(d_out @ out.T)  # its diagonal alone is wanted
    result = find("flash_backward").solution(d_out, query, key, value, out, logsumexp, block_q, block_k, causal)
    return (*result[:2], result[2] + 0 * mean.sum())


BACKWARD = {
    "plain": (plain_backward, "all 312 scores are held at once"),
    "a product of all outputs": (with_a_product_of_all_outputs, "a product of 13 × 13, of all queries with all queries is"),
    "row by row": (backward_row_by_row, "24 keys at once where a tile has 3"),
    "row by row in numbers": (backward_in_numbers(True), "24 keys have met a query before any of their weights is used"),
    "one key after the other in numbers": (backward_in_numbers(False), ""),
}


@pytest.mark.parametrize("case", BACKWARD)
def test_a_backward_without_tiles_is_rejected_and_told_why(case):
    answer, objection = BACKWARD[case]
    result = grade("flash_backward", answer)
    if objection:
        assert result.status == "wrong" and objection in result.lines[0], result.lines
        assert result.lines[0].startswith("[!] flash_backward: the gradients are right, but ")
    else:
        assert result.status == "passed", result.lines
