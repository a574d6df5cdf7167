"""The softmax exercises: which case shows which mistake, and oracles checked by finite differences."""

import numpy as np
import pytest

from attnexercises.engine import diagnose
from attnexercises.engine.registry import find

CASES = "123456789abcdefghijk"
SEEN = {  # the cases, 1 to 9 and then a, b, ..., on which the mistake shows
    "softmax": {
        "axis_0": "12345679ab",
        "axis_all": "1234579ab",
        "no_exp": "123456789ab",
        "no_max": "346a",
        "max_global": "4a",
        "sum_no_keepdims": "1234579ab",
        "log": "123456789ab",
        "inplace": "123456789ab",
        "int_buffer": "7",
        "shift_mean": "6",
        "shift_min": "56",
        "shift_fixed": "12456789ab",
        "shift_reversed": "123456789ab",
        "max_axis_0": "12345679ab",
        "max_no_keepdims": "1234579ab",
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
        "sign": "123678",
        "no_square": "123678",
        "scaled_twice": "123678",
        "as_factor": "123678",
        "at_one": "123678",
        "multiplied": "123678",
        "no_softmax": "12345678",
        "no_scores": "123678",
        "no_mean": "12345678",
        "plain_mean": "123678",
        "sigmoid": "12345678",
        "no_keepdims": "1234578",
        "d_scores": "12345678",
        "per_row": "1234578",
        "mean_of_rows": "12378",
        "mean_of_all": "123678",
        "no_max": "3",
    },
    "online_softmax": {
        "no_rescale": "1259",
        "alpha_inv": "1259",
        "nan_first": "12345679abc",
        "alpha_block": "13579ac",
        "sum_local": "13579ac",
        "block_max": "1357ac",
        "m_init_0": "58",
        "overwrite": "123579ac",
        "drop_tail": "1239bc",
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
