"""attnlib.attention: what must hold whatever the numbers are?"""

import numpy as np
import pytest
from array_tools import LAYOUTS
from attention_cases import INF, B, D, H, K, Q, V, all_masks, assert_close, backward, make_inputs, some_masks

from attnlib.attention import attention, attention_backward, attention_mask_backward
from attnlib.masks import causal_mask, combine_masks

# --- weights and output ---------------------------------------------------------------------------


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


def test_batch_elements_and_heads_do_not_see_each_other(rng):
    query, key, value = make_inputs(rng, heads=H)
    out, _ = attention(query, key, value)
    for index in np.ndindex(B, H):
        assert_close(attention(query[index], key[index], value[index])[0], out[index])


# --- masks ----------------------------------------------------------------------------------------


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


# --- memory layout, and what is left alone --------------------------------------------------------


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
