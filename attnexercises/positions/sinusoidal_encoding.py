"""The exercise on sinusoidal encodings, of any width."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.positions import accepts


def sinusoidal(n, m):
    pair = np.arange(m) // 2
    angles = np.arange(n)[:, np.newaxis] / 10000 ** (2 * pair / m)
    out = np.sin(angles)
    out[:, 1::2] = np.cos(angles[:, 1::2])
    return out


def _oracle(n, m):
    """Two columns share a clock hand; the last hand of an odd width has one coordinate."""
    out = np.zeros((n, m))
    for position in range(n):
        for column in range(m):
            angle = position / math.pow(10000, 2 * (column // 2) / m)
            out[position, column] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return out


def _family(bugs):
    def variant(n, m):
        pair, width = np.arange(m) // 2, m
        if "even_width" in bugs:
            width = m - m % 2
        if "to_the_end" in bugs:
            width = max(2 * ((m + 1) // 2 - 1), 1)
        exponents = 2 * pair / max(width, 1)
        if "i_over_d" in bugs:
            exponents = exponents / 2
        if "col_freq" in bugs:
            exponents = 2 * np.arange(m) / max(width, 1)
        if "own_speed" in bugs:
            exponents = np.arange(m) / max(width, 1)
        if "one_speed" in bugs:
            exponents = 0 * exponents
        place = np.arange(n)[:, np.newaxis] + ("pos_from_1" in bugs)
        if "share" in bugs:
            place = place / n
        angles = place * 10000.0 ** (exponents if "times" in bugs else -exponents)
        sine = np.arange(m) % 2 == 0
        if "swap" in bugs:
            sine = ~sine
        out = np.where(sine, np.sin(angles), np.cos(angles))
        if "sines_alone" in bugs:
            out = np.sin(angles)
        if "odd_zero" in bugs and m % 2:
            out[:, -1] = 0
        if "odd_short" in bugs:
            out = out[:, : m - m % 2]
        return np.concatenate([out[:, 0::2], out[:, 1::2]], axis=1) if "concat" in bugs else out

    return variant


_WAVES = Exercise(
    "sinusoidal",
    title="A row of waves, of any width",
    chapter="positions",
    level="easy",
    minutes=10,
    blanks=3,
    oracle=_oracle,
    solution=sinusoidal,
    family=_family,
    probes=(
        Probe("6 positions, width 8", lambda rng: (6, 8)),
        Probe("8 positions, width 8", lambda rng: (8, 8), "equal", "where an axis that is mixed up has the right size"),
        Probe("20 positions, width 4", lambda rng: (20, 4), why="more positions than features"),
        Probe("5 positions, width 7", lambda rng: (5, 7), "edge", "the last wave is a sine without its cosine"),
        Probe("3 positions, width 1", lambda rng: (3, 1), "edge", "one sine alone"),
        Probe("one position, width 6", lambda rng: (1, 6), "edge", "the first row alone"),
    ),
    mistakes=(
        Mistake(
            "concat", "[sin | cos]",
            "All sines stand in front of all cosines; here they take turns: sine, cosine, sine, cosine.", 1,
            shows="permuted", sets="order",
        ),
        Mistake(
            "swap", "cos in even columns",
            "Sine and cosine have changed places: the columns begin with a sine.", 1,
            sets="order",
        ),
        Mistake(
            "i_over_d", "10000 ** (-i / m)",
            "The exponent of pair i is i/m in yours; it is 2i/m, as each pair takes two of the m columns.", 2,
            sets="speed",
        ),
        Mistake(
            "col_freq", "10000 ** (-2 column / m)",
            "The number of the column was used for that of the pair: the two columns of a pair share one "
            "frequency.", 2,
            sets="speed",
        ),
        Mistake(
            "own_speed", "10000 ** (-column / m)",
            "Each column got an exponent of its own, column/m; the two columns of a pair share one, 2i/m.", 2,
            sets="speed",
        ),
        Mistake(
            "times", "pos * 10000 ** (2 i / m)",
            "The angle was multiplied by the power; it is divided by it, so that later pairs turn more slowly.", 2,
            sets="speed",
        ),
        Mistake(
            "pos_from_1", "positions from 1",
            "The positions were counted from 1; the first one is 0.", 1,
            sets="position",
        ),
        Mistake(
            "one_speed", "the same angle for all pairs",
            "All pairs turn at the same speed: the power of 10000 is missing.", 2,
            sets="speed",
        ),
        Mistake(
            "sines_alone", "sin in all columns",
            "Every column is a sine; the second column of a pair is the cosine of the same angle.", 1,
            sets="order",
        ),
        Mistake(
            "share", "positions divided by n",
            "The positions were divided by the length; a position is a plain number, whatever follows.", 1,
            sets="position",
        ),
        Mistake(
            "to_the_end", "2 i / (m - 2)",
            "The exponents run to 1 in the last pair; they are 2i/m, and stop before it.", 2,
            sets="speed",
        ),
        Mistake(
            "even_width", "2 i / (m - 1), for odd m",
            "For an odd width the exponents were taken from the even number below it; m is the width itself.", 3,
            sets="speed",
        ),
        Mistake(
            "odd_zero", "last column 0, for odd m",
            "For an odd width the last column was left at 0; it is a sine without its cosine.", 3,
            sets="order",
        ),
        Mistake(
            "odd_short", "one column less, for odd m",
            "For an odd width the last column is missing; it is a sine without its cosine.", 3,
            sets="order",
        ),
    ),
    hints=(
        "Write down row 0: all angles are 0. And row 1 in the first two columns.",
        "Column c belongs to pair i = c // 2. Both columns of pair i have the angle position / 10000 ** (2 i / m).",
        "Make the angles of all m columns; take the sine of all; then overwrite every second column, `out[:, 1::2]`, by "
        "the cosine of its own angles. That needs no even width.",
    ),
    why="Each pair of columns is a clock hand that turns at its own speed. Angles for every column, the last one "
    "included, make an odd width no special case.",
    insight="Row p + s is row p with every hand turned by an angle that does not depend on p.",
    accepts=accepts.WAVES,
)  # fmt: skip

EXERCISES = (_WAVES,)
