"""The bug to spot in the chapter on gradients: the reader sees the errors of `suspect` on several inputs."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise
from attnexercises.gradients.backward import backward_oracle, random_inputs, suspect


def _spot_gradient():
    # The error 1 - 1/sqrt(d) depends on d alone and is 0 for d = 1: one factor 1/sqrt(d) too many.
    return "scale twice"


def _name_of_the_bug():
    """Find out by running: by which factor is d_query too large?"""
    inputs = random_inputs(q=3, k=5, d=9, v=2)(np.random.default_rng(0))
    wrong, right = suspect(*inputs)[0], backward_oracle(*inputs)[0]
    return "scale twice" if np.allclose(3 * wrong, right) else "something else"


_SPOT = value_exercise(
    "spot_gradient",
    title="Spot the bug",
    chapter="gradients",
    level="medium",
    minutes=5,
    answer=_spot_gradient,
    oracle=_name_of_the_bug,
    mistakes=(
        Mistake("ds_no_rowsum", lambda: "no row mean",
            "Without the row mean, a single key would get a gradient that is not zero; look at that line.", 1),
        Mistake("D_axis", lambda: "wrong axis", "A mean over the wrong axis is wrong for every d, and for a single key; look at those two lines.", 1),
        Mistake("no_scale", lambda: "no scale",
            "Close: then the gradients would be 2, 3 and 4 times too large, with errors of 100, 200 and 300 percent.", 2),
        Mistake("no_transpose", lambda: "not transposed",
            "A missing transpose would hit one gradient only, and stop with an error when q and k differ.", 1),
    ),
    hints=(
        "Which input makes the error vanish? Which sizes change it, and which do not?",
        "The error depends on d alone. Compare 50, 67 and 75 percent at d = 4, 9 and 16 with 1/2, 1/3 and 1/4.",
        "What is left is 1/sqrt(d) of the right gradient: one factor too many.",
    ),
    why="The error of d_query and d_key is 1 - 1/sqrt(d), whatever q, k and v are. So both are the right ones times "
    "1/sqrt(d): the scale was applied twice.",
    insight="A wrong factor leaves the directions of d_query and d_key intact, so training hides it; a gradient check "
    "does not.",
)  # fmt: skip

EXERCISES = (_SPOT,)
