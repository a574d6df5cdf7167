"""The exercise on sinusoidal encodings, of any width."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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


_WAVES = Exercise(
    title="A row of waves, of any width", level="easy", minutes=10, blanks=3, oracle=_oracle, solution=sinusoidal,
    probes=(
        Probe("6 positions, width 8", lambda rng: (6, 8)),
        Probe("8 positions, width 8", lambda rng: (8, 8), "equal", "If axes are mixed up, their sizes still fit here."),
        Probe("20 positions, width 4", lambda rng: (20, 4), why="There are more positions than features."),
        Probe("5 positions, width 7", lambda rng: (5, 7), "edge", "The last column is a sine without its cosine."),
        Probe("3 positions, width 1", lambda rng: (3, 1), "edge", "There is a single sine."),
        Probe("one position, width 6", lambda rng: (1, 6), "edge", "There is only the first row."),
    ),
    mistakes=(
        Mistake("concat", "return out -> return np.concatenate([out[:, 0::2], out[:, 1::2]], axis=1)",
            "All sines come before all cosines. They should alternate: sine, cosine, sine, cosine.", 1, shows="permuted",
            sets="order"),
        Mistake("swap", ("np.sin(angles) -> np.cos(angles)", "np.cos(angles[ -> np.sin(angles["),
            "Sine and cosine are exchanged. The first column is a sine.", 1, sets="order"),
        Mistake("i_over_d", "2 * pair -> pair",
            "Your exponent of pair i is i/m. It should be 2i/m, because each pair takes two of the m columns.", 2, sets="speed"),
        Mistake("col_freq", "np.arange(m) // 2 -> np.arange(m)",
            "The column was counted in place of the pair. The two columns of a pair have the same speed.", 2,
            sets="speed"),
        Mistake("own_speed", "2 * pair -> np.arange(m)",
            "Each column has an exponent of its own, column/m. The two columns of pair i share the exponent 2i/m.", 2, sets="speed"),
        Mistake("times", "/ 10000 -> * 10000",
            "The angle is multiplied by the power. Divide by it, so that later pairs turn more slowly.", 2, sets="speed"),
        Mistake("pos_from_1", "np.arange(n) -> np.arange(1, n + 1)",
            "The positions are counted from 1. The first position is 0.", 1, sets="position"),
        Mistake("one_speed", "2 * pair / m -> 0 * pair",
            "All pairs turn at the same speed. Either the power of 10000 is missing, or its exponent 2i/m was rounded down to 0.", 2, sets="speed"),
        Mistake("sines_alone", "np.cos -> np.sin",
            "Every column is a sine. The second column of a pair should be the cosine of the same angle.", 1, sets="order"),
        Mistake("share", "np.arange(n)[:, np.newaxis] -> np.arange(n)[:, np.newaxis] / n",
            "The positions are divided by the length. Use plain numbers: 0, 1, 2 and so on.", 1, sets="position"),
        Mistake("even_above", "pair / m -> pair / (m + m % 2)",
            "You divided the exponent by the next even number. Divide by the width m itself, which may be odd.", 2, sets="speed"),
        Mistake("pairs_from_1", "np.arange(m) // 2 -> np.arange(m) // 2 + 1",
            "You counted the pairs from 1. The first pair is number 0, so its angle is the position itself.", 2, sets="speed"),
        Mistake("base_1000", "/ 10000 -> / 1000",
            "The base is 1000 in yours. It is 10000.", 2, sets="speed"),
        Mistake("degrees", "out = np.sin -> angles = np.deg2rad(angles)\nout = np.sin",
            "You took the angles for degrees. They are radians.", 2, sets="position"),
        Mistake("cosine_minus", "np.cos -> -np.cos",
            "The cosines have a minus. They are plain cosines.", 1),
        Mistake("to_the_end", "pair / m -> pair / max(2 * ((m + 1) // 2 - 1), 1)",
            "Your exponents end with 1 in the last pair. They are 2i/m, so they end before 1.", 2, sets="speed"),
        Mistake("even_width", "pair / m -> pair / max(m - m % 2, 1)",
            "For an odd width, the exponents use the even number below it. Use m itself.", 3, sets="speed"),
        Mistake("odd_zero", "return out -> out[:, m - m % 2 :] = 0\nreturn out",
            "For an odd width, the last column was left at 0. It should be a sine without its cosine.", 3, sets="order"),
        Mistake("odd_short", "return out -> return out[:, : m - m % 2]",
            "For an odd width, the last column is missing. It is a sine without its cosine.", 3, sets="order"),
    ),
    hints=(
        "Write row 0 down; all its angles are 0. Then write the first two columns of row 1.",
        "Column c belongs to pair i = c // 2. Both columns of pair i have the angle position / 10000 ** (2 i / m).",
        "Make the angles of all m columns and take the sine of all. Then overwrite every second column, `out[:, 1::2]`, with the "
        "cosine of its own angles. This works for odd widths, too.",
    ),
    why="Each pair of columns is a hand of a clock with a speed of its own. Every column has its own array of angles, so an odd width "
    "is no special case.",
    insight="Row p + t is row p with every hand turned by an angle that does not depend on p.",
)  # fmt: skip
