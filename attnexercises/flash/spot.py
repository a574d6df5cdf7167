"""The bug to spot in the chapter on Flash attention: the reader sees how wrong `suspect` is for each block size."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise
from attnexercises.flash.forward import suspect


def _spot_flash():
    # Right if the blocks fit, and otherwise a part of the weight lies on nothing.
    return "zero keys"


def _what_the_suspect_does():
    """Find out by running: where is it wrong, and do its weights sum to one there?"""
    rng = np.random.default_rng(0)
    query, key = rng.standard_normal((3, 4)), rng.standard_normal((6, 4))
    sums = [suspect(query, key, np.ones((6, 1)), block, False)[0] for block in (3, 4)]
    fits, does_not = (np.allclose(total, 1) for total in sums)
    return "zero keys" if fits and not does_not else "something else"


_SPOT = value_exercise(
    title="Spot the bug", level="medium", minutes=5, answer=_spot_flash, oracle=_what_the_suspect_does,
    mistakes=(
        Mistake("no_rescale", lambda: "no rescale",
                "Then blocks of 1, 2 and 3 would be wrong as well, because the maximum moves from block to block.", 1),
        Mistake("drop_tail", lambda: "drop tail",
                "Nearly. It is the last block. But if keys were left out, the rest would still be a softmax, and "
                "values of 1 would give 1.", 2),
        Mistake("no_division", lambda: "no division",
                "Without the division a block of 6, which fits, would be wrong as well.", 1),
        Mistake("average", lambda: "average",
                "The weights of an average of softmaxes sum to 1, and the average is wrong for blocks of 1, 2 and 3 "
                "as well.", 2),
    ),
    hints=(
        "For which block sizes is the output right? What do these sizes have in common, given 6 keys?",
        "Values of 1 should give 1, because the weights sum to 1. Where the sum is too small, where has the "
                "rest of the weight gone?",
        "Something in the last block takes weight and has nothing to hand over.",
    ),
    why="The sizes that fail do not divide the number of keys, so the tail is at fault. The weights of the real keys "
    "sum to less than 1. The rest went to keys of zeros, which have the score 0 and values of zeros.",
    insight="Test block sizes 1, 2 and 3, the exact size and one that is too large. A size that divides k hides "
                "every mistake in a shorter last block.",
)  # fmt: skip
