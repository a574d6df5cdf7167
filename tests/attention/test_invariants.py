"""attnlib.attention: is it right, is its gradient right, does it fail clearly?"""

import tracemalloc

import numpy as np
import oracles
import pytest
from dtype_spy import spied
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.attention import attention, attention_backward, attention_mask_backward
from attnlib.gradients import check_direction, check_gradient, complex_step_gradient
from attnlib.masks import causal_mask, combine_masks, padding_mask
from attnlib.softmax import softmax

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, H, HEADS, Q, K, D, V = 2, 6, 3, 4, 5, 7, 8
INF, NAN = np.inf, np.nan
LOWEST32 = np.finfo(np.float32).min


def make_inputs(rng, leading=(B, H), heads=HEADS, q=Q, k=K, d=D, v=V, dtype=np.float64):
    """query, key, value; `heads` of key and value, where there is a head axis."""
    key_leading = (*leading[:-1], heads) if leading else ()
    shapes = (*leading, q, d), (*key_leading, k, d), (*key_leading, k, v)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def some_masks(rng, shape=(B, H, Q, K)):
    """A mask of each kind, by name; the second query of each may look at nothing."""
    keep = rng.random(shape) < 0.6
    keep[..., 0] = True
    keep[..., 1:2, :] = False
    bias = np.where(keep, rng.normal(size=shape), -INF)
    return {
        "none": {},
        "causal": {"causal": True},
        "boolean": {"mask": keep},
        "additive": {"mask": bias},
        "boolean and causal": {"mask": keep, "causal": True},
        "additive and causal": {"mask": bias, "causal": True},
        "scale": {"scale": -0.3},
        "scale 0": {"scale": 0},
    }


MASKS = ["none", "causal", "boolean", "additive", "boolean and causal", "additive and causal", "scale", "scale 0"]
all_masks = pytest.mark.parametrize("kind", MASKS)


def backward(d_out, inputs, mask=None, causal=False, scale=None):
    """attention and its backward in one: out, weights, d_query, d_key, d_value."""
    out, weights = attention(*inputs, mask=mask, causal=causal, scale=scale)
    return out, weights, *attention_backward(d_out, *inputs, weights, scale=scale)


def assert_close(actual, expected, tolerance=1e-13, size=1e-300):
    """Equal within `tolerance` of the largest entry (or of `size`), which is what rounding in a sum is relative to."""
    assert np.shape(actual) == np.shape(expected)
    size = np.abs(expected).max(initial=size)
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * size)


# --- agrees with the slow oracle -------------------------------------------------------------------


@all_masks
@pytest.mark.parametrize("heads", [H, HEADS, 1])
def test_matches_the_formula_written_as_loops(rng, kind, heads):
    inputs, options = make_inputs(rng, heads=heads), some_masks(rng)[kind]
    out, weights = attention(*inputs, **options)
    expected_out, expected_weights = oracles.attention(*inputs, **options)
    assert_close(out, expected_out)
    assert_close(weights, expected_weights)


@all_masks
@pytest.mark.parametrize("heads", [H, HEADS, 1])
def test_the_gradient_matches_the_chain_rule_written_as_loops(rng, kind, heads):
    inputs, options = make_inputs(rng, heads=heads), some_masks(rng)[kind]
    d_out = rng.normal(size=(B, H, Q, V))
    _, weights, *gradients = backward(d_out, inputs, **options)
    *expected, d_scores = oracles.attention_backward(d_out, *inputs, weights, scale=options.get("scale"))
    for gradient, wanted in zip(gradients, expected, strict=True):
        assert_close(gradient, wanted)
    d_mask = attention_mask_backward(d_out, inputs[2], weights, np.zeros((B, H, Q, K)))
    assert_close(d_mask, d_scores)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_shape_and_any_mask_that_broadcasts(data):
    leading = data.draw(st.lists(st.integers(0, 3), max_size=3), label="leading")
    group = data.draw(st.integers(1, 3), label="group") if leading else 1
    q, k, d, v = (data.draw(st.integers(lowest, 4), label=name) for name, lowest in zip("qkdv", (0, 0, 1, 0)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    heads = leading[-1] if leading else 1
    full = (*leading[:-1], heads * group, q, k) if leading else (q, k)
    inputs = make_inputs(rng, full[:-2], heads, q, k, d, v)
    rank = data.draw(st.integers(0, len(full)), label="rank of the mask")
    shape = tuple(data.draw(st.sampled_from([1, size])) for size in full[len(full) - rank :])
    keep = np.array(rng.random(shape) < 0.6)
    mask = data.draw(st.sampled_from([None, keep, np.where(keep, rng.normal(size=shape), -INF)]), label="mask")
    options = {"mask": mask, "causal": data.draw(st.booleans(), label="causal")}
    d_out = rng.normal(size=(*full[:-1], v))
    out, weights, *gradients = backward(d_out, inputs, **options)
    for actual, wanted in zip((out, weights), oracles.attention(*inputs, **options), strict=True):
        assert_close(actual, wanted, size=1)
    *expected, d_scores = oracles.attention_backward(d_out, *inputs, weights)
    for actual, wanted in zip(gradients, expected, strict=True):
        assert_close(actual, wanted, size=1)
    if mask is not None and mask.dtype != bool:
        d_mask = attention_mask_backward(d_out, inputs[2], weights, mask)
        added = tuple(range(len(full) - rank))
        ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
        assert_close(d_mask, d_scores.sum(axis=added).sum(axis=ones, keepdims=True), size=1)


# --- invariants -------------------------------------------------------------------------------------


@all_masks
def test_rows_of_weights_sum_to_one_or_to_zero(rng, kind):
    options = some_masks(rng)[kind]
    _, weights = attention(*make_inputs(rng), **options)
    sums = weights.sum(axis=-1)
    empty = np.zeros((B, H, Q), bool)
    if "mask" in options:
        empty[..., 1] = True
    np.testing.assert_array_equal(sums[empty], 0)
    np.testing.assert_allclose(sums[~empty], 1, rtol=1e-15)


def test_the_output_lies_between_the_smallest_and_the_largest_value(rng):
    query, key, value = make_inputs(rng, heads=H)
    out, _ = attention(query, key, value)
    assert (out <= value.max(axis=-2, keepdims=True) + 1e-15).all()
    assert (out >= value.min(axis=-2, keepdims=True) - 1e-15).all()


def test_the_order_of_the_keys_does_not_matter(rng):
    query, key, value = make_inputs(rng)
    mask, order, d_out = rng.random((Q, K)) < 0.7, rng.permutation(K), rng.normal(size=(B, H, Q, V))
    out, _, d_query, d_key, d_value = backward(d_out, (query, key, value), mask)
    shuffled = backward(d_out, (query, key[..., order, :], value[..., order, :]), mask[:, order])
    assert_close(shuffled[0], out)
    assert_close(shuffled[2], d_query)
    assert_close(shuffled[3], d_key[..., order, :])
    assert_close(shuffled[4], d_value[..., order, :])


def test_reordering_the_queries_reorders_the_output(rng):
    query, key, value = make_inputs(rng)
    order = rng.permutation(Q)
    out, weights = attention(query, key, value)
    shuffled, shuffled_weights = attention(query[..., order, :], key, value)
    assert_close(shuffled, out[..., order, :])
    assert_close(shuffled_weights, weights[..., order, :])


def test_adding_a_constant_to_a_row_of_scores_changes_nothing(rng):
    inputs = make_inputs(rng)
    out, _ = attention(*inputs)
    shifted, _ = attention(*inputs, mask=rng.normal(size=(Q, 1)))
    assert_close(shifted, out)


def test_the_output_is_linear_in_the_values(rng):
    query, key, value = make_inputs(rng)
    other = rng.normal(size=value.shape)
    together, _ = attention(query, key, 2 * value - 3 * other)
    assert_close(together, 2 * attention(query, key, value)[0] - 3 * attention(query, key, other)[0])


def test_the_gradient_is_linear_in_d_out(rng):
    inputs = make_inputs(rng)
    one, two = rng.normal(size=(2, B, H, Q, V))
    both = backward(2 * one - 3 * two, inputs)[2:]
    for total, a, b in zip(both, backward(one, inputs)[2:], backward(two, inputs)[2:], strict=True):
        assert_close(total, 2 * a - 3 * b)


def test_hidden_keys_can_as_well_be_deleted(rng):
    query, key, value = make_inputs(rng)
    keep, d_out = np.array([True, False, True, True, False]), rng.normal(size=(B, H, Q, V))
    out, weights, *gradients = backward(d_out, (query, key, value), keep)
    short = backward(d_out, (query, key[..., keep, :], value[..., keep, :]))
    assert_close(out, short[0])
    assert_close(weights[..., keep], short[1])
    assert not weights[..., ~keep].any()
    assert_close(gradients[0], short[2])
    for gradient, expected in zip(gradients[1:], short[3:], strict=True):
        assert_close(gradient[..., keep, :], expected)
        assert not gradient[..., ~keep, :].any()


def test_causal_lets_nothing_of_the_future_through(rng):
    query, key, value = make_inputs(rng, q=5, k=5)
    out, weights = attention(query, key, value, causal=True)
    for array in (query, key, value):
        array[..., 3:, :] = rng.normal(size=array[..., 3:, :].shape)
    changed, changed_weights = attention(query, key, value, causal=True)
    np.testing.assert_array_equal(changed[..., :3, :], out[..., :3, :])  # to the last bit
    np.testing.assert_array_equal(changed_weights[..., :3, :], weights[..., :3, :])
    assert (changed[..., 3:, :] != out[..., 3:, :]).all()


@pytest.mark.parametrize(("q", "k"), [(4, 5), (5, 4), (1, 5), (5, 1)])
def test_causal_is_the_causal_mask(rng, q, k):
    inputs = make_inputs(rng, q=q, k=k)
    for a, b in zip(attention(*inputs, causal=True), attention(*inputs, mask=causal_mask(q, k)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_mask_and_causal_together_are_the_intersection(rng):
    inputs, mask = make_inputs(rng), rng.random((B, 1, Q, K)) < 0.6
    both = attention(*inputs, mask=mask, causal=True)
    for a, b in zip(both, attention(*inputs, mask=combine_masks(mask, causal_mask(Q, K))), strict=True):
        np.testing.assert_array_equal(a, b)


def test_boolean_and_additive_masks_agree(rng):
    inputs, mask = make_inputs(rng), rng.random((B, H, Q, K)) < 0.6
    for a, b in zip(attention(*inputs, mask=mask), attention(*inputs, mask=np.where(mask, 0, -INF)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_shared_heads_are_repeated_heads(rng):
    query, key, value = make_inputs(rng)
    d_out, mask = rng.normal(size=(B, H, Q, V)), rng.normal(size=(H, Q, K))
    repeated = [np.repeat(array, H // HEADS, axis=-3) for array in (key, value)]
    shared, full = backward(d_out, (query, key, value), mask), backward(d_out, (query, *repeated), mask)
    for a, b in zip(shared[:3], full[:3], strict=True):
        assert_close(a, b)
    for a, b in zip(shared[3:], full[3:], strict=True):
        assert_close(a, b.reshape(B, HEADS, H // HEADS, *a.shape[-2:]).sum(axis=2))


def test_batch_elements_and_heads_do_not_see_each_other(rng):
    query, key, value = make_inputs(rng, heads=H)
    out, _ = attention(query, key, value)
    for index in np.ndindex(B, H):
        assert_close(attention(query[index], key[index], value[index])[0], out[index])


def test_the_sums_that_a_gradient_must_have(rng):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    mask = rng.random((Q, K)) < 0.6
    mask[:, 0], mask[1] = True, False
    _, weights, _, d_key, d_value = backward(d_out, inputs, mask)
    # A common shift of all keys shifts whole rows of scores, and that changes nothing.
    np.testing.assert_allclose(d_key.sum(axis=-2), 0, atol=1e-14)
    # Each query that sees something hands its whole d_out to the values.
    live = d_out[..., [0, 2, 3], :].sum(axis=-2).reshape(B, HEADS, H // HEADS, V).sum(axis=2)
    assert_close(d_value.sum(axis=-2), live)
    # The weights of a row cannot all grow.
    d_mask = attention_mask_backward(d_out, inputs[2], weights, np.zeros((Q, K)))
    np.testing.assert_allclose(d_mask.sum(axis=-1), 0, atol=1e-13)


def test_the_same_call_gives_the_same_bits(rng):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    for a, b in zip(backward(d_out, inputs, causal=True), backward(d_out, inputs, causal=True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_inputs_are_never_written_to(rng):
    inputs, d_out, mask = make_inputs(rng), rng.normal(size=(B, H, Q, V)), some_masks(rng)["additive"]["mask"]
    copies = [array.copy() for array in (*inputs, d_out, mask)]
    for array in (*inputs, d_out, mask):
        array.flags.writeable = False
    _, weights = attention(*inputs, mask=mask, causal=True)
    weights.flags.writeable = False
    attention_backward(d_out, *inputs, weights)
    attention_mask_backward(d_out, inputs[2], weights, mask)
    for array, copy in zip((*inputs, d_out, mask), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "reversed": lambda x: x[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
    "every second": lambda x: np.repeat(np.repeat(x, 2, axis=-1), 2, axis=-2)[..., ::2, ::2],
    "transposed heads": lambda x: x.swapaxes(-3, -2).copy().swapaxes(-3, -2),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_memory_layout_does_not_matter(rng, layout):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    expected = backward(d_out, inputs, causal=True)
    for a, b in zip(backward(layout(d_out), [layout(x) for x in inputs], causal=True), expected, strict=True):
        assert_close(a, b)
    weights = expected[1]
    d_mask = attention_mask_backward(layout(d_out), layout(inputs[2]), layout(weights), np.zeros(K))
    assert_close(d_mask, attention_mask_backward(d_out, inputs[2], weights, np.zeros(K)))


def test_broadcast_views_are_inputs_like_any_other(rng):
    query = np.broadcast_to(rng.normal(size=(Q, D)), (B, H, Q, D))
    key, value = (np.broadcast_to(rng.normal(size=(K, n)), (B, H, K, n)) for n in (D, V))
    d_out = np.broadcast_to(rng.normal(size=V), (B, H, Q, V))
    views = backward(d_out, (query, key, value))
    copies = backward(d_out.copy(), (query.copy(), key.copy(), value.copy()))
    for a, b in zip(views, copies, strict=True):
        assert_close(a, b)


# --- numerical edges --------------------------------------------------------------------------------


def test_one_key_returns_its_value(rng):
    query, key, value = make_inputs(rng, heads=H, k=1)
    out, weights = attention(query, key, value)
    np.testing.assert_array_equal(weights, np.ones((B, H, Q, 1)))
    np.testing.assert_array_equal(out, np.broadcast_to(value, out.shape))


def test_the_default_scale_is_one_over_the_root_of_the_features_of_the_query(rng):
    query, key, value = make_inputs(rng)
    expected = attention(query, key, value, scale=D**-0.5)
    for a, b in zip(attention(query, key, value), expected, strict=True):
        assert_close(a, b)


def test_scale_zero_takes_the_mean_of_the_values(rng):
    query, key, value = make_inputs(rng, heads=H)
    out, _, d_query, d_key, _ = backward(rng.normal(size=(B, H, Q, V)), (query, key, value), scale=0)
    assert_close(out, np.broadcast_to(value.mean(axis=-2, keepdims=True), out.shape))
    assert not d_query.any()
    assert not d_key.any()


def test_a_negative_scale_is_a_negative_query(rng):
    query, key, value = make_inputs(rng)
    assert_close(attention(query, key, value, scale=-0.7)[0], attention(-query, key, value, scale=0.7)[0])


def test_the_limit_of_large_scores_is_a_lookup(rng):
    query, key, value = make_inputs(rng, heads=H)
    for scale in (1e4, 1e8, 1e300):
        out, weights = attention(query, key, value, scale=scale)
        best = (query @ key.mT).argmax(axis=-1)
        np.testing.assert_array_equal(weights.argmax(axis=-1), best)
        assert np.isfinite(out).all()
    assert_close(out, np.take_along_axis(value, best[..., np.newaxis], axis=-2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_far_from_zero_do_not_overflow(rng, dtype):
    inputs = make_inputs(rng, dtype=dtype)
    for shift in (-65536.0, 65536.0, 1e30):
        out, weights = attention(*inputs, mask=np.full((1, 1), shift))
        assert np.isfinite(out).all()
        np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-6)


def test_ties_share_the_weight(rng):
    query, key, value = make_inputs(rng)
    _, weights = attention(query * 0, key, value)
    np.testing.assert_array_equal(weights, np.full((B, H, Q, K), 0.2))


def test_an_overflow_of_the_scores_is_nan_without_a_warning():
    big = np.full((1, 2), 1e200)
    out, weights = attention(big, np.stack([big[0], -big[0]]), np.ones((2, 1)))
    assert np.isnan(weights).all()
    assert np.isnan(out).all()


def test_an_overflow_of_a_gradient_is_nan_without_a_warning():
    query, key, value = np.ones((1, 2)), np.ones((2, 2)), np.full((2, 2), 1e308)
    _, weights = attention(query, key, value)
    d_query, d_key, _ = attention_backward(np.full((1, 2), 10.0), query, key, value, weights)
    assert np.isnan(d_query).all()
    assert np.isnan(d_key).all()
    assert np.isnan(attention_mask_backward(np.full((1, 2), 10.0), value, weights, np.zeros(2))).all()


@pytest.mark.parametrize("fill", [-INF, -1e30, LOWEST32, np.finfo(np.float64).min])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_very_low_number_hides_a_key_too(rng, fill, dtype):
    inputs, keep = make_inputs(rng, dtype=dtype), causal_mask(Q, K)
    for a, b in zip(attention(*inputs, mask=np.where(keep, 0, fill)), attention(*inputs, mask=keep), strict=True):
        np.testing.assert_array_equal(a, b)


EMPTY = {
    "boolean": lambda keep: {"mask": keep},
    "minus infinity": lambda keep: {"mask": np.where(keep, 0, -INF)},
    "boolean and causal": lambda keep: {"mask": keep, "causal": True},
    "minus infinity and causal": lambda keep: {"mask": np.where(keep, 0, -INF), "causal": True},
}


@pytest.mark.parametrize("make", EMPTY.values(), ids=EMPTY)
def test_a_query_that_may_look_at_nothing_gets_zeros_and_disturbs_no_other(rng, make):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    keep = np.ones((B, 1, Q, K), bool)
    expected = backward(d_out * np.array([1, 1, 0, 1])[:, np.newaxis], inputs, **make(keep))
    keep[:, :, 2] = False
    results = backward(d_out, inputs, **make(keep))
    for actual, wanted in zip(results[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(actual[..., 2, :], 0)
        np.testing.assert_array_equal(actual[..., [0, 1, 3], :], wanted[..., [0, 1, 3], :])
    for actual, wanted in zip(results[3:], expected[3:], strict=True):
        assert_close(actual, wanted)


@pytest.mark.parametrize("mask", [np.zeros((1, 1), bool), np.full((1, 1), -INF)], ids=["boolean", "minus infinity"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_if_everything_is_hidden_everything_is_zero(rng, mask, dtype):
    inputs = make_inputs(rng, dtype=dtype)
    for array in backward(np.ones((B, H, Q, V), dtype), inputs, mask):
        np.testing.assert_array_equal(array, np.zeros(array.shape, dtype), strict=True)


def test_a_sample_of_padding_only_is_zero_and_leaves_the_other_alone(rng):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    alone = backward(d_out[:1], [array[:1] for array in inputs])
    for array, expected in zip(backward(d_out, inputs, padding_mask([[K], [0]], K)), alone, strict=True):
        assert_close(array[:1], expected)
        assert not array[1:].any()


def test_no_keys_give_zeros(rng):
    query, key, value = make_inputs(rng, k=0)
    d_out = rng.normal(size=(B, H, Q, V))
    for causal in (False, True):
        out, weights, d_query, d_key, d_value = backward(d_out, (query, key, value), causal=causal)
        np.testing.assert_array_equal(out, np.zeros((B, H, Q, V)))
        np.testing.assert_array_equal(d_query, np.zeros((B, H, Q, D)))
        assert weights.shape == (B, H, Q, 0)
        assert (d_key.shape, d_value.shape) == ((B, HEADS, 0, D), (B, HEADS, 0, V))


def test_no_queries_give_nothing_and_zero_gradients(rng):
    query, key, value = make_inputs(rng, q=0)
    out, weights, d_query, d_key, d_value = backward(np.ones((B, H, 0, V)), (query, key, value), causal=True)
    assert (out.shape, weights.shape, d_query.shape) == ((B, H, 0, V), (B, H, 0, K), (B, H, 0, D))
    np.testing.assert_array_equal(d_key, np.zeros((B, HEADS, K, D)))
    np.testing.assert_array_equal(d_value, np.zeros((B, HEADS, K, V)))


@pytest.mark.parametrize("leading", [(0, H), (B, 0)])
def test_an_empty_batch_gives_an_empty_batch(rng, leading):
    inputs = make_inputs(rng, leading, heads=min(leading[-1], HEADS))
    results = backward(np.ones((*leading, Q, V)), inputs, np.ones((Q, K), bool))
    assert [array.size for array in results] == [0] * 5
    d_mask = attention_mask_backward(np.ones((*leading, Q, V)), inputs[2], results[1], np.zeros((Q, K)))
    np.testing.assert_array_equal(d_mask, np.zeros((Q, K)))


GARBAGE = {"float64": (np.float64, 1e308), "float32": (np.float32, 3e38)}


@pytest.mark.parametrize(("dtype", "huge"), GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("additive", [False, True])
def test_huge_numbers_at_hidden_keys_reach_nothing(rng, dtype, huge, sign, additive):
    query, key, value = make_inputs(rng, dtype=dtype)
    d_out = rng.normal(size=(B, H, Q, V)).astype(dtype)
    keep = padding_mask([[3], [5]], K)
    mask = np.where(keep, 0, -INF) if additive else keep
    clean = backward(d_out, (query, key, value), mask)
    key[0, :, 3:], value[0, :, 3:] = sign * huge, sign * huge
    for array, expected in zip(backward(d_out, (query, key, value), mask), clean, strict=True):
        np.testing.assert_array_equal(array, expected)
    bias = np.zeros((H, Q, K), dtype)
    garbage = attention_mask_backward(d_out, value, clean[1], bias)
    assert np.isfinite(garbage).all()


@pytest.mark.parametrize("additive", [False, True])
def test_nan_in_a_hidden_key_stays_hidden_and_nan_in_a_hidden_value_does_not(rng, additive):
    query, key, value = make_inputs(rng)
    keep = np.array([True] * 4 + [False])
    mask = np.where(keep, 0, -INF) if additive else keep
    expected = attention(query, key, value, mask=mask)
    key[..., 4, :] = NAN
    for a, b in zip(attention(query, key, value, mask=mask), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    value[..., 4, :] = NAN  # documented: 0 · NaN is NaN
    out, weights = attention(query, key, value, mask=mask)
    np.testing.assert_array_equal(weights, expected[1])
    assert np.isnan(out).all()


def test_nan_in_one_query_stays_in_its_row(rng):
    query, key, value = make_inputs(rng)
    expected, _ = attention(query, key, value)
    query[0, 1, 2, 3] = NAN
    out, weights = attention(query, key, value)
    assert np.isnan(out[0, 1, 2]).all()
    assert np.isnan(weights[0, 1, 2]).all()
    out[0, 1, 2] = expected[0, 1, 2]
    np.testing.assert_array_equal(out, expected)


def test_nan_in_one_value_stays_in_its_column(rng):
    query, key, value = make_inputs(rng, heads=H)
    expected, _ = attention(query, key, value)
    value[0, 1, 2, 3] = NAN
    out, _ = attention(query, key, value)
    assert np.isnan(out[0, 1, :, 3]).all()
    out[0, 1, :, 3] = expected[0, 1, :, 3]
    np.testing.assert_array_equal(out, expected)


def test_nan_in_an_additive_mask_stays_in_its_row(rng):
    inputs, mask = make_inputs(rng), np.zeros((Q, K))
    mask[2, 3] = NAN
    out, _ = attention(*inputs, mask=mask)
    assert np.isnan(out[..., 2, :]).all()
    assert np.isfinite(out[..., [0, 1, 3], :]).all()


# --- dtypes and memory ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("mask_dtype", [np.float16, np.float32, np.float64, bool])
def test_a_mask_or_a_scale_does_not_change_the_dtype(rng, dtype, mask_dtype):
    inputs, mask = make_inputs(rng, dtype=dtype), np.ones((Q, K), mask_dtype)
    results = backward(np.ones((B, H, Q, V), dtype), inputs, mask, scale=np.float64(0.5))
    assert [array.dtype for array in results] == [dtype] * 5
    if mask_dtype != bool:
        d_mask = attention_mask_backward(np.ones((B, H, Q, V), dtype), inputs[2], results[1], mask)
        assert d_mask.dtype == dtype


def test_nothing_on_the_way_of_float32_is_float64(rng):
    inputs, d_out = make_inputs(rng, dtype=np.float32), np.ones((B, H, Q, V), np.float32)
    weights = attention(*inputs)[1]
    for options in ({}, {"causal": True}, {"mask": np.ones(K)}, {"mask": np.ones(K, bool)}, {"scale": np.float64(2)}):
        assert spied(attention, *inputs, **options) == {np.dtype(np.float32)}
    assert spied(attention_backward, d_out, *inputs, weights) == {np.dtype(np.float32)}
    assert spied(attention_mask_backward, d_out, inputs[2], weights, np.ones(K)) == {np.dtype(np.float32)}


def test_float16_is_computed_in_float32_and_rounded_once(rng):
    inputs, d_out = make_inputs(rng, dtype=np.float16), rng.normal(size=(B, H, Q, V)).astype(np.float16)
    wide = [array.astype(np.float32) for array in inputs]
    half, single = attention(*inputs), attention(*wide)
    for a, b in zip(half, single, strict=True):
        np.testing.assert_array_equal(a, b.astype(np.float16), strict=True)
    expected = attention_backward(d_out.astype(np.float32), *wide, half[1].astype(np.float32))
    for a, b in zip(attention_backward(d_out, *inputs, half[1]), expected, strict=True):
        np.testing.assert_array_equal(a, b.astype(np.float16), strict=True)


def test_float16_scores_do_not_overflow():
    query = np.full((1, 64), 60000, np.float16)
    out, _ = attention(query, query, np.ones((1, 1), np.float16))
    np.testing.assert_array_equal(out, np.ones((1, 1), np.float16), strict=True)


def test_query_key_and_value_promote_together(rng):
    query, key, value = make_inputs(rng)
    out, weights = attention(query.astype(np.float32), key.astype(np.float16), value.astype(np.float16))
    assert out.dtype == weights.dtype == np.float32
    assert attention(query.astype(np.float32), key, value)[0].dtype == np.float64


def test_lists_and_integers_become_float64():
    out, weights = attention([[1, 0]], [[1, 0], [1, 0]], [[0], [4]], mask=[[True, True]])
    np.testing.assert_array_equal(out, [[2.0]], strict=True)
    np.testing.assert_array_equal(weights, [[0.5, 0.5]], strict=True)


def test_weights_are_the_softmax_of_the_library(rng):
    query, key, value = make_inputs(rng, heads=H)
    expected = softmax(np.where(causal_mask(Q, K), (0.3 * query) @ key.mT, -INF))
    np.testing.assert_array_equal(attention(query, key, value, causal=True, scale=0.3)[1], expected)


PEAKS = {"plain": ({}, 1.0), "causal": ({"causal": True}, 1.5), "additive": ({"mask": np.zeros(512)}, 1.0)}


@pytest.mark.parametrize(("options", "peak"), PEAKS.values(), ids=PEAKS)
def test_the_scores_are_held_once(rng, options, peak):
    query, key, value = make_inputs(rng, (2,), heads=2, q=512, k=512, d=4, v=4, dtype=np.float32)
    buffer = 2 * 512 * 512 * 4
    _, weights = attention(query, key, value)
    d_out = rng.normal(size=(2, 512, 4)).astype(np.float32)
    assert peak_memory(lambda: attention(query, key, value, **options)) < (peak + 0.1) * buffer
    # One q x k buffer for d_scores and, a quarter of that, the booleans where a weight is 0.
    assert peak_memory(lambda: attention_backward(d_out, query, key, value, weights)) < 1.35 * buffer


def peak_memory(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- gradients --------------------------------------------------------------------------------------


@all_masks
@pytest.mark.parametrize("which", [0, 1, 2], ids=["query", "key", "value"])
def test_gradient(rng, which, kind):
    small = {"leading": (2, 4), "heads": 2, "q": 3, "k": 5, "d": 3, "v": 2}
    inputs, options = make_inputs(rng, **small), some_masks(rng, (2, 4, 3, 5))[kind]
    d_out = rng.normal(size=(2, 4, 3, 2))
    gradient = backward(d_out, inputs, **options)[2 + which]

    def loss(x):
        return (d_out * attention(*inputs[:which], x, *inputs[which + 1 :], **options)[0]).sum()

    report = check_gradient(loss, inputs[which], gradient, tolerance=1e-9)
    assert report or not gradient.any() and report.finite_difference < 1e-12, report


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(B, H, Q, K), (B, 1, Q, K), (H, 1, K), (1, 1, Q, 1), (Q, K), (1, K), (K,), (1,), ()])
def test_gradient_of_the_mask(rng, shape, causal):
    inputs, mask, d_out = make_inputs(rng), rng.normal(size=shape), rng.normal(size=(B, H, Q, V))
    _, weights = attention(*inputs, mask=mask, causal=causal)
    gradient = attention_mask_backward(d_out, inputs[2], weights, mask)
    assert gradient.shape == shape
    report = check_gradient(
        lambda mask: (d_out * attention(*inputs, mask=mask, causal=causal)[0]).sum(), mask, gradient, tolerance=1e-9
    )
    # A mask without a key axis shifts whole rows, so its gradient is zero.
    assert report or abs(gradient).max() < 1e-12, report


def test_gradient_of_a_mask_with_hidden_keys(rng):
    inputs, d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    keep, mask = rng.random((H, Q, K)) < 0.6, rng.normal(size=(H, Q, K))
    full = np.where(keep, mask, -INF)
    _, weights = attention(*inputs, mask=full)
    gradient = attention_mask_backward(d_out, inputs[2], weights, full)
    report = check_gradient(
        lambda mask: (d_out * attention(*inputs, mask=np.where(keep, mask, -INF))[0]).sum(), mask, gradient,
        tolerance=1e-9,
    )  # fmt: skip
    assert report, report
    assert not gradient[~keep].any()


@pytest.mark.parametrize("which", [0, 1, 2], ids=["query", "key", "value"])
def test_gradient_to_the_last_digit(rng, which):
    query, key, value = make_inputs(rng, (), q=3, k=4, d=5, v=2)
    keep, d_out = causal_mask(3, 4, offset=1), rng.normal(size=(3, 2))
    gradient = backward(d_out, (query, key, value), keep)[2 + which]
    inputs = [query, key, value]

    def loss(x):  # the formula once more, for complex numbers
        query, key, value = (*inputs[:which], x, *inputs[which + 1 :])
        exponentials = np.where(keep, np.exp(query @ key.T / np.sqrt(5)), 0)
        return (d_out * (exponentials @ value / exponentials.sum(axis=1, keepdims=True))).sum()

    assert_close(gradient, complex_step_gradient(loss, inputs[which]))


@pytest.mark.parametrize("which", [0, 1, 2], ids=["query", "key", "value"])
def test_gradient_of_a_large_case_along_a_direction(rng, which):
    inputs, d_out = make_inputs(rng, (2, 4), 2, 33, 40, 16, 9), rng.normal(size=(2, 4, 33, 9))
    gradient = backward(d_out, inputs, causal=True)[2 + which]

    def loss(x):
        return (d_out * attention(*inputs[:which], x, *inputs[which + 1 :], causal=True)[0]).sum()

    report = check_direction(loss, inputs[which], gradient, rng, tolerance=1e-9)
    assert report, report


# --- error messages of the one function with its own checks; the others are in test_inputs.py --------

SHAPES_OF_ONE_CALL = (
    "attention_mask_backward: d_out, value and weights must have the shapes of one call of attention.\n"
    "  d_out   (..., q, v): {}\n  value   (..., k, v): {}\n  weights (..., q, k): {}"
)
MISFITS = [
    ((2, 8), (5, 8), (4, 5)),  # q
    ((4, 7), (5, 8), (4, 5)),  # v
    ((4, 8), (6, 8), (4, 5)),  # k
    ((8,), (5, 8), (4, 5)),
    ((4, 8), (8,), (4, 5)),
    ((), (), ()),
    ((2, 4, 8), (5, 8), (2, 4, 5)),  # rank
    ((4, 8), (1, 5, 8), (4, 5)),
    ((3, 4, 8), (2, 5, 8), (3, 4, 5)),  # heads
    ((2, 3, 4, 8), (1, 3, 5, 8), (2, 3, 4, 5)),  # batch
]


@pytest.mark.parametrize("shapes", MISFITS, ids=str)
def test_the_mask_gradient_refuses_shapes_that_do_not_fit(shapes):
    d_out, value, weights = (np.ones(shape) for shape in shapes)
    with pytest.raises(ValueError) as caught:
        attention_mask_backward(d_out, value, weights, np.zeros(5))
    assert str(caught.value) == SHAPES_OF_ONE_CALL.format(*shapes)


def test_a_boolean_mask_has_no_gradient():
    with pytest.raises(TypeError) as caught:
        attention_mask_backward(np.ones((4, 8)), np.ones((5, 8)), np.ones((4, 5)), np.ones(5, bool))
    assert str(caught.value) == (
        "attention_mask_backward: mask must be additive (float); a boolean mask has no gradient."
    )


def test_the_mask_gradient_checks_the_mask():
    with pytest.raises(ValueError, match="attention_mask_backward: mask must broadcast"):
        attention_mask_backward(np.ones((4, 8)), np.ones((5, 8)), np.ones((4, 5)), np.ones(4))
    with pytest.raises(TypeError, match="attention_mask_backward: value must be an array of real numbers"):
        attention_mask_backward(np.ones((4, 8)), np.ones((5, 8), bool), np.ones((4, 5)), np.ones(5))


def test_nan_in_a_hidden_key_stays_out_of_the_forward_and_reaches_only_d_query(rng):
    query, key, value, d_out = rng.normal(size=(2, 5)), rng.normal(size=(3, 5)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    mask = np.array([True, True, False])
    clean = attention(query, key, value, mask=mask)
    dirty_key = key.copy()
    dirty_key[2] = np.nan
    out, weights = attention(query, dirty_key, value, mask=mask)
    np.testing.assert_array_equal(out, clean[0])
    d_query, d_key, d_value = attention_backward(d_out, query, dirty_key, value, weights)
    assert np.isnan(d_query).all()  # documented: 0 · NaN
    expected = attention_backward(d_out, query, key, value, clean[1])
    np.testing.assert_array_equal(d_key, expected[1])
    np.testing.assert_array_equal(d_value, expected[2])
