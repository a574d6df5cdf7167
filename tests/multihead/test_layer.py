"""attnlib.multihead.layer: is it one head after the other, and does nothing leak?"""

import numpy as np
import pytest
from array_tools import close
from multihead_cases import NAMES, B, D, K, M, Q, V, by_oracle, make_params

from attnlib.masks import causal_mask
from attnlib.multihead import MultiHeadParams, multihead_attention, multihead_attention_backward

# --- agrees with one head after the other ---------------------------------------------------------

HEADS = [(1, 1), (3, 3), (4, 4), (4, 2), (6, 2), (6, 1)]


@pytest.mark.parametrize("heads, kv_heads", HEADS)
@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_is_one_head_after_the_other(rng, heads, kv_heads, causal):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng, heads, kv_heads)
    out, saved = multihead_attention(x, params, causal=causal)
    expected, weights = by_oracle(x, params, causal=causal)
    close(out, expected)
    close(saved.weights, weights)


@pytest.mark.parametrize("heads, kv_heads", HEADS)
@pytest.mark.parametrize("pair", [False, True])
def test_cross_attention_is_one_head_after_the_other(rng, heads, kv_heads, pair):
    widths = dict(key_width=9, value_width=8 if pair else 9)
    x, params = rng.normal(size=(B, Q, M)), make_params(rng, heads, kv_heads, **widths)
    context = rng.normal(size=(B, K, 9))
    context = (context, rng.normal(size=(B, K, 8))) if pair else context
    out, saved = multihead_attention(x, params, context=context)
    expected, weights = by_oracle(x, params, context)
    close(out, expected)
    close(saved.weights, weights)


MASKS = {"per head": (3, Q, K), "per element": (B, 1, 1, K), "full": (B, 3, Q, K), "one for all": (Q, K), "keys": (K,)}


@pytest.mark.parametrize("shape", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("additive", [False, True])
def test_masks_broadcast_over_batch_heads_queries_and_keys(rng, shape, additive):
    x, context, params = rng.normal(size=(B, Q, M)), rng.normal(size=(B, K, M)), make_params(rng)
    mask = rng.random(shape) < 0.6
    mask = np.where(mask, rng.normal(size=shape), -np.inf) if additive else mask
    out, saved = multihead_attention(x, params, context=context, mask=mask)
    expected, weights = by_oracle(x, params, context, mask=mask)
    close(out, expected)
    close(saved.weights, weights)


def test_without_biases_is_with_biases_of_zero(rng):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng, bias=False)
    assert not any("bias" in name for name in params.arrays())
    close(multihead_attention(x, params)[0], by_oracle(x, params)[0])


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_any_number_of_leading_axes_gives_the_same_for_each(rng, leading):
    x, params = rng.normal(size=(*leading, Q, M)), make_params(rng, 4, 2)
    d_out = rng.normal(size=x.shape)
    out, saved = multihead_attention(x, params, causal=True)
    d_x, _, d_params = multihead_attention_backward(d_out, params, saved)
    expected_sum = np.zeros_like(params.query_weight)
    for index in np.ndindex(leading):
        one, one_saved = multihead_attention(x[index], params, causal=True)
        one_d_x, _, one_d_params = multihead_attention_backward(d_out[index], params, one_saved)
        close(out[index], one)
        close(d_x[index], one_d_x)
        expected_sum += one_d_params.query_weight
    close(d_params.query_weight, expected_sum)


# --- invariants -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kv_heads", [1, 2, 3])
def test_shared_key_heads_are_repeated_key_heads_and_gradients_sum_over_the_group(rng, kv_heads):
    heads = 6
    group = heads // kv_heads
    x, params = rng.normal(size=(B, Q, M)), make_params(rng, heads, kv_heads)

    def repeat(array, width):
        blocks = array.reshape(*array.shape[:-1], kv_heads, width)
        return np.repeat(blocks, group, axis=-2).reshape(*array.shape[:-1], heads * width)

    def collect(array, width):
        return array.reshape(*array.shape[:-1], kv_heads, group, width).sum(axis=-2).reshape(*array.shape[:-1], -1)

    arrays = params.arrays()
    for name, width in (("key_weight", D), ("key_bias", D), ("value_weight", V), ("value_bias", V)):
        arrays[name] = repeat(arrays[name], width)
    full = MultiHeadParams(heads=heads, **arrays)
    (out, saved), (full_out, full_saved) = multihead_attention(x, params), multihead_attention(x, full)
    close(out, full_out)
    d_out = rng.normal(size=out.shape)
    d_x, _, d_params = multihead_attention_backward(d_out, params, saved)
    full_d_x, _, full_d_params = multihead_attention_backward(d_out, full, full_saved)
    close(d_x, full_d_x)
    for name in NAMES:
        expected = getattr(full_d_params, name)
        if name.startswith(("key", "value")):
            expected = collect(expected, D if name.startswith("key") else V)
        close(getattr(d_params, name), expected, 1e-12)


def test_self_attention_is_cross_attention_with_itself_and_its_gradients_add_up(rng):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng)
    out, saved = multihead_attention(x, params)
    d_out = rng.normal(size=out.shape)
    d_x, nothing, d_params = multihead_attention_backward(d_out, params, saved)
    assert nothing is None
    for context in (x, (x, x)):
        cross_out, cross_saved = multihead_attention(x, params, context=context)
        np.testing.assert_array_equal(cross_out, out)
        cross_d_x, d_context, cross_d_params = multihead_attention_backward(d_out, params, cross_saved)
        d_context = sum(d_context) if isinstance(d_context, tuple) else d_context
        close(cross_d_x + d_context, d_x)
        np.testing.assert_array_equal(cross_d_params.value_weight, d_params.value_weight)


def test_the_key_bias_changes_nothing_and_its_gradient_is_zero(rng):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng)
    out, saved = multihead_attention(x, params, mask=rng.normal(size=(Q, Q)))
    d_params = multihead_attention_backward(rng.normal(size=out.shape), params, saved)[2]
    assert np.abs(d_params.key_bias).max() < 1e-14 < 0.1 < np.abs(d_params.query_bias).max()
    moved = MultiHeadParams(heads=3, **(params.arrays() | {"key_bias": params.key_bias + 5.0}))
    close(multihead_attention(x, moved)[0], multihead_attention(x, params)[0])


def test_causal_lets_nothing_from_the_future_through(rng):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng)
    out, _ = multihead_attention(x, params, causal=True)
    changed = x.copy()
    changed[:, 2:] += 1
    np.testing.assert_array_equal(multihead_attention(changed, params, causal=True)[0][:, :2], out[:, :2])
    np.testing.assert_array_equal(multihead_attention(x, params, mask=causal_mask(Q, Q))[0], out)


def test_tokens_in_another_order_give_the_same_outputs_in_that_order(rng):
    x, params, order = rng.normal(size=(B, Q, M)), make_params(rng), [2, 0, 3, 1]
    close(multihead_attention(x[:, order], params)[0], multihead_attention(x, params)[0][:, order])


# --- edges ----------------------------------------------------------------------------------------


def test_a_token_that_may_look_at_nothing_gets_the_output_bias_and_no_gradient(rng):
    x, context, params = rng.normal(size=(B, Q, M)), rng.normal(size=(B, K, M)), make_params(rng)
    mask = np.ones((Q, K), bool)
    mask[1] = False
    out, saved = multihead_attention(x, params, context=context, mask=mask)
    np.testing.assert_array_equal(out[:, 1], np.broadcast_to(params.out_bias, (B, M)))
    close(out, by_oracle(x, params, context, mask=mask)[0])
    d_out = rng.normal(size=out.shape)
    d_x, d_context, d_params = multihead_attention_backward(d_out, params, saved)
    np.testing.assert_array_equal(d_x[:, 1], 0)
    others = [0, 2, 3]
    _, saved_others = multihead_attention(x[:, others], params, context=context)
    _, expected_context, expected = multihead_attention_backward(d_out[:, others], params, saved_others)
    close(d_context, expected_context)
    close(d_params.query_weight, expected.query_weight)
    close(d_params.out_bias, d_out.sum(axis=(0, 1)))


@pytest.mark.parametrize("b, q, k", [(0, Q, K), (B, 0, K), (B, Q, 0), (B, 1, 1)])
def test_empty_batches_queries_and_contexts_are_allowed(rng, b, q, k):
    x, context, params = rng.normal(size=(b, q, M)), rng.normal(size=(b, k, M)), make_params(rng)
    out, saved = multihead_attention(x, params, context=context)
    close(out, by_oracle(x, params, context)[0])
    d_x, d_context, d_params = multihead_attention_backward(np.ones(out.shape), params, saved)
    assert (d_x.shape, d_context.shape) == (x.shape, context.shape)
    if not b * q * k:
        assert not d_x.any() and not d_context.any() and not d_params.query_weight.any()


def test_inputs_are_not_written_to_and_any_memory_layout_will_do(rng):
    x, context, params = rng.normal(size=(Q, B, M)).swapaxes(0, 1), rng.normal(size=(B, M, K)).swapaxes(1, 2), make_params(rng)
    d_out = np.asfortranarray(rng.normal(size=(B, Q, M)))
    for array in (x, context, d_out, *params.arrays().values()):
        array.flags.writeable = False
    out, saved = multihead_attention(x, params, context=context)
    d_x, d_context, _ = multihead_attention_backward(d_out, params, saved)
    plain, plain_saved = multihead_attention(x.copy(), params, context=context.copy())
    plain_d_x, plain_d_context, _ = multihead_attention_backward(d_out.copy(order="C"), params, plain_saved)
    for ours, expected in ((out, plain), (d_x, plain_d_x), (d_context, plain_d_context)):
        close(ours, expected)


def test_two_forwards_do_not_disturb_each_other(rng):
    x, params = rng.normal(size=(2, B, Q, M)), make_params(rng)
    out, saved = multihead_attention(x[0], params)
    d_out = rng.normal(size=out.shape)
    before = multihead_attention_backward(d_out, params, saved)[0]
    multihead_attention(x[1], params)
    np.testing.assert_array_equal(multihead_attention_backward(d_out, params, saved)[0], before)
