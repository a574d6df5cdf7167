"""The exercise on rotary positions: neighbouring features as pairs that turn."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.positions import accepts
from attnexercises.positions.rotated_pairs import turned, turned_in_loops


def rope(x, pos):
    d = x.shape[-1]
    angles = pos[:, np.newaxis] / 10000 ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = x[..., 0::2], x[..., 1::2]
    out = np.zeros(x.shape)
    out[..., 0::2] = first * cos - second * sin
    out[..., 1::2] = first * sin + second * cos
    return out


def _oracle(x, pos):
    return turned_in_loops(x, pos)


def _family(bugs):
    return lambda x, pos: turned(x, pos, bugs)


def _whole_numbers(rng):
    return rng.integers(-5, 6, size=(2, 3, 4)), np.arange(1, 4)


def _inputs(*shape, start=0, step=1):
    def make(rng):
        return rng.standard_normal(shape), start + step * np.arange(shape[-2])

    return make


#: Causes that the forward and the backward share: where a row stands, how fast a pair turns.
PLACES = (
    Mistake(
        "i_over_d", "10000 ** (-i / d)",
        "The exponent of pair i is i/d in yours; it is 2i/d, as each pair takes two of the d features.", 2,
        sets="speed",
    ),
    Mistake(
        "pos_restart", "positions 0, 1, 2, ...",
        "You counted the rows and ignored `pos`: with a cache, new tokens do not start at position 0.", 1,
        sets="position",
    ),
    Mistake(
        "pos_axis", "position = index along axis 0",
        "The position was taken from the first axis, the batch; it runs along the axis of the tokens.", 1,
        sets="position",
    ),
    Mistake(
        "one_speed", "angle = pos",
        "All pairs turn at the same speed: the power of 10000 is missing.", 2,
        sets="speed",
    ),
    Mistake(
        "times", "pos * 10000 ** (2 i / d)",
        "The angle was multiplied by the power; it is divided by it, so that later pairs turn more slowly.", 2,
        sets="speed",
    ),
    Mistake(
        "to_the_end", "2 i / (d - 2)",
        "The exponents run to 1 in the last pair; they are 2i/d, and stop before it.", 2,
        sets="speed",
    ),
    Mistake(
        "pos_from_1", "pos + 1",
        "1 was added to the positions; they come as they are to be used.", 1,
        sets="position",
    ),
    Mistake(
        "whole", "int(pos)",
        "The positions were rounded down to whole numbers; a position may lie between two tokens.", 1,
        sets="position",
    ),
)  # fmt: skip

PROBES = (
    Probe("2 sequences of 5 tokens", _inputs(2, 5, 6)),
    Probe("positions 7 to 10, as with a cache", _inputs(3, 4, 2, start=7), why="New tokens do not start at 0."),
    Probe("4 sequences of 4 tokens, d = 4", _inputs(4, 4, 4), "equal", "A position from the wrong axis runs here."),
    Probe("2 sequences, 3 heads", _inputs(2, 3, 5, 8), why="Any number of leading axes."),
    Probe("no batch", _inputs(5, 6, start=2), "edge", "Tokens and features alone."),
    Probe("positions between whole numbers", _inputs(2, 4, 6, start=0.0, step=0.25), "edge"),
    Probe("features that are whole numbers", _whole_numbers, "edge", "An array of integers cannot hold what comes out."),
    Probe("one token, far away", _inputs(1, 1, 4, start=3000), "edge", "Angles in float32 have lost digits there."),
)

_ROPE = Exercise(
    "rope",
    title="Turn each pair by its angle",
    chapter="positions",
    level="medium",
    minutes=15,
    blanks=3,
    oracle=_oracle,
    solution=rope,
    family=_family,
    probes=PROBES,
    mistakes=(
        Mistake(
            "half", "pairs (i, i + d/2)",
            "Features half a vector apart were paired (the `rotate_half` convention); here neighbours are pairs.", 1,
            sets="pairs",
        ),
        Mistake(
            "half_out", "neighbours rotated, result as two halves",
            "Neighbours were rotated, but the result stands in two halves: each pair goes back to its own places.", 1,
            shows="permuted", sets="pairs",
        ),
        Mistake(
            "inverse", "rotation by -angle",
            "The pairs turn in the opposite direction: the minus sign belongs to the sine in the first component.", 3,
            sets="turn",
        ),
        Mistake(
            "no_minus", "x1 c + x2 s, x1 s + x2 c",
            "This is no rotation: the first component needs a minus in front of its sine.", 3,
            sets="turn",
        ),
        Mistake(
            "overwritten", "second component from the new first one",
            "The second component was computed from the first one's new value; it needs the old one.", 3,
            sets="turn",
        ),
        Mistake(
            "swap", "sine and cosine exchanged",
            "Sine and cosine have changed places: at angle 0 nothing may move.", 3,
            sets="turn",
        ),
        Mistake(
            "minus_twice", "x1 c - x2 s, x2 c - x1 s",
            "Both components have a minus in front of their sine; in a rotation only the first one has.", 3,
            sets="turn",
        ),
        Mistake(
            "own_only", "x * cos",
            "Each feature was multiplied by the cosine alone: the sine brings in its partner.", 3,
            sets="turn",
        ),
        Mistake(
            "added", "x + (cos, sin)",
            "Cosine and sine were added to the features, as for waves; here they turn them.", 1,
            sets="turn",
        ),
        *PLACES,
    ),
    hints=(
        "Take one token and its first two features. By what angle do they turn at position 1? Then the next two.",
        "Pair i is (x[2i], x[2i + 1]), and its angle is pos / 10000 ** (2 i / d). `angles` has shape (n, d/2).",
        "With x1 and x2 of shape (..., n, d/2): the new first component is x1 cos - x2 sin, the new second x1 sin + "
        "x2 cos. Both from the old x1 and x2.",
    ),
    why="`0::2` and `1::2` are the first and second members of all pairs at once, so each line of the rotation is one line "
    "of code. The angles have shape (n, d/2) and broadcast over all leading axes.",
    insight="A rotation moves no length: every pair is as long as before, and position 0 changes nothing.",
    accepts=accepts.ROPE,
    atol=1e-10,  # at position 3000 right ways to take a power differ by 1e-12
)  # fmt: skip

EXERCISES = (_ROPE,)
