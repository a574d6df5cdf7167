"""The bug to spot in the chapter on gradients: the reader sees the errors of `suspect` on several inputs."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise
from attnexercises.gradients.backward import backward_oracle, random_inputs, suspect


def _spot_gradient():
    # Right for one query and wrong for several: D is a single number, the sum over all rows.
    return "no axis"


def _name_of_the_bug():
    """Find out by running: what is subtracted from dP, and is it the same number in every row?

    The keys are unit vectors, so dQ is dS itself, but for the scale.
    """
    d_out, query, _, value = random_inputs(q=3, k=4, d=4, v=2)(np.random.default_rng(0))
    inputs = d_out, query, np.eye(4), value
    powers = np.exp(query / 2)  # the scores are query @ eye / sqrt(4)
    weights = powers / powers.sum(axis=1, keepdims=True)
    d_weights = d_out @ value.T
    subtracted = d_weights - 2 * suspect(*inputs)[0] / weights
    everything = np.sum(weights * d_weights)
    alone = random_inputs(q=1, k=4, d=4, v=2)(np.random.default_rng(1))
    one_query_is_right = all(
        np.allclose(wrong, right) for wrong, right in zip(suspect(*alone), backward_oracle(*alone), strict=True)
    )
    return "no axis" if one_query_is_right and np.allclose(subtracted, everything) else "something else"


_SPOT = value_exercise(
    title="Spot the bug", level="medium", minutes=5, answer=_spot_gradient, oracle=_name_of_the_bug,
    mistakes=(
        Mistake("ds_no_rowsum", lambda: "no row mean",
            "Without the row mean, dS would be wrong for a single query, too. Look at the row with q = 1.", 1),
        Mistake("D_axis", lambda: "wrong axis",
            "With one query, a sum over the queries has one term for each key, and that is no row mean. So q = 1 would be wrong, "
            "too.", 1),
        Mistake("mean_plain", lambda: "plain mean",
            "With one key, a plain mean and a weighted mean are the same. Look at the row with k = 1: is it right?", 1),
        Mistake("last_query", lambda: "last query",
            "Close: that mistake disappears at q = 1, too. But it would leave dQ right and make dV wrong.", 2),
    ),
    hints=(
        "In which row are all errors zero? Which of the five formulas are right there, and which are not?",
        "dQ and dK are wrong while dV is right. So the mistake lies between dP and dS, where only D is computed.",
        "For one query, D is one number. For several queries there should be one number for each, and `suspect` still has one.",
    ),
    why="Only q decides whether dQ and dK are right, so the mistake mixes the queries. It has no effect on dV, so it lies in dS. "
    "For a single query, the sum over everything is the sum over its row.",
    insight="A test with one query cannot see this mistake. So a test needs several of everything: give every axis a size of its "
    "own, larger than 1.",
)  # fmt: skip
