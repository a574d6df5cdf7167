"""Masks that fit and do not mean what they look like: the library says so, and does not compute in silence."""

import warnings

import numpy as np
import pytest

from attnlib.attention import attention
from attnlib.flash import flash_attention
from attnlib.masks import padding_mask

B = H = 3
Q, K = 2, 5


@pytest.fixture(params=[attention, flash_attention], ids=lambda function: function.__name__)
def function(request):
    return request.param


def of_heads():
    return np.ones((B, H, Q, 4)), np.ones((B, H, K, 4)), np.ones((B, H, K, 1)) * np.arange(K)[:, np.newaxis]


def test_a_padding_mask_without_a_head_axis_is_refused_where_there_are_as_many_heads_as_texts(function):
    mask = padding_mask([1, 3, 5], K)
    with pytest.raises(ValueError) as caught:
        function(*of_heads(), mask=mask)
    assert str(caught.value) == (
        f"{function.__name__}: a mask of shape (3, 1, 5) would hide other keys from each head, and the same from each text. "
        "A mask for each batch element, (b, q, k) or (b, 1, k), needs a head axis: mask[:, np.newaxis]. "
        "If you do mean the heads: mask[np.newaxis]."
    )
    out, _ = function(*of_heads(), mask=mask[:, np.newaxis])
    np.testing.assert_allclose(out[:, 0, 0, 0], [0, 1, 2])  # the mean of the first 1, 3 and 5 places
    out, _ = function(*of_heads(), mask=mask[np.newaxis])
    np.testing.assert_allclose(out[0, :, 0, 0], [0, 1, 2])


def test_where_the_numbers_differ_the_error_names_the_head_axis(function):
    query, key, value = (array[:2] for array in of_heads())
    with pytest.raises(ValueError, match=r"needs a head axis: mask\[:, np.newaxis\]"):
        function(query, key, value, mask=padding_mask([1, 3], K))


def test_a_mask_for_each_head_and_one_for_all_texts_are_taken(function, rng):
    function(*of_heads(), mask=rng.random((H, Q, K)) < 0.5)
    function(*of_heads(), mask=padding_mask([3], K))
    query, key, value = (array[0] for array in of_heads())  # three axes: the first one is the batch
    function(query, key, value, mask=padding_mask([1, 3, 5], K))


def test_a_float_mask_of_zeros_and_ones_is_warned_of_where_it_was_given(function):
    with pytest.warns(UserWarning, match="is float and holds only 0 and 1, which are added to the scores and hide nothing") as caught:
        function(*of_heads(), mask=np.tri(Q, K))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("mask", [np.zeros((Q, K)), np.ones((Q, K)), np.tri(Q, K) * 2, np.where(np.tri(Q, K), 0.0, -np.inf), np.tri(Q, K) > 0], ids=["zeros", "ones", "twos", "-inf", "bool"])
def test_of_other_masks_nothing_is_said(function, mask):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(*of_heads(), mask=mask)
