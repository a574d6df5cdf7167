"""Sizes and small models. Every axis has its own size, so that mixing up two axes cannot go unnoticed."""

import numpy as np

from attnlib.gradients import check_direction, check_gradient
from attnlib.training import init_attention_only, init_block, init_language_model

# Batch, positions, tokens of the vocabulary, width, heads, layers, hidden units, positions that are learned.
B, N, K, M, H, L, HIDDEN, LEARNED = 2, 4, 5, 6, 3, 2, 7, 8


def attention_only_params(rng, dtype=np.float64):
    return init_attention_only(rng, vocabulary=K, n=LEARNED, m=M, heads=H, layers=L, dtype=dtype)


def block_params(rng, dtype=np.float64):
    return unsettled(rng, init_block(rng, m=M, heads=H, hidden=HIDDEN, dtype=dtype))


def language_params(rng, dtype=np.float64):
    return unsettled(rng, init_language_model(rng, vocabulary=K, m=M, heads=H, layers=L, hidden=HIDDEN, dtype=dtype))


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
