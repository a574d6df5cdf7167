"""attnlib.flash.merge: do results over parts of the keys merge into the result for all?"""

import numpy as np
import pytest
from flash_cases import B, H, K, Q, V, assert_all_close, assert_close, flash, make_inputs

from attnlib.flash import flash_attention, flash_attention_backward, merge_partials


def split(inputs, *cuts, **options):
    """flash_attention for each part of the keys."""
    query, key, value = inputs
    parts = zip(np.split(key, cuts, axis=-2), np.split(value, cuts, axis=-2), strict=True)
    return [flash_attention(query, *part, **options) for part in parts]


def test_partial_results_merge_in_any_order_and_grouping(rng):
    inputs = make_inputs(rng)
    inputs[0] *= 20  # far from each other
    a, b, c = split(inputs, 3, 7)
    whole = flash_attention(*inputs)
    assert_all_close(merge_partials(*merge_partials(*a, *b), *c), whole)
    assert_all_close(merge_partials(*a, *merge_partials(*b, *c)), whole)
    assert_all_close(merge_partials(*merge_partials(*c, *a), *b), whole)


def test_gradients_of_the_parts_with_the_merged_result_are_those_of_the_whole(rng):
    (query, key, value), d_out = make_inputs(rng), rng.normal(size=(B, H, Q, V))
    whole = flash((query, key, value), d_out)
    merged = merge_partials(*split((query, key, value), 4)[0], *split((query, key, value), 4)[1])
    ends = slice(0, 4), slice(4, K)
    first, second = (
        flash_attention_backward(d_out, query, key[..., end, :], value[..., end, :], *merged) for end in ends
    )
    assert_close(first[0] + second[0], whole[2])
    assert_close(np.concatenate([first[1], second[1]], axis=-2), whole[3])
    assert_close(np.concatenate([first[2], second[2]], axis=-2), whole[4])


def test_a_part_that_a_query_may_not_look_at_changes_nothing(rng):
    inputs = make_inputs(rng)
    some = flash_attention(*inputs)
    nothing = flash_attention(*inputs, mask=np.zeros((1, 1), bool))
    for merged in (merge_partials(*some, *nothing), merge_partials(*nothing, *some)):
        for a, b in zip(merged, some, strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(merge_partials(*nothing, *nothing), nothing, strict=True):
        np.testing.assert_array_equal(a, b)
    assert_all_close(merge_partials(*some, *flash_attention(inputs[0], *(x[..., :0, :] for x in inputs[1:]))), some)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_merging_keeps_the_dtypes(rng, dtype):
    inputs = make_inputs(rng, dtype=dtype)
    some = flash_attention(*inputs)
    out, logsumexp = merge_partials(*some, *some)
    assert (out.dtype, logsumexp.dtype) == (some[0].dtype, some[1].dtype)
    assert_close(out, some[0], 1e-3 if dtype == np.float16 else 1e-6)
    assert_close(logsumexp, some[1] + np.log(2), 1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_narrow_logsumexp_is_merged_in_float64(dtype):
    parts = [np.ones((1, 2), np.float16), np.zeros(1, dtype)] * 2
    out, logsumexp = merge_partials(*parts)
    assert (out.dtype, logsumexp.dtype) == (np.float16, np.float64)
    np.testing.assert_array_equal(logsumexp, [np.log(2)])


def test_an_output_that_overflowed_is_merged_without_a_warning():
    zero_share, all_of_it = np.array([-1000.0]), np.array([0.0])
    merged, logsumexp = merge_partials([[np.inf]], zero_share, [[1.0]], all_of_it)
    assert np.isnan(merged).all() and logsumexp == 0  # 0 · inf: nobody can tell what it was


X = np.ones((2, 3))
MERGE_ERRORS = [
    ({"out_b": np.ones((2, 4))}, ValueError, r"(?s)both parts must have the same shapes.*\(2, 3\).*\(2, 4\)"),
    ({"logsumexp_a": np.ones(3)}, ValueError, r"(?s)logsumexp the shape of out without its last axis.*\(3,\)"),
    ({"logsumexp_a": np.ones(3), "logsumexp_b": np.ones(3)}, ValueError, "both parts must have the same shapes"),
    ({"out_a": np.ones(2), "out_b": np.ones(2), "logsumexp_a": 1.0, "logsumexp_b": 1.0}, ValueError, "same shapes"),
    ({"out_a": 1j * np.ones((2, 3))}, TypeError, "out_a must be an array of real numbers.*complex"),
    ({"logsumexp_b": np.ones(2, bool)}, TypeError, "logsumexp_b must be an array of real numbers.*bool"),
]


@pytest.mark.parametrize(("change", "error", "message"), MERGE_ERRORS)
def test_parts_must_fit_together(change, error, message):
    parts = {"out_a": X, "logsumexp_a": np.ones(2), "out_b": X, "logsumexp_b": np.ones(2)}
    with pytest.raises(error, match=message):
        merge_partials(**{**parts, **change})
