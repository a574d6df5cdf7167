"""attnlib.flash.tiles: is every tile visited that holds something, and no other?"""

import numpy as np
import pytest
from flash_cases import B, H, K, Q, V, allowed, assert_all_close, bands, blocks, flash, make_inputs, masks, some_masks

from attnlib.flash import flash_attention, flash_attention_backward
from attnlib.flash.tiles import BLOCK_K, BLOCK_Q, MOST_HEADS, Tiles, plan_tiles


@bands
@blocks
def test_the_predicted_tiles_are_the_ones_computed(rng, band, block_q, block_k, monkeypatch):
    seen, hide = [], Tiles.hide

    def counted(tiles, scores, head, tile):
        assert scores.shape[1:] == (tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start)
        seen.append(tile)
        hide(tiles, scores, head, tile)

    monkeypatch.setattr(Tiles, "hide", counted)
    inputs, options = make_inputs(rng, leading=()), {**band, "block_q": block_q, "block_k": block_k}
    saved = flash_attention(*inputs, **options)
    mask = allowed(Q, K, **band)
    starts = [(i, j) for i in range(0, Q, block_q) for j in range(0, K, block_k)]
    expected = sum(mask[i : i + block_q, j : j + block_k].any() for i, j in starts)
    assert len(seen) == visited(Q, K, **options) == expected
    assert all(mask[tile.rows, tile.columns].any() for tile in seen)
    assert all(tile.cut == (not mask[tile.rows, tile.columns].all()) for tile in seen)
    flash_attention_backward(rng.normal(size=(Q, V)), *inputs, *saved, **options)
    assert len(seen) == 2 * expected


def test_a_tile_ends_where_the_reach_of_its_queries_ends():
    tiles = plan_tiles("tiles", 8, 8, causal=False, window=3, offset=1, block_q=2, block_k=4)
    reach = [[(tile.columns.start, tile.columns.stop) for tile in tiles.along(rows)] for rows in tiles.query_blocks()]
    assert reach == [[(0, 3)], [(1, 4), (4, 5)], [(3, 4), (4, 7)], [(5, 8)]]


def test_a_tile_is_a_view_of_the_workspace_so_that_none_is_allocated(rng):
    tiles = plan_tiles("tiles", 5, 7, causal=False, window=None, offset=0, block_q=2, block_k=3)
    workspace = tiles.workspace(np.float32, 4)
    assert workspace.shape == (6,) and workspace.dtype == np.float32
    assert tiles._replace(block_q=10, block_k=8).workspace(np.float32, 4).shape == (2 * 35,)
    assert tiles._replace(block_q=10, block_k=8).workspace(np.float32, 1).shape == (35,)
    for rows in tiles.query_blocks():
        for tile in tiles.along(rows):
            view = tile.view(workspace, 1)
            assert view.shape == (1, tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start)
            assert np.shares_memory(view, workspace)


@pytest.mark.parametrize(
    ("n", "heads"), [(16, MOST_HEADS), (22, MOST_HEADS), (32, 128), (64, 32), (256, 2), (300, 1), (4096, 1)]
)
def test_the_heads_that_share_a_tile_are_as_many_as_fill_it(n, heads):
    bounds = {"causal": False, "window": None, "offset": 0, "block_q": BLOCK_Q, "block_k": BLOCK_K}
    tiles = plan_tiles("tiles", n, n, **bounds)
    assert tiles.heads == heads and heads * min(n, BLOCK_Q) * min(n, BLOCK_K) <= BLOCK_Q * BLOCK_K


def visited(q, k, *, causal=False, window=None, offset=0, block_q=BLOCK_Q, block_k=BLOCK_K):
    """How many tiles the plan has for one head."""
    tiles = plan_tiles("tiles", q, k, causal=causal, window=window, offset=offset, block_q=block_q, block_k=block_k)
    return sum(1 for rows in tiles.query_blocks() for _ in tiles.along(rows))


def heads_of_the_tiles(monkeypatch):
    """A list that will hold how many heads each computed tile has."""
    seen, hide = [], Tiles.hide

    def noticed(tiles, scores, *rest):
        seen.append(len(scores))
        hide(tiles, scores, *rest)

    monkeypatch.setattr(Tiles, "hide", noticed)
    return seen


def test_short_heads_are_computed_together(rng, monkeypatch):
    seen = heads_of_the_tiles(monkeypatch)
    inputs = make_inputs(rng)  # 2 · 3 key heads, each shared by two query heads
    saved = flash_attention(*inputs, block_q=Q, block_k=4 * K)
    assert seen == [4, 4, 2, 2]
    flash_attention_backward(saved[0], *inputs, *saved, block_q=Q, block_k=4 * K)
    assert seen[4:] == [4, 4, 2, 2]


def test_many_short_heads_take_several_tiles_and_the_backward_more(rng, monkeypatch):
    seen = heads_of_the_tiles(monkeypatch)
    inputs = make_inputs(rng, leading=(600,), heads=600, q=2, k=2)
    saved = flash_attention(*inputs)
    assert seen == [256, 256, 88]
    flash_attention_backward(saved[0], *inputs, *saved)
    assert seen[3:] == [128] * 4 + [88]


@masks
def test_heads_that_do_not_lie_one_after_the_other_give_the_same(rng, kind):
    inputs, mask = make_inputs(rng), some_masks(rng)[kind]
    d_out = rng.normal(size=(B, H, Q, V))
    strewn = [np.ascontiguousarray(array.swapaxes(-2, -3)).swapaxes(-2, -3) for array in (*inputs, d_out)]
    assert not any(array.flags.c_contiguous for array in strewn)
    for options in ({}, {"block_q": Q, "block_k": 4 * K}, {"block_q": 3, "block_k": 2}):
        assert_all_close(flash(strewn[:3], strewn[3], mask, **options), flash(inputs, d_out, mask, **options))


@pytest.mark.parametrize("n", [1, 2, 5, 16])
@pytest.mark.parametrize("block", [1, 3, 64])
def test_causal_visits_the_triangle_of_tiles(n, block):
    blocks = -(-n // block)
    assert visited(n, n, causal=True, block_q=block, block_k=block) == blocks * (blocks + 1) // 2


def test_a_window_visits_as_many_tiles_as_the_sequence_is_long():
    # 1024 keys in blocks of 64, window 64: two tiles for each block of queries, one for the first.
    assert visited(1024, 1024, window=64, block_q=64, block_k=64) == 31
    assert visited(4096, 4096, window=64, block_q=64, block_k=64) == 127
    assert visited(0, 5) == visited(5, 0) == 0
    assert visited(4096, 4096) == 16 * 8
