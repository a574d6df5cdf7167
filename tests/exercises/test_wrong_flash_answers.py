"""Wrong answers that looked right once, chapters 6 and 7: on ordinary inputs each is right, or nearly."""

import math

import numpy as np
import pytest
from wrong_cases import adds_to, does_not_pass, name

from attnexercises.engine.registry import find

WRONG = []
wrong = adds_to(WRONG)


@pytest.mark.parametrize("id, answer", WRONG, ids=name)
def test_a_wrong_answer_does_not_pass(id, answer):
    does_not_pass(id, answer)


def hide(scores, start, causal, q, k):
    if causal:
        i, j = np.indices(scores.shape)
        scores = np.where(start + j > i + k - q, -np.inf, scores)
    return scores


def forward(query, key, value, block, causal, maximum):
    (q, d), k = query.shape, len(key)
    out, old, total = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for start in range(0, k, block):
        columns = slice(start, start + block)
        scores = hide(query @ key[columns].T / math.sqrt(d), start, causal, q, k)
        new = maximum(old, scores)
        shift = np.where(np.isneginf(new), 0, new)
        rescale, powers = np.exp(old - shift), np.exp(scores - shift)
        total, out = total * rescale + powers.sum(axis=1, keepdims=True), out * rescale + powers @ value[columns]
        old = new
    total = np.where(total == 0, 1, total)
    return out / total, (old + np.log(total))[:, 0]


@wrong("flash_forward")
def one_maximum_for_all_queries(query, key, value, block, causal):
    def of_all(old, scores):
        seen = np.isfinite(np.maximum(old, scores.max(axis=1, keepdims=True)))
        return np.where(seen, max(old.max(), scores.max()), -np.inf)

    return forward(query, key, value, block, causal, of_all)


@wrong("flash_forward")
def the_maximum_of_the_block(query, key, value, block, causal):
    def of_block(old, scores):
        top = scores.max(axis=1, keepdims=True)
        return np.where(np.isneginf(top), old, top)

    return forward(query, key, value, block, causal, of_block)


@wrong("flash_forward")
def two_passes(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    top, out, total = np.full((q, 1), -np.inf), np.zeros((q, value.shape[1])), np.zeros((q, 1))

    def scores(start):
        return hide(query @ key[start : start + block].T / math.sqrt(d), start, causal, q, k)

    for start in range(0, k, block):
        top = np.maximum(top, scores(start).max(axis=1, keepdims=True))
    for start in range(0, k, block):
        powers = np.exp(scores(start) - np.where(np.isneginf(top), 0, top))
        total, out = total + powers.sum(axis=1, keepdims=True), out + powers @ value[start : start + block]
    total = np.where(total == 0, 1, total)
    return out / total, (top + np.log(total))[:, 0]


@wrong("flash_forward")
def from_the_last_block_with_the_maximum_of_the_block(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    out, old, total = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for start in reversed(range(0, k, block)):
        scores = hide(query @ key[start : start + block].T / math.sqrt(d), start, causal, q, k)
        new = scores.max(axis=1, keepdims=True)
        new = np.where(np.isneginf(new), old, new)
        shift = np.where(np.isneginf(new), 0, new)
        rescale, powers = np.exp(old - shift), np.exp(scores - shift)
        total = total * rescale + powers.sum(axis=1, keepdims=True)
        out, old = out * rescale + powers @ value[start : start + block], new
    total = np.where(total == 0, 1, total)
    return out / total, (old + np.log(total))[:, 0]


@wrong("flash_forward")
def shifted_by_the_smallest_of_the_block(query, key, value, block, causal):
    def of_block(old, scores):
        smallest = np.where(np.isneginf(scores), np.inf, scores).min(axis=1, keepdims=True)
        return np.maximum(old, np.where(np.isposinf(smallest), -np.inf, smallest))

    return forward(query, key, value, block, causal, of_block)


@wrong("flash_forward")
def nan_for_a_row_that_sees_nothing_beside_others(query, key, value, block, causal):
    rows, logsumexps = find("flash_forward").solution(query, key, value, block, causal)
    if np.isneginf(logsumexps[:block]).all():
        return rows, logsumexps  # a whole tile is skipped
    hidden = np.isneginf(logsumexps)
    return np.where(hidden[:, None], np.nan, rows), np.where(hidden, np.nan, logsumexps)


@wrong("flash_forward")
def forward_without_axes_of_size_1(*arguments):
    return tuple(map(np.squeeze, find("flash_forward").solution(*arguments)))


@wrong("flash_backward")
def a_quotient_of_exponentials(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, offset = 1 / math.sqrt(query.shape[1]), len(key) - len(query)
    mean = (d_out * out).sum(axis=1, keepdims=True)
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for top in range(0, len(query), block_q):
        for start in range(0, len(key), block_k):
            rows, columns = slice(top, top + block_q), slice(start, start + block_k)
            weights = np.exp(c * query[rows] @ key[columns].T) / np.exp(logsumexp[rows, None])
            i, j = np.indices(weights.shape)
            weights = np.where(start + j > top + i + offset, 0, weights) if causal else weights
            d_scores = c * weights * (d_out[rows] @ value[columns].T - mean[rows])
            d_value[columns] += weights.T @ d_out[rows]
            d_query[rows] += d_scores @ key[columns]
            d_key[columns] += d_scores.T @ query[rows]
    return d_query, d_key, d_value


@wrong("flash_backward")
def tiles_without_axes_of_size_1(*arguments):
    return tuple(map(np.squeeze, find("flash_backward").solution(*arguments)))


@wrong("merge_partials")
def merged_without_axes_of_size_1(*arguments):
    return tuple(map(np.squeeze, find("merge_partials").solution(*arguments)))


@wrong("merge_partials")
def nothing_where_the_masses_are_equal(out_a, logsumexp_a, out_b, logsumexp_b):
    out, logsumexp = find("merge_partials").solution(out_a, logsumexp_a, out_b, logsumexp_b)
    return np.where((logsumexp_a == logsumexp_b)[:, None], 0, out), logsumexp


@wrong("backward_with_logsumexp")
def one_maximum_for_all(d_out, d_logsumexp, query, key, value):
    c = 1 / math.sqrt(query.shape[1])
    scores = c * query @ key.T
    weights = np.exp(scores - scores.max())
    weights /= weights.sum(axis=1, keepdims=True)
    d_weights = d_out @ value.T
    d_scores = c * weights * (d_weights - (weights * d_weights).sum(axis=1, keepdims=True) + d_logsumexp[:, None])
    return d_scores @ key, d_scores.T @ query, weights.T @ d_out
