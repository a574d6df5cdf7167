"""The exercise on the gradient of a temperature: one number that every weight of every row depends on."""

import cmath
import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.softmax import accepts, temperature_mistakes


def temperature_gradient(d_weights, scores, temperature):
    scaled = scores / temperature
    exponentials = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return -(d_scaled * scores).sum() / temperature**2


def _oracle(d_weights, scores, temperature):
    # A complex step: the loss at T + ih is L + ih dL/dT up to a term in h squared, and nothing is subtracted.
    step = 1e-30
    contributions = []
    for row in np.ndindex(scores.shape[:-1]):
        x = [float(score) for score in scores[row]]
        exponentials = [cmath.exp((score - max(x)) / (temperature + step * 1j)) for score in x]
        total = sum(exponentials)
        contributions += [
            float(g) * (exponential / total).imag for g, exponential in zip(d_weights[row], exponentials, strict=True)
        ]
    return math.fsum(contributions) / step


def _family(bugs):
    def temperature_gradient(d_weights, scores, temperature):
        factor = temperature if "multiplied" in bugs else 1.0 if "at_one" in bugs else 1 / temperature
        scaled = scores * factor
        axis = 0 if "axis_0" in bugs else None if "axis_all" in bugs else -1
        shift = 0.0 if "no_max" in bugs else scaled.max(axis=axis, keepdims=True)
        exponentials = np.exp(scaled - shift)
        weights = exponentials / exponentials.sum(axis=axis, keepdims=True)
        mean = (weights * d_weights).sum(axis=axis, keepdims="no_keepdims" not in bugs)
        if "no_mean" in bugs:
            mean = 0.0
        elif "plain_mean" in bugs:
            mean = d_weights.mean(axis=-1, keepdims=True)
        d_scaled = weights * (d_weights - mean)
        if "sigmoid" in bugs:
            d_scaled = weights * (1 - weights) * d_weights
        elif "no_softmax" in bugs:
            d_scaled = d_weights
        if "d_scores" in bugs:
            return d_scaled / temperature
        slope = 1.0 if "as_factor" in bugs else -1 / temperature ** (1 if "no_square" in bugs else 2)
        terms = d_scaled * slope * (scores / temperature if "scaled_twice" in bugs else scores)
        if "no_scores" in bugs:
            terms = d_scaled * slope
        if "sign" in bugs:
            terms = -terms
        if "last_row" in bugs:
            terms = terms.reshape(-1, terms.shape[-1])[-1]
        if "per_row" in bugs:
            return terms.sum(axis=-1)
        if "mean_of_rows" in bugs:
            return terms.sum(axis=-1).mean()
        return terms.mean() if "mean_of_all" in bugs else terms.sum()

    return temperature_gradient


def _softmax(scaled):
    exponentials = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _covariance(d_weights, scores, temperature):
    p = _softmax(scores / temperature)
    g_mean, x_mean = ((p * part).sum(axis=-1, keepdims=True) for part in (d_weights, scores))
    return -np.sum(p * (d_weights - g_mean) * (scores - x_mean)) / temperature**2


def _one_step_of_the_chain_after_the_other(d_weights, scores, temperature):
    total = 0.0
    for row in np.ndindex(scores.shape[:-1]):
        p, g = _softmax(scores[row] / temperature), d_weights[row]
        jacobian = np.diag(p) - np.outer(p, p)
        total += g @ jacobian @ (-scores[row] / temperature**2)
    return total


def _inputs(rng, shape, temperature):
    return rng.normal(size=shape), rng.normal(size=shape), temperature


def _large_scores(rng):
    # One row far up, one far down, one that is wide: only a shift of each row by its own maximum survives all three.
    d_weights, scores, temperature = _inputs(rng, (3, 4), 0.5)
    scores[0] += 1000.0
    scores[1] -= 1000.0
    scores[2, 1] += 900.0
    return d_weights, scores, temperature


def _zeros(rng):
    d_weights, scores, temperature = _inputs(rng, (3, 4), 1.3)
    scores[0, 1], scores[2, :2] = 0.0, 0.0
    return d_weights, scores, temperature


TEMPERATURE_GRADIENT = Exercise(
    id="temperature_gradient",
    title="The gradient of the temperature",
    chapter="softmax",
    level="medium",
    minutes=15,
    blanks=3,
    oracle=_oracle,
    solution=temperature_gradient,
    family=_family,
    probes=(
        Probe("all sizes differ", lambda rng: _inputs(rng, (2, 3, 5), 0.7)),
        Probe("square", lambda rng: _inputs(rng, (4, 4), 2.5), "equal"),
        Probe(
            "large scores", _large_scores, "edge",
            why="Any shift but that by each row's own maximum ends in NaN here.",
        ),
        Probe(
            "constant upstream gradient", lambda rng: (np.full((3, 4), 2.5), rng.normal(size=(3, 4)), 0.7), "edge",
            why="The weights sum to one at every temperature: the answer is 0.",
        ),
        Probe(
            "equal scores", lambda rng: (rng.normal(size=(3, 4)), np.full((3, 4), 1.5), 0.7), "edge",
            why="Equal scores have equal weights at every temperature: the answer is 0.",
        ),
        Probe("one row", lambda rng: _inputs(rng, (5,), 0.7), "edge", why="No leading axis at all."),
        Probe(
            "three leading axes, one of size 1", lambda rng: _inputs(rng, (2, 1, 3, 4), 0.7), "edge",
            why="The number collects over all axes in front, however many there are.",
        ),
        Probe(
            "zeros among the scores", _zeros, "edge", why="A score of 0 is a score like any other; it hides nothing.",
        ),
    ),
    mistakes=temperature_mistakes.TEMPERATURE_GRADIENT,
    hints=(
        "Give the scaled scores a name, y = x / T. From T to the loss there are two steps: T moves every y, and the y "
        "move the weights. You have the second one already.",
        "The gradient for one y times the slope of that y with respect to T, which is -x / T**2, is the contribution of "
        "one path. T reaches the loss through every score of every row.",
        "Form y, its weights and the gradient for y, as in exercise 1.2. Multiply each entry by its score, add all of "
        "them up, divide by T squared and change the sign.",
    ),
    why="Softmax passes the upstream gradient to the scaled scores, and each of them passes its part to T with the slope "
    "-x / T**2. One number feeds every score of every row, so all contributions are added.",
    insight="It is minus the covariance of upstream gradient and scores under the weights, divided by T squared.",
    accepts={
        "covariance": _covariance, "with the Jacobian": _one_step_of_the_chain_after_the_other,
        **accepts.TEMPERATURE_GRADIENT,
    },
    outputs=("d_temperature",),
    atol=1e-8,  # weights are right to 1e-13 near scores of 1000, and these are multiplied by the scores
    cancelling=(frozenset({"no_square", "scaled_twice"}),),
)  # fmt: skip

EXERCISES = (TEMPERATURE_GRADIENT,)
