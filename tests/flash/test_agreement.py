"""attnlib.flash: the values and gradients of plain attention, whatever the blocks, bands, masks, shapes and layouts?"""

import array_tools
import numpy as np
import oracles
import pytest
from flash_cases import (
    EACH_BAND,
    EACH_BLOCK,
    EACH_MASK,
    HEADS,
    INF,
    B,
    H,
    K,
    Q,
    V,
    allowed,
    assert_all_close,
    assert_close,
    bands,
    flash,
    in_thirds,
    make_inputs,
    plain,
    some_masks,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.attention import attention, attention_backward, attention_mask_backward
from attnlib.flash import flash_attention, flash_attention_backward, flash_attention_mask_backward
from attnlib.masks import combine_masks

# --- agrees with the slow oracle and with plain attention -----------------------------------------


@bands
@pytest.mark.parametrize("heads", [H, HEADS, 1])
def test_matches_the_formula_written_as_loops(rng, band, heads):
    inputs = make_inputs(rng, heads=heads)
    expected, _ = oracles.attention(*inputs, mask=allowed(Q, K, **band))
    out, logsumexp = flash_attention(*inputs, **band, block_q=3, block_k=4)
    assert_close(out, expected)
    assert_close(logsumexp, plain(inputs, **band)[1])


@in_thirds(("band", "block_q", "block_k"), EACH_BAND, EACH_BLOCK)
def test_any_blocks_give_the_values_and_gradients_of_plain_attention(rng, band, block_q, block_k):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    actual = flash(inputs, d_out, **band, block_q=block_q, block_k=block_k)
    assert_all_close(actual, plain(inputs, d_out, **band))


@in_thirds(("kind", "block_q", "block_k"), EACH_MASK, EACH_BLOCK)
def test_any_mask_gives_the_values_and_gradients_of_plain_attention(rng, kind, block_q, block_k):
    inputs, d_out, mask = make_inputs(rng), rng.normal(size=(B, H, Q, V)), some_masks(rng)[kind]
    for band in ({}, {"causal": True, "offset": 2}, {"window": 4, "offset": 1}):
        options = {"mask": mask, "scale": -0.4, **band}
        actual = flash(inputs, d_out, **options, block_q=block_q, block_k=block_k)
        assert_all_close(actual, plain(inputs, d_out, **options))


@settings(max_examples=150)
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


# --- invariants -----------------------------------------------------------------------------------


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


LAYOUTS = array_tools.LAYOUTS | {
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
