"""What a wrong result has to do with the inputs is said where it holds on every ordinary case, and is not said where it does not."""

import numpy as np
import pytest
from answers import first_line

from attnexercises.engine.registry import find

GELU, NORM = find("gelu").solution, find("layer_norm").solution


def wrong_below(limit):
    return lambda x: GELU(x) * np.where(x < limit, 1.3 + np.cos(x), 1)


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        pytest.param("gelu", lambda x: x, "your result is x, just as it was given", id="an input"),
        pytest.param("gelu", lambda x: GELU(x) + 0.3 * x, "your result is the right one plus 0.3 times x", id="off by an input"),
        pytest.param("layer_norm", lambda x, *rest: NORM(x, *rest) + 0.7 * x, "the right one plus 0.7 times x", id="off by one of several"),
        pytest.param("gelu", wrong_below(0), "the wrong numbers are just those for which x is negative", id="where an input is negative"),
        pytest.param("layer_norm", lambda x, *rest: NORM(x, *rest) * (2 + np.cos(x)), "the same number is added to all of x", id="a shift counts"),
        pytest.param("gelu", lambda x: GELU(x + 0.3 * x[-1:]), "first row changes if x changes in the last row only", id="rows are mixed"),
    ],
)
def test_what_holds_on_every_case_is_said(exercise, answer, said):
    assert said in first_line(answer, exercise)


@pytest.mark.parametrize(
    ("answer", "unsaid"),
    [
        pytest.param(lambda x: GELU(x) + np.abs(x).mean() * x, "times x", id="another multiple of the input in each case"),
        pytest.param(lambda x: np.where(x.size > 14, GELU(x) * 2 + np.sin(x), x), "just as it was given", id="the input in some cases only"),
        pytest.param(wrong_below(0.3), "is negative", id="wrong for some positive numbers, too"),
    ],
)
def test_what_holds_nearly_or_in_some_cases_is_not_said(answer, unsaid):
    assert unsaid not in first_line(answer, "gelu")
