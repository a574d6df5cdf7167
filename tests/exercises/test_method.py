"""Exercises that judge the method, too: plain attention has the right values and is not Flash attention."""

import math

import numpy as np
import pytest

from attnlib.exercises import grade
from attnlib.exercises.engine.registry import find
from attnlib.exercises.engine.watch import most_rows_at_once, peak_bytes


def softmax(scores):
    top = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total), top, total


def hide(scores, first_row, causal, q, k):
    if causal:
        i, j = np.indices(scores.shape)
        scores = np.where(j > i + first_row + k - q, -np.inf, scores)
    return scores


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


HOLDS = "q × k numbers are held at once"
LOOKS = "it looks at 24 keys at once where a block has 3"


@pytest.mark.parametrize(
    "answer, objection",
    [
        (unblocked, HOLDS),
        (unblocked_from_plain_arrays, HOLDS),
        (scores_collected_in_blocks, HOLDS),
        (a_mask_of_full_size, HOLDS),
        (one_query_at_a_time, LOOKS),
        (one_query_at_a_time_from_plain_arrays, LOOKS),
        (one_query_without_a_matrix_product, LOOKS),
        (one_query_by_einsum, LOOKS),
    ],
)
def test_right_values_by_another_method_are_rejected_and_told_why(answer, objection):
    result = grade("flash_forward", answer)
    assert result.status == "wrong" and result.mistakes == () and result.failed == ()
    assert result.lines[0].startswith("[!] flash_forward: the values are right, but ") and objection in result.lines[0]
    cases = len(find("flash_forward").probes)
    assert result.lines[1] == f"    {cases} of {cases} cases right."
    assert len(result.lines[0]) < 200


@pytest.mark.parametrize("answer", [keys_scaled_beforehand, one_key_at_a_time])
def test_another_way_to_walk_through_the_keys_passes(answer):
    assert grade("flash_forward", answer).status == "passed"


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


def whole_row(x, block):
    return x.max(), np.exp(x - np.where(np.isneginf(x.max()), 0.0, x.max())).sum()


def maximum_first(x, block):
    maximum = max(x)
    shift = 0.0 if np.isneginf(maximum) else maximum
    return maximum, sum(np.exp(x[start : start + block] - shift).sum() for start in range(0, len(x), block))


@pytest.mark.parametrize(
    "id, answer, objection",
    [
        ("flash_forward", two_passes, "the same queries meet a block of keys again after other blocks"),
        ("online_softmax", whole_row, "one step looks at 20 scores at once where a block has 3"),
        ("online_softmax", maximum_first, "it goes back to scores of an earlier block"),
    ],
)
def test_who_looks_ahead_or_comes_back_is_told_so(id, answer, objection):
    result = grade(id, answer)
    assert result.status == "wrong" and result.mistakes == () and result.failed == ()
    assert result.lines[0].startswith(f"[!] {id}: the values are right, but {objection}"), result.lines


def test_wrong_values_are_named_before_the_method_is_looked_at():
    def unscaled(query, key, value, block, causal):
        return finish(hide(query @ key.T, 0, causal, len(query), len(key)), value)

    assert grade("flash_forward", unscaled).mistakes == ("no_scale",)


def test_a_number_in_place_of_minus_infinity_gets_a_sentence():
    def answer(*arguments):
        out, logsumexp = find("flash_forward").solution(*arguments)
        return out, np.where(np.isneginf(logsumexp), 7.0, logsumexp)

    assert "finite where -inf is right, in 2 of 5 numbers" in grade("flash_forward", answer).lines[0]


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


@pytest.mark.parametrize(
    "answer, objection", [(plain_backward, HOLDS), (backward_row_by_row, "24 keys at once where a tile")]
)
def test_a_backward_without_tiles_is_rejected_and_told_why(answer, objection):
    result = grade("flash_backward", answer)
    assert result.status == "wrong" and objection in result.lines[0]
    assert result.lines[0].startswith("[!] flash_backward: the gradients are right, but ")


@pytest.mark.parametrize("id", ["flash_forward", "flash_backward"])
def test_the_method_of_the_solution_raises_no_objection_and_leaves_the_tracer_as_it_was(id):
    import tracemalloc

    assert find(id).method(find(id).solution) == "" and not tracemalloc.is_tracing()
    tracemalloc.start()
    assert find(id).method(find(id).solution) == "" and tracemalloc.is_tracing()
    tracemalloc.stop()


def test_a_crash_or_an_endless_loop_while_it_is_watched_is_no_objection(monkeypatch):
    def stops(*arguments):
        raise TypeError

    def never_ends(*arguments):
        while True:
            pass

    monkeypatch.setattr("attnlib.exercises.engine.watch.TIME_LIMIT", 0.05)
    for function in (stops, never_ends):
        assert peak_bytes(function, ()) == 0
        assert most_rows_at_once(function, {"x": np.ones((3, 2))}, ("x",)) == 0


def test_the_largest_array_that_lives_at_any_moment_counts():
    def comes_and_goes(n):
        x = np.zeros(n)
        del x
        return np.zeros(n)

    assert 8_000_000 <= peak_bytes(comes_and_goes, (1_000_000,)) < 10_000_000


WAYS = {
    "x @ y": lambda x, y: x @ y,
    "transposed": lambda x, y: y @ x.T,
    "dot": lambda x, y: np.dot(x, y),
    "einsum": lambda x, y: np.einsum("ij,j->i", x, y),
    "tensordot": lambda x, y: np.tensordot(x, y, 1),
    "after a scale": lambda x, y: (0.5 * x) @ y,
    "weights for each row": lambda x, y: (np.ones((6, 1)) * x).sum(axis=0),
    "copied": lambda x, y: x.copy() @ y,
    "as a plain array": lambda x, y: np.asarray(x) @ y,
    "as a new array": lambda x, y: np.array(x, dtype=float) @ y,
    "contiguous": lambda x, y: y @ np.ascontiguousarray(x.T),
}


@pytest.mark.parametrize("way", WAYS)
def test_rows_that_go_into_a_product_are_seen(way):
    assert most_rows_at_once(WAYS[way], {"x": np.ones((6, 3)), "y": np.ones(3)}, ("x",)) == 6


INNOCENT = {
    "a block as a plain array": lambda x, y: np.asarray(x[:1]) @ y,
    "a plain list": lambda x, y: np.asarray([1.0, 2.0, 3.0]) @ y,
    "a scale": lambda x, y: 2.0 * x,
    "a scale for each feature": lambda x, y: y * x,
    "a sum": lambda x, y: x.sum(axis=0) + y,
    "padded": lambda x, y: np.concatenate([x, np.zeros((2, 3))])[:1] @ y,
    "in place": lambda x, y: np.add(x.copy(), 1, out=np.zeros((6, 3))),
}


def test_numpy_is_itself_again_after_a_watched_call():
    before = np.asarray, np.array
    most_rows_at_once(np.matmul, {"x": np.ones((6, 3)), "y": np.ones(3)}, ("x",))
    assert (np.asarray, np.array) == before and type(np.asarray(np.ones(3))) is np.ndarray


@pytest.mark.parametrize("way", INNOCENT)
def test_what_is_no_look_at_all_rows_is_not_taken_for_one(way):
    assert most_rows_at_once(INNOCENT[way], {"x": np.ones((6, 3)), "y": np.ones(3)}, ("x",)) <= 1
