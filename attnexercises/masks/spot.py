"""The bug to spot in the chapter on masks: the reader sees the weights of `suspect`, 5 tokens."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise
from attnexercises.masks.masked_softmax import suspect


def _spot_mask():
    # Zeros in the right places, but only the last row, which hides nothing, sums to one.
    return "after softmax"


def _name_of_the_bug():
    """Find out by running: do hidden scores still take part in the sum?"""
    keep = np.array([[True, True, False]])
    one, other = (suspect(np.array([[0.0, 1.0, hidden]]), keep) for hidden in (0.0, 5.0))
    return "something else" if np.allclose(one, other) or one[0, 2] else "after softmax"


_SPOT = value_exercise(
    "spot_mask",
    title="Spot the bug",
    chapter="masks",
    level="easy",
    minutes=5,
    answer=_spot_mask,
    oracle=_name_of_the_bug,
    mistakes=(
        Mistake("one_ahead", lambda: "one ahead",
                "With this mistake the first query would see two keys. Count the cells that are not zero.", 1),
        Mistake("not_itself", lambda: "not itself",
                "With this mistake the diagonal would be zero. Here each query sees its own key, as it should.", 1),
        Mistake("finite_fill", lambda: "finite fill",
                "With this mistake hidden keys would have a small weight, and each row would sum to 1. Look at the "
                "first row.", 2),
        Mistake("no_scale", lambda: "no scale",
                "With this mistake the weights would be sharper, but each row would still sum to 1. Look at the first "
                "row.", 2),
        Mistake("wrong_axis", lambda: "wrong axis", "With this mistake each column would sum to 1. Look at the last "
            "column.", 2),
    ),
    hints=(
        "Are the zeros in the right places? The first query has to see one key, the last one all of them.",
        "Add up each row. Which of them sum to one?",
        "The row that hides nothing is right; the weights of the other rows are too small. At which step did the "
        "missing "
        "share get lost?",
    ),
    why="The zeros are in the right places. But rows that hide something sum to less than one: the hidden keys took "
    "their share in the softmax and were crossed out afterwards.",
    insight="It looks like a mask and still leaks: what is missing from a row tells how much weight the hidden keys "
    "took.",
)  # fmt: skip

EXERCISES = (_SPOT,)
