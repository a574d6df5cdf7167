"""An answer that does not use an argument is told so, and no other answer is."""

import numpy as np
import pytest
from answers import first_line

from attnexercises import grade
from attnexercises.engine.registry import find


def test_an_argument_that_is_not_used_is_named():
    said = first_line(lambda d_weights, weights: weights * (1 - 3 * weights), "softmax_backward")
    assert said.endswith("your result stays the same whatever d_weights is.")


def test_of_several_outputs_the_one_that_does_not_use_it_is_named():
    def answer(d_out, x, weight):
        return d_out @ weight.T, np.cos(x.T) @ np.ones(d_out.shape)

    assert "d_weight: your result stays the same whatever d_out is." in first_line(answer, "linear_backward")


@pytest.mark.parametrize("sharp", [1.0, 1e6])
def test_an_answer_that_hardly_changes_is_not_said_to_stay_the_same(sharp):
    def answer(d_weights, weights):
        return weights * np.tanh(sharp * (d_weights - 0.3 * weights.sum(axis=-1, keepdims=True)))

    assert "stays the same" not in first_line(answer, "softmax_backward")

def test_an_argument_that_matters_on_ordinary_cases_is_not_said_to_be_unused():
    said = first_line(lambda x: find("softmax").solution(np.clip(x, -30, 30)), "softmax")
    assert said.startswith("[!]") and "stays the same" not in said


def test_an_argument_that_matters_where_exponentials_underflow_is_not_said_to_be_unused():
    def divided_by_themselves(scores, keep):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True, where=keep, initial=-1e300), where=keep, out=np.zeros_like(scores))
        return np.divide(powers, powers, out=np.zeros_like(powers), where=powers > 0)

    said = first_line(divided_by_themselves, "masked_softmax")
    assert said.startswith("[!]") and "stays the same" not in said


def test_a_key_that_is_too_far_to_count_is_not_said_to_be_unused():
    def far_from_every_query(query, key, value):  # four times the square of each key that would be right
        scores = query @ key.T - 2 * np.square(key).sum(axis=1)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True) @ value

    said = first_line(far_from_every_query, "distance_attention")
    assert said.startswith("[!]") and "row of key" not in said


def test_a_bare_difference_is_never_said():
    exercise = find("sdpa")

    def answer(query, key, value):
        return np.sin(exercise.solution(query, key, value) * 1.7)

    line = grade(exercise, answer).lines[0]
    assert "all 24 numbers are wrong; the first, at [0, 0, 0], is" in line and "largest difference" not in line


def test_the_rows_that_are_wrong_are_named():
    def answer(query, key, value):
        out = find("sdpa").solution(query, key, value)
        out[..., -1, :] += np.cos(np.arange(out.shape[-1]))
        return out

    assert "8 of 24 numbers are wrong, all in row 2; the first, at [0, 2, 0], is" in first_line(answer, "sdpa")
