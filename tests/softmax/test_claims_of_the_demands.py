"""What chapter 1 says of its three demands: which rules break one of them, and that the softmax meets all three."""

import numpy as np
import pytest

from attnlib.softmax import softmax

SEEDS = range(8, 24)


def by_rank(x):
    """Shares by rank, 1 for the worst score; equal scores share their ranks."""
    shares = 1 + (x[:, np.newaxis] > x).sum(axis=1) + ((x[:, np.newaxis] == x).sum(axis=1) - 1) / 2
    return shares / shares.sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_by_rank_break_the_second_demand_alone(seed):
    x = np.random.default_rng(seed).normal(size=6)
    weights = by_rank(x)
    assert np.all(weights > 0) and np.all(np.argsort(weights) == np.argsort(x))
    np.testing.assert_allclose(by_rank(x + 3), weights)
    ratio = lambda weights: weights[0] / weights[1]
    assert np.isclose(ratio(by_rank(np.array([2.0, 1.0, 0.1]))), 3 / 2) and np.isclose(ratio(by_rank(np.array([2.0, 1.0]))), 2)
    assert np.isclose(ratio(softmax(np.array([2.0, 1.0, 0.1]))), ratio(softmax(np.array([2.0, 1.0])))), "the control meets it"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_newcomer_takes_the_same_fraction_from_every_other_candidate(seed):
    x = np.random.default_rng(seed).normal(size=6)
    left = softmax(x)[:5] / softmax(x[:5])
    np.testing.assert_allclose(left, 1 - softmax(x)[5], rtol=1e-12)
    couch = np.array([2.0, 1.0, 0.1, 1.0])
    assert [f"{softmax(scores)[0]:.0%}" for scores in (couch[:3], couch)] == ["66%", "53%"]


def test_two_candidates_alone_would_leave_the_rule_open():
    """Odds of (lead + lead**3) in the exponent meet the demands for two candidates, and fail with a third between them."""
    ratio = lambda lead: np.exp(lead + lead**3)
    leads = np.linspace(-2, 2, 9)
    assert np.all(np.diff(ratio(leads)) > 0) and np.allclose(ratio(leads) * ratio(-leads), 1)
    assert not np.isclose(ratio(2.0), ratio(1.0) ** 2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("temperature", [0.3, 1.0, 7.0])
def test_every_temperature_meets_the_three_demands(seed, temperature):
    x = np.random.default_rng(seed).normal(size=6)
    weights, c = softmax(x / temperature), np.exp(1 / temperature)
    assert np.all(np.argsort(weights) == np.argsort(x))
    np.testing.assert_allclose(softmax((x + 3) / temperature), weights, rtol=1e-12)
    np.testing.assert_allclose(weights[0] / weights[1], c ** (x[0] - x[1]), rtol=1e-12)
    fewer = softmax(x[:2] / temperature)
    np.testing.assert_allclose(fewer[0] / fewer[1], weights[0] / weights[1], rtol=1e-12)
