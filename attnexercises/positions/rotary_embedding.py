"""The exercise on rotary positions: neighbouring features as pairs that turn."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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
    """Each pair as one complex number."""
    d, out = x.shape[-1], np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        for i in range(d // 2):
            angle = float(pos[place[-1]]) / 10000 ** (2 * i / d)
            hand = complex(x[place][2 * i], x[place][2 * i + 1]) * complex(math.cos(angle), math.sin(angle))
            out[place][2 * i], out[place][2 * i + 1] = hand.real, hand.imag
    return out


def _whole_numbers(rng):
    return rng.integers(-5, 6, size=(2, 3, 4)), np.arange(1, 4)


def _inputs(*shape, start=0, step=1):
    def make(rng):
        return rng.standard_normal(shape), start + step * np.arange(shape[-2])

    return make


def places(array):
    """Causes that the forward and the backward share: where a row of `array` stands, how fast a pair turns."""
    return (
        Mistake("i_over_d", "np.arange(0, d, 2) -> np.arange(d // 2)",
            "Your speeds are those of the exponent i/d. Pair i has 2i/d, because each pair takes two of the d features.", 2, sets="speed"),
        Mistake("pos_restart", "pos[:, -> np.arange(len(pos))[:,",
            "The rows are counted and `pos` is ignored. With a cache, new tokens do not start at position 0.", 1, sets="position"),
        Mistake("pos_axis", f"pos[:, np.newaxis] -> np.arange(len({array})).reshape(-1, *[1] * ({array}.ndim - 1))",
            "The position is taken from the first axis, the batch. It belongs to the axis of the tokens.", 1, sets="position"),
        Mistake("one_speed", "10000 -> 1",
            "All pairs turn at the same speed. Either the power of 10000 is missing, or its exponent 2i/d was rounded down to 0.", 2, sets="speed"),
        Mistake("times", "/ 10000 -> * 10000",
            "The angle is multiplied by the power. Divide by it, so that later pairs turn more slowly.", 2, sets="speed"),
        Mistake("pairs_from_1", "np.arange(0, d, 2) -> np.arange(2, d + 2, 2)",
            "You counted the pairs from 1. The first pair is number 0, so its angle is the position itself.", 2, sets="speed"),
        Mistake("exponent_twice", "np.arange(0, d, 2) / d -> np.arange(0, 2 * d, 4) / d",
            "Your exponents have the factor 2 twice. If you count the columns in steps of two, the 2 of the formula is already there.", 2, sets="speed"),
        Mistake("first_pair", "pos[:, np.newaxis] / 10000 ** (np.arange(0, d, 2) / d) -> pos[:, np.newaxis] * (np.arange(0, d, 2) == 0)",
            "Only the first pair turns. Every pair has to turn, each with a speed of its own.", 2, sets="speed"),
        Mistake("half_angle", "cos, sin = -> angles = angles / 2\ncos, sin =",
            "You turn by half the angle. The angle is the position times the speed of the pair.", 2, sets="angle"),
        Mistake("base_1000", "/ 10000 -> / 1000",
            "The base is 1000 in yours. It is 10000.", 2, sets="speed"),
        Mistake("turned_twice", "cos, sin = -> angles = 2 * angles\ncos, sin =",
            "The angles are twice as large, as if a token were turned twice.", 2, sets="angle"),
        Mistake("degrees", "cos, sin = -> angles = np.radians(angles)\ncos, sin =",
            "The angles were converted as if they were degrees. They are in radians already.", 2, sets="angle"),
        Mistake("last_pos", "cos, sin = -> angles = angles[-1:] + 0 * angles\ncos, sin =",
            "All tokens were turned as if they stood at the last position. Each has its own.", 1, sets="place"),
        Mistake("to_the_end", "np.arange(0, d, 2) / d -> np.linspace(0, 1, d // 2)",
            "Your exponents end with 1 in the last pair. They are 2i/d, so they end before 1.", 2, sets="speed"),
        Mistake("pos_from_1", "pos[:, -> (pos + 1)[:,",
            "1 is added to the positions. Use them as they come.", 1, sets="position"),
        Mistake("whole", "pos[:, -> pos.astype(int)[:,",
            "The positions are rounded down to whole numbers. But a position may lie between two tokens.", 1, sets="position"),
    )  # fmt: skip


PROBES = (
    Probe("2 sequences of 5 tokens", _inputs(2, 5, 6)),
    Probe("positions 7 to 10, as with a cache", _inputs(3, 4, 2, start=7), why="With a cache, new tokens do not start at 0."),
    Probe("4 sequences of 4 tokens, d = 4", _inputs(4, 4, 4), "equal", "Here a position from the wrong axis has the right size."),
    Probe("2 sequences, 3 heads", _inputs(2, 3, 5, 8), why="There may be any number of leading axes."),
    Probe("no batch", _inputs(5, 6, start=2), "edge", "Tokens and features alone."),
    Probe("positions between whole numbers", _inputs(2, 4, 6, start=0.0, step=0.25), "edge"),
    Probe("features that are whole numbers", _whole_numbers, "edge", "An array of integers cannot hold the result."),
    Probe("one token, far away", _inputs(1, 1, 4, start=3000), "edge", "In float32, such an angle has lost digits."),
)

_ROPE = Exercise(
    title="Turn each pair by its angle",
    level="medium",
    minutes=15,
    blanks=3,
    oracle=_oracle,
    solution=rope,
    probes=PROBES,
    mistakes=(
        Mistake("half", ("[..., 0::2] -> [..., : d // 2]", "[..., 1::2] -> [..., d // 2 :]"),
            "Features half a vector apart are paired, as in `rotate_half`. Here neighbours are pairs.", 1, sets="pairs"),
        Mistake("half_out", ("out[..., 0::2] -> out[..., : d // 2]", "out[..., 1::2] -> out[..., d // 2 :]"),
            "Neighbours are turned, but the result is stored in two halves. Put each pair back into its own places.", 1,
            shows="permuted", sets="pairs"),
        Mistake("inverse", "np.sin(angles) -> -np.sin(angles)",
            "The pairs turn in the opposite direction. The minus belongs before the sine of the first component.", 3, sets="turn"),
        Mistake("no_minus", "first * cos - -> first * cos +",
            "This is not a rotation. The first component needs a minus before its sine.", 3, sets="turn"),
        Mistake("overwritten", "first * sin -> (first * cos - second * sin) * sin",
            "The second component is computed from the new value of the first. It needs the old value.", 3, sets="turn"),
        Mistake("swap", "cos, sin = -> sin, cos =",
            "Sine and cosine are exchanged. At angle 0 nothing should move.", 3, sets="turn"),
        Mistake("minus_twice", "first * sin + second * cos -> second * cos - first * sin",
            "Both components have a minus before their sine. In a rotation only the first has one.", 3, sets="turn"),
        Mistake("own_only", ("first * cos - second * sin -> first * cos", "first * sin + second * cos -> second * cos"),
            "Each feature is multiplied by the cosine only. The sine has to bring in its partner.", 3, sets="turn"),
        Mistake("added", ("first * cos - second * sin -> first + cos", "first * sin + second * cos -> second + sin"),
            "Cosine and sine are added to the features. Here they have to turn the features.", 1, sets="turn"),
        *places("x"),
    ),
    hints=(
        "Take one token and its first two features. By what angle do they turn at position 1? And the next two?",
        "Pair i is (x[2i], x[2i + 1]), and its angle is pos / 10000 ** (2 i / d). `angles` has shape (n, d/2).",
        "Let x1 and x2 hold the first and second features of all pairs. The new first feature is x1 cos - x2 sin, and the new second is "
        "x1 sin + x2 cos. Use the old x1 and x2 for both.",
    ),
    why="`0::2` and `1::2` take the first and the second features of all pairs at once, so each line of the rotation is one line "
    "of code. The angles have shape (n, d/2) and broadcast over all leading axes.",
    insight="A rotation keeps lengths: every pair is as long as before. And position 0 changes nothing.",
    atol=1e-10,  # at position 3000 right ways to take a power differ by 1e-12
)  # fmt: skip
