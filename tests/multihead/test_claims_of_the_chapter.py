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


def drawn_words(seed, count):
    """Tokens of three words, by name and random value, and what sat wants of them: feature 0 of mat, feature 1 of cat."""
    values = np.random.default_rng(seed).uniform(0, 9, (count, 3, 2))
    names = np.broadcast_to(np.eye(3), (count, 3, 3))
    return np.concatenate([names, values], axis=2), np.stack([values[:, 1, 0], values[:, 0, 1]], axis=1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("on_sat", [0, 0.2, 0.5])
def test_the_best_head_with_weights_of_the_words_alone_leaves_half_of_the_variance(seed, on_sat):
    """Whatever its output-value circuit. With less than all weight on mat and cat it leaves more; two such heads leave nothing."""
    words, wanted = drawn_words(seed, 20000)
    variance = ((wanted - wanted.mean(axis=0)) ** 2).sum()

    def left(*weights):
        read = np.concatenate([weight @ words for weight in weights], axis=1)
        best = read @ np.linalg.lstsq(read, wanted, rcond=None)[0]
        return ((best - wanted) ** 2).sum() / variance

    for on_cat in np.linspace(0, 1 - on_sat, 6):
        weight = np.array([on_cat, 1 - on_sat - on_cat, on_sat])
        on_both = weight[:2] @ weight[:2]
        expected = 1 - on_both / (on_both + on_sat**2) / 2
        assert left(weight) == pytest.approx(expected, abs=0.01)
        assert expected == 0.5 if on_sat == 0 else expected > 0.51
    assert left(np.array([1, 0, 0]), np.array([0, 1, 0])) < 1e-9


def head_that_cheats(words, small, reads=1):
    """One head that gives mat a tiny weight, which grows with feature 0 of mat, and makes it large again."""
    query_weight, key_weight, value_weight = np.zeros((5, 1)), np.zeros((5, 1)), np.zeros((5, 2))
    query_weight[2] = 1
    key_weight[:4, 0] = 0, np.log(small), -60, reads * small
    value_weight[:2, 0] = -1 / small, 1 / small**2
    value_weight[3:] = np.eye(2)
    return attention(words @ query_weight, words @ key_weight, words @ value_weight)[0][:, 2]


@pytest.mark.parametrize("seed", range(8))
def test_a_head_whose_scores_read_the_values_cheats_with_enormous_numbers(seed):
    """With smaller numbers, and with scores that do not read the values, it fails."""
    words, wanted = drawn_words(seed, 2000)
    assert np.abs(head_that_cheats(words, 1e-5) - wanted).max() < 1e-3  # its largest number is 1e10
    assert np.abs(head_that_cheats(words, 1e-3) - wanted).max() > 0.01
    assert np.abs(head_that_cheats(words, 1e-5, reads=0) - wanted).max() > 1


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


def leaks_of_head_0(seed, tokens, split, merge):
    """The largest gradient of each weight outside the columns of head 0, when only its rows of the out weight are kept."""
    draw = np.random.default_rng(seed).standard_normal
    x, d_out = draw((2, B, tokens, M))
    weights = [draw(shape) / np.sqrt(shape[0]) for shape in ((M, H * D), (M, H * D), (M, H * V), (H * V, M))]
    weights[3][V:] = 0

    def into_heads(y, how):
        return split_heads(y, H) if how == "right" else y.reshape(B, H, tokens, -1)

    def out_of_heads(y, how):
        return merge_heads(y) if how == "right" else y.reshape(B, tokens, -1)

    *into, out_weight = weights
    inputs = [into_heads(x @ weight, split) for weight in into]
    d_heads = into_heads(d_out @ out_weight.T, merge)  # the backward of the merge
    d_inputs = attention_backward(d_heads, *inputs, attention(*inputs)[1])
    found = [(x.mT @ out_of_heads(d, split)).sum(axis=0) for d in d_inputs]
    return [np.abs(grad[:, grad.shape[1] // H :]).max() for grad in found]


@pytest.mark.parametrize("seed", range(8))
def test_the_query_weight_shows_a_wrong_split_or_a_wrong_merge_but_not_both(seed):
    """And with a single token a reshape alone is right."""
    for split, merge in (("wrong", "right"), ("right", "wrong")):
        assert min(leaks_of_head_0(seed, N, split, merge)) > 1e-3
    assert leaks_of_head_0(seed, N, "wrong", "wrong")[0] == 0
    assert leaks_of_head_0(seed, N, "right", "right") == [0, 0, 0]
    for split in ("right", "wrong"):
        for merge in ("right", "wrong"):
            assert leaks_of_head_0(seed, 1, split, merge) == [0, 0, 0]


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
