"""What chapter 5 says of its heads, with more starts than its cells have, and with the control that each claim needs."""

import numpy as np
import pytest

from attnlib.attention import attention, attention_backward
from attnlib.gradients import check_gradient
from attnlib.multihead import merge_heads, split_heads
from attnlib.softmax import softmax

B, N, M, H, D, V = 2, 4, 6, 3, 7, 8


@pytest.mark.parametrize("seed", range(20))
def test_two_heads_deliver_two_features_for_all_values(seed):
    """The pair that reaches (5, 5) does so for other values."""
    values = np.random.default_rng(seed).standard_normal((3, 2))
    words = np.hstack([np.eye(3), values])
    brought = []
    for feature, asked in enumerate((1, 0)):  # mat, cat
        asks, answers = np.zeros((2, 5, 3))
        asks[2, asked], answers[:3] = 20, np.eye(3)
        brought.append(attention(words[2:] @ asks, words @ answers, words[:, [3 + feature]])[0].item())
    wanted = [values[1, 0], values[0, 1]]
    np.testing.assert_allclose(brought, wanted, atol=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_a_head_tuned_to_two_tables_misses_the_others(seed):
    """Two heads get all twenty; the cheat is right for the values of the chapter only. The rows of the names tune a third table."""
    tables = np.random.default_rng(seed).uniform(0, 9, (20, 3, 2))
    wanted = np.stack([tables[:, 1, 0], tables[:, 0, 1]], axis=1)
    means = tables[:, :2].mean(axis=1)
    named = np.hstack([means, np.ones((20, 1))])  # half a cat's name and half a mat's
    both = np.stack([tables[:, 1] @ [1, 0], tables[:, 0] @ [0, 1]], axis=1)  # one hot weights, a matrix for each
    two, three = (x[: x.shape[1]] for x in (means, named))
    tuned = means @ np.linalg.solve(two, wanted[:2]), named @ np.linalg.solve(three, wanted[:3])
    right = [np.isclose(found, wanted, atol=1e-3).all(axis=1).sum() for found in (*tuned, means * 5 / 3, both)]
    assert right == [2, 3, 0, 20]
    np.testing.assert_allclose(np.mean([[1, 5], [5, 1]], axis=0) * 5 / 3, [5, 5])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("m", "d", "v"), [(6, 3, 2), (12, 4, 5)])
def test_a_circuit_has_at_most_the_rank_of_what_it_passes_through(seed, m, d, v):
    """And no head has a circuit of a higher rank: the best of rank d leaves the rest of a random matrix."""
    draw = np.random.default_rng(seed).standard_normal
    ranks = [np.linalg.matrix_rank(draw((m, size)) @ draw((size, m))) for size in (d, v)]
    assert ranks == [d, v]
    assert np.linalg.svd(draw((m, m)), compute_uv=False)[d:].max() > 0.1


def gradients(weights, x, d_out, split, merge):
    """Of the query, key and value weight."""
    *into, out_weight = weights
    inputs = [split(x @ weight) for weight in into]
    d_inputs = attention_backward(split(d_out @ out_weight.T), *inputs, attention(*inputs)[1])
    return [(x.mT @ merge(d)).sum(axis=0) for d in d_inputs]


SPLITS = {"right": lambda y: split_heads(y, H), "wrong": lambda y: y.reshape(B, H, N, -1)}
MERGES = {"right": merge_heads, "wrong": lambda y: y.reshape(B, N, -1)}
CUTS = {"right": (SPLITS["right"], MERGES["right"]), "reshape alone": (SPLITS["wrong"], MERGES["wrong"])}


def start(seed):
    draw = np.random.default_rng(seed).standard_normal
    shapes = ((M, H * D), (M, H * D), (M, H * V), (H * V, M))
    return draw((B, N, M)), draw((B, N, M)), [draw(shape) / np.sqrt(shape[0]) for shape in shapes]


def forward(weights, x, split, merge):
    *into, out_weight = weights
    return merge(attention(*(split(x @ weight) for weight in into))[0]) @ out_weight


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cuts", CUTS)
def test_a_gradient_check_passes_the_wrong_layer_too(seed, cuts):
    """Of one weight for each start; the control is the gradient of the other layer."""
    x, d_out, weights = start(seed)
    place = seed % 3

    def loss(weight):
        return (d_out * forward([*weights[:place], weight, *weights[place + 1 :]], x, *CUTS[cuts])).sum()

    found = {name: gradients(weights, x, d_out, *CUTS[name])[place] for name in CUTS}
    assert check_gradient(loss, weights[place], found.pop(cuts))
    assert not check_gradient(loss, weights[place], *found.values())


@pytest.mark.parametrize("seed", range(8))
def test_a_loop_over_the_heads_shows_the_reshape(seed):
    """And agrees with the right cuts."""
    x, _, weights = start(seed)
    heads = zip(*(np.split(weight, H, axis=1) for weight in weights[:3]), strict=True)
    loop = np.concatenate([attention(*(x @ weight for weight in head))[0] for head in heads], axis=-1) @ weights[3]
    np.testing.assert_allclose(forward(weights, x, *CUTS["right"]), loop)
    wrong = forward(weights, x, *CUTS["reshape alone"])
    assert wrong.shape == loop.shape and np.abs(wrong - loop).max() > 0.1


@pytest.mark.parametrize("seed", range(20))
def test_only_the_leak_sees_the_reshape(seed):
    """The gradients of the heads add up in both versions; one leaks into the key and the value weight, never the query's."""
    draw = np.random.default_rng(seed).standard_normal
    x, d_out = draw((2, B, N, M))
    weights = [draw(shape) / np.sqrt(shape[0]) for shape in ((M, H * D), (M, H * D), (M, H * V), (H * V, M))]
    leaks = {}
    for name, cuts in CUTS.items():
        owner = np.arange(H * V)[:, np.newaxis] // V
        alone = [gradients([*weights[:3], weights[3] * (owner == i)], x, d_out, *cuts) for i in range(H)]
        for whole, *parts in zip(gradients(weights, x, d_out, *cuts), *alone, strict=True):
            np.testing.assert_allclose(sum(parts), whole, atol=1e-12)
        leaks[name] = [
            max(np.abs(np.delete(np.split(alone[i][place], H, axis=1), i, axis=0)).max() for i in range(H))
            for place in range(3)
        ]
    assert leaks["right"] == [0, 0, 0]
    assert leaks["reshape alone"][0] == 0
    assert min(leaks["reshape alone"][1:]) > 0.1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("m", "d"), [(6, 3), (12, 4)])
def test_only_the_products_of_the_weights_count(seed, m, d):
    """An invertible U changes every entry of both weights and nothing else; on one weight alone it changes the head."""
    draw = np.random.default_rng(seed).standard_normal
    x, query_weight, key_weight, mixed = draw((5, m)), draw((m, d)), draw((m, d)), draw((d, d))
    one = attention(x @ query_weight, x @ key_weight, x)[1]
    same = attention(x @ query_weight @ mixed, x @ key_weight @ np.linalg.inv(mixed).T, x)[1]
    np.testing.assert_allclose(same, one, atol=1e-8)
    assert (query_weight != query_weight @ mixed).all()
    assert np.abs(attention(x @ query_weight @ mixed, x @ key_weight, x)[1] - one).max() > 0.05


@pytest.mark.parametrize("seed", range(8))
def test_equal_tokens_leave_a_layer_linear_and_different_ones_do_not(seed):
    draw = np.random.default_rng(seed).standard_normal
    weights = draw((6, 9)), draw((6, 9)), draw((6, 9)), draw((9, 6))

    def layer(x):
        return forward(weights, x, lambda y: split_heads(y, 3), merge_heads)

    one, other = draw((2, 6))
    several = [np.tile(token, (1, 5, 1)) for token in (one, other, 2 * one - 3 * other)]
    np.testing.assert_allclose(layer(several[2]), 2 * layer(several[0]) - 3 * layer(several[1]), atol=1e-9)
    x = draw((1, 5, 6))
    assert np.abs(layer(2 * x) - 2 * layer(x)).max() > 0.1


@pytest.mark.parametrize("seed", range(8))
def test_one_line_before_the_softmax_hides_the_later_tokens(seed):
    """The line of the chapter, for all heads; without it, a later token moves the earlier rows."""
    draw = np.random.default_rng(seed).standard_normal
    n, into, out_weight = 5, draw((3, 6, 8)) / 2, draw((8, 6))
    x = draw((2, n, 6))
    later = x.copy()
    later[:, 3:] = draw((2, 2, 6))

    def layer(x, causal):
        query, key, value = (split_heads(x @ weight, 2) for weight in into)
        scores = query @ key.mT / 2
        if causal:
            scores = np.where(np.tril(np.ones((n, n), dtype=bool)), scores, -np.inf)
        return merge_heads(softmax(scores) @ value) @ out_weight

    np.testing.assert_array_equal(layer(x, True)[:, :3], layer(later, True)[:, :3])
    assert np.abs(layer(x, True)[:, 3:] - layer(later, True)[:, 3:]).max() > 0.1
    assert np.abs(layer(x, False)[:, :3] - layer(later, False)[:, :3]).max() > 0.01
