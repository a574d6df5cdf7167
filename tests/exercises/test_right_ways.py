"""Right answers by other ways: loops, einsum, tensordot, where, logsumexp. None of them may be refused."""

import functools
import math

import numpy as np
import pytest
from exercise_cases import FUNCTIONS

from attnlib.exercises import grade
from attnlib.exercises.engine.registry import find

RIGHT = []


def right(id):
    """Put a function into the list of the answers to exercise `id` that must pass."""

    def add(function):
        RIGHT.append((id, function))
        return function

    return add


@pytest.mark.parametrize("id, answer", RIGHT, ids=lambda x: getattr(x, "__name__", x))
def test_a_right_answer_passes(id, answer):
    result = grade(id, answer)
    assert result.status == "passed", result.lines


def test_every_exercise_has_another_way():
    here = {id for id, _ in RIGHT}
    judged_by_behaviour = {exercise.id for exercise in FUNCTIONS if exercise.behaviour}
    assert here | judged_by_behaviour == {exercise.id for exercise in FUNCTIONS}


def normalised(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


# --- products -------------------------------------------------------------------------------------


@right("product_transpose")
def factors_in_the_other_order(a_t, b, c_t):
    return functools.reduce(np.matmul, (c_t, np.moveaxis(b, -1, -2), a_t))


@right("linear_backward")
def linear_by_tensordot(d_out, x, weight):
    return np.tensordot(d_out, weight, axes=([-1], [-1])), np.tensordot(x, d_out, axes=([0], [0]))


@right("linear_backward")
def linear_by_loops(d_out, x, weight):
    rows, inputs, outputs = range(len(x)), range(len(weight)), range(weight.shape[1])
    d_x = [[sum(d_out[r, o] * weight[i, o] for o in outputs) for i in inputs] for r in rows]
    d_weight = [[sum(x[r, i] * d_out[r, o] for r in rows) for o in outputs] for i in inputs]
    return d_x, d_weight


@right("used_twice")
def twice_by_tensordot(d_out, x, a):
    once = np.tensordot(np.tensordot(d_out, x, axes=([1], [0])), a, axes=([1], [1]))
    return once + np.tensordot(np.tensordot(d_out, x, axes=([0], [0])), a, axes=([1], [0]))


# --- softmax --------------------------------------------------------------------------------------


@right("softmax")
def softmax_by_logsumexp(x):
    return normalised(np.asarray(x, dtype=float))


@right("softmax")
def softmax_by_pairs(x):
    x = np.asarray(x, dtype=float)
    return 1 / np.exp(x[..., None, :] - x[..., :, None]).sum(axis=-1)


@right("softmax")
def softmax_along_an_axis(x):
    return np.apply_along_axis(lambda row: np.exp(row - row.max()) / sum(np.exp(row - row.max())), -1, x)


@right("softmax_backward")
def softmax_backward_in_loops(d_weights, weights):
    d_x = np.zeros(weights.shape)
    for place in np.ndindex(weights.shape):
        row, j = place[:-1], place[-1]
        shared = sum(d_weights[row][k] * weights[row][k] for k in range(weights.shape[-1]))
        d_x[place] = weights[place] * (d_weights[place] - shared)
    return d_x


@right("softmax_backward")
def softmax_backward_by_vecdot(d_weights, weights):
    return weights * d_weights - weights * np.vecdot(weights, d_weights)[..., None]


@right("temperature_gradient")
def temperature_by_einsum(d_weights, scores, temperature):
    weights = normalised(scores / temperature)
    mean = np.einsum("...k,...k->...", weights, d_weights)[..., None]
    return np.einsum("...k,...k,...k->...", weights, d_weights - mean, scores).sum() / -(temperature**2)


@right("online_softmax")
def by_array_split(x, block):
    maximum, total = -np.inf, 0.0
    for part in np.array_split(x, range(block, len(x), block)):
        old, maximum = maximum, np.fmax(maximum, np.max(part))
        shift = np.where(np.isinf(maximum), 0.0, maximum)
        total = total * np.exp(old - shift) + np.sum(np.exp(part - shift))
    return maximum, total


@right("online_softmax")
def by_what_is_left(x, block):
    maximum, total, left = -math.inf, 0.0, np.array(x, dtype=float)
    while left.size:
        part, left = left[:block], left[block:]
        new = max(maximum, *part.tolist())
        if new > -math.inf:
            total = total * math.exp(maximum - new) + sum(math.exp(score - new) for score in part)
            maximum = new
    return maximum, total


@right("online_softmax")
def by_padding(x, block):
    missing = -len(x) % block
    blocks = np.concatenate([x, np.full(missing, -np.inf)]).reshape(-1, block)
    maximum, total = -np.inf, 0.0
    for scores in blocks:
        new = max(maximum, scores.max())
        if np.isfinite(new):
            maximum, total = new, total * np.exp(maximum - new) + np.exp(scores - new).sum()
    return maximum, total


@right("online_softmax")
def by_index(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        stop = min(start + block, len(x))
        new = maximum
        for i in range(start, stop):
            new = x[i] if x[i] > new else new
        if new == -np.inf:
            continue
        total *= np.exp(maximum - new)
        for i in range(start, stop):
            total += np.exp(x[i] - new)
        maximum = new
    return maximum, total


# --- attention ------------------------------------------------------------------------------------


@right("distance_attention")
def distance_in_loops(query, key, value):
    out = []
    for asked in query:
        scores = np.array([-0.5 * sum((a - b) ** 2 for a, b in zip(asked, found)) for found in key])
        out.append(sum(weight * row for weight, row in zip(normalised(scores), value)))
    return np.array(out)


@right("distance_attention")
def distance_by_tensordot(query, key, value):
    squares = np.square(key).sum(axis=1)
    return np.tensordot(normalised(np.tensordot(query, key, axes=([1], [1])) - squares / 2), value, axes=1)


@right("sdpa")
def sdpa_by_logsumexp(query, key, value):
    return normalised(np.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])) @ value


@right("sdpa")
def sdpa_in_loops(query, key, value):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    for lead in np.ndindex(query.shape[:-2]):
        for i, asked in enumerate(query[lead]):
            scores = np.array([np.dot(asked, found) for found in key[lead]]) * query.shape[-1] ** -0.5
            out[lead][i] = np.tensordot(normalised(scores), value[lead], 1)
    return out


def gradients(d_out, query, key, value, extra=0.0):
    c = query.shape[-1] ** -0.5
    weights = normalised(np.einsum("...qd,...kd->...qk", query, key) * c)
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    d_scores = c * weights * (d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True) + extra)
    d_query = np.einsum("...qk,...kd->...qd", d_scores, key)
    return d_query, np.einsum("...qk,...qd->...kd", d_scores, query), np.einsum("...qk,...qv->...kv", weights, d_out)


@right("sdpa_backward")
def sdpa_backward_by_einsum(d_out, query, key, value):
    return gradients(d_out, query, key, value)


@right("backward_with_logsumexp")
def logsumexp_backward_by_einsum(d_out, d_logsumexp, query, key, value):
    return gradients(d_out, query, key, value, d_logsumexp[:, None])


@right("additive_backward")
def additive_by_einsum(d_out, query, key, value, w):
    match = np.tanh(query[..., :, None, :] + key[..., None, :, :])
    weights = normalised(np.einsum("...qkd,d->...qk", match, w))
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    d_scores = weights * (d_weights - np.einsum("...qk,...qk->...q", weights, d_weights)[..., None])
    d_sum = np.einsum("...qk,d,...qkd->...qkd", d_scores, w, 1 - match * match)
    d_w = np.tensordot(d_scores, match, axes=d_scores.ndim)
    return d_sum.sum(axis=-2), d_sum.sum(axis=-3), np.einsum("...qk,...qv->...kv", weights, d_out), d_w


# --- masks ----------------------------------------------------------------------------------------


@right("causal_mask")
def mask_in_loops(q, k):
    return [[j <= i + k - q for j in range(k)] for i in range(q)]


@right("causal_mask")
def mask_by_tri(q, k):
    return np.tri(q, k, k - q, dtype=bool)


@right("causal_mask")
def mask_by_where(q, k):
    return np.where(np.subtract.outer(np.arange(q) + k - q, np.arange(k)) >= 0, True, False)


@right("masked_softmax")
def masked_by_logsumexp(scores, keep):
    visible = np.where(keep, scores, -np.inf)
    total = np.logaddexp.reduce(visible, axis=-1, keepdims=True)
    return np.exp(visible - np.where(np.isneginf(total), 0, total))


@right("masked_softmax")
def masked_by_nan_to_num(scores, keep):
    visible = np.where(keep, scores, -np.inf)
    powers = np.exp(visible - visible.max(axis=-1, keepdims=True))
    return np.nan_to_num(powers / powers.sum(axis=-1, keepdims=True))


@right("masked_softmax")
def masked_arrays(scores, keep):
    hidden = np.ma.array(scores, mask=~keep)
    powers = np.ma.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).filled(0)


@right("masked_softmax")
def masked_in_loops(scores, keep):
    weights = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        seen = keep[row]
        if any(seen):
            weights[row][seen] = normalised(scores[row][seen])
    return weights


@right("padded_causal_attention")
def padded_by_logsumexp(query, key, value, real):
    n, c = query.shape[1], 1 / math.sqrt(query.shape[2])
    keep = np.logical_and(np.arange(n)[:, None] >= np.arange(n), real[:, None])
    return masked_by_logsumexp(np.einsum("bqd,bkd->bqk", c * query, key), keep) @ value


@right("padded_causal_attention")
def padded_in_loops(query, key, value, real):
    out = np.zeros((*query.shape[:2], value.shape[2]))
    for b, i in np.ndindex(query.shape[:2]):
        seen = [j for j in range(i + 1) if real[b, j]]
        if seen:
            scores = np.array([query[b, i] @ key[b, j] for j in seen]) / math.sqrt(query.shape[2])
            out[b, i] = normalised(scores) @ value[b, seen]
    return out


@right("distance_bias_backward")
def bias_by_traces(d_out, value, weights):
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    d_scores = weights * (d_weights - np.einsum("...qk,...qk->...q", weights, d_weights)[..., None])
    n = weights.shape[-1]
    return [np.trace(d_scores.reshape(-1, n, n).sum(axis=0), offset=-distance) for distance in range(n)]


# --- heads ----------------------------------------------------------------------------------------


@right("mha")
def mha_by_split(x, query_weight, key_weight, value_weight, out_weight, heads):
    parts = [np.stack(np.split(x @ weight, heads, axis=-1)) for weight in (query_weight, key_weight, value_weight)]
    attended = sdpa_by_logsumexp(*parts)
    return np.concatenate(list(attended), axis=-1) @ out_weight


@right("mha_backward")
def mha_backward_by_tensordot(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    def split(y):
        return np.stack(np.split(y, heads, axis=-1))

    def merge(y):
        return np.concatenate(list(y), axis=-1)

    def for_weight(inputs, d):
        return np.tensordot(inputs, d, axes=([0, 1], [0, 1]))

    projected = [split(x @ weight) for weight in (query_weight, key_weight, value_weight)]
    d_merged = np.tensordot(d_out, out_weight, axes=([2], [1]))
    parts = [merge(d) for d in gradients(split(d_merged), *projected)]
    d_x = sum(d @ weight.T for d, weight in zip(parts, (query_weight, key_weight, value_weight)))
    return d_x, *(for_weight(x, d) for d in parts), for_weight(merge(sdpa_by_logsumexp(*projected)), d_out)


@right("gqa")
def gqa_by_take(query, key, value):
    heads = np.arange(query.shape[1]) // (query.shape[1] // key.shape[1])
    return sdpa_by_logsumexp(query, np.take(key, heads, axis=1), value[:, heads])


@right("gqa_backward")
def groups_by_tensordot(d_repeated, kv_heads):
    member = np.repeat(np.eye(kv_heads), d_repeated.shape[1] // kv_heads, axis=0)
    return np.moveaxis(np.tensordot(d_repeated, member, axes=([1], [0])), -1, 1)


@right("gqa_backward")
def groups_by_reduceat(d_repeated, kv_heads):
    return np.add.reduceat(d_repeated, np.arange(0, d_repeated.shape[1], d_repeated.shape[1] // kv_heads), axis=1)


# --- Flash attention ------------------------------------------------------------------------------


def scores_of(query, keys, start, k, causal):
    scores = np.tensordot(query, keys, axes=([1], [1])) / math.sqrt(query.shape[1])
    i, j = np.indices(scores.shape)
    return np.where(causal & (start + j > i + k - len(query)), -np.inf, scores)


@right("flash_forward")
def forward_by_logaddexp(query, key, value, block, causal):
    out, total = np.zeros((len(query), value.shape[1])), np.full((len(query), 1), -np.inf)
    for start in range(0, len(key), block):
        scores = scores_of(query, key[start : start + block], start, len(key), causal)
        both = np.logaddexp(total, np.logaddexp.reduce(scores, axis=1, keepdims=True))
        shift = np.where(np.isneginf(both), 0, both)
        out = np.exp(total - shift) * out + np.exp(scores - shift) @ value[start : start + block]
        total = both
    return out, total[:, 0]


@right("flash_forward")
def forward_from_the_last_block(query, key, value, block, causal):
    out, top, total = np.zeros((len(query), value.shape[1])), np.full((len(query), 1), -np.inf), 0.0
    for start in reversed(range(0, len(key), block)):
        scores = scores_of(query, key[start : start + block], start, len(key), causal)
        new = np.maximum(top, scores.max(axis=1, keepdims=True))
        shift = np.where(np.isneginf(new), 0, new)
        old, powers = np.exp(top - shift), np.exp(scores - shift)
        out, total = old * out + powers @ value[start : start + block], old * total + powers.sum(axis=1, keepdims=True)
        top = new
    total = np.where(total == 0, 1, total)
    return out / total, (top + np.log(total)).squeeze(axis=1)


@right("flash_forward")
def forward_that_computes_the_scores_of_a_block_twice(query, key, value, block, causal):
    out, total = np.zeros((len(query), value.shape[1])), np.zeros((len(query), 1))
    top = np.full((len(query), 1), -np.inf)
    for start in range(0, len(key), block):
        keys = np.copy(key[start : start + block])
        new = np.maximum(top, scores_of(query, keys, start, len(key), causal).max(axis=1, keepdims=True))
        shift = np.where(np.isneginf(new), 0, new)
        powers = np.exp(scores_of(query, keys, start, len(key), causal) - shift)
        total = np.exp(top - shift) * total + powers.sum(axis=1, keepdims=True)
        out, top = np.exp(top - shift) * out + powers @ value[start : start + block], new
    total = np.where(total == 0, 1, total)
    return out / total, (top + np.log(total))[:, 0]


@right("flash_forward")
def forward_one_query_and_block_at_a_time(query, key, value, block, causal):
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


@right("flash_backward")
def backward_by_einsum_in_two_walks(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
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


@right("merge_partials")
def merged_in_loops(maximum_a, total_a, out_a, maximum_b, total_b, out_b):
    maximum, total, out = [], [], []
    for m_a, l_a, o_a, m_b, l_b, o_b in zip(maximum_a, total_a, out_a, maximum_b, total_b, out_b):
        top = max(m_a, m_b)
        a, b = (0.0 if m == -math.inf else mass * math.exp(m - top) for m, mass in ((m_a, l_a), (m_b, l_b)))
        maximum.append(top)
        total.append(a + b)
        out.append((a * o_a + b * o_b) / (a + b) if a + b else np.zeros(len(o_a)))
    return maximum, total, out


@right("flash_traffic")
def traffic_by_hand(n, d, capacity):
    return find("flash_traffic").accepts["tile by tile"](n, d, capacity)


@right("striped_pairs")
def pairs_counted(n, workers):
    return find("striped_pairs").oracle(n, workers)
