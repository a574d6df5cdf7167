"""attnlib.masks: does every mask let through exactly the keys it should?"""

import numpy as np
import pytest
import recorded_cases
from hypothesis import given
from hypothesis import strategies as st
from masks_cases import assert_mask, by_loops

from attnlib.masks import causal_mask, padding_mask, prefix_mask, sliding_window_mask

# --- agrees with the rule written as loops --------------------------------------------------------

sizes = st.integers(0, 6)
offsets = st.integers(-8, 8)


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


# --- agrees with the recorded masks ---------------------------------------------------------------


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
        ("padding_right", padding_mask([[9], [1]], 9)),
        ("padding_left", padding_mask([[9], [1]], 9, side="left")),
    ],
)
def test_the_recorded_pattern_is_this_mask(name, mask):
    assert_mask(mask, recorded_cases.load("attention_torch.npz")[f"patterns: {name}"]["mask"])
