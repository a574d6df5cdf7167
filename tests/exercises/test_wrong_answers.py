"""Wrong answers that looked right once: on ordinary inputs each of them returns the right numbers, or nearly does."""

import math

import numpy as np
import pytest

from attnlib.exercises import grade
from attnlib.exercises.engine.registry import find

WRONG = []


def wrong(id):
    """Put a function into the list of the answers that must not pass exercise `id`."""

    def add(function):
        WRONG.append((id, function))
        return function

    return add


@pytest.mark.parametrize("id, answer", WRONG, ids=lambda x: getattr(x, "__name__", x))
def test_a_wrong_answer_does_not_pass(id, answer):
    result = grade(id, answer)
    assert result.status in ("wrong", "crashed"), result.lines


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


def softmax_or_zero(scores):
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


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


# --- Flash attention ------------------------------------------------------------------------------


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


def one_query_at_a_time(query, key, value, block, causal):
    rows, logsumexp = [], []
    for i in range(len(query)):
        scores = key @ query[i] / math.sqrt(query.shape[1])
        if causal:
            scores = np.where(np.arange(len(key)) > i + len(key) - len(query), -np.inf, scores)
        rows.append(softmax_or_zero(scores) @ value)
        logsumexp.append(np.logaddexp.reduce(scores))
    return np.array(rows), np.array(logsumexp)


COPIES = {
    "np.copy": np.copy,
    "rows": lambda x: np.array([row for row in x]),
    "stack": lambda x: np.stack(list(x)),
    "concatenate": lambda x: np.concatenate([x]),
    "lists": lambda x: np.array(x.tolist()),
    "zeros": lambda x: np.zeros(x.shape) + x,
    "transposed": lambda x: np.copy(x.T).T,
    "plus 0": lambda x: x + 0.0,
}


@pytest.mark.parametrize("way", COPIES)
def test_plain_attention_on_copies_does_not_pass(way):
    copied = COPIES[way]

    def answer(query, key, value, block, causal):
        return one_query_at_a_time(copied(query), copied(key), copied(value), block, causal)

    result = grade("flash_forward", answer)
    assert result.status == "wrong" and " at once" in result.lines[0], result.lines


@pytest.mark.parametrize("way", [*COPIES, "one by one", "buffer"])
def test_a_whole_row_copied_is_no_online_softmax(way):
    more = {
        "one by one": lambda x: np.array([float(x[i]) for i in range(len(x))]), "buffer": lambda x: np.frombuffer(x.tobytes()),
    }  # fmt: skip
    result = grade("online_softmax", lambda x, block: the_whole_row((COPIES | more)[way](x), block))
    assert result.status == "wrong" and "looks at 20 scores at once where a block has 3" in result.lines[0], result.lines


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
def nothing_where_the_masses_are_equal(maximum_a, total_a, out_a, maximum_b, total_b, out_b):
    maximum, total, out = find("merge_partials").solution(maximum_a, total_a, out_a, maximum_b, total_b, out_b)
    alike = (maximum_a == maximum_b) & (total_a == total_b)
    return maximum, total, np.where(alike[:, None], 0, out)


@wrong("backward_with_logsumexp")
def one_maximum_for_all(d_out, d_logsumexp, query, key, value):
    c = 1 / math.sqrt(query.shape[1])
    scores = c * query @ key.T
    weights = np.exp(scores - scores.max())
    weights /= weights.sum(axis=1, keepdims=True)
    d_weights = d_out @ value.T
    d_scores = c * weights * (d_weights - (weights * d_weights).sum(axis=1, keepdims=True) + d_logsumexp[:, None])
    return d_scores @ key, d_scores.T @ query, weights.T @ d_out
