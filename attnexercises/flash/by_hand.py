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


def _off(s=math.exp(-1), a=math.exp(-1), old=30.0):
    """The output if the old sums are multiplied by other factors."""
    return (a * old + 50 + 10 * math.exp(-3)) / (s * 1.5 + 1 + math.exp(-3))


ONE_TILE = value_exercise(
    "one_tile",
    title="One tile by hand",
    chapter="flash",
    level="easy",
    minutes=10,
    answer=_one_tile,
    oracle=_unshifted,
    rtol=1e-3,
    wrong={
        Mistake(
            "no_rescale", "(a + new) / (s + new)",
            "The old sums were measured against 3, the new terms against 4: bring the old ones to 4 first.", 2,
        ): lambda: _off(1.0, 1.0),
        Mistake(
            "inverse", "factor e", "The old terms grew. Against a larger maximum each of them gets smaller.", 2
        ): lambda: _off(math.e, math.e),
        Mistake(
            "total_only", "only s rescaled",
            "You rescaled the total alone; the terms of a were measured against 3, too.", 2,
        ): lambda: _off(a=1.0),
        Mistake(
            "sum_only", "only a rescaled",
            "You rescaled a alone; the terms of the total were measured against 3, too.", 2,
        ): lambda: _off(s=1.0),
        Mistake(
            "output_for_a", "a / s rescaled in place of a",
            "You went on with the output so far, 20; what is carried along is a, not yet divided.", 3,
        ): lambda: _off(old=20.0),
        Mistake(
            "no_division", "a", "That is the new a; the output is a over s.", 3
        ): lambda: _off() * (1.5 * math.exp(-1) + 1 + math.exp(-3)),
        Mistake(
            "total", "s", "That is the new s; the output is a over s.", 3
        ): lambda: 1.5 * math.exp(-1) + 1 + math.exp(-3),
        Mistake(
            "tile_alone", "the output of the tile",
            "That is the output of the two new keys alone; the old ones count as well.", 1,
        ): lambda: (50 + 10 * math.exp(-3)) / (1 + math.exp(-3)),
        Mistake(
            "average", "the mean of both outputs",
            "You averaged two outputs; the old keys and the new ones do not have equal totals.", 1,
        ): lambda: (20 + (50 + 10 * math.exp(-3)) / (1 + math.exp(-3))) / 2,
        Mistake(
            "new_not_shifted", "exp(score - 3) for the new keys",
            "The new terms are measured against 3; what all terms are measured against is the new maximum.", 2,
        ): lambda: (30 / math.e + 50 * math.e + 10 * math.exp(-2)) / (1.5 / math.e + math.e + math.exp(-2)),
        Mistake(
            "plain_new", "exp(score) for the new keys",
            "The new terms are not measured against any maximum, the old ones are: one maximum for all.", 2,
        ): lambda: (30 / math.e + 50 * math.exp(4) + 10 * math.e) / (1.5 / math.e + math.exp(4) + math.e),
        Mistake(
            "values_swapped", "10 with 4, 50 with 1",
            "The two values changed places: 50 belongs to the score 4, 10 to the score 1.", 3,
        ): lambda: (30 / math.e + 10 + 50 * math.exp(-3)) / (1.5 / math.e + 1 + math.exp(-3)),
        Mistake(
            "one_key", "the key with score 1 forgotten",
            "The key with the score 1 is left out: it is small beside the other, but it counts.", 3,
        ): lambda: (30 / math.e + 50) / (1.5 / math.e + 1),
    },
    hints=(
        "What is the maximum of all keys seen, the new ones among them?",
        "Each old term was exp(S - 3) and has to become exp(S - 4). One factor does that to both sums.",
        "s: exp(-1) times 1.5, plus exp(0), plus exp(-3). In a each of the new terms is multiplied by its value.",
    ),
    why="Multiply both sums by exp(3 - 4), then add the terms of the new keys, measured against 4; then divide.",
    insight="The old keys are gone, and yet their sums were corrected. Flash attention is this step in a loop.",
)  # fmt: skip

EXERCISES = (ONE_TILE,)
