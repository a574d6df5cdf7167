"""Sizes and small models. Every axis has its own size, so that mixing up two axes cannot go unnoticed."""

import numpy as np

from attnlib.gradients import check_direction, check_gradient
from attnlib.training import init_transformer

# Batch, positions, tokens of the vocabulary, width, heads, layers, hidden units, positions that are learned.
B, N, K, M, H, L, HIDDEN, LEARNED = 2, 4, 5, 6, 3, 2, 7, 8

TOKENS = np.array([[1, 4, 1, 0], [2, 2, 4, 1]])


def model(rng, dtype=np.float64, *, positions="learned", **parts):
    """A small model with these parts: attention and learned positions, if none are named."""
    n = LEARNED if positions == "learned" else None
    sizes = dict(vocabulary=K, n=n, m=M, heads=H, layers=L)
    return unsettled(rng, init_transformer(rng, positions=positions, dtype=dtype, **sizes, **parts))


def complete(rng, dtype=np.float64):
    """The same with rotary positions, norm and MLP."""
    return model(rng, dtype, positions="rotary", norm=True, hidden=HIDDEN)


# The two models that chapter 12 trains: how they are made, and with which options they run.
MODELS = {"attention alone": (model, {}), "complete": (complete, {"positions": "rotary"})}


def unsettled(rng, params):
    """The same with gains and biases that are not the ones and zeros they start at, which hide mistakes."""
    return {
        name: array if array.ndim == 2 else (array + rng.normal(size=array.shape) / 2).astype(array.dtype)
        for name, array in params.items()
    }


def right(function, arrays, gradients, tolerance=1e-8):
    """Check the gradient of a function of a dict of arrays, name by name."""
    assert arrays.keys() == gradients.keys()
    for name, array in arrays.items():
        report = check_gradient(lambda a, n=name: function(arrays | {n: a}), array, gradients[name], tolerance=tolerance)
        assert gradients[name].dtype == array.dtype and report, f"{name}: {report}"


def right_along(rng, function, arrays, gradients, tolerance=1e-8):
    """The same along three random directions of each array: for functions that take long."""
    assert arrays.keys() == gradients.keys()
    for name, array in [*arrays.items()] * 3:
        report = check_direction(lambda a, n=name: function(arrays | {n: a}), array, gradients[name], rng, tolerance=tolerance)
        assert report, f"{name}: {report}"


def close_gradients(ours, expected, tolerance):
    """Each gradient within a part of its largest entry: how float32 is compared with float64."""
    assert ours.keys() == expected.keys()
    for name in ours:
        error = np.abs(ours[name] - expected[name]).max()
        assert error <= tolerance * np.abs(expected[name]).max(), name
