"""attnlib.positions: are the waves, rotations and slopes right, is the gradient right, does it fail clearly?"""

import itertools
import math

import numpy as np
import pytest

from attnlib.positions import alibi_bias, alibi_slopes, rotary, rotary_backward, sinusoidal

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, H, N, D = 2, 3, 5, 8


# --- oracles: the formulas, one number at a time --------------------------------------------------------------------


def sinusoidal_by_loops(n, m, base=10000.0):
    out = np.empty((n, m))
    for p, column in itertools.product(range(n), range(m)):
        angle = p / base ** (2 * (column // 2) / m)
        out[p, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return out


def rotary_by_complex_numbers(x, positions, base=10000.0):
    *rows, d = x.shape
    positions = np.broadcast_to(positions, rows)
    out = np.empty(x.shape)
    for row in np.ndindex(*rows):
        for i in range(d // 2):
            hand = complex(x[row][2 * i], x[row][2 * i + 1])
            hand *= complex(math.cos(a := positions[row] * base ** (-2 * i / d)), math.sin(a))
            out[row][2 * i], out[row][2 * i + 1] = hand.real, hand.imag
    return out


@pytest.mark.parametrize("m", [0, 1, 2, 5, 6, 7])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_sinusoidal_matches_the_formula_written_as_loops(n, m):
    out = sinusoidal(n, m)
    assert out.shape == (n, m) and out.dtype == np.float64
    np.testing.assert_allclose(out, sinusoidal_by_loops(n, m), rtol=0, atol=4e-16)


def test_sinusoidal_takes_another_base():
    for base in (50, 1.1, 0.3):  # below 1 every wave is faster than the one before
        np.testing.assert_allclose(sinusoidal(9, 6, base=base), sinusoidal_by_loops(9, 6, base), rtol=0, atol=4e-15)


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


def test_the_bias_is_slope_times_distance():
    h, q, k, offset = 4, 3, 6, 2
    bias = alibi_bias(h, q, k, offset=offset)
    assert bias.shape == (h, q, k) and bias.dtype == np.float64
    for i, row, column in np.ndindex(h, q, k):
        assert bias[i, row, column] == -(2.0 ** (-8 * (i + 1) / h)) * abs(row + offset - column)


# --- invariants -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [6, 512])
def test_every_row_of_sinusoidal_has_the_same_length(m):
    np.testing.assert_allclose((sinusoidal(40, m) ** 2).sum(axis=1), m / 2, rtol=1e-14)


def test_moving_on_by_s_positions_is_one_rotation_for_all_rows():
    # The columns are (sin, cos), so as a clock hand (cos, sin) they turn the other way in (sin, cos) coordinates.
    m, shift = 8, 3
    table = sinusoidal(20, m)
    np.testing.assert_allclose(rotary(table[:-shift], -shift), table[shift:], rtol=0, atol=1e-14)


def test_an_odd_width_is_the_even_one_with_its_own_frequencies_and_no_last_cosine():
    np.testing.assert_array_equal(sinusoidal(4, 1), np.sin(np.arange(4.0))[:, np.newaxis])


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


@pytest.mark.parametrize("h", [1, 2, 4, 8, 16])
def test_slopes_of_a_power_of_two_are_one_geometric_series(h):
    np.testing.assert_array_equal(alibi_slopes(h), [2.0 ** (-8 * i / h) for i in range(1, h + 1)])


def published_slopes(h):
    """The rule of the authors' code for any number of heads, as a recursion."""
    if math.log2(h).is_integer():
        return [2.0 ** (-8 * i / h) for i in range(1, h + 1)]
    power = 2 ** math.floor(math.log2(h))
    return published_slopes(power) + published_slopes(2 * power)[0::2][: h - power]


@pytest.mark.parametrize("h", range(1, 35))
def test_slopes_of_any_number_of_heads_follow_the_authors_code(h):
    np.testing.assert_allclose(alibi_slopes(h), published_slopes(h), rtol=1e-15)


def test_an_offset_moves_the_queries_along_the_keys():
    full = alibi_bias(3, 7, 7)
    np.testing.assert_array_equal(alibi_bias(3, 2, 7, offset=5), full[:, 5:])
    np.testing.assert_array_equal(alibi_bias(3, 1, 7, offset=-2)[:, 0], -alibi_slopes(3)[:, None] * np.arange(2, 9))


def test_a_bias_of_no_distance_is_a_plain_zero():
    assert not np.signbit(np.diagonal(alibi_bias(2, 3, 3), axis1=1, axis2=2)).any()


def test_sizes_of_zero_give_empty_results():
    assert alibi_bias(2, 0, 3).shape == (2, 0, 3) and alibi_bias(2, 3, 0).shape == (2, 3, 0)
    assert rotary(np.ones((H, 0, D)), np.arange(0)).shape == (H, 0, D)
    assert rotary(np.ones((H, N, 0)), np.arange(N)).shape == (H, N, 0)


# --- dtypes and large positions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_of_x_is_kept(rng, dtype):
    x = rng.normal(size=(N, D)).astype(dtype)
    for positions in (np.arange(N), np.arange(N, dtype=np.float64), [0.5] * N):
        assert rotary(x, positions).dtype == rotary_backward(x, positions).dtype == dtype
    assert sinusoidal(3, 4, dtype=dtype).dtype == alibi_bias(2, 3, 4, dtype=dtype).dtype == dtype


def test_results_in_a_narrow_dtype_are_the_float64_ones_rounded_once(rng):
    x = rng.normal(size=(N, D)).astype(np.float16)
    exact = rotary_by_complex_numbers(x.astype(float), np.arange(N))
    np.testing.assert_allclose(rotary(x, np.arange(N)), exact, rtol=2**-11 * 1.01, atol=1e-6)
    np.testing.assert_array_equal(sinusoidal(70000, 4, dtype=np.float32), sinusoidal(70000, 4).astype(np.float32))
    np.testing.assert_array_equal(alibi_bias(3, 2, 9, dtype=np.float32), alibi_bias(3, 2, 9).astype(np.float32))


def test_integers_and_lists_become_float64():
    assert rotary([[1, 2]], [3]).dtype == np.float64


@pytest.mark.parametrize("position_dtype", [np.int32, np.int64, np.float32, np.float64])
def test_a_far_position_loses_no_digits_in_float32(rng, position_dtype):
    x = rng.normal(size=(N, D)).astype(np.float32)
    positions = (1_000_003 + np.arange(N)).astype(position_dtype)
    expected = rotary_by_complex_numbers(x.astype(float), positions.astype(float))
    np.testing.assert_allclose(rotary(x, positions), expected, rtol=0, atol=1e-6)


def test_nothing_of_the_size_of_x_is_made_in_float64(rng):
    import tracemalloc

    x = rng.normal(size=(16, 64, 64)).astype(np.float32)
    tracemalloc.start()
    rotary(x, np.arange(64))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.7 * x.nbytes  # out, two halves and a small table; one float64 copy alone would be 2 more


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


# --- gradient -------------------------------------------------------------------------------------------------------


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


# --- errors ---------------------------------------------------------------------------------------------------------

X = np.ones((N, D))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: sinusoidal(2.0, 4), TypeError, "sinusoidal: n must be an integer; got 2.0"),
        (lambda: sinusoidal(2, True), TypeError, "sinusoidal: m must be an integer; got True"),
        (lambda: sinusoidal(-1, 4), ValueError, "sinusoidal: n must be at least 0; got -1"),
        (lambda: sinusoidal(4, -1), ValueError, "sinusoidal: m must be at least 0; got -1"),
        (lambda: sinusoidal(2, 4, base=0), ValueError, "sinusoidal: base must be positive and finite; got 0"),
        (lambda: sinusoidal(2, 4, base=np.inf), ValueError, "base must be positive and finite; got inf"),
        (lambda: sinusoidal(2, 4, base="e"), TypeError, "sinusoidal: base must be a number; got 'e'"),
        (lambda: sinusoidal(2, 4, base=True), TypeError, "sinusoidal: base must be a number; got True"),
        (lambda: sinusoidal(2, 4, dtype=np.int32), TypeError, "sinusoidal: dtype must be a float dtype; got int32"),
        (lambda: rotary(np.ones((N, 5)), 0), ValueError, r"rotary: x must have shape \(..., n, d\) with an even .* \(5, 5\)"),
        (lambda: rotary(np.ones(4), 0), ValueError, r"rotary: x must have shape .* got \(4,\)"),
        (lambda: rotary(X, np.arange(N + 1)), ValueError, r"(?s)rotary: positions must broadcast .*\(6,\).*\(5, 8\)"),
        (lambda: rotary(X, np.ones((2, N))), ValueError, r"(?s)positions must broadcast .*\(2, 5\).*\(5, 8\)"),
        (lambda: rotary(X, [0, 1, 2, 3, np.inf]), ValueError, "rotary: positions must be finite"),
        (lambda: rotary(X, np.nan), ValueError, "rotary: positions must be finite"),
        (lambda: rotary(X, 0, base=-1.0), ValueError, "rotary: base must be positive and finite; got -1.0"),
        (lambda: rotary(X + 1j, 0), TypeError, "rotary: x must be an array of real numbers .*complex128"),
        (lambda: rotary(X > 0, 0), TypeError, "rotary: x must be an array of real numbers .*bool"),
        (lambda: rotary(X, "a"), TypeError, "rotary: positions must be an array of real numbers"),
        (lambda: rotary_backward(np.ones((N, 3)), 0), ValueError, "rotary_backward: d_out must have shape"),
        (lambda: rotary_backward(X, np.ones(4)), ValueError, r"(?s)rotary_backward: positions .*\(4,\).*\(5, 8\)"),
        (lambda: alibi_slopes(0), ValueError, "alibi_slopes: h must be at least 1; got 0"),
        (lambda: alibi_bias(0, 2, 3), ValueError, "alibi_bias: h must be at least 1; got 0"),
        (lambda: alibi_bias(2, -1, 3), ValueError, "alibi_bias: q must be at least 0; got -1"),
        (lambda: alibi_bias(2, 2, -3), ValueError, "alibi_bias: k must be at least 0; got -3"),
        (lambda: alibi_bias(2, 2, 3.0), TypeError, "alibi_bias: k must be an integer; got 3.0"),
        (lambda: alibi_bias(2, 2, 3, offset=0.5), TypeError, "alibi_bias: offset must be an integer; got 0.5"),
        (lambda: alibi_bias(2, 2, 3, dtype=bool), TypeError, "alibi_bias: dtype must be a float dtype; got bool"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_says_why(call, error, message):
    with pytest.raises(error, match=message):
        call()
