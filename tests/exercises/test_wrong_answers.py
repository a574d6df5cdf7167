"""Wrong answers that looked right once, chapters 1 to 5: on ordinary inputs each is right, or nearly."""

import math

import numpy as np
import pytest
from wrong_cases import adds_to, does_not_pass, name, softmax_or_zero

from attnexercises.engine.registry import find

WRONG = []
wrong = adds_to(WRONG)


@pytest.mark.parametrize("id, answer", WRONG, ids=name)
def test_a_wrong_answer_does_not_pass(id, answer):
    does_not_pass(id, answer)


# --- softmax --------------------------------------------------------------------------------------


@wrong("softmax")
def fewer_axes(x):
    return find("softmax").solution(x).squeeze()


@wrong("softmax")
def at_most_three_axes(x):
    y = np.array(x, dtype=float)
    for row in y if y.ndim > 1 else [y]:
        row[...] = find("softmax").solution(row.reshape(-1, row.shape[-1])).reshape(row.shape)
    return y if y.ndim < 4 else y[:1]


@wrong("softmax")
def a_matrix_at_least(x):
    return find("softmax").solution(np.atleast_2d(x))


@wrong("online_softmax")
def skips_a_block_that_holds_minus_infinity(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        new = max(maximum, scores.max())
        if np.isneginf(scores).any():
            continue
        maximum, total = new, total * np.exp(maximum - new) + np.exp(scores - new).sum()
    return maximum, total


@wrong("online_softmax")
def stops_at_minus_infinity(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        new = max(maximum, scores.max())
        if np.isneginf(scores).all() and total:
            break
        if new > -np.inf:
            maximum, total = new, total * np.exp(maximum - new) + np.exp(scores - new).sum()
    return maximum, total


@wrong("online_softmax")
def starts_again_after_minus_infinity(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        if np.isneginf(scores.max()):
            maximum, total = -np.inf, 0.0
            continue
        new = max(maximum, scores.max())
        maximum, total = new, total * np.exp(maximum - new) + np.exp(scores - new).sum()
    return maximum, total


@wrong("online_softmax")
def the_whole_row(x, block):
    maximum = x.max()
    return maximum, np.exp(x - np.where(np.isneginf(maximum), 0.0, maximum)).sum()


@wrong("online_softmax")
def the_maximum_first(x, block):
    maximum = max(x)
    shift = 0.0 if np.isneginf(maximum) else maximum
    return maximum, sum(np.exp(x[start : start + block] - shift).sum() for start in range(0, len(x), block))


@wrong("online_softmax")
def the_maximum_in_a_pass_of_its_own(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        maximum = max(maximum, x[start : start + block].max())
    for start in range(0, len(x), block):
        total += np.exp(x[start : start + block] - maximum).sum() if maximum > -np.inf else 0.0
    return maximum, total


@wrong("online_softmax")
def the_logsumexp_of_the_whole_row(x, block):
    maximum = np.max(np.array(x))
    return maximum, np.exp(np.logaddexp.reduce(x) - maximum) if maximum > -np.inf else 0.0


@wrong("online_softmax")
def two_passes_over_a_list(x, block):
    scores = list(x)
    maximum = max(scores)
    return maximum, sum(math.exp(score - maximum) for score in scores) if maximum > -math.inf else 0.0


@wrong("online_softmax")
def as_many_blocks_as_a_block_is_long(x, block):
    padded = np.concatenate([x, np.full(-len(x) % block, -np.inf)])
    maximum, total = -np.inf, 0.0
    for scores in padded.reshape(block, -1):
        new = max(maximum, scores.max())
        if new > -np.inf:
            maximum, total = new, total * np.exp(maximum - new) + np.exp(scores - new).sum()
    return maximum, total


@wrong("temperature_gradient")
def one_maximum_for_all_rows(d_weights, scores, temperature):
    powers = np.exp((scores - scores.max()) / temperature)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    d_scaled = weights * (d_weights - (d_weights * weights).sum(axis=-1, keepdims=True))
    return -(d_scaled * scores).sum() / temperature**2


# --- attention ------------------------------------------------------------------------------------


def attend(query, key, value, d=None, maximum=lambda scores: scores.max(axis=-1, keepdims=True)):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(d or query.shape[-1])
    powers = np.exp(scores - maximum(scores))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


@wrong("sdpa")
def sdpa_without_axes_of_size_1(query, key, value):
    return attend(query, key, value).squeeze()


@wrong("sdpa")
def sdpa_with_one_maximum(query, key, value):
    return attend(query, key, value, maximum=np.max)


@wrong("sdpa")
def sdpa_with_at_most_two_leading_axes(query, key, value):
    return attend(query, key, value) if query.ndim < 5 else attend(query[:1], key[:1], value[:1])


@wrong("distance_attention")
def distance_without_axes_of_size_1(query, key, value):
    return find("distance_attention").solution(query, key, value).squeeze()


@wrong("sdpa_backward")
def gradients_without_axes_of_size_1(d_out, query, key, value):
    return tuple(map(np.squeeze, find("sdpa_backward").solution(d_out, query, key, value)))


@wrong("additive_backward")
def additive_without_axes_of_size_1(d_out, query, key, value, w):
    *rest, d_w = find("additive_backward").solution(d_out, query, key, value, w)
    return *map(np.squeeze, rest), d_w


# --- masks ----------------------------------------------------------------------------------------


@wrong("masked_softmax")
def hides_visible_zeros(scores, keep):
    shown = scores * keep
    return softmax_or_zero(np.where(shown == 0, -np.inf, shown))


@wrong("masked_softmax")
def shifts_by_the_smallest(scores, keep):
    smallest = np.where(keep, scores, np.inf).min(axis=-1, keepdims=True)
    powers = np.where(keep, np.exp(scores - np.where(np.isposinf(smallest), 0, smallest)), 0)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


@wrong("masked_softmax")
def masked_without_axes_of_size_1(scores, keep):
    return softmax_or_zero(np.where(keep, scores, -np.inf)).squeeze()


@wrong("masked_softmax")
def stops_at_the_first_empty_row(scores, keep):
    weights = softmax_or_zero(np.where(keep, scores, -np.inf))
    weights[..., np.logical_or.accumulate(~keep.any(axis=-1), axis=-1), :] = 0
    return weights


@wrong("masked_softmax")
def zeros_only_if_every_row_is_empty(scores, keep):
    if not keep.any():
        return np.zeros(scores.shape)
    visible = np.where(keep, scores, -np.inf)
    powers = np.exp(visible - visible.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def padded(query, key, value, real, hidden):
    n = query.shape[-2]
    keep = np.tri(n, dtype=bool) & real[:, None, :]
    scores = np.where(keep, query @ key.mT / math.sqrt(query.shape[-1]), hidden)
    return np.where(keep.any(axis=-1, keepdims=True), softmax_or_zero(scores), 0) @ value


@wrong("padded_causal_attention")
def padding_hidden_by_a_large_number(query, key, value, real):
    return padded(query, key, value, real, -1e9)


@wrong("padded_causal_attention")
def padding_hidden_by_a_small_addition(query, key, value, real):
    n = query.shape[-2]
    keep = np.tri(n, dtype=bool) & real[:, None, :]
    scores = query @ key.mT / math.sqrt(query.shape[-1]) + np.where(keep, 0, -1e9)
    return np.where(keep.any(axis=-1, keepdims=True), softmax_or_zero(scores), 0) @ value


@wrong("padded_causal_attention")
def padded_without_axes_of_size_1(query, key, value, real):
    return padded(query, key, value, real, -np.inf).squeeze()


@wrong("distance_bias_backward")
def at_most_two_leading_axes(d_out, value, weights):
    whole = find("distance_bias_backward").solution
    return whole(d_out, value, weights) if value.ndim < 5 else whole(d_out[0], value[0], weights[0])


# --- heads ----------------------------------------------------------------------------------------


def heads_with_root_of(d):
    def answer(x, query_weight, key_weight, value_weight, out_weight, heads):
        b, n, m = x.shape
        query, key, value = (
            (x @ weight).reshape(b, n, heads, -1).swapaxes(1, 2) for weight in (query_weight, key_weight, value_weight)
        )
        attended = attend(query, key, value, d(m, heads))
        return attended.swapaxes(1, 2).reshape(b, n, -1) @ out_weight

    return answer


@wrong("mha")
def root_of_the_width_divided_by_heads(*arguments):
    return heads_with_root_of(lambda m, heads: m // heads)(*arguments)


@wrong("mha")
def mha_without_axes_of_size_1(*arguments):
    return find("mha").solution(*arguments).squeeze()


@wrong("mha_backward")
def backward_with_the_root_of_the_width_divided_by_heads(*arguments):
    x, query_weight, heads = arguments[1], arguments[2], arguments[-1]
    ratio = math.sqrt(x.shape[-1] // heads / (query_weight.shape[1] // heads))
    changed = list(arguments)
    changed[2] = query_weight / ratio
    d_x, d_query, *others = find("mha_backward").solution(*changed)
    return d_x, d_query / ratio, *others


@wrong("mha_backward")
def heads_backward_without_axes_of_size_1(*arguments):
    d_x, *others = find("mha_backward").solution(*arguments)
    return d_x.squeeze(), *others


@wrong("gqa")
def gqa_without_axes_of_size_1(query, key, value):
    return find("gqa").solution(query, key, value).squeeze()


@wrong("gqa_backward")
def groups_without_axes_of_size_1(d_repeated, kv_heads):
    return find("gqa_backward").solution(d_repeated, kv_heads).squeeze()
