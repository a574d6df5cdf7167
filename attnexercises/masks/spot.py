"""The bug to spot in the chapter on masks: the reader sees the scores that `suspect` got, and its weights."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise
from attnexercises.masks.masked_softmax import suspect


def _spot_mask():
    # One row of scores lies near -10, and there the hidden keys get equal weights.
    return "finite fill"


def _name_of_the_bug():
    """Find out by running: is a hidden key, whatever its score, worth as much as a visible key with a score of -10?"""
    keep = np.array([[True, True, False]])
    one, other = (suspect(np.array([[-9.0, -10.0, hidden]]), keep) for hidden in (-3.0, 5.0))
    return "finite fill" if np.allclose(one, other) and np.isclose(one[0, 2], one[0, 1]) else "something else"


_SPOT = value_exercise(
    title="Spot the bug", level="easy", minutes=5, answer=_spot_mask, oracle=_name_of_the_bug,
    mistakes=(
        Mistake("one_ahead", lambda: "one ahead",
            "With this mistake the first query would see two keys. Count the cells of row 0 that are not zero.", 1),
        Mistake("row_missing", lambda: "row missing",
            "The row is the right one. But without a mask key 3 would win there, because it has the largest score. Compare the two "
            "hidden keys.", 2),
        Mistake("zero_fill", lambda: "zero fill",
            "A score of 0 is not low: with this mistake the hidden keys of every row would get weights. Look at the first row.", 1),
        Mistake("after_softmax", lambda: "after softmax",
            "With this mistake every hidden weight would be exactly zero, and rows would sum to less than 1. Look at row 2.", 1),
        Mistake("wrong_axis", lambda: "wrong axis", "With this mistake each column would sum to 1. Look at the last column.", 2),
    ),
    hints=(
        "In which row does something stand above the diagonal? What is special about the scores of that row?",
        "The two hidden keys of that row have different scores. Do they have different weights, too?",
        "Two equal weights in a row come from two equal scores. So the scores of both hidden keys were replaced by the same "
        "number. Is it a number near the visible scores of this row, or near those of the other rows?",
    ),
    why="In row 2 both hidden keys have the weight 0.06, although their scores are -7 and -9.5. So both scores were replaced by "
    "one number, and this number is not far below -8, the best visible score: it is -10. In the other rows -10 is so low that two "
    "digits show a zero.",
    insight="A finite number hides a key only as long as the visible scores are much higher. With ordinary scores two digits do "
    "not show the leak.",
)  # fmt: skip
