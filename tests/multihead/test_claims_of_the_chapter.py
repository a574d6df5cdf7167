"""What chapter 5 says of its heads, with more starts than its cells have, and with the control that each claim needs."""

import numpy as np
import pytest

from attnexercises.multihead.built import previous_token_head
from attnlib.attention import attention, attention_backward
from attnlib.gradients import check_gradient
from attnlib.multihead import merge_heads, split_heads

B, N, M, H, D, V = 2, 4, 6, 3, 7, 8


def induction(word, letters, back=1, over=False, reads_own=False, residual=True):
    """The guesses of the pair of layers of the chapter, after each token of a word of letter numbers."""
    n, own = len(word), slice(0, letters)
    note = slice(letters + n, 2 * letters + n)
    start = np.zeros((n, 2 * letters + n))
    start[:, own], start[:, own.stop : note.start] = np.eye(letters)[word], np.eye(n)
    query_weight, key_weight = previous_token_head(letters, n)
    if back == 2:
        query_weight[letters:] = 99 * np.eye(n, k=-2)
    placed = start[:, : note.start]
    copied, _ = attention(placed @ query_weight, placed @ key_weight, start[:, own], causal=True)
    after = residual * start
    after[:, own if over else note] += copied
    keys = after[:, own if over or reads_own else note]
    return attention(20 * after[:, own], keys, after[:, own], causal=True)[0]


BROKEN = {"two back": {"back": 2}, "over the letter": {"over": True}, "own letter": {"reads_own": True}}


@pytest.mark.parametrize("seed", range(20))
def test_the_induction_pair_guesses_what_followed(seed):
    rng = np.random.default_rng(seed)
    word = [0, *rng.integers(1, 4, size=6)]  # a dot begins the text
    guess = induction(word, 4)
    assert induction(word, 4, residual=False).max() == 0
    for i in range(1, 7):
        followers = [word[j + 1] for j in range(i) if word[j] == word[i]]
        if followers:
            np.testing.assert_allclose(guess[i], np.bincount(followers, minlength=4) / len(followers), atol=0.1)
            if len(followers) == 1:
                assert guess[i].max() > 0.9


@pytest.mark.parametrize("letters", [3, 6])
@pytest.mark.parametrize("seed", range(20))
def test_each_part_of_the_pair_is_needed(seed, letters):
    """No letter stands twice in a row, or two parts could agree by chance; with six letters the text is longer, too."""
    rng = np.random.default_rng(seed)
    word = [0, *(1 + rng.integers(1, letters, size=2 * letters).cumsum() % letters)]
    for i in range(1, len(word)):
        followers = {word[j + 1] for j in range(i) if word[j] == word[i]}
        if len(followers) != 1:
            continue
        for name, way in {"right": {}, **BROKEN}.items():
            said = set(np.flatnonzero(induction(word, letters + 1, **way)[i] > 0.9))
            assert (said == followers) == (name == "right"), name


def test_without_a_dot_the_first_letter_carries_its_own_note():
    guess = induction([1, 2, 0, 1], 3)[-1]  # murm: the last m finds the first m and the u
    assert 0.4 < guess[1] < 0.6 and 0.4 < guess[2] < 0.6
    several = induction([0, 1, 2, 1, 3, 1], 4)[-1]  # .mumrm has two followers of m
    np.testing.assert_allclose(several, [0, 0, 0.5, 0.5], atol=0.1)  # it cannot prefer the last


@pytest.mark.parametrize("seed", range(20))
def test_two_heads_deliver_two_features_for_all_values(seed):
    """The pair that reaches (5, 5) does so for other values; the matrix that stretches the average does not."""
    values = np.random.default_rng(seed).standard_normal((3, 2))
    words = np.hstack([np.eye(3), values])
    brought = []
    for feature, asked in enumerate((1, 0)):  # mat, cat
        asks, answers = np.zeros((2, 5, 3))
        asks[2, asked], answers[:3] = 20, np.eye(3)
        brought.append(attention(words[2:] @ asks, words @ answers, words[:, [3 + feature]])[0].item())
    wanted = [values[1, 0], values[0, 1]]
    np.testing.assert_allclose(brought, wanted, atol=1e-4)
    assert np.abs(5 / 3 * values[:2].mean(axis=0) - wanted).max() > 0.05


@pytest.mark.parametrize("seed", range(20))
def test_no_single_set_of_weights_and_matrix_serves_all_values(seed):
    """The best weights and matrix that a few rounds of least squares find leave an error; two sets leave none."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((500, 3, 2))  # cat, mat, sat
    wanted = np.stack([values[:, 1, 0], values[:, 0, 1]], axis=1)
    weights = rng.dirichlet(np.ones(3))
    for _ in range(200):
        averages = np.einsum("j,bjf->bf", weights, values)
        matrix = np.linalg.lstsq(averages, wanted, rcond=None)[0]
        moved = (values @ matrix).swapaxes(1, 2).reshape(-1, 3)  # linear in the weights; they need not even be positive
        weights = np.linalg.lstsq(moved, wanted.reshape(-1), rcond=None)[0]
    left = np.mean((moved @ weights - wanted.reshape(-1)) ** 2)
    assert left > 0.3  # of 1


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
def test_a_gradient_check_passes_the_wrong_layer_and_a_permutation_does_not(seed):
    x, d_out, weights = start(seed)
    order = [2, 0, 3, 1]
    for name, cuts in CUTS.items():
        for place, found in enumerate(gradients(weights, x, d_out, *cuts)):
            def loss(weight, place=place, cuts=cuts):
                return (d_out * forward([*weights[:place], weight, *weights[place + 1 :]], x, *cuts)).sum()

            assert check_gradient(loss, weights[place], found)
        moved = np.abs(forward(weights, x[:, order], *cuts) - forward(weights, x, *cuts)[:, order]).max()
        assert moved < 1e-12 if name == "right" else moved > 0.5


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("wrong", ["split", "merge"])
def test_one_wrong_cut_leaks_into_the_query_weight_too(seed, wrong):
    """Found by differences, because the backward of one wrong cut is no longer the other cut."""
    x, d_out, weights = start(seed)
    cuts = SPLITS["wrong" if wrong == "split" else "right"], MERGES["wrong" if wrong == "merge" else "right"]
    weights[3][V:] = 0  # head 0 alone
    other, slopes = np.zeros_like(weights[0]), []
    for i in range(M):
        for column in range(D, H * D):
            other[:] = weights[0]
            other[i, column] += 1e-5
            up = (d_out * forward([other, *weights[1:]], x, *cuts)).sum()
            other[i, column] -= 2e-5
            slopes.append((up - (d_out * forward([other, *weights[1:]], x, *cuts)).sum()) / 2e-5)
    assert np.abs(slopes).max() > 0.05


@pytest.mark.parametrize("seed", range(20))
def test_only_the_leak_sees_the_reshape(seed):
    """The gradients of the heads add up in both versions; one leaks into the key and the value weight, never the query's.

    That holds where split and merge are both wrong; a layer with one wrong cut leaks into the query weight, too.
    """
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
