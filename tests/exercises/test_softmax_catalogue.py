"""The softmax exercises: which case shows which mistake, and oracles checked by finite differences."""

import numpy as np
import pytest

from attnlib.exercises.engine import diagnose
from attnlib.exercises.engine.registry import find

SEEN = {  # case numbers, counted from 1, on which the mistake shows
    "softmax": {
        "axis_0": "1234567",
        "axis_all": "123457",
        "no_exp": "1234567",
        "no_max": "346",
        "max_global": "4",
        "sum_no_keepdims": "123457",
        "log": "1234567",
        "inplace": "1234567",
        "int_buffer": "7",
        "shift_mean": "6",
        "shift_min": "56",
        "shift_fixed": "12457",
        "shift_reversed": "1234567",
        "max_axis_0": "1234567",
        "max_no_keepdims": "123457",
    },
    "softmax_backward": {
        "no_rowsum": "12345",
        "sigmoid": "12345",
        "rowsum_dy": "12345",
        "mean_dy": "125",
        "no_bracket": "12345",
        "axis_rows": "12345",
        "axis_all": "12345",
        "no_outer_y": "1245",
        "sign": "1245",
        "ce_shortcut": "12345",
    },
    "temperature_gradient": {
        "sign": "123",
        "no_square": "123",
        "scaled_twice": "123",
        "as_factor": "123",
        "at_one": "123",
        "multiplied": "123",
        "no_softmax": "12345",
        "no_scores": "123",
        "no_mean": "12345",
        "plain_mean": "123",
        "sigmoid": "12345",
        "no_keepdims": "12345",
        "d_scores": "12345",
        "per_row": "12345",
        "mean_of_rows": "123",
        "mean_of_all": "123",
        "no_max": "3",
    },
    "online_softmax": {
        "no_rescale": "125",
        "alpha_inv": "125",
        "nan_first": "1234567",
        "alpha_block": "1357",
        "sum_local": "1357",
        "block_max": "1357",
        "m_init_0": "58",
        "overwrite": "12357",
        "drop_tail": "123",
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
        seen += "" if diagnose.is_right(exercise, outcome, want) else str(place + 1)
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
