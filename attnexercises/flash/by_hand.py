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
            "The old sums were measured against 3, the new terms against 4: bring the old ones to 4 first.", 2),
        Mistake("inverse", "maximum - new_maximum -> new_maximum - maximum",
            "The old terms grew. Against a larger maximum each of them gets smaller.", 2),
        Mistake("total_only", "rescale * a -> a", "You rescaled the total alone; the terms of a were measured against 3, too.", 2),
        Mistake("sum_only", "rescale * s -> s", "You rescaled a alone; the terms of the total were measured against 3, too.", 2),
        Mistake("output_for_a", "1.5, 30 -> 1.5, 20",
            "You went on with the output so far, 20; what is carried along is a, not yet divided.", 3),
        Mistake("no_division", "a / s -> a", "That is the new a; the output is a over s.", 3),
        Mistake("total", "a / s -> s", "That is the new s; the output is a over s.", 3),
        Mistake("tile_alone", ("rescale * s + ->", "rescale * a + ->"),
            "That is the output of the two new keys alone; the old ones count as well.", 1),
        Mistake("average", "a / s -> (20 + (50 + 10 * np.exp(-3)) / (1 + np.exp(-3))) / 2",
            "You averaged two outputs; the old keys and the new ones do not have equal totals.", 1),
        Mistake("new_not_shifted", ("4 - new_maximum -> 4 - maximum", "1 - new_maximum -> 1 - maximum"),
            "The new terms are measured against 3; what all terms are measured against is the new maximum.", 2),
        Mistake("plain_new", ("4 - new_maximum -> 4", "1 - new_maximum -> 1"),
            "The new terms are not measured against any maximum, the old ones are: one maximum for all.", 2),
        Mistake("values_swapped", ("* 50 -> * 10", "* 10 -> * 50"),
            "The two values changed places: 50 belongs to the score 4, 10 to the score 1.", 3),
        Mistake("one_key", ("+ np.exp(1 - new_maximum) ->", "+ np.exp(1 - new_maximum) * 10 ->"),
            "The key with the score 1 is left out: it is small beside the other, but it counts.", 3),
    ),
    hints=(
        "What is the maximum of all keys seen, the new ones among them?",
        "Each old term was exp(S - 3) and has to become exp(S - 4). One factor does that to both sums.",
        "s: exp(-1) times 1.5, plus exp(0), plus exp(-3). In a each of the new terms is multiplied by its value.",
    ),
    why="Multiply both sums by exp(3 - 4), then add the terms of the new keys, measured against 4; then divide.",
    insight="The old keys are gone, and yet their sums were corrected. Flash attention is this step in a loop.",
)  # fmt: skip
