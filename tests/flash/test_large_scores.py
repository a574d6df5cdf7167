"""attnlib.flash: do the saved statistics keep their digits beside huge scores, and do sums at the ends of the range?"""

import numpy as np
import pytest
from flash_cases import allowed, assert_all_close, flash, make_inputs, plain

from attnlib.attention import attention, attention_backward
from attnlib.costs import Memory, flash_attention_backward_on, flash_attention_keys_outer_on, flash_attention_on
from attnlib.flash import flash_attention, flash_attention_backward, flash_attention_mask_backward, merge_partials

Q, K, D, V = 5, 7, 3, 2
huge = pytest.mark.parametrize("number", [-1e9, -1e4, 1e5, 1e9])


@pytest.mark.parametrize("number", [-1e9, -1e4, 1e5, -1e30, float(np.finfo(np.float32).min)])
def test_two_halves_whose_keys_are_all_masked_merge_to_their_mean(number):
    query, key, value = np.ones((1, 2), np.float32), np.ones((4, 2), np.float32), np.arange(1, 5, dtype=np.float32)
    halves = [
        flash_attention(query, key[half], value[half, np.newaxis], mask=np.full((1, 2), number, np.float32))
        for half in (slice(0, 2), slice(2, 4))
    ]
    out, logsumexp = merge_partials(*halves[0], *halves[1])
    np.testing.assert_allclose(out, [[2.5]], rtol=1e-6)
    assert logsumexp.dtype == np.float64
    np.testing.assert_allclose(logsumexp, [np.float32(number) + np.sqrt(2) + np.log(4)], rtol=1e-6)


def test_a_merge_of_unequal_parts_far_from_zero_counts_their_keys():
    query, key, value = np.ones((1, 2), np.float32), np.ones((5, 2), np.float32), np.arange(5, dtype=np.float32)
    for number in (-1e9, 1e9):
        parts = [
            flash_attention(query, key[part], value[part, np.newaxis], mask=np.full((1, 1), number, np.float32))
            for part in (slice(0, 1), slice(1, 5))
        ]
        np.testing.assert_allclose(merge_partials(*parts[0], *parts[1])[0], [[2.0]], rtol=1e-6)


@pytest.mark.parametrize("blocks", [{}, {"block_q": 2, "block_k": 3}], ids=["one tile", "tiles"])
@huge
def test_the_backward_of_a_row_far_from_zero_is_that_of_plain_attention(rng, number, blocks):
    inputs = make_inputs(rng, leading=(), q=Q, k=K, d=D, v=V, dtype=np.float32)
    d_out, mask = rng.normal(size=(Q, V)).astype(np.float32), np.zeros((Q, 1), np.float32)
    mask[1] = number
    _, weights = attention(*inputs, mask=mask)
    expected = attention_backward(d_out, *inputs, weights)
    saved = flash_attention(*inputs, mask=mask, **blocks)
    assert_all_close(flash_attention_backward(d_out, *inputs, *saved, mask=mask, **blocks), expected, 2e-6)
    d_mask = flash_attention_mask_backward(d_out, *inputs, *saved, mask, **blocks)
    d_weights = d_out @ inputs[2].T
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(d_mask, d_scores.sum(axis=1, keepdims=True), atol=1e-5)


def test_the_gradients_of_parts_far_from_zero_are_those_of_the_whole(rng):
    query, key, value = make_inputs(rng, leading=(), q=Q, k=K, d=D, v=V, dtype=np.float32)
    d_out, mask = rng.normal(size=(Q, V)).astype(np.float32), np.full((Q, 1), -1e9, np.float32)
    parts = [flash_attention(query, key[part], value[part], mask=mask) for part in (slice(0, 2), slice(2, K))]
    merged = merge_partials(*parts[0], *parts[1])
    rest = flash_attention_backward(d_out, query, key[2:], value[2:], *merged, mask=mask)
    _, weights = attention(query, key, value, mask=mask)
    expected = attention_backward(d_out, query, key, value, weights)
    assert_all_close(rest[1:], [gradient[2:] for gradient in expected[1:]], 2e-6)


@huge
def test_a_weight_comes_back_with_the_digits_of_its_score(number):
    # Four equal keys: each weight is 1/4, and d_value is its sum over the queries.
    query, key, value = np.ones((3, 2), np.float32), np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    _, _, _, _, d_value = flash((query, key, value), np.ones((3, 1), np.float32), np.full((1, 1), number, np.float32))
    np.testing.assert_allclose(d_value, np.full((4, 1), 0.75), rtol=3e-7)


@pytest.mark.parametrize("loop", [flash_attention_on, flash_attention_keys_outer_on])
def test_the_counted_loops_keep_these_digits_too(rng, loop):
    query, key, value = make_inputs(rng, leading=(), q=Q, k=K, d=2, v=V, dtype=np.float32)
    d_out = rng.normal(size=(Q, V)).astype(np.float32)
    query, key[:] = np.full_like(query, 3e4), np.full(2, 3e4)  # scores of 1e9, all equal
    saved = loop(Memory(), query, key, value, block_k=3)
    assert saved[1].dtype == np.float64
    d_value = flash_attention_backward_on(Memory(), d_out, query, key, value, *saved, block_k=3)[2]
    np.testing.assert_allclose(d_value, np.tile(d_out.sum(axis=0) / K, (K, 1)), rtol=2e-6)


# --- the path for small scores --------------------------------------------------------------------


@pytest.mark.parametrize("score", [19.9, -19.9])
@pytest.mark.parametrize("value", [1e30, -1e30, 1e-36, 1e36, 3e-38])
def test_values_at_the_ends_of_the_range_are_averaged_as_by_plain_attention(score, value):
    query, key = np.full((1, 1), score, np.float32), np.ones((300, 1), np.float32)
    values = np.full((300, 1), value, np.float32)
    np.testing.assert_allclose(flash_attention(query, key, values, scale=1)[0], [[value]], rtol=1e-5)


def test_a_single_tiny_value_among_ordinary_ones_keeps_its_digits(rng):
    query, key = np.full((1, 1), -19.9, np.float32), np.ones((2, 1), np.float32)
    values = np.array([[1e-36, 1.0], [3e-36, 2.0]], np.float32)
    np.testing.assert_allclose(flash_attention(query, key, values, scale=1)[0], [[2e-36, 1.5]], rtol=1e-5)


def test_the_path_for_small_scores_returns_the_logsumexp_too(rng):
    inputs = make_inputs(rng, leading=(), q=40, k=50)
    assert_all_close(flash_attention(*inputs), plain(inputs))


@pytest.mark.parametrize("limit", [0.999, 1.001])
def test_both_sides_of_every_limit_of_the_path_for_small_scores_agree_with_plain(rng, limit):
    query, key, value = make_inputs(rng, leading=(), q=40, k=50, dtype=np.float32)
    value[::7] = 0
    for size in (1e20 * limit / abs(value).max(), 1e-20 * limit / abs(value[value != 0]).min(), 1.0):
        scale = 20 * limit / np.linalg.norm(query, axis=1).max() / np.linalg.norm(key, axis=1).max()
        out = flash_attention(query, key, value * np.float32(size), scale=scale, block_q=16, block_k=16)[0]
        expected = attention(query, key, value * np.float32(size), scale=scale)[0]
        np.testing.assert_allclose(out / size, expected / size, atol=2e-6)


def test_the_path_for_small_scores_is_taken_and_only_where_it_may_be(rng, monkeypatch):
    from attnlib.flash import forward

    taken = []
    one_pass = forward._one_pass
    monkeypatch.setattr(forward, "_one_pass", lambda *all: taken.append(all[-3]) or one_pass(*all))
    query, key, value = make_inputs(rng, leading=(), q=40, k=60, dtype=np.float32)
    flash_attention(query, key, value)
    flash_attention(query, key, np.zeros_like(value))
    assert taken == [True, True]
    flash_attention(query, np.tile(key, (99, 1)), np.tile(value, (99, 1)))
    flash_attention(query[np.newaxis], key[np.newaxis], value[np.newaxis])
    assert taken == [True] * 4
    taken.clear()
    for bad in (1e21, 1e-21, np.inf, np.nan):
        flash_attention(query, key, np.where(np.arange(60)[:, np.newaxis] == 3, np.float32(bad), value))
    late = np.tile(value, (99, 1))
    late[-1, -1] = 1e21
    flash_attention(query, np.tile(key, (99, 1)), late)
    flash_attention(query, key, value, scale=1e3)
    flash_attention(query, key, value, mask=allowed(40, 60))
    flash_attention(query, key, value, causal=True)
    flash_attention(query[:4], key, value)  # to look would cost more than it saves
    flash_attention(query, key[:4], value[:4])
    assert taken == [False] * 10
