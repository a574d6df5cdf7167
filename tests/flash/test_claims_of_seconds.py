"""What chapter 8 says of the time that a ring takes: how many tokens hide its sending, and how many workers help."""

import numpy as np
import pytest


def forward_time(work, send):
    """When a ring is done: rounds of `work` (workers, rounds), where keys can be passed on as soon as they are there."""
    workers = len(work)
    here, done = np.zeros(workers), work[:, 0].copy()
    for turn in range(1, workers):
        here = np.roll(here, 1) + send
        done = np.maximum(done, here) + work[:, turn]
    return done.max()


@pytest.mark.parametrize("workers", [2, 4, 8, 32])
def test_a_fair_deal_needs_twice_the_tokens_to_hide_its_sending(workers):
    w, turn = np.indices((workers, workers))
    stretches = np.where(turn == 0, 0.5, np.where(turn <= w, 1.0, 0.0))
    fair = np.full((workers, workers), 0.5)
    assert forward_time(stretches, 1.0) == workers  # each send takes as long as a full block
    assert forward_time(fair, 1.0) == workers - 0.5
    assert forward_time(stretches, 0.5) == workers - 0.5  # twice the tokens
    assert forward_time(fair, 0.5) == workers / 2


def backward_time(workers, send):
    """When the last round is done, and when its parcel is home. Keys go on when their round begins, before a parcel of gradients."""
    start, done, link = 0.0, 1.0, 0.0
    for turn in range(1, workers):
        link = keys = max(link, start) + send
        link += send * (turn > 2)  # the parcel of two rounds before: the first is made in round 1
        start, done = max(done, keys), max(done, keys) + 1
    link = max(link, start) + send * (workers > 2)
    return done, max(link, done) + send


def test_four_fifths_of_the_tokens_hide_all_but_the_last_move_of_any_ring_and_a_short_one_needs_fewer():
    def hidden(workers, send):
        return backward_time(workers, send) == pytest.approx((workers, workers + send))

    assert all(hidden(workers, 0.5) for workers in range(2, 101))
    assert not hidden(100, 0.51) and hidden(4, 2 / 3) and not hidden(4, 0.67)  # so four workers need 0.6 of the tokens


@pytest.mark.parametrize("workers", [2, 3, 4, 8, 16])
def test_half_of_the_own_block_kept_for_the_end_hides_the_last_move(workers):
    keys, gradients, link, computed = 0.0, 0.0, 0.0, 0.5  # only half of the own block comes first
    for turn in range(1, workers):
        link = keys = max(link, keys) + 0.5
        if turn > 1:
            link = gradients = max(link, computed) + 0.5
        computed = max(computed, keys, gradients - 1) + 1
    assert max(max(link, computed) + 0.5, computed + 0.5) == workers  # the last move beside the other half


def tokens_each(bandwidth, operations=4, numbers=2, visible=1.0):
    """Operations for a score, and numbers that travel for a token, both divided by d."""
    return 989e12 * 2 * numbers / (operations * visible) / bandwidth


def test_the_tokens_that_a_ring_needs():
    assert [round(tokens_each(rate), -2) for rate in (450e9, 50e9)] == [2200, 19800]
    assert round(tokens_each(50e9, visible=0.5), -3) == 40e3
    assert tokens_each(450e9, operations=10, numbers=4) == pytest.approx(0.8 * tokens_each(450e9))
    assert tokens_each(450e9, operations=10, numbers=2 + 4) == pytest.approx(1.2 * tokens_each(450e9))  # gradients in float32


def test_twenty_five_workers_need_seconds_and_hide_their_sending():
    """Under a causal mask a round has half the work, so that a worker needs twice the tokens."""
    operations, n = 32 * 32 * 4 * 64 * (10**6) ** 2 / 2, 10**6
    assert round(operations / 1e17, 1) == 1.3 and round(operations / 989e12) == 133
    workers, all_keys = int(n / tokens_each(50e9, visible=0.5)), n * (64 + 64) * 2 * 32 * 32
    sent = (workers - 1) / workers * all_keys  # bytes of each worker
    assert workers == 25 and round(sent / 1e9) == 252
    assert round(tokens_each(50e9, visible=0.5) / 4, -3) == 10e3  # four heads share their keys: 100 workers
    assert 0.99 * all_keys / 4 / 50e9 < operations / 989e12 / 100 == pytest.approx(1.3, abs=0.03)
    assert [round(layers * n * 32 * (64 + 64) * 2 / 1e9, 1) for layers in (1, 32)] == [8.2, 262.1]
    assert round(32 * n * 32 * (64 + 64) * 2 / 1e9 / workers, 1) == 10.5  # gigabytes of keys and values that each holds
    assert round(sent / 50e9, 1) == 5.0 < round(operations / 989e12 / workers, 1) == 5.3
    half = 2 * operations / 989e12  # seconds of one worker at half its peak: it needs half the tokens, and 50 share
    assert int(n / (tokens_each(50e9, visible=0.5) / 2)) == 50 and round(half / 50, 1) == 5.3 > 49 / 50 * all_keys / 50e9


def test_beyond_25_workers_the_ring_gains_next_to_nothing(page):
    seconds, alone, all_keys = (page[name] for name in ("ring_seconds", "one_alone", "all_keys"))
    for workers in (1, 2, 24, 25, 26, 30, 200):  # beside a ring that is followed round by round
        fair = np.full((workers, workers), alone / workers**2)
        assert seconds(workers) == pytest.approx(forward_time(fair, all_keys / workers))
    assert all(all_keys * (workers - 1) / workers > 5.0 for workers in range(26, 300))
    assert seconds(25) == pytest.approx(alone / 25) and seconds(26) > alone / 26
    least = min(seconds(workers) for workers in range(1, 10**4))
    assert round(float(seconds(25)), 1) == 5.3 and round(float(least), 1) == round(all_keys, 1) == 5.2
