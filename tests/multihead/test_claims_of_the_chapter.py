"""What chapter 5 says of its heads, with more starts than its cells have, and with the control that each claim needs."""

import numpy as np
import pytest

from attnexercises.multihead.built import previous_token_head
from attnlib.attention import attention, attention_backward
from attnlib.multihead import merge_heads, split_heads

B, N, M, H, D, V = 2, 4, 6, 3, 7, 8


def induction(word, letters, write=True, residual=True):
    """The guesses of the pair of layers of the chapter, after each token of a word of letter numbers."""
    n, own = len(word), slice(0, letters)
    note = slice(letters + n, 2 * letters + n)
    start = np.zeros((n, 2 * letters + n))
    start[:, own], start[:, own.stop : note.start] = np.eye(letters)[word], np.eye(n)
    query_weight, key_weight = previous_token_head(letters, n)
    placed = start[:, : note.start]
    copied, _ = attention(placed @ query_weight, placed @ key_weight, start[:, own], causal=True)
    after = residual * start
    after[:, note] += write * copied
    return attention(20 * after[:, own], after[:, note], after[:, own], causal=True)[0]


@pytest.mark.parametrize("seed", range(20))
def test_the_induction_pair_guesses_what_followed(seed):
    rng = np.random.default_rng(seed)
    word = [0, *rng.integers(1, 4, size=6)]  # a dot begins the text
    guesses = {way: induction(word, 4, **kept) for way, kept in WAYS.items()}
    for i in range(1, 7):
        followers = [word[j + 1] for j in range(i) if word[j] == word[i]]
        expected = np.bincount(followers, minlength=4) / max(len(followers), 1)
        if followers:
            np.testing.assert_allclose(guesses["both"][i], expected, atol=0.1)
            assert guesses["no residual"][i].max() == 0
    seen_once = [i for i in range(1, 7) if word[:i].count(word[i]) == 1]
    assert all(guesses["both"][i].max() > 0.9 for i in seen_once)
    even = np.cumsum(np.eye(4)[word], axis=0) / np.arange(1, 8)[:, np.newaxis]
    np.testing.assert_allclose(guesses["nothing noted"], even)  # which finds nothing


WAYS = {"both": {}, "nothing noted": {"write": False}, "no residual": {"residual": False}}


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


CUTS = {
    "right": (lambda y: split_heads(y, H), merge_heads),
    "reshape alone": (lambda y: y.reshape(B, H, N, -1), lambda y: y.reshape(B, N, -1)),
}


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
