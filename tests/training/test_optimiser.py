"""attnlib.training: Adam against a loop over numbers, and the plan of its rate."""

import math

import numpy as np
import pytest
from array_tools import close

from attnlib.training import adam_start, adam_step, warmup_cosine


def by_numbers(theta, gradients, rate, beta1, beta2, epsilon):
    """Algorithm 1 of Kingma and Ba (2015), one number at a time."""
    m = v = 0.0
    for t, gradient in enumerate(gradients, 1):
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient**2
        theta -= rate * (m / (1 - beta1**t)) / (math.sqrt(v / (1 - beta2**t)) + epsilon)
    return theta


def test_adam_against_a_loop_over_numbers(rng):
    params = {"a": rng.normal(size=(2, 3)), "b": rng.normal(size=4)}
    every = [{name: rng.normal(size=array.shape) for name, array in params.items()} for _ in range(5)]
    options = dict(rate=0.3, beta1=0.7, beta2=0.95, epsilon=0.01)
    moved, state = params, adam_start(params)
    for gradients in every:
        moved, state = adam_step(moved, gradients, state, **options)
    assert state.step == 5
    for name, array in params.items():
        for place in np.ndindex(array.shape):
            close(moved[name][place], by_numbers(array[place], [g[name][place] for g in every], **options))


def test_the_first_step_has_the_length_of_the_rate_whatever_the_gradient():
    params = {"x": np.zeros(3)}
    moved, _ = adam_step(params, {"x": [1e-4, -3.0, 1e6]}, adam_start(params), rate=0.5)
    close(moved["x"], [-0.5, 0.5, -0.5], 1e-3)


def test_no_gradient_no_step():
    params = {"x": np.ones(2)}
    moved, _ = adam_step(params, {"x": np.zeros(2)}, adam_start(params), rate=0.5)
    np.testing.assert_array_equal(moved["x"], params["x"])


def test_nothing_is_changed_in_place(rng):
    params = {"x": rng.normal(size=3)}
    gradients, state = {"x": rng.normal(size=3)}, adam_start(params)
    for array in (params["x"], gradients["x"], state.mean["x"], state.square["x"]):
        array.flags.writeable = False
    once, later = adam_step(params, gradients, state, rate=0.1)
    again, _ = adam_step(params, gradients, state, rate=0.1)
    np.testing.assert_array_equal(once["x"], again["x"])
    assert (state.step, later.step) == (0, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_parameters_and_moments_is_kept(dtype):
    params = {"x": np.ones(2, dtype)}
    moved, state = adam_step(params, {"x": np.ones(2)}, adam_start(params), rate=np.float64(0.1))
    assert {moved["x"].dtype, state.mean["x"].dtype, state.square["x"].dtype} == {np.dtype(dtype)}


def test_the_rate_rises_in_a_line_and_falls_along_a_cosine():
    rates = [warmup_cosine(step, 50, peak=2.0, warmup=10, floor=0.5) for step in range(1, 51)]
    close(rates[:10], np.arange(1, 11) / 5)
    close(rates[29], 1.25)  # half-way down
    close(rates[-1], 0.5)
    assert rates[9] == max(rates) and sorted(rates[9:], reverse=True) == rates[9:]
    assert warmup_cosine(1, 1, peak=2.0) == 0 and warmup_cosine(1, 10**6, peak=2.0) == pytest.approx(2.0)
