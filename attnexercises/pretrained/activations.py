"""The exercise on GELU, the activation of BERT."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def gelu(x):
    from math import erf  # takes one number

    below = (1 + np.vectorize(erf)(x / np.sqrt(2))) / 2
    return x * below


def _oracle(x):
    """The share of the bell curve below each number, by Simpson's rule: no erf in it."""
    steps = 4000
    points = np.arange(steps + 1) / steps
    simpson = np.where(np.arange(steps + 1) % 2 == 1, 4.0, 2.0)
    simpson[[0, -1]] = 1
    out = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        number = float(x[place])
        heights = np.exp(-((number * points) ** 2) / 2) / math.sqrt(2 * math.pi)
        out[place] = number * (0.5 + number * float(simpson @ heights) / (3 * steps))
    return out


def _numbers(*shape, size=1.5):
    return lambda rng: (size * rng.standard_normal(shape),)


_GELU = Exercise(
    title="GELU", level="easy", minutes=7, blanks=2, oracle=_oracle, solution=gelu,
    probes=(
        Probe("3 tokens of 5 features", _numbers(3, 5)),
        Probe("2 texts of 3 tokens of 4 features", _numbers(2, 3, 4), why="Any number of axes."),
        Probe("3 tokens of 3 features", _numbers(3, 3), "equal", "Nothing may mix the features."),
        Probe("zero, and numbers on both sides", lambda rng: (np.array([[-3.0, -1.0, 0.0], [0.5, 1.0, 3.0]]),), "edge",
            "Below 0 a little comes through, with a minus."),
        Probe("large numbers", lambda rng: (np.array([[-12.0, 12.0], [-30.0, 30.0]]),), "edge",
            "Large numbers pass as they are, and large negative ones not at all."),
    ),
    mistakes=(
        Mistake("tanh", "(1 + np.vectorize(erf)(x / np.sqrt(2))) / 2 -> "
            "(1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2",
            "This is the approximation by tanh, off by up to 0.0005. This model was trained with the exact form.", 2, sets="share"),
        Mistake("quick", "(1 + np.vectorize(erf)(x / np.sqrt(2))) / 2 -> 1 / (1 + np.exp(-1.702 * x))",
            "This is the approximation by a sigmoid of 1.702 x, off by up to 0.02. Use the bell curve itself.", 2, sets="share"),
        Mistake("silu", "(1 + np.vectorize(erf)(x / np.sqrt(2))) / 2 -> 1 / (1 + np.exp(-x))",
            "This is SiLU, x times its sigmoid. GELU takes the share of a bell curve in the sigmoid's place.", 1, sets="share"),
        Mistake("relu", "(1 + np.vectorize(erf)(x / np.sqrt(2))) / 2 -> (x > 0)",
            "This is ReLU, which cuts at 0. GELU holds back by a share that goes smoothly from 0 to 1.", 1, sets="share"),
        Mistake("no_root", "x / np.sqrt(2) -> x",
            "Your erf takes x itself. Its bell curve is narrower than that of variance 1, by the root of 2.", 3, sets="inside"),
        Mistake("root_above", "x / np.sqrt(2) -> x * np.sqrt(2)",
            "You multiplied by the root of 2. To fit the narrower bell curve of erf, x is divided by it.", 3, sets="inside"),
        Mistake("halved_inside", "x / np.sqrt(2) -> x / 2",
            "You divided x by 2 inside erf. The root of 2 belongs there.", 3, sets="inside"),
        Mistake("no_half", "x / np.sqrt(2))) / 2 -> x / np.sqrt(2)))",
            "The half is missing: 1 + erf goes from 0 to 2, and a share goes from 0 to 1.", 2, shows="factor", sets="half"),
        Mistake("half_of_erf", "1 + np.vectorize(erf) -> np.vectorize(erf)",
            "erf runs from -1 to 1. Add 1 before you halve it, so that the share below x runs from 0 to 1.", 2, sets="half share"),
        Mistake("no_one", "(1 + np.vectorize(erf)(x / np.sqrt(2))) / 2 -> np.vectorize(erf)(x / np.sqrt(2))",
            "erf itself goes from -1 to 1. The share below x needs it moved and halved, to go from 0 to 1.", 2, sets="half share"),
        Mistake("above", "(1 + np.vectorize -> (1 - np.vectorize",
            "You took the share that lies above x. Large numbers pass, so it has to be the share below.", 1, sets="half"),
        Mistake("only_share", "return x * below -> return below",
            "You returned the share itself. It multiplies x.", 1, sets="product"),
        Mistake("density", "(1 + np.vectorize(erf)(x / np.sqrt(2))) / 2 -> np.exp(-x * x / 2) / np.sqrt(2 * np.pi)",
            "This is the height of the bell curve at x. The share is the area to the left of x.", 1, sets="share"),
        Mistake("cut", "return x * below -> return np.maximum(x * below, 0)",
            "Your results are cut off at 0. A GELU lets a little through below 0.", 1),
        Mistake("absolute", "return x * below -> return np.abs(x) * below",
            "You dropped the sign of x. What comes through below 0 is negative.", 1, sets="product"),
    ),
    hints=(
        "The share below x is 0 far to the left, 1/2 at 0 and 1 far to the right. erf is -1, 0 and 1 there.",
        "Add 1 to erf and halve it. The bell curve in erf is narrower than the one of variance 1, so its argument is x divided by "
        "the root of 2.",
        "`erf` takes one number; `np.vectorize(erf)` takes an array. In the end x times the share.",
    ),
    why="erf(t) is the area of a bell curve of variance 1/2 between -t and t. With t = x/√2 it is that of the usual bell curve between "
    "-x and x, and half of 1 + erf is the area to the left of x.",
    insight="gelu(x) - gelu(-x) = x: what is held back on one side passes on the other.",
    outputs=("out",),
)  # fmt: skip
