"""attnlib.masks: does every mask let through exactly the keys it should?"""

import itertools

import numpy as np
import pytest
import recorded_cases
from hypothesis import given
from hypothesis import strategies as st

from attnlib.attention import attention
from attnlib.masks import (
    block_diagonal_mask,
    causal_mask,
    combine_masks,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)

INF = np.inf
sizes = st.integers(0, 6)
offsets = st.integers(-8, 8)


def by_loops(q, k, may_look):
    """The mask whose entry (i, j) is may_look(i, j)."""
    return np.array([[may_look(i, j) for j in range(k)] for i in range(q)], bool).reshape(q, k)


def assert_mask(mask, expected):
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, expected, strict=True)


# --- agrees with the rule written as loops ----------------------------------------------------------


@given(sizes, sizes, offsets)
def test_causal_is_key_not_after_query(q, k, offset):
    assert_mask(causal_mask(q, k, offset=offset), by_loops(q, k, lambda i, j: j <= i + offset))


@given(sizes, sizes, st.integers(1, 9), offsets)
def test_sliding_window_is_the_last_keys_up_to_the_query(q, k, window, offset):
    expected = by_loops(q, k, lambda i, j: i + offset - window < j <= i + offset)
    assert_mask(sliding_window_mask(q, k, window, offset=offset), expected)


@given(sizes, sizes, sizes, offsets)
def test_prefix_is_open_to_all_and_the_rest_is_causal(q, k, prefix, offset):
    expected = by_loops(q, k, lambda i, j: j < prefix or j <= i + offset)
    assert_mask(prefix_mask(q, k, prefix, offset=offset), expected)


@given(st.integers(0, 6), st.data())
def test_padding_keeps_the_first_or_the_last_keys(k, data):
    lengths = data.draw(st.lists(st.integers(0, k), max_size=3))
    right, left = padding_mask(lengths, k), padding_mask(lengths, k, side="left")
    shape = (len(lengths), 1, k)
    assert_mask(right, np.array([[j < n for j in range(k)] for n in lengths], bool).reshape(shape))
    assert_mask(left, np.array([[k - j <= n for j in range(k)] for n in lengths], bool).reshape(shape))


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_block_diagonal_is_same_segment(queries, keys):
    expected = by_loops(len(queries), len(keys), lambda i, j: queries[i] == keys[j])
    assert_mask(block_diagonal_mask(queries, keys), expected)


# --- what they mean ---------------------------------------------------------------------------------


def test_the_default_is_aligned_at_the_top_left():
    assert_mask(causal_mask(2, 4), np.array([[1, 0, 0, 0], [1, 1, 0, 0]], bool))
    assert_mask(causal_mask(4, 2), np.array([[1, 0], [1, 1], [1, 1], [1, 1]], bool))


def test_the_decoding_offset_lets_the_last_query_see_every_key():
    assert_mask(causal_mask(1, 4, offset=3), np.ones((1, 4), bool))
    assert_mask(causal_mask(2, 4, offset=2), np.array([[1, 1, 1, 0], [1, 1, 1, 1]], bool))


def test_with_more_queries_than_keys_the_first_of_a_bottom_right_mask_see_nothing():
    assert_mask(causal_mask(4, 2, offset=-2), np.array([[0, 0], [0, 0], [1, 0], [1, 1]], bool))


def test_the_recorded_causal_masks_are_these():
    cases = recorded_cases.load("attention_torch.npz")
    with_offset = [case for case in cases.values() if "offset" in case]
    assert len(with_offset) == 10
    for case in with_offset:
        assert_mask(causal_mask(*case["mask"].shape, offset=case["offset"]), case["mask"])


@pytest.mark.parametrize(
    ("name", "mask"),
    [
        ("window_3", sliding_window_mask(9, 9, 3)),
        ("window_symmetric", sliding_window_mask(9, 9, 5, offset=2)),
        ("window_17_long", sliding_window_mask(130, 130, 17)),
        ("prefix_4", prefix_mask(9, 9, 4)),
        ("segments", block_diagonal_mask(np.repeat(np.arange(3), [4, 2, 3]))),
        ("padding_right", padding_mask([[9], [1]], 9)),
        ("padding_left", padding_mask([[9], [1]], 9, side="left")),
    ],
)
def test_the_recorded_pattern_is_this_mask(name, mask):
    assert_mask(mask, recorded_cases.load("attention_torch.npz")[f"patterns: {name}"]["mask"])


def test_a_symmetric_window_is_a_window_with_an_offset():
    distance = np.arange(7)[:, np.newaxis] - np.arange(7)
    assert_mask(sliding_window_mask(7, 7, 5, offset=2), abs(distance) <= 2)


def test_a_window_as_long_as_the_sequence_is_causal():
    assert_mask(sliding_window_mask(5, 5, 5), causal_mask(5, 5))


def test_without_a_prefix_a_prefix_mask_is_causal():
    assert_mask(prefix_mask(3, 5, 0, offset=1), causal_mask(3, 5, offset=1))


def test_a_padding_mask_fits_batched_scores(rng):
    query, key, value = (rng.normal(size=(2, n, 3)) for n in (4, 5, 5))
    _, weights = attention(query, key, value, mask=padding_mask([5, 2], 5))
    assert (weights[0] > 0).all()
    np.testing.assert_array_equal(weights[1] > 0, np.tile([1, 1, 0, 0, 0], (4, 1)).astype(bool))


def test_a_padding_mask_with_a_head_axis_fits_scores_with_heads(rng):
    lengths = np.array([5, 2])
    # Two heads as well: without the head axis the mask would hide keys of one head, not of one sequence.
    query, key, value = (rng.normal(size=(2, 2, n, 3)) for n in (4, 5, 5))
    _, weights = attention(query, key, value, mask=padding_mask(lengths[:, np.newaxis], 5))
    assert (weights[0] > 0).all()
    assert not weights[1, :, :, 2:].any()


def test_segments_may_have_leading_axes():
    mask = block_diagonal_mask([[0, 0, 1], [0, 1, 1]], [[1, 0], [0, 2]])
    expected = [[[0, 1], [0, 1], [1, 0]], [[1, 0], [0, 0], [0, 0]]]
    assert_mask(mask, np.array(expected, bool))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.uint64])
def test_small_integers_do_not_overflow(dtype):
    assert_mask(padding_mask(np.array([1], dtype), 300, side="left"), np.arange(300)[np.newaxis, np.newaxis] == 299)


# --- combine ----------------------------------------------------------------------------------------


def test_booleans_combine_by_and(rng):
    a, b = rng.random((4, 5)) < 0.5, rng.random((3, 1, 5)) < 0.5
    assert_mask(combine_masks(a, b), a & b)
    assert_mask(combine_masks(a, b, causal_mask(4, 5)), a & b & causal_mask(4, 5))


def test_additive_masks_add_up(rng):
    a, b = rng.normal(size=(4, 5)), rng.normal(size=(2, 1, 5))
    np.testing.assert_array_equal(combine_masks(a, b), a + b, strict=True)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_boolean_puts_minus_infinity_into_an_additive_mask(rng, order):
    keep, bias, more = rng.random((4, 5)) < 0.5, rng.normal(size=(4, 5)), rng.normal(size=5)
    masks = [keep, bias, more]
    expected = np.where(keep, bias + more, -INF)
    np.testing.assert_allclose(combine_masks(*(masks[i] for i in order)), expected, rtol=1e-15)


def test_none_hides_nothing():
    mask = causal_mask(3, 3)
    assert_mask(combine_masks(None, mask, None), mask)
    assert combine_masks(None) is None
    assert combine_masks() is None


def test_combining_equals_applying_one_after_the_other(rng):
    query, key, value = (rng.normal(size=(2, n, 3)) for n in (4, 5, 5))
    keep, bias = rng.random((4, 5)) < 0.7, rng.normal(size=(4, 5))
    keep[:, 0] = True
    together, _ = attention(query, key, value, mask=combine_masks(keep, bias, causal_mask(4, 5)))
    by_hand, _ = attention(query, key, value, mask=np.where(keep, bias, -INF), causal=True)
    np.testing.assert_array_equal(together, by_hand)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_combining_keeps_the_dtype_of_the_additive_mask(dtype):
    mask = combine_masks(np.zeros((2, 3), dtype), causal_mask(2, 3))
    assert mask.dtype == dtype
    np.testing.assert_array_equal(mask, [[0, -INF, -INF], [0, 0, -INF]])


def test_two_very_low_numbers_add_up_to_minus_infinity_without_a_warning():
    lowest = np.full(2, np.finfo(np.float32).min)
    np.testing.assert_array_equal(combine_masks(lowest, lowest), [-INF, -INF])


def test_combining_does_not_write_to_its_arguments(rng):
    keep, bias = rng.random((4, 5)) < 0.5, rng.normal(size=(4, 5))
    keep.flags.writeable = bias.flags.writeable = False
    combine_masks(bias, keep, bias, keep)


def test_lists_are_masks_too():
    assert_mask(combine_masks([True, False], [[True], [False]]), np.array([[True, False], [False, False]]))


# --- error messages ---------------------------------------------------------------------------------

ERRORS = [
    (lambda: causal_mask(2.0, 3), TypeError, "causal_mask: q must be an integer; got 2.0."),
    (lambda: causal_mask(2, True), TypeError, "causal_mask: k must be an integer; got True."),
    (lambda: causal_mask(-1, 3), ValueError, "causal_mask: q must be at least 0; got -1."),
    (lambda: causal_mask(1, -3), ValueError, "causal_mask: k must be at least 0; got -3."),
    (lambda: causal_mask(1, 3, offset=0.5), TypeError, "causal_mask: offset must be an integer; got 0.5."),
    (lambda: sliding_window_mask(1, 3, 0), ValueError, "sliding_window_mask: window must be at least 1; got 0."),
    (lambda: sliding_window_mask(1, 3, 1.5), TypeError, "sliding_window_mask: window must be an integer; got 1.5."),
    (lambda: sliding_window_mask("a", 3, 1), TypeError, "sliding_window_mask: q must be an integer; got 'a'."),
    (lambda: prefix_mask(1, 3, -1), ValueError, "prefix_mask: prefix must be at least 0; got -1."),
    (lambda: prefix_mask(1, -1, 1), ValueError, "prefix_mask: k must be at least 0; got -1."),
    (lambda: padding_mask([1], -1), ValueError, "padding_mask: k must be at least 0; got -1."),
    (lambda: padding_mask([4, 1], 3), ValueError,
     "padding_mask: every length must lie between 0 and k = 3; got [4, 1]."),
    (lambda: padding_mask(-1, 3), ValueError, "padding_mask: every length must lie between 0 and k = 3; got -1."),
    (lambda: padding_mask([1.0], 3), TypeError, "padding_mask: lengths must hold integers; got float64."),
    (lambda: padding_mask([True], 3), TypeError, "padding_mask: lengths must hold integers; got bool."),
    (lambda: padding_mask([[1], [1, 2]], 3), TypeError,
     "padding_mask: lengths must hold integers; got nested sequences of unequal length."),
    (lambda: padding_mask([1], 3, side="up"), ValueError, 'padding_mask: side must be "right" or "left"; got \'up\'.'),
    (lambda: block_diagonal_mask(1), ValueError,
     "block_diagonal_mask: query_segments and key_segments must have the same leading axes and one more for the "
     "positions.\n  query_segments (..., q): ()\n  key_segments   (..., k): ()"),
    (lambda: block_diagonal_mask([1], 1), ValueError,
     "block_diagonal_mask: query_segments and key_segments must have the same leading axes and one more for the "
     "positions.\n  query_segments (..., q): (1,)\n  key_segments   (..., k): ()"),
    (lambda: block_diagonal_mask([1], [[1]]), ValueError,
     "block_diagonal_mask: query_segments and key_segments must have the same leading axes and one more for the "
     "positions.\n  query_segments (..., q): (1,)\n  key_segments   (..., k): (1, 1)"),
    (lambda: block_diagonal_mask([0.5]), TypeError,
     "block_diagonal_mask: query_segments must hold integers; got float64."),
    (lambda: block_diagonal_mask([1], ["a"]), TypeError,
     "block_diagonal_mask: key_segments must hold integers; got <U1."),
    (lambda: combine_masks([1, 0]), TypeError,
     "combine_masks: mask must be boolean or float (True = this query may look at this key, or float = added to the "
     "scores); got int64."),
    (lambda: combine_masks([True], [0.0, INF]), ValueError,
     "combine_masks: an additive mask must not hold +inf (in float64), which would make the weights NaN. "
     "To leave a query only one key, hide the others with -inf."),
    (lambda: combine_masks(np.ones((2, 3), bool), np.zeros(4)), ValueError,
     "combine_masks: the masks must have shapes that broadcast together.\n  bool: (2, 3)\n  float64: (4,)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), ERRORS, ids=[message.split("\n")[0] for *_, message in ERRORS])
def test_the_error_says_what_is_wrong(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
