"""How `flash_forward` got its values: plain attention has the right ones and is not Flash attention."""

import math

import numpy as np
import pytest
from method_cases import hide, visible

from attnexercises import grade
from attnexercises.engine.registry import find


def softmax(scores):
    top = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total), top, total


def finish(scores, value):
    weights, top, total = softmax(scores)
    return weights @ value, (top + np.log(np.where(total == 0, 1, total)))[..., 0]


def unblocked(query, key, value, block, causal):
    scores = query @ key.T / math.sqrt(query.shape[1])
    return finish(hide(scores, 0, causal, len(query), len(key)), value)


def unblocked_from_plain_arrays(query, key, value, block, causal):
    return unblocked(np.asarray(query), np.asarray(key), np.asarray(value), block, causal)


def scores_collected_in_blocks(query, key, value, block, causal):
    scores = np.zeros((len(query), len(key)))
    for start in range(0, len(key), block):
        scores[:, start : start + block] = query @ key[start : start + block].T / math.sqrt(query.shape[1])
    return finish(hide(scores, 0, causal, len(query), len(key)), value)


def a_mask_of_full_size(query, key, value, block, causal):
    visible = np.tri(len(query), len(key), len(key) - len(query), dtype=bool)
    out, logsumexp = find("flash_forward").solution(query, key, value, block, causal)
    return np.where(visible.any(axis=1)[:, None], out, out), logsumexp


def one_query_at_a_time(query, key, value, block, causal):
    rows = []
    for i in range(len(query)):
        scores = query[i : i + 1] @ key.T / math.sqrt(query.shape[1])
        rows.append(finish(hide(scores, i, causal, len(query), len(key)), value))
    return np.concatenate([row[0] for row in rows]), np.concatenate([row[1] for row in rows])


def one_query_at_a_time_from_plain_arrays(query, key, value, block, causal):
    return one_query_at_a_time(*map(np.asarray, (query, key, value)), block, causal)


def one_query_without_a_matrix_product(query, key, value, block, causal):
    rows = []
    for i in range(len(query)):
        scores = (query[i] * key).sum(axis=1)[None] / math.sqrt(query.shape[1])
        rows.append(finish(hide(scores, i, causal, len(query), len(key)), value))
    return np.concatenate([row[0] for row in rows]), np.concatenate([row[1] for row in rows])


def one_query_by_einsum(query, key, value, block, causal):
    rows = []
    for i in range(len(query)):
        scores = np.einsum("d,kd->k", query[i], key)[None] / math.sqrt(query.shape[1])
        rows.append(finish(hide(scores, i, causal, len(query), len(key)), value))
    return np.concatenate([row[0] for row in rows]), np.concatenate([row[1] for row in rows])


def keys_scaled_beforehand(query, key, value, block, causal):
    there_and_back = key * query.shape[1] ** -0.5 * math.sqrt(query.shape[1])
    return find("flash_forward").solution(query, there_and_back, value, block, causal)


def one_key_at_a_time(query, key, value, block, causal):
    out, top, total = np.zeros((len(query), value.shape[1])), np.full(len(query), -np.inf), np.zeros(len(query))
    last = np.arange(len(query)) + (len(key) - len(query) if causal else len(key))
    for j in range(len(key)):
        scores = np.where(j > last, -np.inf, query @ key[j] / math.sqrt(query.shape[1]))
        new = np.maximum(top, scores)
        shift = np.where(np.isneginf(new), 0, new)
        old, power = np.exp(top - shift), np.exp(scores - shift)
        out, total, top = out * old[:, None] + power[:, None] * value[j], total * old + power, new
    total = np.where(total == 0, 1, total)
    return out / total[:, None], top + np.log(total)


SCORES = "all 312 scores are held at once, as in plain attention (13 queries, 24 keys)"
MASK = "a whole mask of 13 × 24 is held at once"
LISTS = "numbers for all q × k pairs are held at once"
LOOKS = "it looks at 24 keys at once where a block has 3"
AGAIN = "the same queries meet a block of keys again after other blocks"
WAITS = "24 keys have met a query before the value of the first is used"


def two_passes(query, key, value, block, causal):
    scale, top = 1 / math.sqrt(query.shape[1]), np.full((len(query), 1), -np.inf)
    for start in range(0, len(key), block):
        scores = hide(scale * query @ key[start : start + block].T, -start, causal, len(query), len(key))
        top = np.maximum(top, scores.max(axis=1, keepdims=True))
    out, total = np.zeros((len(query), value.shape[1])), np.zeros((len(query), 1))
    for start in range(0, len(key), block):
        scores = hide(scale * query @ key[start : start + block].T, -start, causal, len(query), len(key))
        powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
        total, out = total + powers.sum(axis=1, keepdims=True), out + powers @ value[start : start + block]
    total = np.where(total == 0, 1, total)
    return out / total, (top + np.log(total))[:, 0]


def by_floats(query, key, value):
    return [[[float(x) for x in row] for row in array] for array in (query, key, value)]


def by_tolist(query, key, value):
    return query.tolist(), key.tolist(), value.tolist()


def by_rows(query, key, value):
    return [list(map(list, array)) for array in (query, key, value)]


def by_filling(query, key, value):
    copies = []
    for array in (query, key, value):
        copy = np.zeros(array.shape)
        for i in range(array.shape[0]):
            for j in range(array.shape[1]):
                copy[i, j] = float(array[i, j])
        copies.append(copy)
    return copies


def by_iterator(query, key, value):
    return [np.fromiter(array.flat, float).reshape(array.shape) for array in (query, key, value)]


def by_list_and_back(query, key, value):
    return [np.array(array.tolist()) for array in (query, key, value)]


def row_by_row_in_numbers(copy):
    """Plain attention one query at a time, without an array."""

    def answer(query, key, value, block, causal):
        q, k, d = len(query), len(key), query.shape[1]
        queries, keys, values = copy(query, key, value)
        out, logsumexp = np.zeros((q, value.shape[1])), np.full(q, -np.inf)
        for i in range(q):
            seen = visible(i, q, k, causal)
            scores = [sum(a * b for a, b in zip(queries[i], keys[j])) / math.sqrt(d) for j in seen]
            if not scores:
                continue
            top = max(scores)
            powers = [math.exp(score - top) for score in scores]
            total = sum(powers)
            for c in range(value.shape[1]):
                out[i, c] = sum(p * values[j][c] for p, j in zip(powers, seen)) / total
            logsumexp[i] = top + math.log(total)
        return out, logsumexp

    return answer


def two_walks_in_numbers(query, key, value, block, causal):
    """The maximum first, one score at a time; then the sums: no score is kept, every key is looked at twice."""
    q, k, d = len(query), len(key), query.shape[1]
    out, logsumexp = np.zeros((q, value.shape[1])), np.full(q, -np.inf)
    for i in range(q):
        top, total = -math.inf, 0.0
        for j in visible(i, q, k, causal):
            top = max(top, sum(a * b for a, b in zip(query[i], key[j])) / math.sqrt(d))
        for j in visible(i, q, k, causal):
            power = math.exp(sum(a * b for a, b in zip(query[i], key[j])) / math.sqrt(d) - top)
            total += power
            out[i] += power * value[j]
        if total:
            out[i] /= total
            logsumexp[i] = top + math.log(total)
    return out, logsumexp


def one_walk_in_numbers(copy):
    """The online softmax with a block of one key, without an array: right, and slow."""

    def answer(query, key, value, block, causal):
        q, k, d = len(query), len(key), query.shape[1]
        queries, keys, values = copy(query, key, value)
        out, logsumexp = [], []
        for i in range(q):
            top, total, acc = -math.inf, 0.0, [0.0] * value.shape[1]
            for j in visible(i, q, k, causal):
                score = sum(a * b for a, b in zip(queries[i], keys[j])) / math.sqrt(d)
                new = max(top, score)
                old, power = math.exp(top - new), math.exp(score - new)
                total = old * total + power
                acc = [old * a + power * x for a, x in zip(acc, values[j])]
                top = new
            out.append([a / total for a in acc] if total else acc)
            logsumexp.append(top + math.log(total) if total else -math.inf)
        return np.array(out), np.array(logsumexp)

    return answer


def all_scores_in_lists(query, key, value, block, causal):
    queries, keys, values = by_tolist(query, key, value)
    q, k, d = len(query), len(key), query.shape[1]
    table = [[sum(a * b for a, b in zip(x, y)) / math.sqrt(d) for y in keys] for x in queries]
    out, logsumexp = np.zeros((q, value.shape[1])), np.full(q, -np.inf)
    for i, scores in enumerate(table):
        scores = [scores[j] for j in visible(i, q, k, causal)]
        top = max(scores, default=-math.inf)
        for j, score in enumerate(scores):
            out[i] += math.exp(score - top) * np.array(values[j])
        if scores:
            total = sum(math.exp(score - top) for score in scores)
            out[i] /= total
            logsumexp[i] = top + math.log(total)
    return out, logsumexp


def a_mask_in_lists(query, key, value, block, causal):
    q, k = len(query), len(key)
    mask = [[not causal or j <= i + k - q for j in range(k)] for i in range(q)]
    out, logsumexp = find("flash_forward").solution(query, key, value, block, causal)
    assert len(mask) == q
    return out, logsumexp


def on(copy, answer):
    return lambda query, key, value, block, causal: answer(*map(np.asarray, copy(query, key, value)), block, causal)


def in_blocks_of_four(query, key, value, block, causal):
    return find("flash_forward").solution(query, key, value, block + 1, causal)


def all_scores_by_einsum(query, key, value, block, causal):
    scores = np.einsum("qd,kd->qk", query, key) / math.sqrt(query.shape[1])
    return finish(hide(scores, 0, causal, len(query), len(key)), value)


def all_scores_by_broadcast(query, key, value, block, causal):
    scores = (query[:, None, :] * key[None]).sum(axis=-1) / math.sqrt(query.shape[1])
    return finish(hide(scores, 0, causal, len(query), len(key)), value)


def transposed_scores(query, key, value, block, causal):
    scores = (key @ query.T).T / math.sqrt(query.shape[1])
    return finish(hide(scores, 0, causal, len(query), len(key)), value)


WRONG_METHODS = {
    "plain": (unblocked, SCORES),
    "plain, from plain arrays": (unblocked_from_plain_arrays, SCORES),
    "plain, by einsum": (all_scores_by_einsum, SCORES),
    "plain, by broadcasting": (all_scores_by_broadcast, SCORES),
    "plain, transposed": (transposed_scores, SCORES),
    "scores collected in blocks": (scores_collected_in_blocks, "an array of 13 × 24 is held at once"),
    "a mask of full size": (a_mask_of_full_size, MASK),
    "all scores in lists": (all_scores_in_lists, LISTS),
    "a mask in lists": (a_mask_in_lists, LISTS),
    "one query at a time": (one_query_at_a_time, LOOKS),
    "one query at a time, from plain arrays": (one_query_at_a_time_from_plain_arrays, LOOKS),
    "one query without a matrix product": (one_query_without_a_matrix_product, LOOKS),
    "one query by einsum": (one_query_by_einsum, LOOKS),
    "blocks of four": (in_blocks_of_four, "it looks at 4 keys at once where a block has 3"),
    "two passes": (two_passes, AGAIN),
    "two walks in numbers": (two_walks_in_numbers, AGAIN),
}
COPIES = (by_floats, by_tolist, by_filling, by_iterator, by_list_and_back, by_rows)
for copy in COPIES:
    WRONG_METHODS |= {
        f"plain, {copy.__name__}": (on(copy, unblocked), SCORES),
        f"one query at a time, {copy.__name__}": (on(copy, one_query_at_a_time), LOOKS),
        f"two passes, {copy.__name__}": (on(copy, two_passes), AGAIN),
        f"row by row in numbers, {copy.__name__}": (row_by_row_in_numbers(copy), WAITS),
    }


def on_a_push(cases):
    """Of the walks in single numbers, the slowest, a push takes two ways to copy; the thorough run takes every way."""
    slow = {f"{way} in numbers, {copy.__name__}" for copy in COPIES[1:-1] for way in ("row by row", "one walk")}
    return [pytest.param(case, marks=pytest.mark.thorough) if case in slow else case for case in cases]


@pytest.mark.parametrize("case", on_a_push(WRONG_METHODS))
def test_right_values_by_another_method_are_rejected_and_told_why(case):
    answer, objection = WRONG_METHODS[case]
    result = grade("flash_forward", answer)
    assert result.status == "wrong" and result.mistakes == () and result.failed == ()
    assert result.lines[0].startswith("[!] flash_forward: the values are right, but ") and objection in result.lines[0]
    cases = len(find("flash_forward").probes)
    assert result.lines[1] == f"    {cases} of {cases} cases right."
    assert len(result.lines[0]) < 240


RIGHT_METHODS = {"keys scaled beforehand": keys_scaled_beforehand, "one key at a time": one_key_at_a_time}
for copy in COPIES:
    RIGHT_METHODS |= {
        f"one key at a time, {copy.__name__}": on(copy, one_key_at_a_time),
        f"the book's, {copy.__name__}": on(copy, find("flash_forward").solution),
        f"one walk in numbers, {copy.__name__}": one_walk_in_numbers(copy),
    }


@pytest.mark.parametrize("case", on_a_push(RIGHT_METHODS))
def test_another_way_to_walk_through_the_keys_passes(case):
    result = grade("flash_forward", RIGHT_METHODS[case])
    assert result.status == "passed", result.lines


def test_wrong_values_are_named_before_the_method_is_looked_at():
    def unscaled(query, key, value, block, causal):
        return finish(hide(query @ key.T, 0, causal, len(query), len(key)), value)

    assert grade("flash_forward", unscaled).mistakes == ("no_scale",)


def test_a_number_in_place_of_minus_infinity_gets_a_sentence():
    def answer(*arguments):
        out, logsumexp = find("flash_forward").solution(*arguments)
        return out, np.where(np.isneginf(logsumexp), 7.0, logsumexp)

    assert "finite where -inf is right, in 2 of 5 numbers" in grade("flash_forward", answer).lines[0]


@pytest.mark.parametrize("id", ["flash_forward", "flash_backward"])
def test_the_method_of_the_solution_raises_no_objection_and_leaves_the_tracer_as_it_was(id):
    import tracemalloc

    assert find(id).method(find(id).solution) == "" and not tracemalloc.is_tracing()
    tracemalloc.start()
    assert find(id).method(find(id).solution) == "" and tracemalloc.is_tracing()
    tracemalloc.stop()
