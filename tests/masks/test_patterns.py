"""attnlib.masks.patterns: causal, sliding-window and prefix masks."""

import numpy as np
from masks_cases import assert_mask

from attnlib.masks import causal_mask, prefix_mask, sliding_window_mask


def test_the_default_is_aligned_at_the_top_left():
    assert_mask(causal_mask(2, 4), np.array([[1, 0, 0, 0], [1, 1, 0, 0]], bool))
    assert_mask(causal_mask(4, 2), np.array([[1, 0], [1, 1], [1, 1], [1, 1]], bool))


def test_the_decoding_offset_lets_the_last_query_see_every_key():
    assert_mask(causal_mask(1, 4, offset=3), np.ones((1, 4), bool))
    assert_mask(causal_mask(2, 4, offset=2), np.array([[1, 1, 1, 0], [1, 1, 1, 1]], bool))


def test_with_more_queries_than_keys_the_first_of_a_bottom_right_mask_see_nothing():
    assert_mask(causal_mask(4, 2, offset=-2), np.array([[0, 0], [0, 0], [1, 0], [1, 1]], bool))


def test_a_symmetric_window_is_a_window_with_an_offset():
    distance = np.arange(7)[:, np.newaxis] - np.arange(7)
    assert_mask(sliding_window_mask(7, 7, 5, offset=2), abs(distance) <= 2)


def test_a_window_as_long_as_the_sequence_is_causal():
    assert_mask(sliding_window_mask(5, 5, 5), causal_mask(5, 5))


def test_without_a_prefix_a_prefix_mask_is_causal():
    assert_mask(prefix_mask(3, 5, 0, offset=1), causal_mask(3, 5, offset=1))
