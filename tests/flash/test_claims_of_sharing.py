"""What chapter 8 says of a causal ring: who waits, however the tokens are dealt, and which tiles are computed."""

import functools

import numpy as np
import pytest
from flash_cases import alike, inputs

from attnlib.attention import attention, attention_backward
from attnlib.flash import flash_attention
from attnlib.flash.tiles import plan_for

DEALS = [(2, 8), (3, 24), (4, 64), (5, 30), (8, 64), (16, 1024)]


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
