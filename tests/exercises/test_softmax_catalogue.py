"""The softmax exercises: which case shows which mistake, and oracles checked by finite differences."""

import numpy as np
import pytest

from attnlib.exercises.engine import diagnose
from attnlib.exercises.engine.registry import find

CASES = "123456789abc"
SEEN = {  # the cases, 1 to 9 and then a, b, ..., on which the mistake shows
    "softmax": {
        "axis_0": "12345679",
        "axis_all": "1234579",
        "no_exp": "123456789",
        "no_max": "346",
        "max_global": "4",
        "sum_no_keepdims": "1234579",
        "log": "123456789",
        "inplace": "123456789",
        "int_buffer": "7",
        "shift_mean": "6",
        "shift_min": "56",
        "shift_fixed": "1245789",
        "shift_reversed": "123456789",
        "max_axis_0": "12345679",
        "max_no_keepdims": "1234579",
    },
    "softmax_backward": {
        "no_rowsum": "1234567",
        "sigmoid": "1234567",
        "rowsum_dy": "1234567",
        "mean_dy": "12567",
        "no_bracket": "1234567",
        "axis_rows": "1234567",
        "axis_all": "123457",
        "no_outer_y": "124567",
        "sign": "124567",
        "ce_shortcut": "1234567",
    },
    "temperature_gradient": {
        "sign": "12367",
        "no_square": "12367",
        "scaled_twice": "12367",
        "as_factor": "12367",
        "at_one": "12367",
        "multiplied": "12367",
        "no_softmax": "1234567",
        "no_scores": "12367",
        "no_mean": "1234567",
        "plain_mean": "12367",
        "sigmoid": "1234567",
        "no_keepdims": "123457",
        "d_scores": "1234567",
        "per_row": "123457",
        "mean_of_rows": "1237",
        "mean_of_all": "12367",
        "no_max": "3",
    },
    "online_softmax": {
        "no_rescale": "1259",
        "alpha_inv": "1259",
        "nan_first": "12345679ab",
        "alpha_block": "13579a",
        "sum_local": "13579a",
        "block_max": "1357a",
        "m_init_0": "58",
        "overwrite": "123579a",
        "drop_tail": "1239b",
        "nan_block": "68",
        "l_init_1": "8",
    },
}


@pytest.mark.parametrize("id, mistake", [(id, mistake) for id in SEEN for mistake in SEEN[id]])
def test_a_mistake_shows_on_exactly_these_cases(id, mistake):
    exercise = find(id)
    seen = ""
    for place, want in enumerate(diagnose.expected(exercise)):
        outcome = diagnose.variant(exercise, frozenset({mistake}), place)
        seen += "" if diagnose.is_right(exercise, outcome, want) else CASES[place]
    assert seen == SEEN[id][mistake]


def test_the_backward_oracle_agrees_with_finite_differences_of_the_forward_oracle(rng):
    x, d_weights = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    forward, backward = find("softmax").oracle, find("softmax_backward").oracle
    d_x = backward(d_weights, forward(x))
    step = 1e-3
    for at in np.ndindex(x.shape):
        unit = np.zeros(x.shape)
        unit[at] = step
        near, far = ((d_weights * (forward(x + k * unit) - forward(x - k * unit))).sum() for k in (1, 2))
        assert d_x[at] == pytest.approx((8 * near - far) / (12 * step), abs=1e-10)


def test_the_temperature_oracle_agrees_with_finite_differences_of_the_forward_oracle(rng):
    x, d_weights, temperature, step = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), 0.7, 1e-3
    forward = find("softmax").oracle
    near, far = (
        (d_weights * (forward(x / (temperature + k * step)) - forward(x / (temperature - k * step)))).sum() for k in (1, 2)
    )
    found = find("temperature_gradient").oracle(d_weights, x, temperature)
    assert found == pytest.approx((8 * near - far) / (12 * step), abs=1e-9)


def test_the_gradient_oracle_of_a_product_agrees_with_finite_differences(rng):
    d_out, x, weight = rng.normal(size=(2, 5)), rng.normal(size=(2, 3)), rng.normal(size=(3, 5))
    gradients = find("linear_backward").oracle(d_out, x, weight)
    for array, gradient in zip((x, weight), gradients, strict=True):
        for at in np.ndindex(array.shape):
            old = array[at]
            array[at] = old + 0.5
            above = (d_out * (x @ weight)).sum()
            array[at] = old - 0.5
            below = (d_out * (x @ weight)).sum()
            array[at] = old
            assert gradient[at] == pytest.approx(above - below, abs=1e-12)  # the loss is linear in each entry
