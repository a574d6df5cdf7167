"""attnlib.flash: the same numbers as plain attention, made one tile at a time, and nothing larger than a tile?"""

import tracemalloc

import numpy as np
import oracles
import pytest
from dtype_spy import spied
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.flash.tiles import Tiles, plan_tiles
from attnlib.attention import attention, attention_backward, attention_mask_backward
from attnlib.flash import (
    flash_attention,
    flash_attention_backward,
    flash_attention_mask_backward,
    merge_partials,
    tiles_visited,
)
from attnlib.gradients import check_gradient
from attnlib.masks import combine_masks

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, H, HEADS, Q, K, D, V = 2, 6, 3, 8, 11, 5, 4
INF, NAN = np.inf, np.nan

# One by one, ragged, dividing 8 and 11 exactly, exactly all, one axis larger than all, both.
BLOCKS = [(1, 1), (2, 3), (3, 2), (4, 11), (8, 11), (1, 64), (64, 1), (64, 64)]
blocks = pytest.mark.parametrize(("block_q", "block_k"), BLOCKS)

BANDS = {
    "all": {},
    "causal": {"causal": True},
    "causal, last query sees all": {"causal": True, "offset": K - Q},
    "causal, first queries see nothing": {"causal": True, "offset": -3},
    "window": {"window": 3},
    "window and causal": {"window": 3, "causal": True},
    "window, last query sees the last key": {"window": 4, "offset": K - Q},
    "symmetric window": {"window": 5, "offset": 2},
    "window of one": {"window": 1, "offset": -2},
    "window larger than all": {"window": 99, "offset": 99},
    "window after all keys": {"window": 2, "offset": 50},
}
bands = pytest.mark.parametrize("band", BANDS.values(), ids=BANDS)


def make_inputs(rng, leading=(B, H), heads=HEADS, q=Q, k=K, d=D, v=V, dtype=np.float64):
    """query, key, value; `heads` of key and value, where there is a head axis."""
    key_leading = (*leading[:-1], heads) if leading else ()
    shapes = (*leading, q, d), (*key_leading, k, d), (*key_leading, k, v)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def allowed(q, k, causal=False, window=None, offset=0):
    """The band as a mask, by how far each key lies ahead of its query."""
    ahead = np.arange(k) - np.arange(q)[:, np.newaxis] - offset
    mask = ahead <= 0 if causal or window is not None else np.ones((q, k), bool)
    return mask if window is None else mask & (ahead > -window)


def some_masks(rng, shape=(B, H, Q, K)):
    """A mask of each kind, by name. The second query of the dense ones may look at nothing."""
    keep = rng.random(shape) < 0.5
    keep[..., 1, :] = False
    return {
        "none": None,
        "boolean": keep,
        "additive": np.where(keep, rng.normal(size=shape), -INF),
        "keys": rng.random(shape[-1]) < 0.6,
        "queries": rng.normal(size=(shape[-2], 1)),
        "batch": rng.random((shape[0], 1, 1, shape[-1])) < 0.6,
        "heads": rng.normal(size=(shape[1], 1, shape[-1])),
        "float64": rng.normal(size=shape[-2:]),
        "one number": np.full((1, 1), 0.25),
    }


MASKS = list(some_masks(np.random.default_rng(0)))
masks = pytest.mark.parametrize("kind", MASKS)


def flash(inputs, d_out=None, mask=None, **options):
    """out, logsumexp and, if there is `d_out`, d_query, d_key, d_value."""
    saved = flash_attention(*inputs, mask=mask, **options)
    return saved if d_out is None else (*saved, *flash_attention_backward(d_out, *inputs, *saved, mask=mask, **options))


def plain(inputs, d_out=None, mask=None, scale=None, **band):
    """The same by plain attention and the formula of logsumexp."""
    query, key, value = inputs
    mask = combine_masks(mask, allowed(query.shape[-2], key.shape[-2], **band))
    out, weights = attention(*inputs, mask=mask, scale=scale)
    repeated = np.repeat(key, query.shape[-3] // max(1, key.shape[-3]), axis=-3) if query.ndim > 2 else key
    scores = (query.shape[-1] ** -0.5 if scale is None else scale) * (query @ repeated.mT)
    scores = np.where(mask, scores, -INF) if mask.dtype == bool else scores + mask
    logsumexp = np.logaddexp.reduce(scores, axis=-1)
    if d_out is None:
        return out, logsumexp
    return out, logsumexp, *attention_backward(d_out, *inputs, weights, scale=scale)


def assert_close(actual, expected, tolerance=1e-13):
    """Equal within `tolerance` of the largest finite entry, but at least of 1."""
    assert np.shape(actual) == np.shape(expected)
    size = np.abs(expected, where=np.isfinite(expected), out=np.zeros(np.shape(expected))).max(initial=1)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


def assert_all_close(actual, expected, tolerance=1e-13):
    for a, b in zip(actual, expected, strict=True):
        assert_close(a, b, tolerance)


# --- agrees with the slow oracle and with plain attention --------------------------------------------


@bands
@pytest.mark.parametrize("heads", [H, HEADS, 1])
def test_matches_the_formula_written_as_loops(rng, band, heads):
    inputs = make_inputs(rng, heads=heads)
    expected, _ = oracles.attention(*inputs, mask=allowed(Q, K, **band))
    out, logsumexp = flash_attention(*inputs, **band, block_q=3, block_k=4)
    assert_close(out, expected)
    assert_close(logsumexp, plain(inputs, **band)[1])


@bands
@blocks
def test_any_blocks_give_the_values_and_gradients_of_plain_attention(rng, band, block_q, block_k):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    actual = flash(inputs, d_out, **band, block_q=block_q, block_k=block_k)
    assert_all_close(actual, plain(inputs, d_out, **band))


@blocks
@masks
def test_any_mask_gives_the_values_and_gradients_of_plain_attention(rng, kind, block_q, block_k):
    inputs, d_out, mask = make_inputs(rng), rng.normal(size=(B, H, Q, V)), some_masks(rng)[kind]
    for band in ({}, {"causal": True, "offset": 2}, {"window": 4, "offset": 1}):
        options = {"mask": mask, "scale": -0.4, **band}
        actual = flash(inputs, d_out, **options, block_q=block_q, block_k=block_k)
        assert_all_close(actual, plain(inputs, d_out, **options))


@bands
@pytest.mark.parametrize("kind", ["additive", "queries", "heads", "float64", "one number"])
def test_the_gradient_of_a_mask_is_that_of_plain_attention(rng, kind, band):
    inputs, d_out, mask = make_inputs(rng), rng.normal(size=(B, H, Q, V)), some_masks(rng)[kind]
    saved = flash_attention(*inputs, mask=mask, **band)
    _, weights = attention(*inputs, mask=combine_masks(mask, allowed(Q, K, **band)))
    expected = attention_mask_backward(d_out, inputs[2], weights, mask)
    for block_q, block_k in ((1, 1), (3, 2), (64, 64)):
        options = {**band, "block_q": block_q, "block_k": block_k}
        assert_close(flash_attention_mask_backward(d_out, *inputs, *saved, mask, **options), expected)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_shape_any_mask_and_any_blocks(data):
    leading = data.draw(st.lists(st.integers(0, 3), max_size=3), label="leading")
    group = data.draw(st.integers(1, 3), label="group") if leading else 1
    q, k = (data.draw(st.integers(0, 9), label=name) for name in "qk")
    d, v = data.draw(st.integers(1, 4), label="d"), data.draw(st.integers(0, 4), label="v")
    rng = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    full = (*leading[:-1], leading[-1] * group, q, k) if leading else (q, k)
    inputs = make_inputs(rng, full[:-2], leading[-1] if leading else 1, q, k, d, v)
    inputs[0] *= data.draw(st.sampled_from([0, 1, 30]), label="size of the scores")
    rank = data.draw(st.integers(0, len(full)), label="rank of the mask")
    shape = tuple(data.draw(st.sampled_from([1, size])) for size in full[len(full) - rank :])
    keep = np.array(rng.random(shape) < 0.6)
    mask = data.draw(st.sampled_from([None, keep, np.where(keep, rng.normal(size=shape), -INF)]), label="mask")
    band = {
        "causal": data.draw(st.booleans(), label="causal"),
        "window": data.draw(st.none() | st.integers(1, 6), label="window"),
        "offset": data.draw(st.integers(-4, 6), label="offset"),
    }
    options = {name: data.draw(st.integers(1, 12), label=name) for name in ("block_q", "block_k")}
    d_out = rng.normal(size=(*full[:-1], v))
    actual = flash(inputs, d_out, mask, **band, **options)
    assert_all_close(actual, plain(inputs, d_out, mask, **band), 1e-12)
    if mask is not None and mask.dtype != bool:
        _, weights = attention(*inputs, mask=combine_masks(mask, allowed(q, k, **band)))
        d_mask = flash_attention_mask_backward(d_out, *inputs, *actual[:2], mask, **band, **options)
        assert_close(d_mask, attention_mask_backward(d_out, inputs[2], weights, mask), 1e-12)


SIZES = [1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 257]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("causal", [False, True])
def test_lengths_around_the_block_size(rng, n, causal):
    inputs, d_out = make_inputs(rng, leading=(), q=n, k=n), rng.normal(size=(n, V))
    actual = flash(inputs, d_out, causal=causal, block_q=16, block_k=32)
    assert_all_close(actual, plain(inputs, d_out, causal=causal), 1e-12)


@pytest.mark.parametrize(("q", "k"), [(64, 1), (239, 1), (256, 3), (799, 3), (1, 130), (3, 600), (300, 1030)])
def test_lengths_that_differ_much(rng, q, k):
    # 300 and 1030 are more than one block of the default size.
    inputs, d_out = make_inputs(rng, leading=(2,), heads=1, q=q, k=k), rng.normal(size=(2, q, V))
    for band in ({}, {"causal": True}, {"causal": True, "offset": k - q}, {"window": 7, "offset": k - q}):
        out, _, *gradients = flash(inputs, d_out, **band)
        expected, weights = attention(*inputs, mask=allowed(q, k, **band))
        assert_all_close((out, *gradients), (expected, *attention_backward(d_out, *inputs, weights)), 1e-12)


# --- invariants ----------------------------------------------------------------------------------------


@bands
@blocks
def test_the_predicted_tiles_are_the_ones_computed(rng, band, block_q, block_k, monkeypatch):
    seen, hide = [], Tiles.hide

    def counted(tiles, scores, head, tile):
        assert scores.shape == (tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start)
        seen.append(tile)
        hide(tiles, scores, head, tile)

    monkeypatch.setattr(Tiles, "hide", counted)
    inputs, options = make_inputs(rng, leading=()), {**band, "block_q": block_q, "block_k": block_k}
    saved = flash_attention(*inputs, **options)
    mask = allowed(Q, K, **band)
    starts = [(i, j) for i in range(0, Q, block_q) for j in range(0, K, block_k)]
    expected = sum(mask[i : i + block_q, j : j + block_k].any() for i, j in starts)
    assert tiles_visited(Q, K, **options) == (expected, len(starts))
    assert len(seen) == expected
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
    workspace = tiles.workspace(np.float32)
    assert workspace.shape == (6,) and workspace.dtype == np.float32
    assert tiles._replace(block_q=100, block_k=100).workspace(np.float32).shape == (35,)
    for rows in tiles.query_blocks():
        for tile in tiles.along(rows):
            view = tile.view(workspace)
            assert view.shape == (tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start)
            assert np.shares_memory(view, workspace)


@pytest.mark.parametrize("options", [{"mask": True}, {"causal": True}, {"window": 2}])
def test_a_hidden_key_does_not_even_decide_how_the_others_are_rounded(rng, options):
    inputs = make_inputs(rng, dtype=np.float32)
    band = {name: value for name, value in options.items() if name != "mask"}
    keep = np.broadcast_to(allowed(Q, K, **band) if band else rng.random(K) < 0.5, (Q, K))
    hidden = ~keep.any(axis=0)
    assert hidden.any() and not hidden.all()
    options = {"mask": keep} if "mask" in options else options
    before = flash_attention(*inputs, **options)
    inputs[1][..., hidden, :] *= 1e4
    for old, new in zip(before, flash_attention(*inputs, **options), strict=True):
        assert np.array_equal(old, new)


@pytest.mark.parametrize("n", [1, 2, 5, 16])
@pytest.mark.parametrize("block", [1, 3, 64])
def test_causal_visits_the_triangle_of_tiles(n, block):
    blocks = -(-n // block)
    assert tiles_visited(n, n, causal=True, block_q=block, block_k=block) == (blocks * (blocks + 1) // 2, blocks**2)


def test_a_window_visits_as_many_tiles_as_the_sequence_is_long():
    # 1024 keys in blocks of 64, window 64: two tiles for each block of queries, one for the first.
    assert tiles_visited(1024, 1024, window=64, block_q=64, block_k=64) == (31, 256)
    assert tiles_visited(4096, 4096, window=64, block_q=64, block_k=64) == (127, 4096)
    assert tiles_visited(0, 5) == (0, 0)
    assert tiles_visited(5, 0) == (0, 0)
    assert tiles_visited(4096, 4096) == (16 * 8, 16 * 8)


def peak(function, *arguments, **options):
    tracemalloc.start()
    function(*arguments, **options)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"window": 100}, {"mask": True}], ids=str)
def test_the_memory_grows_with_the_length_not_with_its_square(rng, options):
    peaks = []
    for n in (512, 2048):
        inputs = make_inputs(rng, leading=(), q=n, k=n, d=16, v=16, dtype=np.float32)
        d_out = rng.normal(size=(n, 16)).astype(np.float32)
        if "mask" in options:
            options = {"mask": np.arange(n) % 3 > 0}  # over the keys: n numbers
        saved = flash_attention(*inputs, **options, block_q=64, block_k=64)
        forward = peak(flash_attention, *inputs, **options, block_q=64, block_k=64)
        backward = peak(flash_attention_backward, d_out, *inputs, *saved, **options, block_q=64, block_k=64)
        peaks.append((forward, backward))
    assert max(forward, backward) < 4 * n * n / 20  # the scores take 4 · n² bytes
    for small, large in zip(*peaks, strict=True):
        assert large < 4.5 * small


def test_the_gradient_of_a_small_mask_takes_little_memory(rng):
    n = 2048
    inputs, d_out = make_inputs(rng, (), q=n, k=n, d=16, v=16), rng.normal(size=(n, 16))
    mask = rng.normal(size=n)
    saved = flash_attention(*inputs, mask=mask)
    assert peak(flash_attention_mask_backward, d_out, *inputs, *saved, mask, block_q=64, block_k=64) < n * n / 2


def test_causal_lets_nothing_of_the_future_through(rng):
    query, key, value = make_inputs(rng)
    out, logsumexp = flash_attention(query, key, value, causal=True, block_q=3, block_k=4)
    for array in (key, value):
        array[..., 5:, :] = rng.normal(size=array[..., 5:, :].shape) * 1e4
    changed = flash_attention(query, key, value, causal=True, block_q=3, block_k=4)
    np.testing.assert_array_equal(changed[0][..., :5, :], out[..., :5, :])  # to the last bit
    np.testing.assert_array_equal(changed[1][..., :5], logsumexp[..., :5])
    assert (changed[0][..., 5:, :] != out[..., 5:, :]).all()


def test_the_order_of_the_keys_does_not_matter(rng):
    (query, key, value), d_out, order = make_inputs(rng), rng.normal(size=(B, H, Q, V)), rng.permutation(K)
    out, logsumexp, d_query, d_key, d_value = flash((query, key, value), d_out, block_k=4)
    shuffled = flash((query, key[..., order, :], value[..., order, :]), d_out, block_k=4)
    assert_all_close(shuffled, (out, logsumexp, d_query, d_key[..., order, :], d_value[..., order, :]))


def test_the_sums_that_a_gradient_must_have(rng):
    inputs, d_out = make_inputs(rng, heads=H), rng.normal(size=(B, H, Q, V))
    *_, d_key, d_value = flash(inputs, d_out, causal=True, block_q=3, block_k=4)
    np.testing.assert_allclose(d_key.sum(axis=-2), 0, atol=1e-14)  # a common shift of the keys changes nothing
    assert_close(d_value.sum(axis=-2), d_out.sum(axis=-2))
    bias = np.zeros((Q, K))
    d_bias = flash_attention_mask_backward(d_out, *inputs, *flash(inputs, mask=bias), bias, block_q=3, block_k=4)
    np.testing.assert_allclose(d_bias.sum(axis=-1), 0, atol=1e-13)  # the weights of a row cannot all grow


def test_hidden_keys_can_as_well_be_deleted(rng):
    (query, key, value), d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    keep = np.arange(K) % 4 > 1
    out, logsumexp, *gradients = flash((query, key, value), d_out, mask=keep, block_k=2)
    short = flash((query, key[..., keep, :], value[..., keep, :]), d_out, block_k=2)
    assert_all_close((out, logsumexp, gradients[0]), short[:3])
    for gradient, expected in zip(gradients[1:], short[3:], strict=True):
        assert_close(gradient[..., keep, :], expected)
        assert not gradient[..., ~keep, :].any()


def test_the_same_call_gives_the_same_bits_and_heads_do_not_see_each_other(rng):
    inputs, d_out = make_inputs(rng, heads=H), rng.normal(size=(B, H, Q, V))
    first = flash(inputs, d_out, causal=True, block_q=3)
    for a, b in zip(first, flash(inputs, d_out, causal=True, block_q=3), strict=True):
        np.testing.assert_array_equal(a, b)
    alone = flash([array[1, 4] for array in inputs], d_out[1, 4], causal=True, block_q=3)
    assert_all_close([array[1, 4] for array in first], alone)


def test_inputs_are_never_written_to(rng):
    inputs, d_out, mask = make_inputs(rng), rng.normal(size=(B, H, Q, V)), some_masks(rng)["additive"]
    copies = [array.copy() for array in (*inputs, d_out, mask)]
    for array in (*inputs, d_out, mask):
        array.flags.writeable = False
    saved = flash_attention(*inputs, mask=mask, scale=1.0)
    for array in saved:
        array.flags.writeable = False
    flash_attention_backward(d_out, *inputs, *saved, mask=mask, scale=1.0)
    flash_attention_mask_backward(d_out, *inputs, *saved, mask, scale=1.0)
    for array, copy in zip((*inputs, d_out, mask), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "reversed": lambda x: x[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
    "every second": lambda x: np.repeat(np.repeat(x, 2, axis=-1), 2, axis=-2)[..., ::2, ::2],
    "transposed heads": lambda x: x.swapaxes(-3, -2).copy().swapaxes(-3, -2),
    "broadcast over the batch": lambda x: np.broadcast_to(x[:1], x.shape),
    "lists": lambda x: x.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_memory_layout_does_not_matter(rng, layout):
    inputs, d_out = [x[:1].repeat(B, axis=0) for x in make_inputs(rng)], rng.normal(size=(1, H, Q, V)).repeat(B, axis=0)
    mask = rng.normal(size=(B, H, Q, K))[:1].repeat(B, axis=0)
    options = {"causal": True, "block_q": 3, "block_k": 4}
    expected = flash(inputs, d_out, mask, **options)
    saved = [layout(x) if x.ndim == 4 else x for x in expected[:2]]
    arguments = layout(d_out), *map(layout, inputs), *saved
    assert_all_close(flash_attention(*map(layout, inputs), mask=layout(mask), **options), expected[:2])
    assert_all_close(flash_attention_backward(*arguments, mask=layout(mask), **options), expected[2:])
    d_mask = flash_attention_mask_backward(*arguments, layout(mask), **options)
    assert_close(d_mask, flash_attention_mask_backward(d_out, *inputs, *expected[:2], mask, **options))


# --- splitting the keys ------------------------------------------------------------------------------


def split(inputs, *cuts, **options):
    """flash_attention for each part of the keys."""
    query, key, value = inputs
    parts = zip(np.split(key, cuts, axis=-2), np.split(value, cuts, axis=-2), strict=True)
    return [flash_attention(query, *part, **options) for part in parts]


def test_partial_results_merge_in_any_order_and_grouping(rng):
    inputs = make_inputs(rng)
    inputs[0] *= 20  # far from each other
    a, b, c = split(inputs, 3, 7)
    whole = flash_attention(*inputs)
    assert_all_close(merge_partials(*merge_partials(*a, *b), *c), whole)
    assert_all_close(merge_partials(*a, *merge_partials(*b, *c)), whole)
    assert_all_close(merge_partials(*merge_partials(*c, *a), *b), whole)


def test_gradients_of_the_parts_with_the_merged_result_are_those_of_the_whole(rng):
    (query, key, value), d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    whole = flash((query, key, value), d_out)
    merged = merge_partials(*split((query, key, value), 4)[0], *split((query, key, value), 4)[1])
    ends = slice(0, 4), slice(4, K)
    first, second = (
        flash_attention_backward(d_out, query, key[..., end, :], value[..., end, :], *merged) for end in ends
    )
    assert_close(first[0] + second[0], whole[2])
    assert_close(np.concatenate([first[1], second[1]], axis=-2), whole[3])
    assert_close(np.concatenate([first[2], second[2]], axis=-2), whole[4])


def test_a_part_that_a_query_may_not_look_at_changes_nothing(rng):
    inputs = make_inputs(rng)
    some = flash_attention(*inputs)
    nothing = flash_attention(*inputs, mask=np.zeros((1, 1), bool))
    for merged in (merge_partials(*some, *nothing), merge_partials(*nothing, *some)):
        for a, b in zip(merged, some, strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(merge_partials(*nothing, *nothing), nothing, strict=True):
        np.testing.assert_array_equal(a, b)
    assert_all_close(merge_partials(*some, *flash_attention(inputs[0], *(x[..., :0, :] for x in inputs[1:]))), some)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_merging_keeps_the_dtypes(rng, dtype):
    inputs = make_inputs(rng, dtype=dtype)
    some = flash_attention(*inputs)
    out, logsumexp = merge_partials(*some, *some)
    assert (out.dtype, logsumexp.dtype) == (some[0].dtype, some[1].dtype)
    assert_close(out, some[0], 1e-3 if dtype == np.float16 else 1e-6)
    assert_close(logsumexp, some[1] + np.log(2), 1e-6)


# --- numerical edges ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["rising", "falling", "late spike", "early spike", "ties"])
@blocks
def test_the_running_maximum_may_rise_fall_or_jump(rng, order, block_q, block_k):
    query, key, value = make_inputs(rng, leading=(), v=3)
    query[:, 0], key[:] = 1, 0
    key[:, 0] = {
        "rising": np.arange(K) * 60.0,
        "falling": np.arange(K) * -60.0,
        "late spike": np.eye(K)[-2] * 2000,
        "early spike": np.eye(K)[1] * 2000,
        "ties": np.full(K, 700.0),
    }[order]
    d_out = rng.normal(size=(Q, 3))
    actual = flash((query, key, value), d_out, scale=1, block_q=block_q, block_k=block_k)
    assert_all_close(actual, plain((query, key, value), d_out, scale=1), 1e-12)


def test_rows_may_be_far_apart(rng):
    query, key, value = make_inputs(rng, leading=())
    query *= 10.0 ** np.arange(-3, Q - 3)[:, np.newaxis]
    assert_all_close(flash_attention(query, key, value, block_k=2), plain((query, key, value)))


@pytest.mark.parametrize("size", [0, 1e-3, 1, 3, 4.4, 4.5, 5, 30])
def test_small_scores_need_no_maximum_and_large_ones_do(rng, size):
    # Scores between -size² and size²; from 20 on the maximum is taken.
    query, key, value = make_inputs(rng, leading=())
    query[:], key[:] = 0, 0
    query[:, 0], key[:, 0] = size, np.linspace(-size, size, K)
    d_out = rng.normal(size=(Q, V))
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        inputs = [array.astype(dtype) for array in (query, key, value)]
        expected = plain((query, key, value), d_out, scale=1)
        actual = flash(inputs, d_out.astype(dtype), scale=1, block_q=3, block_k=4)
        assert_all_close(actual, expected, tolerance * max(1, size))


def test_short_vectors_with_a_large_scale_have_large_scores():
    query, key = np.full((1, 4), 0.05), np.full((3, 4), 0.05)
    out, logsumexp = flash_attention(query, key, np.arange(3.0)[:, np.newaxis], scale=1e5)
    assert_close(out, [[1.0]])
    assert_close(logsumexp, [1e5 * 4 * 0.05**2 + np.log(3)])


@pytest.mark.parametrize("size", [1e2, 1e4, 1e7])
def test_the_limit_of_large_scores_is_a_lookup(rng, size):
    query, key, value = make_inputs(rng, heads=H)
    out, logsumexp = flash_attention(query, key, value, scale=size, block_q=3, block_k=2)
    scores = size * (query @ key.mT)
    assert_close(logsumexp, np.logaddexp.reduce(scores, axis=-1))
    if size == 1e7:
        assert_close(out, np.take_along_axis(value, scores.argmax(axis=-1)[..., np.newaxis], axis=-2))


@pytest.mark.parametrize("shift", [-65536.0, 65536.0])
def test_a_constant_added_to_all_scores_only_shifts_logsumexp(rng, shift):
    inputs = make_inputs(rng)
    out, logsumexp = flash_attention(*inputs, mask=np.full((1, 1), shift), block_k=3)
    expected = flash_attention(*inputs, block_k=3)
    assert_close(out, expected[0], 1e-10)
    assert_close(logsumexp, expected[1] + shift)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fill", [-INF, -1e9, -1e30, np.finfo(np.float32).min])
def test_a_very_low_number_hides_a_key_too(rng, fill, dtype):
    inputs, d_out = make_inputs(rng, dtype=dtype), rng.normal(size=(B, H, Q, V)).astype(dtype)
    keep = allowed(Q, K, causal=True)
    low = flash(inputs, d_out, np.where(keep, 0, fill), block_q=3, block_k=2)
    assert_all_close(low, flash(inputs, d_out, keep, block_q=3, block_k=2), 1e-14 if dtype == np.float64 else 1e-6)


@blocks
@pytest.mark.parametrize("kind", ["boolean", "additive"])
def test_tiles_and_rows_that_are_hidden_entirely_are_safe(rng, kind, block_q, block_k):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    keep = np.ones((B, H, Q, K), bool)
    keep[..., :7] = False  # the first tiles hold nothing: padding on the left
    keep[..., 3, :] = False
    keep[1] = False
    mask = keep if kind == "boolean" else np.where(keep, 0, -INF)
    actual = flash(inputs, d_out, mask, block_q=block_q, block_k=block_k)
    assert_all_close(actual, plain(inputs, d_out, mask))
    out, logsumexp, d_query, d_key, d_value = actual
    dead = ~keep.any(axis=-1)
    assert not out[dead].any()
    assert not d_query[dead].any()
    np.testing.assert_array_equal(np.isneginf(logsumexp), dead)
    assert not d_key[1].any()
    assert not d_value[1].any()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_if_everything_is_hidden_everything_is_zero(rng, dtype):
    inputs, d_out = make_inputs(rng, dtype=dtype), rng.normal(size=(B, H, Q, V)).astype(dtype)
    for options in ({"mask": np.zeros(K, bool)}, {"mask": np.full((1, 1), -INF)}, {"causal": True, "offset": -Q}):
        out, logsumexp, *gradients = flash(inputs, d_out, **options)
        assert np.isneginf(logsumexp).all()
        for array in (out, *gradients):
            np.testing.assert_array_equal(array, np.zeros(array.shape, dtype), strict=True)


@pytest.mark.parametrize("scale", [-1e4, 1e4])
def test_large_scores_do_not_overflow_whatever_their_sign(rng, scale):
    inputs = make_inputs(rng, dtype=np.float32)
    assert_all_close(flash_attention(*inputs, scale=scale), plain([x.astype(float) for x in inputs], scale=scale), 1e-4)


def test_a_query_that_may_look_at_nothing_disturbs_no_other(rng):
    inputs, keep, d_out = make_inputs(rng), np.ones((Q, K), bool), rng.normal(size=(B, H, Q, V))
    d_out[..., 2, :] = 0
    expected = flash(inputs, d_out, keep, block_q=3)
    keep[2] = False
    d_out[..., 2, :] = 1
    actual = flash(inputs, d_out, keep, block_q=3)
    for a, b in zip(actual[:2], expected[:2], strict=True):
        np.testing.assert_array_equal(np.delete(a, 2, axis=2), np.delete(b, 2, axis=2))  # to the last bit
    assert_all_close([np.delete(actual[2], 2, axis=2), *actual[3:]], [np.delete(expected[2], 2, axis=2), *expected[3:]])


EMPTY = {"queries": {"q": 0}, "keys": {"k": 0}, "batch": {"leading": (0, H)}, "heads": {"leading": (B, 0), "heads": 0}}


@pytest.mark.parametrize("sizes", [*EMPTY.values(), {"v": 0}], ids=[*EMPTY, "value features"])
@pytest.mark.parametrize("causal", [False, True])
def test_any_axis_but_d_may_be_empty(rng, sizes, causal):
    inputs = make_inputs(rng, **sizes)
    d_out = rng.normal(size=(*inputs[0].shape[:-1], inputs[2].shape[-1]))
    out, logsumexp, *gradients = flash(inputs, d_out, causal=causal)
    assert out.shape == d_out.shape
    assert logsumexp.shape == out.shape[:-1]
    for array, gradient in zip(inputs, gradients, strict=True):
        np.testing.assert_array_equal(gradient, np.zeros(array.shape))
    if "k" in sizes:
        assert not out.any()
        assert np.isneginf(logsumexp).all()
    bias = np.zeros((Q if "q" not in sizes else 0, 1))
    assert not flash_attention_mask_backward(d_out, *inputs, *flash(inputs, mask=bias), bias).any()


@pytest.mark.parametrize("garbage", [1e30, -np.finfo(np.float32).max, np.finfo(np.float32).max])
@pytest.mark.parametrize("options", ["boolean", "additive", "causal", "window"])
@blocks
def test_huge_numbers_at_hidden_keys_have_no_effect(rng, garbage, options, block_q, block_k):
    inputs, d_out = make_inputs(rng, dtype=np.float32), rng.normal(size=(B, H, Q, V)).astype(np.float32) * 10
    options = {
        "boolean": {"mask": np.arange(K) % 7 != 6},
        "additive": {"mask": np.where(np.arange(K) % 7 == 6, -INF, 0.5)},
        "causal": {"causal": True, "offset": -2},  # keys 6 and later are hidden from everyone
        "window": {"window": 4, "offset": -2},
    }[options]
    blocks = {"block_q": block_q, "block_k": block_k}
    expected = flash(inputs, d_out, **options, **blocks)
    for array in inputs[1:]:
        array[..., 6, :] = garbage
    actual = flash(inputs, d_out, **options, **blocks)
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.isfinite(actual[2]).all()


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_nan_or_infinity_in_a_live_query_stays_in_its_row(rng, bad):
    inputs = make_inputs(rng)
    expected, _ = flash_attention(*inputs, block_q=3, block_k=4)
    inputs[0][0, 1, 2, 0] = bad
    out, logsumexp = flash_attention(*inputs, block_q=3, block_k=4)
    assert np.isnan(out[0, 1, 2]).all()
    assert np.isnan(logsumexp[0, 1, 2])
    out[0, 1, 2] = expected[0, 1, 2] = 0
    assert_close(out, expected)


def test_a_nan_in_a_live_key_or_value_reaches_every_row_that_sees_it(rng):
    query, key, value = make_inputs(rng, leading=())
    key[5, 0] = NAN
    out, _ = flash_attention(query, key, value, causal=True, block_q=3, block_k=4)
    assert np.isnan(out[5:]).all()
    assert np.isfinite(out[:5]).all()
    key[5, 0], value[5, 1] = 0, NAN
    out, _ = flash_attention(query, key, value, causal=True, block_q=1, block_k=1)
    np.testing.assert_array_equal(np.isnan(out), (np.arange(Q)[:, np.newaxis] >= 5) & (np.arange(V) == 1))
    mask = np.zeros((Q, K))
    mask[2, 3] = NAN
    out, _ = flash_attention(query, key, np.ones((K, V)), mask=mask)
    np.testing.assert_array_equal(np.isnan(out).any(axis=-1), np.arange(Q) == 2)


def test_an_output_that_overflowed_is_merged_without_a_warning():
    zero_share, all_of_it = np.array([-1000.0]), np.array([0.0])
    merged, logsumexp = merge_partials([[np.inf]], zero_share, [[1.0]], all_of_it)
    assert np.isnan(merged).all() and logsumexp == 0  # 0 · inf: nobody can tell what it was


def test_an_overflow_of_the_scores_is_nan_without_a_warning():
    big = np.full((1, 2), 1e200)
    out, logsumexp = flash_attention(big, np.stack([big[0], -big[0]]), np.ones((2, 1)), block_k=1)
    assert np.isnan(out).all()
    assert np.isnan(logsumexp).all()


def test_an_overflow_in_the_gradients_is_nan_without_a_warning():
    big, ones = np.full((1, 2), 1e200), np.ones((2, 1))
    keys = np.stack([big[0], -big[0]])
    saved = flash_attention(big, keys, ones)
    assert all(np.isnan(x).any() for x in flash_attention_backward([[1.0]], big, keys, ones, *saved)[:2])
    assert np.isnan(flash_attention_mask_backward([[1.0]], big, keys, ones, *saved, np.zeros(2))).all()
    small = np.ones((1, 2))  # here it is the product of d_out and value that overflows
    saved = flash_attention(small, keys / 1e200, ones)
    d_mask = flash_attention_mask_backward([[1e200]], small, keys / 1e200, 1e200 * ones, *saved, np.zeros(2))
    assert not np.isfinite(d_mask).all()


def test_merged_parts_keep_the_dtype_of_each_argument():
    parts = [np.ones((1, 2), np.float16), np.zeros(1, np.float16)] * 2
    assert [x.dtype for x in merge_partials(*parts)] == [np.float16, np.float16]
    parts[1::2] = [np.zeros(1, np.float32)] * 2
    assert [x.dtype for x in merge_partials(*parts)] == [np.float16, np.float32]


@pytest.mark.parametrize("scale", [0, -0.7, 3, np.float64(0.5), np.int64(2), 0.2])
def test_a_scale_is_a_number_like_any_other(rng, scale):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    actual = flash(inputs, d_out, scale=scale, block_q=3, block_k=4)
    assert_all_close(actual, plain(inputs, d_out, scale=float(scale)))
    if scale == 0:
        mean = np.repeat(inputs[2], H // HEADS, axis=1).mean(axis=-2, keepdims=True)
        assert_close(actual[0], mean.repeat(Q, axis=-2))
        assert not actual[2].any()
        assert not actual[3].any()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("mask_dtype", [np.float32, np.float64, bool])
def test_the_dtype_is_kept_and_the_result_as_exact_as_it_allows(rng, dtype, mask_dtype):
    inputs, d_out = make_inputs(rng, dtype=dtype), rng.normal(size=(B, H, Q, V)).astype(dtype)
    mask = (rng.random((Q, K)) < 0.8).astype(mask_dtype)
    options = {"mask": mask, "scale": np.float64(0.5), "block_q": 3, "block_k": 4}
    actual = flash(inputs, d_out, **options)
    assert actual[0].dtype == dtype
    assert actual[1].dtype == (np.float32 if dtype == np.float16 else dtype)
    assert {gradient.dtype for gradient in actual[2:]} == {np.dtype(dtype)}
    exact = plain([array.astype(float) for array in inputs], d_out.astype(float), mask, 0.5)
    assert_all_close(actual, exact, {np.float16: 1e-3, np.float32: 1e-6, np.float64: 1e-14}[dtype])
    if mask_dtype != bool:
        options.pop("mask")
        d_mask = flash_attention_mask_backward(d_out, *inputs, *actual[:2], mask, **options)
        assert d_mask.dtype == dtype


def test_float32_computes_in_float32_throughout(rng):
    inputs, d_out = make_inputs(rng, dtype=np.float32), rng.normal(size=(B, H, Q, V)).astype(np.float32)
    options, mask = {"scale": np.float64(0.5), "causal": True, "block_k": 4}, rng.normal(size=(Q, K)).astype(np.float32)
    saved = flash_attention(*inputs, mask=mask, **options)
    float32 = {np.dtype(np.float32)}
    assert spied(flash_attention, *inputs, mask=mask, **options) == float32
    assert spied(flash_attention, *inputs, scale=0.01) == float32
    assert spied(flash_attention_backward, d_out, *inputs, *saved, mask=mask, **options) == float32
    assert spied(flash_attention_mask_backward, d_out, *inputs, *saved, mask, **options) == float32
    assert spied(merge_partials, *saved, *saved) == float32


def test_integers_are_computed_in_float64():
    out, logsumexp = flash_attention([[1]], [[1], [1]], [[0], [4]])
    np.testing.assert_array_equal(out, [[2.0]], strict=True)
    assert_close(logsumexp, np.array([1 + np.log(2)]))


# --- gradients against measured slopes --------------------------------------------------------------


@pytest.mark.parametrize("name", ["query", "key", "value"])
@pytest.mark.parametrize("options", [{}, {"causal": True, "offset": 1}, {"window": 3}, {"scale": -0.6}], ids=str)
def test_gradient(rng, name, options):
    inputs = dict(zip(("query", "key", "value"), make_inputs(rng, (4,), 2, q=5, k=6, d=3, v=2), strict=True))
    d_out, blocks = rng.normal(size=(4, 5, 2)), {"block_q": 2, "block_k": 4}
    mask = np.where(rng.random((4, 5, 6)) < 0.8, rng.normal(size=(4, 5, 6)), -INF)

    def loss(x):
        return (d_out * flash_attention(**{**inputs, name: x}, mask=mask, **options, **blocks)[0]).sum()

    gradients = flash(inputs.values(), d_out, mask, **options, **blocks)[2:]
    gradient = dict(zip(inputs, gradients, strict=True))[name]
    report = check_gradient(loss, inputs[name], gradient, tolerance=1e-9)
    assert report, str(report)


@pytest.mark.parametrize("shape", [(4, 5, 6), (5, 6), (4, 1, 6), (6,), (5, 1), (4, 1, 1), (1, 5, 6)])
def test_gradient_of_a_mask(rng, shape):
    inputs, d_out = make_inputs(rng, (4,), 2, q=5, k=6, d=3, v=2), rng.normal(size=(4, 5, 2))
    mask, options = rng.normal(size=shape), {"causal": True, "offset": 2, "block_q": 2, "block_k": 4}

    def loss(x):
        return (d_out * flash_attention(*inputs, mask=x, **options)[0]).sum()

    saved = flash_attention(*inputs, mask=mask, **options)
    d_mask = flash_attention_mask_backward(d_out, *inputs, *saved, mask, **options)
    assert d_mask.shape == shape
    if shape == (4, 1, 1) or shape == (5, 1):
        np.testing.assert_allclose(d_mask, 0, atol=1e-14)  # it shifts whole rows, and that changes nothing
        return
    report = check_gradient(loss, mask, d_mask, tolerance=1e-9)
    assert report, str(report)


# --- error messages ----------------------------------------------------------------------------------

X = np.ones((2, 3))
GOOD = {"query": np.ones((6, 2, 5)), "key": np.ones((3, 4, 5)), "value": np.ones((3, 4, 7))}
ERRORS = [
    ({"block_q": 0}, ValueError, "block_q must be at least 1; got 0"),
    ({"block_k": -2}, ValueError, "block_k must be at least 1; got -2"),
    ({"block_q": 2.0}, TypeError, r"block_q must be an integer; got 2\.0"),
    ({"block_k": True}, TypeError, "block_k must be an integer; got True"),
    ({"block_k": None}, TypeError, "block_k must be an integer; got None"),
    ({"window": 0}, ValueError, "window must be at least 1; got 0"),
    ({"window": -1}, ValueError, "window must be at least 1; got -1"),
    ({"window": 2.5}, TypeError, r"window must be an integer; got 2\.5"),
    ({"window": True}, TypeError, "window must be an integer; got True"),
    ({"offset": 0.0}, TypeError, r"offset must be an integer; got 0\.0"),
    ({"offset": None}, TypeError, "offset must be an integer; got None"),
    ({"causal": 1}, TypeError, "causal must be True or False; got 1"),
    ({"scale": NAN}, ValueError, "scale must be a finite number"),
    ({"scale": INF}, ValueError, "scale must be a finite number"),
    ({"scale": "1"}, TypeError, "scale must be one real number"),
    ({"scale": np.ones(2)}, TypeError, "scale must be one real number"),
    ({"scale": True}, TypeError, "scale must be one real number"),
    ({"query": np.ones((6, 2, 4))}, ValueError, r"(?s)same number of features d.*\(6, 2, 4\).*\(3, 4, 5\)"),
    ({"value": np.ones((3, 3, 7))}, ValueError, r"(?s)same number of positions k.*\(3, 4, 5\).*\(3, 3, 7\)"),
    ({"query": np.ones((5, 2, 5))}, ValueError, "5 is not a multiple of 3"),
    ({"query": np.ones((2, 5))}, ValueError, "same number of axes"),
    ({"query": np.ones((6, 2, 0)), "key": np.ones((3, 4, 0))}, ValueError, "at least one feature d"),
    ({"query": 1j * np.ones((6, 2, 5))}, TypeError, "query must be an array of real numbers.*complex128"),
    ({"key": np.ones((3, 4, 5), bool)}, TypeError, "key must be an array of real numbers.*bool"),
    ({"value": "text"}, TypeError, "value must be an array of real numbers"),
    ({"mask": np.ones((2, 5), bool)}, ValueError, r"(?s)mask must broadcast.*\(2, 5\).*\(6, 2, 4\)"),
    ({"mask": np.ones((1, 6, 2, 4), bool)}, ValueError, "mask must broadcast"),
    ({"mask": np.ones((2, 4), int)}, TypeError, "mask must be boolean or float.*int64"),
    ({"mask": "causal"}, TypeError, "mask must be a boolean or float array"),
    ({"mask": np.full((2, 4), INF)}, ValueError, r"must not hold \+inf"),
]
errors = pytest.mark.parametrize(("change", "error", "message"), ERRORS, ids=[str(m)[:40] for *_, m in ERRORS])


@errors
def test_bad_input_is_refused_by_name(change, error, message):
    with pytest.raises(error, match=f"flash_attention: .*{message}" if "(?s)" not in message else message):
        flash_attention(**{**GOOD, **change})


@errors
def test_bad_input_is_refused_by_the_backward_too(change, error, message):
    saved = {"d_out": np.ones((6, 2, 7)), "out": np.ones((6, 2, 7)), "logsumexp": np.ones((6, 2))}
    with pytest.raises(error, match=message):
        flash_attention_backward(**{**GOOD, **saved, **change})
    with pytest.raises(error, match=message):
        flash_attention_mask_backward(**{**GOOD, **saved, "mask": np.zeros((2, 4)), **change})


@pytest.mark.parametrize("function", [flash_attention_backward, flash_attention_mask_backward])
@pytest.mark.parametrize("name", ["d_out", "out", "logsumexp"])
def test_saved_arrays_must_fit(function, name):
    saved = {"d_out": np.ones((6, 2, 7)), "out": np.ones((6, 2, 7)), "logsumexp": np.ones((6, 2))}
    saved[name] = saved[name][:3]
    with pytest.raises(ValueError, match=rf"{function.__name__}: {name} must have the shape .*\(6, 2.*got \(3, 2"):
        function(**GOOD, **saved, mask=np.zeros((2, 4)))
    saved[name] = saved[name] * 1j
    with pytest.raises(TypeError, match=rf"{function.__name__}: {name} must be an array of real numbers"):
        function(**GOOD, **saved, mask=np.zeros((2, 4)))


@pytest.mark.parametrize("mask", [None, np.ones((2, 4), bool)], ids=["None", "boolean"])
def test_only_an_additive_mask_has_a_gradient(mask):
    inputs = GOOD.values()
    with pytest.raises(TypeError, match=r"flash_attention_mask_backward: mask must be additive \(float\)"):
        flash_attention_mask_backward(np.ones((6, 2, 7)), *inputs, *flash_attention(*inputs, mask=mask), mask)


MERGE_ERRORS = [
    ({"out_b": np.ones((2, 4))}, ValueError, r"(?s)both parts must have the same shapes.*\(2, 3\).*\(2, 4\)"),
    ({"logsumexp_a": np.ones(3)}, ValueError, r"(?s)logsumexp the shape of out without its last axis.*\(3,\)"),
    ({"logsumexp_a": np.ones(3), "logsumexp_b": np.ones(3)}, ValueError, "both parts must have the same shapes"),
    ({"out_a": np.ones(2), "out_b": np.ones(2), "logsumexp_a": 1.0, "logsumexp_b": 1.0}, ValueError, "same shapes"),
    ({"out_a": 1j * np.ones((2, 3))}, TypeError, "out_a must be an array of real numbers.*complex"),
    ({"logsumexp_b": np.ones(2, bool)}, TypeError, "logsumexp_b must be an array of real numbers.*bool"),
]


@pytest.mark.parametrize(("change", "error", "message"), MERGE_ERRORS)
def test_parts_must_fit_together(change, error, message):
    parts = {"out_a": X, "logsumexp_a": np.ones(2), "out_b": X, "logsumexp_b": np.ones(2)}
    with pytest.raises(error, match=message):
        merge_partials(**{**parts, **change})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"q": -1}, ValueError, "tiles_visited: q must be at least 0; got -1"),
        ({"k": -1}, ValueError, "tiles_visited: k must be at least 0; got -1"),
        ({"k": 2.0}, TypeError, r"tiles_visited: k must be an integer; got 2\.0"),
        ({"block_q": 0}, ValueError, "tiles_visited: block_q must be at least 1; got 0"),
        ({"causal": "yes"}, TypeError, "tiles_visited: causal must be True or False; got 'yes'"),
        ({"window": 0}, ValueError, "tiles_visited: window must be at least 1; got 0"),
        ({"offset": 0.5}, TypeError, r"tiles_visited: offset must be an integer; got 0\.5"),
    ],
)
def test_tiles_visited_refuses_bad_sizes(arguments, error, message):
    with pytest.raises(error, match=message):
        tiles_visited(**{"q": 4, "k": 4, **arguments})
