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
            "Then blocks of 1, 2 and 3 would be wrong as well: with several blocks the maximum moves.", 1),
        Mistake("drop_tail", lambda: "drop tail",
            "Nearly: it is the tail. But the rest would still be a softmax, and values of one would give one.", 2),
        Mistake("no_division", lambda: "no division", "Without the division even a block of 6, which fits, would be wrong.", 1),
        Mistake("average", lambda: "average",
            "A mean of softmaxes has weights that sum to one, and it is wrong for 1, 2 and 3 as well.", 2),
    ),
    hints=(
        "For which block sizes is it right? What do they have in common, given 6 keys?",
        "Values of one should give one: the weights sum to one. Where the sum is too small, who has the rest?",
        "Something in the last block takes weight and hands over nothing.",
    ),
    why="The sizes that fail do not divide the number of keys, so the tail is at fault. The weights of the real keys sum to less "
    "than one, so somebody else has the rest: keys of zeros, with the score 0 and values of zeros.",
    insight="Try block sizes 1, 2, 3, exact and too large: a size that divides k hides every mistake in the tail.",
)  # fmt: skip
