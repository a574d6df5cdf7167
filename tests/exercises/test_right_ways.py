"""Right answers by ways that are rarer than those in `accepted`. None of them may be refused."""

import functools
import math

import numpy as np
import pytest

from attnexercises import grade

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


def normalised(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


# --- products -------------------------------------------------------------------------------------


@right("product_transpose")
def factors_in_the_other_order(a_t, b, c_t):
    return functools.reduce(np.matmul, (c_t, np.moveaxis(b, -1, -2), a_t))


# --- softmax --------------------------------------------------------------------------------------


@right("softmax")
def softmax_by_pairs(x):
    x = np.asarray(x, dtype=float)
    return 1 / np.exp(x[..., None, :] - x[..., :, None]).sum(axis=-1)


@right("softmax")
def softmax_along_an_axis(x):
    return np.apply_along_axis(lambda row: np.exp(row - row.max()) / sum(np.exp(row - row.max())), -1, x)


@right("softmax_backward")
def softmax_backward_by_vecdot(d_weights, weights):
    return weights * d_weights - weights * np.vecdot(weights, d_weights)[..., None]


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
def one_exponential_for_old_and_new(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = np.concatenate([[maximum], x[start : start + block]])
        maximum = scores.max()
        if maximum > -np.inf:
            total = np.exp(scores - maximum) @ np.concatenate([[total], np.ones(len(scores) - 1)])
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


# --- masks ----------------------------------------------------------------------------------------


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


@right("padded_causal_attention")
def padded_by_logsumexp(query, key, value, real):
    n, c = query.shape[1], 1 / math.sqrt(query.shape[2])
    keep = np.logical_and(np.arange(n)[:, None] >= np.arange(n), real[:, None])
    visible = np.where(keep, np.einsum("bqd,bkd->bqk", c * query, key), -np.inf)
    total = np.logaddexp.reduce(visible, axis=-1, keepdims=True)
    return np.exp(visible - np.where(np.isneginf(total), 0, total)) @ value


@right("distance_bias_backward")
def bias_by_traces(d_out, value, weights):
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    d_scores = weights * (d_weights - np.einsum("...qk,...qk->...q", weights, d_weights)[..., None])
    n = weights.shape[-1]
    return [np.trace(d_scores.reshape(-1, n, n).sum(axis=0), offset=-distance) for distance in range(n)]


# --- heads ----------------------------------------------------------------------------------------


def attend(query, key, value):
    return normalised(np.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])) @ value


@right("mha")
def mha_by_split(x, query_weight, key_weight, value_weight, out_weight, heads):
    parts = [np.stack(np.split(x @ weight, heads, axis=-1)) for weight in (query_weight, key_weight, value_weight)]
    attended = attend(*parts)
    return np.concatenate(list(attended), axis=-1) @ out_weight


@right("gqa")
def gqa_by_take(query, key, value):
    heads = np.arange(query.shape[1]) // (query.shape[1] // key.shape[1])
    return attend(query, np.take(key, heads, axis=1), value[:, heads])


@right("gqa_backward")
def groups_by_reduceat(d_repeated, kv_heads):
    return np.add.reduceat(d_repeated, np.arange(0, d_repeated.shape[1], d_repeated.shape[1] // kv_heads), axis=1)


# --- Flash attention ------------------------------------------------------------------------------


def scores_of(query, keys, start, k, causal):
    scores = np.tensordot(query, keys, axes=([1], [1])) / math.sqrt(query.shape[1])
    i, j = np.indices(scores.shape)
    return np.where(causal & (start + j > i + k - len(query)), -np.inf, scores)


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

