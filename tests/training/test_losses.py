"""attnlib.training: cross-entropy against a loop, at its edges, and its gradient."""

import math

import numpy as np
import pytest
from array_tools import close
from dtype_spy import spied
from training_cases import B, K, N, right

from attnlib.training import cross_entropy, cross_entropy_backward

KEEP = np.array([[True, False, True, True], [False, False, True, True]])


def make(rng, dtype=np.float64):
    return rng.normal(size=(B, N, K)).astype(dtype), rng.integers(K, size=(B, N))


def by_loop(logits, targets, keep):
    costs = []
    for place in np.ndindex(targets.shape):
        if keep[place]:
            row = [math.exp(logit) for logit in logits[place]]
            costs.append(-math.log(row[targets[place]] / sum(row)))
    return sum(costs) / len(costs)


def test_the_loss_is_the_mean_surprise(rng):
    logits, targets = make(rng)
    for keep in (None, KEEP):
        loss, weights = cross_entropy(logits, targets, keep=keep)
        close(loss, by_loop(logits, targets, np.ones_like(KEEP) if keep is None else keep))
        close(weights.sum(axis=-1), np.ones((B, N)))
    assert cross_entropy(logits[0, 0], targets[0, 0])[0].shape == ()


def test_even_guessing_costs_the_logarithm_of_the_vocabulary():
    close(cross_entropy(np.full((N, K), 3.0), [0, 1, 2, 4])[0], math.log(K))


@pytest.mark.parametrize("keep", [None, KEEP], ids=["all", "some"])
def test_the_gradient_is_the_slope(rng, keep):
    logits, targets = make(rng)
    _, weights = cross_entropy(logits, targets, keep=keep)
    gradient = cross_entropy_backward(-2.5, targets, weights, keep=keep)
    right(lambda a: -2.5 * cross_entropy(a["logits"], targets, keep=keep)[0], {"logits": logits}, {"logits": gradient})
    close(gradient.sum(axis=-1), np.zeros((B, N)))
    if keep is not None:
        assert not gradient[~keep].any() and gradient[keep].all()


def test_large_logits_stay_finite():
    logits = np.array([[1e4, 0.0], [0.0, 1e4]])
    loss, weights = cross_entropy(logits, [1, 1])
    assert loss == 5000.0  # the mean of 10000 and 0
    np.testing.assert_array_equal(cross_entropy_backward(1.0, [1, 1], weights), [[0.5, -0.5], [0, 0]])


def test_what_is_not_kept_does_not_count_whatever_it_holds(rng):
    logits, targets = make(rng)
    loss, weights = cross_entropy(logits, targets, keep=KEEP)
    logits[~KEEP] = np.nan
    again, weights = cross_entropy(logits, targets, keep=KEEP)
    gradient = cross_entropy_backward(1.0, targets, weights, keep=KEEP)
    assert again == loss and np.isfinite(gradient).all()


def test_arguments_are_not_written_to(rng):
    logits, targets = make(rng)
    _, weights = cross_entropy(logits, targets)
    before = weights.copy()
    weights.flags.writeable = logits.flags.writeable = targets.flags.writeable = False
    cross_entropy_backward(1.0, targets, weights)
    np.testing.assert_array_equal(weights, before)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept(rng, dtype):
    logits, targets = make(rng, dtype)
    loss, weights = cross_entropy(logits, targets, keep=KEEP)
    gradient = cross_entropy_backward(1.0, targets, weights, keep=KEEP)
    assert {loss.dtype, weights.dtype, gradient.dtype} == {np.dtype(dtype)}
    close(float(loss), by_loop(logits.astype(float), targets, KEEP), {np.float16: 2e-3, np.float32: 1e-6}.get(dtype, 1e-13))


def test_float32_makes_no_float64_on_the_way(rng):
    logits, targets = make(rng, np.float32)
    assert spied(cross_entropy, logits, targets, beyond=1) == {np.dtype(np.float32)}
    _, weights = cross_entropy(logits, targets)
    assert spied(cross_entropy_backward, 1.0, targets, weights, beyond=1) == {np.dtype(np.float32)}
