"""attnlib.flash: does what a query may not look at have no effect, and are rows, tiles and axes of nothing safe?"""

import numpy as np
import pytest
from flash_cases import (
    EACH_BLOCK,
    INF,
    B,
    H,
    K,
    Q,
    V,
    allowed,
    assert_all_close,
    assert_close,
    blocks,
    flash,
    in_thirds,
    make_inputs,
    plain,
)

from attnlib.flash import flash_attention, flash_attention_mask_backward

# --- hidden keys ----------------------------------------------------------------------------------


def test_hidden_keys_can_as_well_be_deleted(rng):
    (query, key, value), d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    keep = np.arange(K) % 4 > 1
    out, logsumexp, *gradients = flash((query, key, value), d_out, mask=keep, block_k=2)
    short = flash((query, key[..., keep, :], value[..., keep, :]), d_out, block_k=2)
    assert_all_close((out, logsumexp, gradients[0]), short[:3])
    for gradient, expected in zip(gradients[1:], short[3:], strict=True):
        assert_close(gradient[..., keep, :], expected)
        assert not gradient[..., ~keep, :].any()


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fill", [-INF, -1e9, -1e30, np.finfo(np.float32).min])
def test_a_very_low_number_hides_a_key_too(rng, fill, dtype):
    inputs, d_out = make_inputs(rng, dtype=dtype), rng.normal(size=(B, H, Q, V)).astype(dtype)
    keep = allowed(Q, K, causal=True)
    low = flash(inputs, d_out, np.where(keep, 0, fill), block_q=3, block_k=2)
    assert_all_close(low, flash(inputs, d_out, keep, block_q=3, block_k=2), 1e-14 if dtype == np.float64 else 1e-6)


@pytest.mark.parametrize("garbage", [1e30, -np.finfo(np.float32).max, np.finfo(np.float32).max])
@in_thirds(("options", "block_q", "block_k"), {kind: (kind,) for kind in ("boolean", "additive", "causal", "window")}, EACH_BLOCK)
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


# --- nothing to look at ---------------------------------------------------------------------------


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
