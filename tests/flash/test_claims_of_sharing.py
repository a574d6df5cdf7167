"""What chapter 8 says of shared work, with other sizes and starts than its cells have, and with the controls that its claims need."""

import functools
from pathlib import Path

import nbformat
import numpy as np
import pytest
from flash_cases import alike, inputs

from attnexercises.engine.registry import find
from attnlib.attention import attention, attention_backward
from attnlib.flash import flash_attention, flash_attention_backward
from attnlib.flash.tiles import plan_for

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/08_sharing.ipynb"
CELLS = (
    "imports", "ring-class", "ring-code", "ring-table", "ring-pairs-figure", "causal-ring", "causal-table", "ring-limit",
)  # fmt: skip
DEALS = [(2, 8), (3, 24), (4, 64), (5, 30), (8, 64), (16, 1024)]


@pytest.fixture(scope="module")
def page():
    """The names that the cells of the chapter define."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {"W": 4, "ring_backward": find("ring_backward").solution}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        patch.setattr("matplotlib.pyplot.show", lambda: None)
        for id in CELLS:
            exec(cells[id], names)
    return names


# --- what a ring sends ----------------------------------------------------------------------------


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


# --- who waits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("workers", "n"), DEALS)
def test_who_waits(page, workers, n):
    each, deals = n // workers, page["owners"](n, workers)
    pairs = {name: page["pairs_computed"](owner, workers) for name, owner in deals.items()}
    assert all(np.all(np.bincount(owner) == each) for owner in deals.values())
    assert all(table.sum() == n * (n + 1) // 2 for table in pairs.values())
    spread = {name: np.ptp(table, axis=0) for name, table in pairs.items()}
    assert np.all(spread["zigzag"] == 0)
    assert spread["stripes"].max() <= each and spread["stripes"][1:].min() > 0
    assert spread["stretches"][1:].min() == each**2
    blocks = (workers - 1 / 2) * each**2 + each / 2
    assert pairs["stretches"].max(axis=0).sum() == blocks  # rounds that wait for the slowest
    assert pairs["stretches"].sum(axis=1).max() == blocks  # and the last worker alone, without any waiting
    rotated = page["pairs_computed"](np.arange(n) // (each // 2) % workers, workers) if each % 2 == 0 else None
    assert rotated is None or np.ptp(rotated, axis=0).max() > 0  # the control: pieces w and W + w are not exact


def test_in_round_t_of_stretches_t_workers_wait(page):
    idle = np.count_nonzero(page["pairs_computed"](np.arange(64) // 8, 8) == 0, axis=0)
    assert list(idle) == list(range(8))


@pytest.mark.parametrize(("workers", "n"), DEALS)
def test_in_every_block_of_stripes_the_visible_pairs_form_a_triangle_and_zigzag_has_rectangles_after_round_0(page, workers, n):
    for name, owner in page["owners"](n, workers).items():
        places = [np.flatnonzero(owner == w) for w in range(workers)]
        for w, u in np.ndindex(workers, workers):
            seen = places[w][:, np.newaxis] >= places[u]
            half = n // workers // 2
            whole = [len(np.unique(rows)) == 1 for part in (seen[:half], seen[half:]) for rows in (part[:, :half], part[:, half:])]
            if name == "zigzag" and w != u:
                assert all(whole)
            if name == "stripes":
                assert np.array_equal(seen, np.tril(np.ones_like(seen), 0 if u <= w else -1))


# --- a causal ring on tokens that are dealt out -----------------------------------------------------


@pytest.mark.parametrize(("workers", "n"), [(1, 8), (2, 8), (3, 18), (5, 40), (8, 32)])
@pytest.mark.parametrize("seed", range(20, 23))
def test_a_causal_ring_is_right_however_the_tokens_are_dealt(page, workers, n, seed):
    d_out, *inputs_of = inputs(seed, n, 3, 7)
    out, weights = attention(*inputs_of, causal=True)
    plain = [out, *attention_backward(d_out, *inputs_of, weights)]
    deals = page["owners"](n, workers) | {"random": np.random.default_rng(seed).permutation(np.arange(n) % workers)}
    for name, owner in deals.items():
        order = np.argsort(owner, kind="stable")
        there = page["Ring"](workers)
        assert alike(page["causal_ring"](inputs_of, d_out, order, there), plain), name
        assert there.sent == 3 * (workers - 1) * n * (3 + 7)  # places need not travel
        as_dealt = page["causal_ring"](inputs_of, d_out, order, page["Ring"](workers), np.arange(n))
        assert alike(as_dealt, plain) == (name == "stretches" or workers == 1)
        within = page["causal_ring"](inputs_of, d_out, order, page["Ring"](workers), np.arange(n) % (n // workers))
        assert alike(within, plain) == (workers == 1)  # every block masked like the one on the diagonal


@pytest.mark.parametrize(("workers", "n"), [(1, 8), (2, 8), (3, 18), (5, 40), (8, 32)])
@pytest.mark.parametrize("seed", range(20, 23))
def test_zigzag_needs_no_mask(page, workers, n, seed):
    d_out, *inputs_of = inputs(seed, n, 3, 7)
    out, weights = attention(*inputs_of, causal=True)
    plain = [out, *attention_backward(d_out, *inputs_of, weights)]

    def right(deal, attend, gradients):
        order = np.argsort(page["owners"](n, workers)[deal], kind="stable")
        return alike(page["dealt_ring"](inputs_of, d_out, order, page["Ring"](workers), attend, gradients), plain)

    assert right("zigzag", page["zigzag"], page["zigzag_gradients"])
    # the controls: the same halves with another deal, and the other halves with this one
    assert right("stretches", page["zigzag"], page["zigzag_gradients"]) == (workers == 1)
    assert right("stripes", page["zigzag"], page["zigzag_gradients"]) == (workers == 1)
    turned = [lambda turn, *block, f=page[name]: f(-turn, *block) for name in ("zigzag", "zigzag_gradients")]
    assert right("zigzag", *turned) == (workers <= 2)  # two workers have only one neighbour


def tiles_computed_by_the_loop(page, monkeypatch, run):
    """How many tiles of 8 by 8 `flash_attention` visits, counted while it runs."""
    plans = []

    def spy(*arguments):
        plans.append(plan_for(*arguments))
        return plans[-1]

    monkeypatch.setattr("attnlib.flash.forward.plan_for", spy)
    monkeypatch.setitem(page, "flash_attention", functools.partial(flash_attention, block_q=8, block_k=8))
    run()
    texts = [plan.mask.shape[0] if plan.mask is not None else 1 for plan in plans]  # with a mask all workers run at once
    return sum(times * len(list(plan.along(rows))) for times, plan in zip(texts, plans, strict=True) for rows in plan.query_blocks())


def test_what_the_cell_says_of_tiles_is_what_the_loop_computes(page, monkeypatch):
    workers, n = 4, 256
    d_out, *inputs_of = inputs(0, n, 3, 7)
    order = np.argsort(page["owners"](n, workers)["zigzag"], kind="stable")
    dealt = [x[order] for x in inputs_of]
    of_zigzag, of_stripes, of_all = page["tiles_of"](workers, n // workers, 8)

    def count(*attend):
        return tiles_computed_by_the_loop(page, monkeypatch, lambda: page["ring_forward"](*dealt, page["Ring"](workers), *attend))

    assert count(page["zigzag"]) == of_zigzag == 528
    masked = tiles_computed_by_the_loop(page, monkeypatch, lambda: page["causal_ring"](inputs_of, d_out, order, page["Ring"](workers)))
    assert masked == of_all == 1024  # the control: the same deal with a mask
    for name, tiles in {"zigzag": of_zigzag, "stripes": of_stripes}.items():
        place = np.argsort(page["owners"](n, workers)[name], kind="stable")
        seen = (place[:, np.newaxis] >= place).reshape(32, 8, 32, 8).any(axis=(1, 3))
        assert np.count_nonzero(seen) == tiles


def test_in_long_texts_stripes_compute_hardly_more_tiles(page):
    more = []
    for each, side in ((64, 8), (1024, 128), (40_960, 128)):
        of_zigzag, of_stripes, _ = page["tiles_of"](25, each, side)
        more.append(of_stripes / of_zigzag - 1)
    assert round(more[-1], 3) == 0.003
    along = 320  # tiles along a block: a triangle in all blocks, or in 25 of them and half of the others
    assert more[-1] == 25**2 * along * (along + 1) / (25 * along * (along + 1) + 25 * 24 * along**2) - 1
    assert more[0] == more[1] > 0.05  # the control: the number of tiles along a block counts, not that of tokens


@pytest.mark.parametrize("workers", [2, 3, 4, 8])
def test_only_zigzag_gives_pairs_of_pieces_the_same_work(workers):
    work = [piece + 0.5 for piece in range(2 * workers)]
    assert all(work[w] + work[2 * workers - 1 - w] == 2 * workers == sum(work) / workers for w in range(workers))
    partners = [p for p in range(1, 2 * workers) if work[0] + work[p] == sum(work) / workers]
    assert partners == [2 * workers - 1]  # nothing else goes with piece 0


def test_two_blocks_of_pieces_are_full_in_zigzag():
    assert [[[query > key for key in keys] for query in (1, 6)] for keys in ((0, 7), (2, 5))] == [
        [[True, False], [True, False]], [[False, False], [True, True]],
    ]  # fmt: skip
    for workers in (2, 3, 4, 8):
        pieces = [(w, 2 * workers - 1 - w) for w in range(workers)]
        for w, u in np.ndindex(workers, workers):
            if w != u:
                full = [[query > key for key in pieces[u]] for query in pieces[w]]
                assert full == [[u < w, False], [True, u > w]]


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
