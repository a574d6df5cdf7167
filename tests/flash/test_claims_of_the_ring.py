"""What chapter 8 says of a ring: it is right, and it sends what the box says; controls that send more, or are wrong."""

import numpy as np
import pytest
from flash_cases import alike, inputs

from attnlib.attention import attention, attention_backward
from attnlib.flash import flash_attention, flash_attention_backward


@pytest.mark.parametrize(("workers", "n", "d", "v"), [(1, 6, 3, 5), (2, 6, 3, 5), (3, 12, 4, 2), (5, 20, 2, 7), (7, 21, 6, 6)])
@pytest.mark.parametrize("seed", range(8))
def test_the_ring_is_right_and_sends_what_the_box_says(page, workers, n, d, v, seed):
    d_out, query, key, value = inputs(seed, n, d, v)
    there, back = page["Ring"](workers), page["Ring"](workers)
    out, weights = attention(query, key, value)
    saved = page["ring_forward"](query, key, value, there)
    *found, sent = page["backward"](d_out, query, key, value, *saved, workers)
    again = page["ring_gradients"](d_out, query, key, value, saved, back, lambda turn, *block: flash_attention_backward(*block))
    assert alike(saved[:1], [out])
    assert alike(found, attention_backward(d_out, query, key, value, weights)) and alike(found, again)
    assert there.sent == (workers - 1) * n * (d + v)
    assert sent == back.sent == 2 * (workers - 1) * n * (d + v)


def backward_with(page, workers, moves_of_keys, moves_of_gradients, seed=0, n=12, d=4, v=3):
    """A ring in which the owner's share travels as well, with so many moves: is it right, and what does it send?"""
    d_out, query, key, value = inputs(seed, n, d, v)
    out, weights = attention(query, key, value)
    ring = page["Ring"](workers)
    saved = page["ring_forward"](query, key, value, page["Ring"](workers))
    d_o, q, k, v_, *saved = map(ring.split, (d_out, query, key, value, *saved))
    d_query, sums = 0, [np.zeros_like(k), np.zeros_like(v_)]
    for turn in range(workers):
        more, *shares = flash_attention_backward(d_o, q, k, v_, *saved)
        d_query = d_query + more
        sums = [x + share for x, share in zip(sums, shares, strict=True)]
        if turn < moves_of_keys:
            k, v_ = ring.right(k), ring.right(v_)
        if turn < moves_of_gradients:
            sums = [ring.right(x) for x in sums]
    found = [np.concatenate(x) for x in (d_query, *sums)]
    return alike(found, attention_backward(d_out, query, key, value, weights)), ring.sent / (n * (d + v))


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 6])
def test_controls_send_more_than_the_box_or_are_wrong(page, workers):
    assert backward_with(page, workers, workers, workers) == (True, 2 * workers)  # to itself, if it is alone
    assert backward_with(page, workers, workers - 1, workers) == (True, 2 * workers - 1)
    if workers > 1:
        assert backward_with(page, workers, workers - 1, workers - 1) == (False, 2 * workers - 2)  # not home
        assert backward_with(page, workers, workers - 1, 0) == (False, workers - 1)  # parcels that stay


def with_own(page, d_out, query, key, value, workers):
    """What dQ is if each worker uses its own logsumexp, its own output, or both; and what it should be."""
    ring = page["Ring"](workers)
    merged = flash_attention(query, key, value)
    own = [np.concatenate(x) for x in flash_attention(*map(ring.split, (query, key, value)))]
    saved = {"logsumexp": (merged[0], own[1]), "output": (own[0], merged[1]), "both": own, "neither": merged}
    found = {name: page["backward"](d_out, query, key, value, *pair, workers)[0] for name, pair in saved.items()}
    return found, found.pop("neither"), own, merged


@pytest.mark.parametrize("seed", range(8))
def test_in_a_head_that_looks_nearby_the_own_logsumexp_does_little_harm(page, seed):
    """The scores of the own keys get c more: a feature for each worker, which its queries and its keys share."""
    workers, n, d, v = 8, 256, 8, 5
    d_out, query, key, value = inputs(seed, n, d, v)
    mine = np.repeat(np.eye(workers), n // workers, axis=0) * (d + workers) ** 0.25

    def off(c):
        longer = [np.hstack([x * ((d + workers) / d) ** 0.25, c**0.5 * mine]) for x in (query, key)]
        found, right, own, merged = with_own(page, d_out, *longer, value, workers)
        share = np.exp(own[1] - merged[1]).mean()  # of the total, with the own keys
        return np.linalg.norm(found["logsumexp"] - right) / np.linalg.norm(right), share

    (far, share), (near, most) = off(0), off(6)
    assert 5.5 < far < 9 and 0.1 < share < 0.2
    assert near < 0.1 and most > 0.95


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("seed", range(8, 16))
def test_a_backward_with_what_belongs_to_the_own_keys_is_wrong(page, workers, seed):
    found, right, *_ = with_own(page, *inputs(seed, 24, 4, 3), workers)
    assert [alike([one], [right]) for one in found.values()] == 3 * [workers == 1]


@pytest.mark.parametrize("workers", [2, 4, 8])
@pytest.mark.parametrize("seed", range(8))
def test_the_own_logsumexp_puts_d_query_off_by_about_w_minus_1_lengths_and_the_own_output_spoils_the_row_sums(page, workers, seed):
    d_out, *inputs_of = inputs(seed, 480, 8, 5)
    found, right, own, merged = with_own(page, d_out, *inputs_of, workers)
    off = {name: page["off_by"](one, right) for name, one in found.items()}
    assert 0.9 < off["logsumexp"] / (workers - 1) < 1.25 < off["both"] / (workers - 1)
    assert np.exp(own[1] - merged[1]).mean() * workers == pytest.approx(1, abs=0.1)  # the own keys have 1/W of the total
    query, key, value = inputs_of
    weights = np.exp(query @ key.T / np.sqrt(8) - merged[1][:, np.newaxis])
    for out, sums_vanish in ((merged[0], True), (own[0], False)):
        sums = (weights * (d_out @ value.T - np.sum(d_out * out, axis=1, keepdims=True))).sum(axis=1)
        assert (np.abs(sums).max() < 1e-12) == sums_vanish


def test_few_keys_make_the_error_larger(page):
    few, many = (
        np.median([page["off_by"](found["logsumexp"], right) for found, right, *_ in (
            with_own(page, *inputs(seed, n, 8, 5), 8) for seed in range(16))])
        for n in (48, 480)
    )  # fmt: skip
    assert few > many > 7


def queries_that_travel(page, workers, d_out, query, key, value):
    """A ring in which the keys stay, and each query brings its results home: outputs, gradients, what is sent there and back."""
    there, back = page["Ring"](workers), page["Ring"](workers)
    d_out, query, key, value = map(there.split, (d_out, query, key, value))
    own, asking, results = flash_attention(query, key, value), query, None
    for _ in range(1, workers):
        asking = there.right(asking)
        part = flash_attention(asking, key, value)
        results = [there.right(x) for x in (part if results is None else page["merge"](*results, *part))]
    out, ell = own if results is None else page["merge"](*own, *results)
    D = np.sum(d_out * out, axis=-1)
    c = query.shape[-1] ** -0.5

    def here(query, d_out, ell, D):
        P = np.exp(c * query @ key.mT - ell[..., np.newaxis])
        dS = c * P * (d_out @ value.mT - D[..., np.newaxis])
        return dS @ key, dS.mT @ query, P.mT @ d_out

    own, d_key, d_value = here(query, d_out, ell, D)
    asking, parcel = (query, d_out, ell, D), np.zeros_like(query)
    for _ in range(1, workers):
        asking = [back.right(x) for x in asking]
        more, for_key, for_value = here(*asking)
        d_key, d_value, parcel = d_key + for_key, d_value + for_value, back.right(parcel + more)
    return [np.concatenate(x) for x in (out, own + parcel, d_key, d_value)], there.sent, back.sent


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
@pytest.mark.parametrize(("d", "v"), [(4, 4), (3, 7), (64, 64)])
def test_queries_that_travel_send_one_number_more_in_the_forward_and_fewer_in_the_backward(page, workers, d, v):
    n = 48
    for seed in range(8):
        d_out, *inputs_of = inputs(seed, n, d, v)
        found, there, back = queries_that_travel(page, workers, d_out, *inputs_of)
        out, weights = attention(*inputs_of)
        assert alike(found, [out, *attention_backward(d_out, *inputs_of, weights)])
        assert there == (workers - 1) * n * (d + v + 1) and back == (workers - 1) * n * (2 * d + v + 2)
        if d == v and workers > 1:
            assert there > (workers - 1) * n * (d + v) and back == (workers - 1) * n * (3 * d + 2)
            assert back < 2 * (workers - 1) * n * (d + v)
            assert back > 2 * (workers - 1) * n * (d + v) / 2  # the control: two heads that share their keys


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_gathering_keys_sends_as_much_as_the_ring_forward(page, workers):
    n, d, v = 64, 4, 3
    _, query, key, value = inputs(0, n, d, v)
    ring = page["Ring"](workers)
    out, _ = page["ring_forward"](query, key, value, ring)
    owner, gathered, found = np.arange(n) // (n // workers), 0, []
    for w in range(workers):
        gathered += np.count_nonzero(owner != w) * (d + v)  # the keys and values that it does not have
        found.append(flash_attention(query[owner == w], key, value)[0])
    assert alike([np.concatenate(found)], [out])
    assert gathered == ring.sent


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_exchanged_heads_send_two_parts_in_w_of_a_ring(workers):
    n, h, d = 16, 8, 4
    held_by = np.repeat(np.arange(workers), n // workers)  # token -> worker
    head_of = np.repeat(np.arange(workers), h // workers)  # head -> worker
    sent = 4 * d * np.sum(held_by[:, np.newaxis] != head_of)  # queries, keys and values there, outputs back
    assert sent / (4 * n * h * d) == (workers - 1) / workers
    assert sent / ((workers - 1) * n * h * 2 * d) == pytest.approx(2 / workers)
