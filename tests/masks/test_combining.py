"""attnlib.masks.patterns: how do masks combine?"""

import itertools

import numpy as np
import pytest
from masks_cases import assert_mask

from attnlib.attention import attention
from attnlib.masks import causal_mask, combine_masks

INF = np.inf


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
