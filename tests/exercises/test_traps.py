"""Traps that the exercises themselves set: what they said or accepted before, and what they say now."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from answers import first_line, right

from attnexercises import grade, my_library
from attnexercises.engine.registry import find
from attnexercises.own_library import commands

CHAPTERS = Path(__file__).parents[2] / "chapters"


def test_no_blank_cell_gives_one_array_two_names():
    """`mean = square = np.zeros(n)` makes one array, and `mean += ...` then changes both."""
    found = []
    for path in CHAPTERS.glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if any(tag.startswith("exercise-") for tag in cell["metadata"].get("tags", [])):
                found += [line for line in cell["source"] if line.count(" = ") > 1 and "np." in line and ", " not in line]
    assert found == []


def only_two_axes(x):
    if x.ndim > 2:
        raise NotImplementedError("more axes")
    return right(x)


def test_not_implemented_for_one_shape_is_an_attempt():
    result = grade("softmax", only_two_axes)
    assert result.status == "crashed" and "9 of 11 cases right" in result.lines[1]
    assert "your function stops with NotImplementedError: more axes" in result.lines[0]


def not_yet(x):
    raise NotImplementedError


def test_not_implemented_for_every_shape_is_none():
    assert grade("softmax", not_yet).lines == ("[ ] softmax: not attempted yet",)


def rope_into_the_dtype_of_x(x, pos):
    d = x.shape[-1]
    angles = pos[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def test_a_result_of_an_integer_dtype_is_said_to_cut_off_decimals():
    said = first_line(rope_into_the_dtype_of_x, "rope")
    assert "the result holds whole numbers only (its dtype is int64), so every decimal is cut off" in said


def doubles_and_writes_into_its_input(x):
    x -= x.max(axis=-1, keepdims=True)
    return 1.3 * right(x)


def test_an_input_that_was_changed_is_mentioned_though_the_values_are_wrong():
    said = first_line(doubles_and_writes_into_its_input)
    assert said == "[!] softmax: every number is 1.3 times the right one. Your function also changes its input x."


def _loss(d_weights, scores, temperature):
    return float((d_weights * right(scores / temperature)).sum())


def _central(d_weights, scores, temperature, step):
    up, down = (_loss(d_weights, scores, temperature + sign * step) for sign in (1, -1))
    return (up - down) / (2 * step)


@pytest.mark.parametrize("step", [1e-3, 3e-4, 3e-5, 1e-5])
@pytest.mark.parametrize("kind", ["absolute", "relative", "extrapolated"])
def test_a_difference_of_losses_does_not_pass_as_a_gradient(kind, step):
    def temperature_gradient(d_weights, scores, temperature):
        if kind == "extrapolated":
            halves = [_central(d_weights, scores, temperature, step / n) for n in (1, 2)]
            return (4 * halves[1] - halves[0]) / 3
        return _central(d_weights, scores, temperature, step * (temperature if kind == "relative" else 1))

    assert grade("temperature_gradient", temperature_gradient).status == "wrong"


def test_a_slope_in_numbers_of_decimal_is_judged_like_any_other():
    def temperature_gradient(d_weights, scores, temperature):
        return Decimal(float(find("temperature_gradient").solution(d_weights, scores, temperature)))

    assert grade("temperature_gradient", temperature_gradient).status == "passed"


def test_a_cache_that_goes_on_in_numbers_of_decimal_is_judged_like_any_other():
    solution = find("kv_cache").solution

    def kv_cache(x, query_weight, key_weight, value_weight, window, cache=None):
        out = solution(x, query_weight, key_weight, value_weight, window, cache=cache)
        return [[Decimal(float(number)) for number in row] for row in out]

    assert grade("kv_cache", kv_cache).status == "passed"


def test_an_empty_folder_begins_with_the_first_chapter(own_file, capsys):
    my_library()
    assert capsys.readouterr().out.startswith("No file of your own yet. Once softmax passes,")
    assert commands.up_to(None)[-1].id != "softmax"
