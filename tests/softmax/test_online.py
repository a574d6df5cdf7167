"""attnlib.softmax.online: is the running softmax right for any cut into blocks, in any order?"""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from softmax_cases import INF, NAN, SHAPE, B, K, Q

from attnlib.softmax import OnlineSoftmax, logsumexp


def online(x, *cuts):
    state = OnlineSoftmax.start(x.shape[:-1], x.dtype)
    for start, stop in zip((0, *cuts), (*cuts, x.shape[-1])):
        state = state.update(x[..., start:stop])
    return state


scores = st.one_of(st.floats(-50, 50), st.sampled_from([-INF, -1e4, 1e4, 1e300, -1e300, 0.0]))


@settings(max_examples=60)
@given(row=st.lists(scores, max_size=9), data=st.data())
def test_online_any_cut_into_blocks_gives_the_same_logsumexp(row, data):
    x = np.array([row, row[::-1]], dtype=np.float64)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(row)), max_size=5)))
    state = online(x, *cuts)
    np.testing.assert_allclose(state.logsumexp, logsumexp(x), rtol=4e-15, atol=4e-15)
    np.testing.assert_array_equal(state.maximum, x.max(axis=-1, initial=-INF))


@settings(max_examples=60)
@given(rows=st.tuples(*[st.lists(scores, max_size=4)] * 3))
def test_online_merge_does_not_care_about_order_or_brackets(rows):
    a, b, c = (OnlineSoftmax.start().update(row) for row in rows)
    whole = logsumexp(rows[0] + rows[1] + rows[2])
    for left, right in ((a.merge(b), b.merge(a)), (a.merge(b).merge(c), a.merge(b.merge(c)))):
        np.testing.assert_array_equal(left.maximum, right.maximum)
        np.testing.assert_allclose(left.total, right.total, rtol=4e-15)
    np.testing.assert_allclose(a.merge(b).merge(c).logsumexp, whole, rtol=4e-15, atol=4e-15)


def test_online_state_is_what_it_says(rng):
    x = rng.normal(size=SHAPE)
    state = online(x, 2)
    maximum = x.max(axis=-1)
    np.testing.assert_array_equal(state.maximum, maximum)
    np.testing.assert_allclose(state.total, np.exp(x - maximum[..., np.newaxis]).sum(axis=-1), rtol=4e-15)


def test_online_before_the_first_score():
    state = OnlineSoftmax.start((2, 3))
    np.testing.assert_array_equal(state.maximum, np.full((2, 3), -INF))
    np.testing.assert_array_equal(state.total, np.zeros((2, 3)))
    np.testing.assert_array_equal(state.logsumexp, np.full((2, 3), -INF))
    assert state.maximum.dtype == state.total.dtype == np.float64
    assert OnlineSoftmax.start().maximum.shape == ()


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("block", [np.zeros((Q, 0)), np.full((Q, 2), -INF)], ids=["empty", "all -inf"])
def test_online_a_block_without_a_score_changes_nothing(block, place, rng):
    blocks = [rng.normal(size=(Q, K)), rng.normal(size=(Q, 1))]
    expected = OnlineSoftmax.start((Q,)).update(blocks[0]).update(blocks[1])
    state = OnlineSoftmax.start((Q,))
    for each in blocks[:place] + [block] + blocks[place:]:
        state = state.update(each)
    np.testing.assert_array_equal(state.maximum, expected.maximum)
    np.testing.assert_array_equal(state.total, expected.total)


def test_online_nothing_but_dead_blocks_stays_at_minus_infinity():
    state = OnlineSoftmax.start((Q,)).update(np.full((Q, K), -INF)).update(np.full((Q, 1), -INF))
    np.testing.assert_array_equal(state.maximum, np.full(Q, -INF))
    np.testing.assert_array_equal(state.total, np.zeros(Q))
    np.testing.assert_array_equal(state.logsumexp, np.full(Q, -INF))


@pytest.mark.parametrize("order", ["rising", "falling", "late spike"])
def test_online_the_maximum_may_come_early_or_late(order):
    x = {"rising": np.arange(9.0) * 90, "falling": -np.arange(9.0) * 90, "late spike": np.r_[np.zeros(8), 800.0]}[order]
    np.testing.assert_allclose(online(x, *range(1, 9)).logsumexp, oracles.logsumexp(x), rtol=4e-15)


def test_online_a_nan_stays_until_the_end_in_its_row_only():
    state = OnlineSoftmax.start((2,)).update([[NAN, 1.0], [1.0, 2.0]]).update([[3.0], [3.0]])
    assert np.isnan(state.logsumexp[0])
    assert state.logsumexp[1] == logsumexp([1.0, 2.0, 3.0])


def test_online_is_a_value_and_never_changes(rng):
    x = rng.normal(size=(Q, K))
    state = OnlineSoftmax.start((Q,)).update(x[:, :2])
    for array in state:
        array.flags.writeable = False
    maximum, total = state.maximum.copy(), state.total.copy()
    state.update(x[:, 2:])
    state.merge(state)
    np.testing.assert_array_equal(state.maximum, maximum)
    np.testing.assert_array_equal(state.total, total)


@pytest.mark.parametrize("shape", [(), (Q,), (B, Q)])
def test_online_started_in_float32_stays_float32(shape, rng):
    x = rng.normal(size=(*shape, K)).astype(np.float32)
    state = OnlineSoftmax.start(shape, np.float32).update(x[..., :2]).update(x[..., 2:])
    assert state.maximum.dtype == state.total.dtype == state.logsumexp.dtype == np.float32
    np.testing.assert_allclose(state.logsumexp, logsumexp(x), rtol=2e-6)
    assert OnlineSoftmax.start(shape, np.float16).maximum.dtype == np.float32
    half = OnlineSoftmax.start(shape, np.float16).update(x.astype(np.float16))
    assert half.maximum.dtype == half.total.dtype == np.float32
    assert OnlineSoftmax.start(shape, np.float32).update(x.astype(np.float64)).total.dtype == np.float64
