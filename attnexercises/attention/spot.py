"""The bug to spot in the chapter on attention: the reader sees the weights of `suspect`."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise
from attnexercises.attention.forward import suspect


def _spot_attention():
    # The columns of the map sum to one and the rows do not.
    return "wrong axis"


def _name_of_the_bug():
    """Find out by running: which sums of the suspect's weights are one?"""
    rng = np.random.default_rng(0)
    weights = suspect(rng.standard_normal((3, 6)), rng.standard_normal((5, 6)), np.eye(5))
    return "wrong axis" if np.allclose(weights.sum(axis=0), 1) else "something else"


_SPOT = value_exercise(
    title="Spot the bug", level="easy", minutes=5, answer=_spot_attention, oracle=_name_of_the_bug,
    mistakes=(
        Mistake("no_scale", lambda: "no scale",
            "Without the factor the weights are sharper, but each row would still sum to 1. Add up a row here.", 2),
        Mistake("scale_after", lambda: "scale after",
            "Then every row would sum to the same number, 1/sqrt(d). Here the rows sum to different numbers.", 2),
        Mistake("no_softmax", lambda: "no softmax",
            "Raw scores of random vectors would be negative in about half of the cells. Here none is negative.", 2),
    ),
    hints=(
        "Add up the numbers of one row, then of another.",
        "What does each row of weights have to sum to? Where else in the map do you find that sum?",
        "Which step makes numbers sum to one, and along which axis did it run here?",
    ),
    why="The numbers sum to one along the axis of the softmax. Here the columns sum to one, so the softmax ran along the queries.",
    insight="One line, `weights.sum(axis=-1)`, finds this bug on random input.",
)  # fmt: skip
