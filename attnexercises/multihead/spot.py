"""The bug to spot in the chapter on several heads: `suspect` on four tokens, with weights that do nothing."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise
from attnexercises.multihead.forward import suspect


def _spot_multihead():
    # Attention is even and the other weights do nothing: each row should be the mean of all tokens.
    # Instead the first rows hold head 0 alone, the last rows head 1: heads and positions changed places.
    return "merge"


def _name_of_the_bug():
    """Find out by running: undo each suspicion by hand and see which makes the rows equal."""
    x, one, zero = np.random.default_rng(0).standard_normal((1, 4, 4)), np.eye(4), np.zeros((4, 4))
    out = suspect(x, zero, zero, one, one, 2)
    repaired = out.reshape(1, 2, 4, 2).transpose(0, 2, 1, 3).reshape(1, 4, 4)
    return "merge" if np.allclose(repaired, x.mean(axis=1, keepdims=True)) else "something else"


_SPOT = value_exercise(
    title="Spot the bug", level="medium", minutes=5, answer=_spot_multihead, oracle=_name_of_the_bug,
    mistakes=(
        Mistake("split_no_transpose", lambda: "split",
            "A wrong split would average other numbers. Here each number is the right mean of a feature, but in the wrong place.",
            2),
        Mistake("split_interleaved", lambda: "interleaved",
            "Then features would change places within a row, and all rows would still be equal.", 2),
        Mistake("heads_mean", lambda: "mean",
            "Then all rows would be equal, and each number would be a mean over two features. Compare the numbers.", 2),
        Mistake("no_Wo", lambda: "no out weight",
            "The out weight is the identity here, so leaving it out would change nothing.", 1),
    ),
    hints=(
        "What should the four rows be? The queries are zero, so every head spreads its attention evenly.",
        "Each number in the output is the mean of one feature. Which features belong to head 0, and in which rows do they appear?",
        "The first rows hold head 0 only. So the axis of the heads was read as if it belonged to the positions. At which step do "
        "heads become features again?",
    ),
    why="Even attention makes all rows equal, so unequal rows cannot come from inside a head. The numbers of head 0 fill the first "
    "rows: the array (b, h, n, v) was flattened without exchanging h and n.",
    insight="With weights that do nothing, such as zero and the identity, a person can read the result of a test.",
)  # fmt: skip
