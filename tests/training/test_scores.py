"""attnlib.training: the scores of heads and accuracy against loops."""

import numpy as np
import pytest
from array_tools import close

from attnlib.softmax import softmax
from attnlib.training import accuracy, attention_entropy, induction_score, previous_token_score

B, H, N, K = 4, 3, 6, 5


def make(rng):
    hidden = np.triu(np.ones((N, N), bool), 1)
    return softmax(np.where(hidden, -np.inf, rng.normal(size=(B, H, N, N)))), rng.integers(K, size=(B, N))


def test_previous_token_score_against_a_loop(rng):
    weights, _ = make(rng)
    keep = rng.integers(2, size=(B, N)) == 1
    for asked, kept in ((None, np.ones((B, N), bool)), (keep, keep)):
        for head, score in enumerate(previous_token_score(weights, keep=asked)):
            close(score, np.mean([weights[b, head, q, q - 1] for b in range(B) for q in range(1, N) if kept[b, q]]))
    close(previous_token_score(weights[1]), previous_token_score(weights[1:2]))


def test_induction_score_against_a_loop(rng):
    weights, tokens = make(rng)
    for head, score in enumerate(induction_score(weights, tokens)):
        found = []
        for b, q in np.ndindex(B, N):
            places = [k + 1 for k in range(q) if tokens[b, k] == tokens[b, q]]
            if places:
                found.append(sum(weights[b, head, q, k] for k in places))
        assert len(found) > 1
        close(score, np.mean(found))
    close(induction_score(weights[2], tokens[2]), induction_score(weights[2:3], tokens[2:3]))


def test_scores_of_the_ideal_heads():
    tokens = [0, 1, 2, 0, 1, 2]
    previous, induction = np.eye(6, k=-1), np.eye(6, k=-2)
    previous[0, 0] = induction[0, 0] = induction[1, 1] = 1
    close(previous_token_score([previous, induction]), [1, 0])
    close(induction_score([previous, induction], tokens), [0, 1])
    close(attention_entropy([previous, induction]), [0, 0])


def test_entropy_of_an_even_spread_and_of_zeros():
    causal = np.tril(np.ones((N, N))) / np.arange(1, N + 1)[:, np.newaxis]
    close(attention_entropy([causal]), [np.log(np.arange(1, N + 1)).mean()])


def test_accuracy_counts_what_is_kept(rng):
    logits, targets = rng.normal(size=(B, N, K)), rng.integers(K, size=(B, N))
    keep = rng.integers(2, size=(B, N)) == 1
    right = np.array([[max(range(K), key=lambda k: logits[b, n, k]) == targets[b, n] for n in range(N)] for b in range(B)])
    assert accuracy(logits, targets) == right.mean() and accuracy(logits, targets, keep=keep) == right[keep].mean()
    assert 0 < right.mean() < 1 and isinstance(accuracy(logits, targets), float)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_dtype_is_kept(rng, dtype):
    weights, tokens = make(rng)
    narrow = weights.astype(dtype)
    for score in (previous_token_score, attention_entropy, lambda w: induction_score(w, tokens)):
        assert score(narrow).dtype == dtype
        close(score(narrow).astype(float), score(weights), 3e-3 if dtype == np.float16 else 1e-6)
