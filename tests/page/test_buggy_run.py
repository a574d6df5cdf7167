"""The two trainings of chapter 12's exercise: only one of them knows what cannot be known."""

import numpy as np
import pytest

from attnpage.buggy_run import FLOOR, buggy, healthy


@pytest.fixture(scope="module")
def runs():
    return {"healthy": healthy(), "buggy": buggy()}


def test_the_floor_is_that_of_three_draws_without_return():
    rng = np.random.default_rng(0)
    left = [10 - 1 - place for place in range(3)]
    costs = [-np.log(np.bincount(rng.integers(k, size=9000), minlength=k) / 9000).mean() for k in left]
    assert FLOOR == pytest.approx(np.mean(costs), abs=0.01)


def test_only_the_buggy_run_falls_below_it(runs):
    assert (runs["healthy"][0][:, 2] > FLOOR).all()
    assert runs["buggy"][0][-1, 2] < 0.1 * FLOOR


def test_only_the_buggy_run_loses_what_it_knew_when_the_tokens_come_one_by_one(runs):
    at_once, one_by_one = runs["healthy"][1].values()
    assert at_once == one_by_one > 0.9
    at_once, one_by_one = runs["buggy"][1].values()
    assert at_once > 0.95 and one_by_one < 0.6
