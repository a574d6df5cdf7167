"""What chapter 8 says of shared work, with other sizes and starts than its cells have, and with the controls that its claims need."""

import functools
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnlib.attention import attention, attention_backward
from attnlib.flash import flash_attention, flash_attention_backward, merge_partials
from attnlib.flash.tiles import plan_for

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/08_sharing.ipynb"
CELLS = (
    "imports", "ring-code", "ring-back", "ring-table", "split-kv-run", "owners", "ring-pairs-figure", "ring-shares-run",
    "causal-ring", "causal-table", "ring-limit", "hide-run",
)  # fmt: skip
DEALS = [(2, 8), (3, 24), (4, 64), (5, 30), (8, 64), (16, 1024)]


@pytest.fixture(scope="module")
def page():
    """The names that the cells of the chapter define."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {"W": 4}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        patch.setattr("matplotlib.pyplot.show", lambda: None)
        for id in CELLS:
            exec(cells[id], names)
    return names


def inputs(seed, n, d, v):
    draw = np.random.default_rng(seed).standard_normal
    return draw((n, v)), draw((n, d)), draw((n, d)), draw((n, v))  # d_out, query, key, value


def alike(ones, others):
    return all(np.allclose(one, other, rtol=0, atol=1e-10) for one, other in zip(ones, others, strict=True))


# --- what a ring sends ----------------------------------------------------------------------------


@pytest.mark.parametrize(("workers", "n", "d", "v"), [(1, 6, 3, 5), (2, 6, 3, 5), (3, 12, 4, 2), (5, 20, 2, 7), (7, 21, 6, 6)])
@pytest.mark.parametrize("seed", range(8))
def test_the_ring_is_right_and_sends_what_the_box_says(page, workers, n, d, v, seed):
    d_out, query, key, value = inputs(seed, n, d, v)
    there, back = page["Ring"](workers), page["Ring"](workers)
    out, weights = attention(query, key, value)
    saved = page["ring_forward"](query, key, value, there)
    found = page["ring_backward"](d_out, query, key, value, saved, back)
    assert alike(saved[:1], [out])
    assert alike(found, attention_backward(d_out, query, key, value, weights))
    assert (there.sent, back.sent) == ((workers - 1) * n * (d + v), 2 * (workers - 1) * n * (d + v))


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


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("seed", range(8, 16))
def test_a_backward_with_the_logsumexp_of_the_own_keys_is_wrong(page, workers, seed):
    d_out, query, key, value = inputs(seed, 24, 4, 3)
    ring = page["Ring"](workers)
    own = flash_attention(*map(ring.split, (query, key, value)))
    found = page["ring_backward"](d_out, query, key, value, [np.concatenate(x) for x in own], ring)
    plain = attention_backward(d_out, query, key, value, attention(query, key, value)[1])
    assert [alike([one], [other]) for one, other in zip(found, plain, strict=True)] == 3 * [workers == 1]


@pytest.mark.parametrize("seed", range(8))
def test_the_backward_with_the_own_logsumexp_is_off_by_more_than_the_gradient_and_the_more_the_larger_the_ring(page, seed):
    errors = [page["ring_run"](workers, 100 + seed)[0] for workers in (1, 2, 4, 8)]
    assert errors[0] < 1e-12 and errors[1] > 1 and errors == sorted(errors)


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
@pytest.mark.parametrize("seed", range(8))
def test_gathering_keys_sends_as_much_as_the_ring_forward_and_half_backward(page, workers, seed):
    n, d, v = 64, 4, 3
    d_out, query, key, value = inputs(seed, n, d, v)
    ring, back = page["Ring"](workers), page["Ring"](workers)
    saved = page["ring_forward"](query, key, value, ring)
    page["ring_backward"](d_out, query, key, value, saved, back)
    d_o, q, out, ell = map(ring.split, (d_out, query, *saved))
    owner, gathered, brought_home, d_query, d_key, d_value = np.arange(n) // (n // workers), 0, 0, [], 0, 0
    for w in range(workers):  # with all keys and values, which it keeps from the forward
        gathered += np.count_nonzero(owner != w) * (d + v)
        more, for_key, for_value = flash_attention_backward(d_o[w], q[w], key, value, out[w], ell[w])
        brought_home += np.count_nonzero(owner != w) * (d + v)
        d_query, d_key, d_value = [*d_query, more], d_key + for_key, d_value + for_value
    plain = attention_backward(d_out, query, key, value, attention(query, key, value)[1])
    assert alike([np.concatenate(d_query), d_key, d_value], plain)
    assert (gathered, 2 * brought_home) == (ring.sent, back.sent)


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_a_causal_mask_halves_what_stretches_send_and_leaves_zigzag_nearly_all(page, workers):
    n = 4 * workers
    order = {name: np.arange(n)[np.argsort(owner, kind="stable")].reshape(workers, 2, -1) for name, owner in page["owners"](n, workers).items()}

    def moves(halves):  # of half parcels, which have to get to the last worker that needs them
        last = [max([turn for turn in range(workers) if halves[(u + turn) % workers].max() > halves[u, half].min()])
                for u in range(workers) for half in range(2)]  # fmt: skip
        return sum(last) / 2

    assert moves(order["stretches"]) == workers * (workers - 1) / 2
    assert moves(order["zigzag"]) == workers * (workers - 1) - (workers - 1) / 2


def test_queries_that_travel_send_as_much_forward_and_a_quarter_less_backward(page):
    workers, n, d = 4, 16, 64
    d_out, query, key, value = inputs(3, n, d, d)
    ring = page["Ring"](workers)
    q, k, v = map(ring.split, (query, key, value))
    own, parcel = flash_attention(q, k, v), None
    for _ in range(workers - 1):
        q = ring.right(q)
        part = flash_attention(q, k, v)
        parcel = [ring.right(x) for x in (part if parcel is None else merge_partials(*parcel, *part))]
    out, logsumexp = merge_partials(*own, *parcel)
    assert alike([np.concatenate(out)], [attention(query, key, value)[0]])
    assert ring.sent == (workers - 1) * n * (d + d + 1)

    back = page["Ring"](workers)
    row_mean = np.sum(ring.split(d_out) * out, axis=-1)
    d_o, q, ell, row_mean = ring.split(d_out), ring.split(query), logsumexp, row_mean
    d_q, d_key, d_value = np.zeros_like(q), 0, 0
    for turn in range(workers):
        if turn:
            d_o, q, ell, row_mean = map(back.right, (d_o, q, ell, row_mean))
        P = np.exp(q @ k.mT / np.sqrt(d) - ell[..., np.newaxis])
        d_scores = P * (d_o @ v.mT - row_mean[..., np.newaxis]) / np.sqrt(d)
        d_key, d_value = d_key + d_scores.mT @ q, d_value + P.mT @ d_o
        if turn:
            d_q = back.right(d_q + d_scores @ k)
        else:
            at_home = d_scores @ k
    found = [np.concatenate(x) for x in (at_home + d_q, d_key, d_value)]
    assert alike(found, attention_backward(d_out, query, key, value, attention(query, key, value)[1]))
    assert back.sent == (workers - 1) * n * (2 * d + d + 2)
    assert back.sent / (2 * (workers - 1) * n * 2 * d) == pytest.approx(194 / 256)


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


@pytest.mark.parametrize("seed", range(8))
def test_a_random_deal_waits_longer_than_zigzag(page, seed):
    workers, n = 8, 1024
    owner = np.random.default_rng(seed).permutation(np.arange(n) % workers)
    busiest = page["pairs_computed"](owner, workers).max(axis=0).sum()
    fair = page["pairs_computed"](page["owners"](n, workers)["zigzag"], workers).max(axis=0).sum()
    assert fair == n * (n + 1) // 2 // workers < busiest


def test_how_many_compute_in_the_last_round(page):
    at_work = {name: np.count_nonzero(page["pairs_computed"](owner, 16)[:, -1]) for name, owner in page["owners"](1024, 16).items()}
    assert at_work == {"stretches": 1, "stripes": 16, "zigzag": 16}


# --- a causal ring on tokens that are dealt out -----------------------------------------------------


@pytest.mark.parametrize(("workers", "n"), [(1, 8), (2, 8), (3, 18), (5, 40), (8, 32)])
@pytest.mark.parametrize("seed", range(20, 28))
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
@pytest.mark.parametrize("seed", range(20, 28))
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


def test_a_mask_array_saves_no_tile_and_zigzag_without_one_nearly_half(page, monkeypatch):
    workers, n = 4, 256
    d_out, *inputs_of = inputs(0, n, 3, 7)
    for deal, owner in page["owners"](n, workers).items():
        order = np.argsort(owner, kind="stable")
        count = tiles_computed_by_the_loop(page, monkeypatch, lambda: page["causal_ring"](inputs_of, d_out, order, page["Ring"](workers)))
        assert count == page["with_array"] == 16 * 64, deal
    order = np.argsort(page["owners"](n, workers)["zigzag"], kind="stable")
    dealt = [x[order] for x in inputs_of]
    count = tiles_computed_by_the_loop(page, monkeypatch, lambda: page["ring_forward"](*dealt, page["Ring"](workers), page["zigzag"]))
    assert count == page["without"] == 528


@pytest.mark.parametrize("workers", [2, 3, 4, 8])
def test_only_zigzag_gives_pairs_of_pieces_the_same_work(workers):
    work = [piece + 0.5 for piece in range(2 * workers)]
    assert all(work[w] + work[2 * workers - 1 - w] == 2 * workers == sum(work) / workers for w in range(workers))
    partners = [p for p in range(1, 2 * workers) if work[0] + work[p] == sum(work) / workers]
    assert partners == [2 * workers - 1]  # nothing else goes with piece 0


def test_two_blocks_of_pieces_are_full_in_zigzag():
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


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_the_last_move_of_the_gradients_is_not_hidden(workers):
    keys, gradients, link, computed = 0.0, 0.0, 0.0, 1.0  # keys here, parcel here, link free, round 0 done
    for turn in range(1, workers):
        link = keys = max(link, keys) + 0.5
        if turn > 1:  # the parcel of the round before
            link = gradients = max(link, computed) + 0.5
        computed = max(computed, keys, gradients - 1) + 1
    assert computed == workers
    assert max(link, computed) + 0.5 == workers + 0.5


@pytest.mark.parametrize("workers", [2, 3, 4, 8, 16])
def test_half_of_the_own_block_kept_for_the_end_hides_the_last_move(workers):
    keys, gradients, link, computed = 0.0, 0.0, 0.0, 0.5  # only half of the own block comes first
    for turn in range(1, workers):
        link = keys = max(link, keys) + 0.5
        if turn > 1:
            link = gradients = max(link, computed) + 0.5
        computed = max(computed, keys, gradients - 1) + 1
    assert max(max(link, computed) + 0.5, computed + 0.5) == workers  # the last move beside the other half


@pytest.mark.parametrize("workers", [2, 4, 8, 32])
@pytest.mark.parametrize("size", [2, 4, 16])
def test_in_tiles_stripes_pay_for_a_diagonal_in_every_round_and_zigzag_in_one(page, workers, size):
    """`size` tiles of 8 on each side of a block; times in blocks."""
    each = 8 * size
    deals = page["owners"](workers * each, workers)
    times = {name: page["tiles_computed"](owner, workers, 8).max(axis=0).sum() / each**2 for name, owner in deals.items()}
    assert times["stripes"] == pytest.approx(workers * (1 + 1 / size) / 2)
    assert times["zigzag"] == pytest.approx(workers / 2 + 1 / (2 * size))
    assert times["stretches"] == pytest.approx(workers - 0.5 + 1 / (2 * size))
    if size > 1:  # as in the library: the tiles of a mask that is cut the same way
        places = {name: [np.flatnonzero(owner == w) for w in range(workers)] for name, owner in deals.items()}
        for name, of in places.items():
            shown = sum(np.any(of[w].reshape(size, 8)[:, None, :, None] >= of[u].reshape(size, 8)[None, :, None, :], axis=(2, 3)).sum()
                        for w in range(min(2, workers)) for u in range(workers))  # fmt: skip
            assert shown * 64 == page["tiles_computed"](deals[name], workers, 8)[: min(2, workers)].sum()


def test_the_shares_in_tiles_that_the_table_shows(page):
    share = page["busy_share"]
    assert [round(share(deal, 512, 128), 2) for deal in ("stripes", "zigzag")] == [0.8, 0.97]
    assert share("stripes", 512, 1) > 0.99
    *_, inside, between = (each for each, _ in page["cases"].values())
    for each, link, lost in ((inside, 450e9, 0.03), (between, 50e9, 0.003)):  # what (8.2) asks for, in whole tiles
        assert 1 <= each / page["tokens_each"](link, visible=0.5) < 1.05
        assert 1 - share("stripes", each, 128) == pytest.approx(lost, rel=0.15)


@pytest.mark.parametrize("workers", [2, 4, 8, 16])
@pytest.mark.parametrize("tile", [16, 32, 64, 128])
def test_zigzag_wastes_less_in_tiles_if_its_pieces_are_whole_tiles(page, workers, tile):
    for tiles_of_a_piece in (1, 2, 3, 5):
        each = 2 * tile * tiles_of_a_piece
        assert page["busy_share"]("zigzag", each, tile, workers) > page["busy_share"]("stripes", each, tile, workers)
    for tiles in (1, 3, 5):  # the control: a tile holds the end of one piece and the start of the other
        each = tiles * tile
        assert page["busy_share"]("zigzag", each, tile, workers) == page["busy_share"]("stripes", each, tile, workers)


def test_a_million_tokens_under_a_causal_mask_take_minutes_at_the_peak():
    operations = 32 * 32 * 4 * 64 * (10**6) ** 2 / 2
    assert 2 * 60 < operations / 989e12 < 3 * 60


def test_twenty_five_workers_need_seconds_and_hide_their_sending(page):
    """Under a causal mask a round has half the work, so that a worker needs twice the tokens."""
    operations, n = 32 * 32 * 4 * 64 * (10**6) ** 2 / 2, 10**6
    workers = round(n / (2 * page["tokens_each"](50e9)))
    sent = (workers - 1) / workers * n * (64 + 64) * 2 * 32 * 32  # bytes of each worker
    assert workers == 25 and round(sent / 1e9) == 252
    assert round(sent / 50e9, 1) == 5.0 < round(operations / 989e12 / workers, 1) == 5.3


def test_beyond_25_workers_the_ring_gains_next_to_nothing(page):
    seconds, alone, all_keys = (page[name] for name in ("ring_seconds", "one_alone", "all_keys"))
    for workers in (1, 2, 24, 25, 26, 30, 200):  # beside a ring that is followed round by round
        fair = np.full((workers, workers), alone / workers**2)
        assert seconds(workers) == pytest.approx(forward_time(fair, all_keys / workers))
    assert seconds(25) == pytest.approx(alone / 25) and seconds(26) > alone / 26
    least = min(seconds(workers) for workers in range(1, 10**4))
    assert round(float(seconds(25)), 1) == 5.3 and round(float(least), 1) == round(all_keys, 1) == 5.2


# --- one query, many workers ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8, 16))
@pytest.mark.parametrize("parts", [2, 16, 128])
def test_parts_merge_and_their_plain_mean_is_wrong(page, parts, seed):
    right, error = page["shared_out"](parts, seed)
    assert right and error > 1e-3  # far from rounding


@pytest.mark.parametrize("seed", range(8, 16))
def test_the_plain_mean_of_four_parts_is_hardly_off(page, seed):
    assert page["shared_out"](4, seed)[1] < 0.07 < page["shared_out"](64, seed)[1]


def test_parts_move_little_more():
    d, each = 64, 64
    assert (d + 2 * (d + 1)) / (each * 2 * d) == pytest.approx(0.024, abs=0.0005)  # the query, and the result twice


# --- counted beside what others measured ----------------------------------------------------------


def for_keys(d_out, query, key, value, ell, D, c):
    """The first kernel: it finishes dK and dV of a tile of keys."""
    P = np.exp(c * query @ key.T - ell)
    dS = P * (d_out @ value.T - D)
    return c * dS.T @ query, P.T @ d_out


def for_queries(d_out, query, key, value, ell, D, c):
    """The second kernel: it finishes dQ of a tile of queries."""
    P = np.exp(c * query @ key.T - ell)
    return c * (P * (d_out @ value.T - D)) @ key


def of_the_kernels(seed, n, d, tile):
    d_out, query, key, value = inputs(seed, n, d, d)
    out, ell = flash_attention(query, key, value)
    D = np.sum(d_out * out, axis=1)[:, np.newaxis]
    return d_out, query, key, value, ell[:, np.newaxis], D, d**-0.5, np.split(np.arange(n), n // tile)


@pytest.mark.parametrize(("n", "d", "tile"), [(24, 6, 8), (30, 5, 10), (16, 3, 4)])
@pytest.mark.parametrize("seed", range(8))
def test_two_kernels_are_right(n, d, tile, seed):
    d_out, query, key, value, ell, D, c, tiles = of_the_kernels(seed, n, d, tile)
    d_query = np.concatenate([for_queries(d_out[t], query[t], key, value, ell[t], D[t], c) for t in tiles])
    d_key, d_value = map(np.concatenate, zip(*(for_keys(d_out, query, key[t], value[t], ell, D, c) for t in tiles), strict=True))
    assert alike((d_query, d_key, d_value), attention_backward(d_out, query, key, value, attention(query, key, value)[1]))


@pytest.mark.parametrize("seed", range(8, 16))
def test_one_kernel_that_adds_three_tiles_in_another_order_has_other_bits(seed):
    d_out, query, key, value, ell, D, c, tiles = of_the_kernels(seed, 24, 6, 8)
    shares = [for_queries(d_out, query, key[t], value[t], ell, D, c) for t in tiles]
    assert not np.array_equal(sum(shares), sum(shares[::-1]))
    assert np.array_equal(shares[0] + shares[1], shares[1] + shares[0])  # two tiles have only one sum


def test_travelling_queries_in_bytes():
    d = 64
    assert (2 * 2 * d, 2 * d + 4 * d + 4) == (256, 388)  # keys and values; query in float16, output and logsumexp in float32


def test_the_tokens_that_a_ring_needs(page):
    each = page["tokens_each"]
    assert [round(8 * each(rate), -3) for rate in (450e9, 50e9)] == [18e3, 158e3]
    assert each(450e9, operations=10, numbers=4) == pytest.approx(0.8 * each(450e9), rel=1e-3)
    assert each(450e9, operations=10, numbers=4 + 2) == pytest.approx(1.2 * each(450e9), rel=1e-3)  # gradients in float32