"""attnlib.positions.rotary_embedding: are pairs turned by the right angle, and back by the gradient?"""

import numpy as np
import pytest
from positions_cases import B, D, H, N, rotary_by_complex_numbers

from attnlib.positions import rotary, rotary_backward

# --- agrees with complex numbers ------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 4, D])
def test_rotary_multiplies_pairs_as_complex_numbers(rng, d):
    x = rng.normal(size=(B, H, N, d))
    positions = rng.integers(0, 50, size=N)
    np.testing.assert_allclose(rotary(x, positions), rotary_by_complex_numbers(x, positions), rtol=0, atol=1e-13)


def test_rotary_takes_another_base(rng):
    x, positions = rng.normal(size=(N, D)), np.arange(N)
    expected = rotary_by_complex_numbers(x, positions, 7.0)
    np.testing.assert_allclose(rotary(x, positions, base=7.0), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(rotary_backward(expected, positions, base=7.0), x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("shape", [(), (1,), (N,), (H, N), (B, 1, N), (B, H, N), (B, 1, 1)])
def test_positions_of_rotary_broadcast_over_the_leading_axes(rng, shape):
    x, positions = rng.normal(size=(B, H, N, D)), rng.uniform(-9, 9, size=shape)
    expected = rotary_by_complex_numbers(x, positions)
    np.testing.assert_allclose(rotary(x, positions), expected, rtol=0, atol=1e-14)


# --- invariants -----------------------------------------------------------------------------------


def test_scores_depend_on_the_difference_of_positions_only(rng):
    query, key = rng.normal(size=(N, D)), rng.normal(size=(N + 2, D))
    at = np.arange(N), np.arange(N + 2)
    scores = rotary(query, at[0]) @ rotary(key, at[1]).T
    moved = rotary(query, at[0] + 41) @ rotary(key, at[1] + 41).T
    np.testing.assert_allclose(moved, scores, rtol=0, atol=1e-12)
    assert np.abs(rotary(query, at[0] + 1) @ rotary(key, at[1]).T - scores).max() > 0.1


def test_rotations_add_up_and_position_zero_changes_nothing(rng):
    x = rng.normal(size=(N, D))
    np.testing.assert_array_equal(rotary(x, 0), x)
    np.testing.assert_allclose(rotary(rotary(x, 3.0), 4.0), rotary(x, 7.0), rtol=0, atol=1e-14)


def test_rotate_half_is_the_same_operation_on_features_in_another_order(rng):
    x, positions = rng.normal(size=(N, D)), np.arange(N)
    order = np.concatenate([np.arange(0, D, 2), np.arange(1, D, 2)])
    first, second = np.split(x[:, order], 2, axis=1)
    angles = positions[:, np.newaxis] * 10000.0 ** (-np.arange(0, D, 2) / D)
    halves = np.concatenate(
        [first * np.cos(angles) - second * np.sin(angles), second * np.cos(angles) + first * np.sin(angles)], axis=1
    )
    np.testing.assert_allclose(rotary(x, positions)[:, order], halves, rtol=0, atol=1e-15)
    np.testing.assert_allclose(rotary(x[:, order], positions, pairs="halves"), halves, rtol=0, atol=1e-15)


def test_the_backward_of_halves_is_the_transpose_of_the_forward(rng):
    x, d_out = rng.normal(size=(2, B, N, D))
    positions = rng.uniform(0, 30, size=N)
    there = (d_out * rotary(x, positions, base=50.0, pairs="halves")).sum()
    back = (rotary_backward(d_out, positions, base=50.0, pairs="halves") * x).sum()
    assert abs(there - back) < 1e-12
    assert abs(there - (rotary_backward(d_out, positions, base=50.0) * x).sum()) > 0.1


@pytest.mark.parametrize(
    "view", [lambda x: x.swapaxes(0, 1), lambda x: x[::-1], np.asfortranarray], ids=["swapped", "reversed", "Fortran"]
)
def test_any_memory_layout_gives_the_same_and_is_not_written_to(rng, view):
    x = view(rng.normal(size=(N, N, D)))
    x.flags.writeable = False
    np.testing.assert_array_equal(rotary(x, np.arange(N)), rotary(np.ascontiguousarray(x), np.arange(N)))


def test_nan_stays_in_its_row(rng):
    x = rng.normal(size=(N, D))
    x[2, 3] = np.nan
    assert list(np.isnan(rotary(x, np.arange(N))).any(axis=1)) == [False, False, True, False, False]


# --- gradient -------------------------------------------------------------------------------------


def test_gradient_of_rotary_agrees_with_fourth_order_differences(rng):
    x, positions = rng.normal(size=(B, N, D)), rng.uniform(0, 30, size=(B, 1))
    d_out = rng.normal(size=x.shape)
    numeric, step = np.empty_like(x), 1e-3
    for index in np.ndindex(x.shape):

        def loss(shift):
            moved = x.copy()
            moved[index] += shift  # noqa: B023
            return (d_out * rotary(moved, positions)).sum()

        numeric[index] = (8 * (loss(step) - loss(-step)) - (loss(2 * step) - loss(-2 * step))) / (12 * step)
    np.testing.assert_allclose(rotary_backward(d_out, positions), numeric, rtol=0, atol=1e-10)


def test_the_backward_undoes_the_forward(rng):
    x, positions = rng.normal(size=(B, H, N, D)), np.arange(N)
    np.testing.assert_allclose(rotary_backward(rotary(x, positions), positions), x, rtol=0, atol=1e-14)
