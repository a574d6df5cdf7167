"""The first step of the chapter on Flash attention: one tile of keys, taken in by hand."""

import math

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise

# one_tile: mu = 3, s = 1.5, a = 30; then the scores 4 and 1 with the values 50 and 10


def _one_tile():
    maximum, s, a = 3, 1.5, 30
    new_maximum = max(maximum, 4, 1)
    rescale = np.exp(maximum - new_maximum)
    s = rescale * s + np.exp(4 - new_maximum) + np.exp(1 - new_maximum)
    a = rescale * a + np.exp(4 - new_maximum) * 50 + np.exp(1 - new_maximum) * 10
    return a / s


def _unshifted():
    """The sums with no maximum taken off: what they all stand for."""
    s = 1.5 * math.exp(3) + math.exp(4) + math.exp(1)
    a = 30 * math.exp(3) + math.exp(4) * 50 + math.exp(1) * 10
    return a / s


ONE_TILE = value_exercise(
    title="One tile by hand", level="easy", minutes=10, answer=_one_tile, oracle=_unshifted, rtol=1e-3,
    mistakes=(
        Mistake("no_rescale", "np.exp(maximum - new_maximum) -> 1",
                "The old sums are measured against 3 and the new terms against 4. Convert the old sums to 4 before "
                "you add.", 2),
        Mistake("inverse", "maximum - new_maximum -> new_maximum - maximum",
                "Your old terms grew. Measured against a larger maximum, each of them becomes smaller.", 2),
        Mistake("total_only", "rescale * a -> a",
                "You rescaled s but not a. The terms of a were measured against 3 as well.", 2),
        Mistake("sum_only", "rescale * s -> s",
                "You rescaled a but not s. The terms of s were measured against 3 as well.", 2),
        Mistake("output_for_a", "1.5, 30 -> 1.5, 20",
                "You went on with the output so far, 20. Go on with a, which is 30 and has not been divided yet.", 3),
        Mistake("old_as_one_key", lambda: (20 * np.exp(-1) + 50 + 10 * np.exp(-3)) / (np.exp(-1) + 1 + np.exp(-3)),
            "You took the old keys for a single key with the score 3. Their sum s is 1.5, not 1.", 1),
        Mistake("old_output", lambda: 20,
            "That is the output so far, before the tile. The two new keys change it.", 1),
        Mistake("old_a", lambda: 30,
            "30 is the old a, and also the plain mean of 30, 50 and 10. Convert the old a to the new maximum, add the new terms, and "
            "divide by the new s.", 1),
        Mistake("kept_new", "rescale = np.exp(maximum - new_maximum) -> rescale = np.exp(1 - 4)",
            "You multiplied the old sums by exp(1 - 4). They were measured against the old maximum, 3.", 2),
        Mistake("plain_mean", "a / s -> (20 + 50 + 10) / 3",
            "You took the mean of three numbers. Each key counts by its exponential.", 1),
        Mistake("values_mean", "a / s -> (30 + 50 + 10) / (1.5 + 2)",
            "You added the values without their exponentials. Each new value is multiplied by the exponential of its score.", 3),
        Mistake("no_division", "a / s -> a", "That is the new a. The output is a divided by s.", 3),
        Mistake("total", "a / s -> s", "That is the new s. The output is a divided by s.", 3),
        Mistake("tile_alone", ("rescale * s + ->", "rescale * a + ->"),
                "That is the output of the two new keys alone. The old keys count as well.", 1),
        Mistake("average", "a / s -> (20 + (50 + 10 * np.exp(-3)) / (1 + np.exp(-3))) / 2",
                "You averaged two outputs. That would need equal sums s for the old keys and the new keys.", 1),
        Mistake("new_not_shifted", ("4 - new_maximum -> 4 - maximum", "1 - new_maximum -> 1 - maximum"),
                "Your new terms are measured against 3. Measure all terms against the new maximum.", 2),
        Mistake("plain_new", ("4 - new_maximum -> 4", "1 - new_maximum -> 1"),
                "Your new terms are not measured against any maximum, but the old terms are. All terms need the same "
                "maximum.", 2),
        Mistake("values_swapped", ("* 50 -> * 10", "* 10 -> * 50"),
                "The two values changed places. The value 50 belongs to the score 4, and 10 to the score 1.", 3),
        Mistake("one_key", ("+ np.exp(1 - new_maximum) ->", "+ np.exp(1 - new_maximum) * 10 ->"),
                "The key with the score 1 is left out. Its term is small, but it counts.", 3),
    ),
    hints=(
        "What is the largest score of all keys, the old and the new?",
        "Each old term was exp(S - 3) and has to become exp(S - 4). The same factor corrects both sums.",
        "The new s is exp(-1) times 1.5, plus exp(0), plus exp(-3). For a, multiply each new term by its "
                "value.",
    ),
    why="Multiply both sums by exp(3 - 4). Then add the terms of the new keys, measured against 4, and "
                "divide.",
    insight="The old keys are gone, and you could still correct their sums. Flash attention is this step in a "
                "loop.",
)  # fmt: skip
