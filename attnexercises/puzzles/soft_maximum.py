"""The exercise on the two slopes of a soft maximum."""

import cmath

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.puzzles.slopes import rows_of, slopes_of


def soft_maximum_slopes(x, temperature):
    z = (x - x.max(axis=-1, keepdims=True)) / temperature
    logsumexp = np.log(np.exp(z).sum(axis=-1))
    weights = np.exp(z - logsumexp[..., np.newaxis])
    # by the product rule: temperature in front, and temperature in each exponent
    d_temperature = logsumexp - (weights * z).sum(axis=-1)
    return weights, d_temperature


def _soft_maximum(x, temperature):
    top = max(value.real for value in x)
    return top + temperature * cmath.log(sum(cmath.exp((value - top) / temperature) for value in x))


def _soft_maximum_oracle(x, temperature):
    pairs = [slopes_of(_soft_maximum, row, temperature) for row in rows_of(x)]
    d_x = np.array([row for row, _ in pairs]).reshape(x.shape)
    return d_x, np.array([slope for _, slope in pairs]).reshape(x.shape[:-1])


def _row_of(*shape, temperature, size=1.0):
    return lambda rng: (size * rng.standard_normal(shape), temperature)


def _far_apart(rng):
    return rng.standard_normal((2, 3)) + [[1e3, 0, 1e3], [-1e3, -1e3, -2e3]], 0.8


# A shift cancels in the right slope in T; these mistakes show x / T itself, and the sum is still safe.
_NO_SHIFT = (
    "= (x - x.max(axis=-1, keepdims=True)) / -> = x /",
    "np.log(np.exp(z).sum(axis=-1)) -> np.logaddexp.reduce(z, axis=-1)",
)

_SOFT_MAXIMUM = Exercise(
    title="Both slopes of a soft maximum", level="medium", minutes=12, blanks=3, oracle=_soft_maximum_oracle,
    solution=soft_maximum_slopes, outputs=("d_x", "d_temperature"),
    probes=(
        Probe("3 rows of 5", _row_of(3, 5, temperature=0.7)),
        Probe("one row", _row_of(4, temperature=1.6), why="No leading axis: the slope in T is one number."),
        Probe("2 × 3 rows of 2", _row_of(2, 3, 2, temperature=2.5), why="Two leading axes."),
        Probe("rows and scores far apart", _far_apart, "edge", "Each row needs a shift of its own, by its largest score."),
    ),
    mistakes=(
        Mistake("at_temperature_1",
            "return weights, -> return np.exp(x - x.max(axis=-1, keepdims=True)) / np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True),",
            "In x, your weights do not depend on T. Each exponent is x / T.", 1, sets="slope in x"),
        Mistake("no_inner", "return weights -> return temperature * weights",
            "In x, the T in front meets the slope of x / T, which is 1 / T.", 1, sets="slope in x"),
        Mistake("no_outer", "return weights -> return weights / temperature",
            "In x, the slope of x / T is there, but not the T in front.", 1, sets="slope in x"),
        Mistake("outer_only", (*_NO_SHIFT, "logsumexp - (weights * z).sum(axis=-1) -> logsumexp"),
            "In T, only the T in front was followed; T stands in every exponent, too.", 2, sets="paths"),
        Mistake("inner_only", (*_NO_SHIFT, "logsumexp - ( -> -("),
            "In T, only the exponents were followed; T stands in front as well.", 2, sets="paths"),
        Mistake("sign", (*_NO_SHIFT, "logsumexp - ( -> logsumexp + ("),
            "In T, the two parts have different signs: the slope of 1 / T is negative.", 2, sets="paths"),
        Mistake("inner_again", (*_NO_SHIFT, "(weights * z).sum(axis=-1) -> (weights * z).sum(axis=-1) / temperature"),
            "In T, the part through the exponents is divided by T once more: the T in front takes one away.", 3),
        Mistake("multiplied", "x.max(axis=-1, keepdims=True)) / temperature -> x.max(axis=-1, keepdims=True)) * temperature",
            "The temperature multiplies the scores in yours. It divides them.", 1),
        Mistake("path_added", "logsumexp - (weights -> logsumexp + (weights",
            "In T, the path through the exponents is added. The slope of 1 / T is negative, so it has a minus.", 2, sets="paths"),
        Mistake("no_weights", "(weights * z).sum( -> z.sum(",
            "In T, the exponents are added without their weights.", 2, sets="paths"),
        Mistake("plain_mean", "(weights * z).sum( -> z.mean(", "In T, each exponent counts by its weight, not alike.", 3),
        Mistake("shift_kept", (_NO_SHIFT[0], "logsumexp - (weights -> logsumexp - x.max(axis=-1) / temperature - (weights",
            _NO_SHIFT[1]),
            "In T, the logarithm is that of the shifted exponentials. Their shift has to be added to it again.", 3, sets="paths"),
        Mistake("unshifted",
            (_NO_SHIFT[0], "np.exp(z - logsumexp[..., np.newaxis]) -> np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)"),
            "The exponentials overflow; a shift of each row changes neither slope.", 1),
    ),
    hints=(
        "Let z = x / T. The function is T times logsumexp(z), a product. Which factors does x reach, which does T?",
        "The slope of logsumexp(z) in z is the softmax p. Then T has an effect by two paths: in front, and through every z, whose "
        "slope in T is -x / T².",
        "In x: T times p times 1 / T. In T: logsumexp(z), minus the mean of z with the weights p. Both stay the same if a row is "
        "shifted by its maximum first.",
    ),
    why="In x the two T cancel. In T the product rule gives logsumexp(z) minus the weighted mean of z; a shift moves both alike, "
    "so the shifted z can be used throughout.",
    insight="The slope in T is the entropy of the weights: -sum p log p, never negative.",
    cancelling=(frozenset({"no_inner", "no_outer"}),), atol=1e-10,
)  # fmt: skip
