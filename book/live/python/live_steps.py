"""One step of a live figure (`figures.mjs`): numbers in, numbers out, computed by the library as a cell would.

The book's own numbers stand here too, so that a figure begins with what its picture shows.
"""

import json

import numpy as np

from attnlib.attention import attention, attention_mask_backward
from attnlib.softmax import logsumexp, softmax

VALUE = np.array([[1.0, 5.0], [5.0, 1.0], [0.0, 0.0]])  # cat, mat, sat: chapter 2
SCORES = np.array([[2.0, 1, 0, 1], [1, 1, 3, 0], [0, 1, 0, 2], [1, 0, 1, 1]])  # chapter 4
TEMPERATURES = np.geomspace(0.1, 100, 61)


def temperature(scores, T):
    """Weights and entropy at the temperature T, and the curves over all temperatures."""
    x = np.array(scores, dtype=np.float64) / T
    weights = softmax(x)
    return {
        "weights": weights,
        "entropy": max(0.0, float(logsumexp(x) - weights @ x)),  # rounding may leave it just below
        "curves": softmax(np.array(scores, dtype=np.float64) / TEMPERATURES[:, np.newaxis]).T,
    }


def plane(query, keys):
    """Weights and output of one query over three keys in the plane, with the scores as they are."""
    out, weights = attention(np.array([query], dtype=np.float64), np.array(keys, dtype=np.float64), VALUE, scale=1.0)
    return {"weights": weights[0], "output": out[0]}


def mask(keep):
    """Weights under a mask, and the gradient of each query's mean key number with respect to its scores."""
    M = np.where(np.array(keep, dtype=bool), 0.0, -np.inf)
    weights = softmax(SCORES + M)
    numbers = np.arange(4.0)[:, np.newaxis]
    gradient = attention_mask_backward(np.ones((4, 1)), numbers, weights, M)
    return {"scores": SCORES, "weights": weights, "gradient": gradient}


STEPS = {step.__name__: step for step in (temperature, plane, mask)}


def answer(name, given):
    """The step of this name, from JSON to JSON."""
    return json.dumps(STEPS[name](**json.loads(given)), default=np.ndarray.tolist)
