"""The exercise on softmax: oracle, solution, and every wrong answer we know."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.softmax import accepts, forward_mistakes


def softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _softmax_oracle(x):
    out = np.empty(x.shape)
    for row in np.ndindex(x.shape[:-1]):
        largest = max(float(score) for score in x[row])
        exponentials = [math.exp(float(score) - largest) for score in x[row]]
        total = math.fsum(exponentials)
        for k, exponential in enumerate(exponentials):
            out[(*row, k)] = exponential / total
    return out


def _softmax_logsumexp(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.exp(x - largest - np.log(np.exp(x - largest).sum(axis=-1, keepdims=True)))


def _rows_far_apart(rng):
    x = rng.normal(size=(3, 4))
    x[1] -= 2000
    return (x,)


def _first_row_far_below(rng):
    x = rng.normal(size=(3, 4))
    x[0] -= 2000
    return (x,)


def _zeros(rng):
    x = rng.normal(size=(3, 4))
    x[0, 1], x[2] = 0.0, 0.0
    return (x,)


def _wide_rows(rng):
    x = rng.normal(size=(3, 5))
    x[:, ::2] -= 900
    return (x,)


def _outlier(rng):
    x = rng.normal(size=(1, 6))
    x[0, 2] = 2000
    return (x,)


SOFTMAX = Exercise(
    id="softmax",
    title="A softmax that no finite score can break",
    chapter="softmax",
    level="easy",
    minutes=10,
    blanks=3,
    oracle=_softmax_oracle,
    solution=softmax,
    probes=(
        Probe("all sizes differ", lambda rng: (rng.normal(size=(2, 3, 5)),)),
        Probe("square", lambda rng: (rng.normal(size=(4, 4)),), "equal"),
        Probe(
            "large scores", lambda rng: (rng.normal(size=(3, 4)) + 1000,), "edge",
            why="The plainest overflow: the message about it names this case.",
        ),
        Probe(
            "rows far apart", _rows_far_apart, "edge",
            why="One maximum for all rows lies far above one of them; the last case has the far row in front.",
        ),
        Probe("wide rows", _wide_rows, "edge"),
        Probe("one huge score", _outlier, "edge"),
        Probe("integers", lambda rng: (rng.integers(1, 6, size=(3, 4)),), "edge"),
        Probe("one row", lambda rng: (rng.normal(size=5),), "edge", why="No leading axis at all."),
        Probe(
            "three leading axes, one of size 1", lambda rng: (rng.normal(size=(2, 1, 3, 4)),), "edge",
            why="Any number of axes, and each one of them stays, whatever its size.",
        ),
        Probe(
            "first row far below", _first_row_far_below, "edge",
            why="The maximum of the first row is not that of all: each shift by one number fails in its own way.",
        ),
        Probe(
            "zeros among the scores", _zeros, "edge", why="A score of 0 is a score like any other; it hides nothing.",
        ),
    ),
    mistakes=forward_mistakes.SOFTMAX,
    hints=(
        "What happens to exp(1000)? And along which axis must the weights sum to 1?",
        "Adding a constant to all scores of a row changes nothing: numerator and denominator get the same factor. "
        "Choose the constant for each row so that its largest exponent is 0.",
        "Subtract from each row its maximum, exponentiate, divide each row by its own sum. Both the maximum and the "
        "sum run along the last axis and must keep that axis, with size 1.",
    ),
    why="After the shift every exponent is at most 0, so nothing overflows, and one exponent is exactly 0, so the sum "
    "is at least 1 and never vanishes. `keepdims=True` keeps the maximum and the sum beside the row they belong to.",
    insight="A shift that changes nothing on paper decides whether the computer gets an answer at all.",
    accepts={"logsumexp": _softmax_logsumexp, **accepts.SOFTMAX},
    outputs=("weights",),
)  # fmt: skip

EXERCISES = (SOFTMAX,)
